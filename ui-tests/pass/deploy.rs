use schemars::JsonSchema;
use serde::Serialize;
use siding::prelude::*;

/// What the person fills in.
#[derive(Input)]
struct Approval {
    /// Go ahead?
    approve: bool,
    /// Kept in the audit log.
    reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Deployed {
    release: String,
}

async fn make_plan(service: &str, region: &str) -> Result<String> {
    Ok(format!("{service} in {region}"))
}

async fn apply(plan: &str) -> std::io::Result<String> {
    Ok(plan.to_owned())
}

/// Deploys a service after a person approved the plan.
#[mcp_tool(task = "required", ttl = "24h", poll = "2s")]
async fn deploy(
    ctx: &mut Ctx,
    /// Service to deploy.
    service: String,
    /// Region to deploy to.
    #[arg(default = "eu-west-1")]
    region: String,
) -> Result<Deployed> {
    let plan = ctx.step("plan", make_plan(&service, &region)).await?;
    let approval: Approval = ctx.input(format!("Deploy {plan} to {region}?")).await?;
    if !approval.approve {
        return Err(ToolError::new(approval.reason.unwrap_or_default()));
    }
    let release = ctx.step("apply", apply(&plan)).await?;
    Ok(Deployed { release })
}

fn main() {
    let _ = Server::new("deployer", "1").tool::<deploy>();
}
