//! A deployment that a person has to approve, as a real server.
//!
//! Over standard input and output, or with `--http 127.0.0.1:8000` over HTTP at `/mcp`. With
//! `--store sqlite:deployer.db` it can be killed while it waits, and goes on when it is started again;
//! `--effects FILE` shows what really ran.

use std::{fs::OpenOptions, io::Write, path::PathBuf, str::FromStr};

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
    ctx: &mut Ctx<Effects>,
    /// Service to deploy.
    service: String,
    /// Region to deploy to.
    #[arg(default = "eu-west-1")]
    region: String,
) -> Result<Deployed> {
    let effects = ctx.state();
    let plan = ctx.step("plan", effects.plan(&service, &region)).await?;
    let approval: Approval = ctx.input(format!("Deploy {plan} to {region}?")).await?;
    if !approval.approve {
        return Err(ToolError::new("not approved"));
    }
    ctx.status("deploying");
    let release = ctx.step("apply", effects.apply(&plan)).await?;
    Ok(Deployed {
        release,
        reason: approval.reason,
    })
}

/// What the tool does to the world outside: a line in a file, where there is one.
struct Effects {
    file: Option<PathBuf>,
}

impl Effects {
    async fn plan(&self, service: &str, region: &str) -> Result<String> {
        self.happened("plan")?;
        Ok(format!("{service} with one host in {region}"))
    }

    async fn apply(&self, plan: &str) -> Result<String> {
        self.happened("apply")?;
        Ok(format!("{plan}, release 1"))
    }

    fn happened(&self, what: &str) -> std::io::Result<()> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{what}")
    }
}

#[derive(Parser)]
struct Options {
    /// Serve over HTTP on this address, instead of standard input and output.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// The name of the server: only servers of one name run each other's tasks.
    #[arg(long, default_value = "deployer")]
    name: String,
    /// Where tasks are kept: `memory`, or `sqlite:PATH`.
    #[arg(long, value_name = "STORE", default_value = "memory")]
    store: Place,
    /// Append a line to this file each time that the plan or the apply step really runs.
    #[arg(long, value_name = "FILE")]
    effects: Option<PathBuf>,
}

/// Where tasks are kept.
#[derive(Clone)]
enum Place {
    Memory,
    Sqlite(PathBuf),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("sqlite:")) {
            ("memory", _) => Ok(Self::Memory),
            (_, Some(path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            _ => Err(format!(
                "`{text}` is no store; write `memory` or `sqlite:PATH`"
            )),
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    let effects = Effects {
        file: options.effects,
    };
    let server = Server::new(options.name, env!("CARGO_PKG_VERSION"))
        .state(effects)
        .tool::<deploy>();
    let server = match options.store {
        Place::Memory => server.store(MemoryStore::new()),
        Place::Sqlite(path) => server.store(SqliteStore::open(path).await?),
    };
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
