//! A deployment that a person has to approve, as a real server.
//!
//! Over standard input and output, or with `--http 127.0.0.1:8000` over HTTP at `/mcp`.

use clap::Parser;
use schemars::JsonSchema;
use serde::Serialize;
use siding::prelude::*;
use tokio::net::TcpListener;

/// What the person fills in.
#[derive(Input)]
struct Approval {
    /// Go ahead?
    approve: bool,
    /// Kept in the audit log.
    reason: Option<String>,
}

/// What the tool returns.
#[derive(Serialize, JsonSchema)]
struct Deployed {
    release: String,
    reason: Option<String>,
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
        return Err(ToolError::new("not approved"));
    }
    ctx.status("deploying");
    let release = ctx.step("apply", apply(&plan)).await?;
    Ok(Deployed {
        release,
        reason: approval.reason,
    })
}

async fn make_plan(service: &str, region: &str) -> Result<String> {
    Ok(format!("{service} with one host in {region}"))
}

async fn apply(plan: &str) -> Result<String> {
    Ok(format!("{plan}, release 1"))
}

#[derive(Parser)]
struct Options {
    /// Serve over HTTP on this address, instead of standard input and output.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    let server = Server::new("deployer", env!("CARGO_PKG_VERSION")).tool::<deploy>();
    match options.http {
        None => server.serve_stdio().await?,
        Some(address) => {
            let listener = TcpListener::bind(address).await?;
            eprintln!("listening on http://{}/mcp", listener.local_addr()?);
            server.serve_listener(listener).await?;
        }
    }
    siding::Ok(())
}
