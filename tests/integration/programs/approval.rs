//! The program of the front page.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use siding::prelude::*;

use crate::support::Wire;

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
        return Err(ToolError::new(
            approval.reason.unwrap_or("not approved".into()),
        ));
    }
    let release = ctx.step("apply", apply(&plan)).await?;
    Ok(Deployed { release })
}

async fn make_plan(service: &str, region: &str) -> Result<String> {
    Ok(format!("{service}@{region}"))
}

async fn apply(plan: &str) -> Result<String, std::io::Error> {
    Ok(format!("{plan}#1"))
}

#[tokio::test(start_paused = true)]
async fn approved_and_refused() {
    let mut wire = Wire::tasks(Server::new("deployer", "1.0.0").tool::<deploy>());
    for (content, told) in [
        (json!({ "approve": true }), "api@eu-west-1#1"),
        (json!({ "approve": false, "reason": "Friday" }), "Friday"),
    ] {
        let id = wire.task("deploy", json!({ "service": "api" })).await;
        let task = wire.until(&id, "input_required").await;
        assert_eq!(task["ttlMs"], 24 * 60 * 60 * 1_000);
        let params = &task["inputRequests"]["approval"]["params"];
        assert_eq!(params["message"], "Deploy api@eu-west-1 to eu-west-1?");
        let schema = &params["requestedSchema"];
        assert_eq!(schema["required"], json!(["approve"]));
        assert_eq!(schema["properties"]["approve"]["description"], "Go ahead?");
        wire.accept(&id, "approval", content).await;
        let task = wire.end(&id).await;
        let text = task["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(told), "{text}");
    }
}
