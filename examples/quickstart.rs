//! The main job, in one process: a task asks a person, its server goes away while it waits, and
//! another server takes the answer and finishes the work. Prints each step.
//!
//! The tasks are in a SQLite file, so that the second server could be another process on another
//! day.

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use rmcp::{
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ElicitRequest,
        ElicitRequestParams, GetTaskParams, Implementation, InputRequest, ProtocolVersion,
        TaskPayload, UpdateTaskParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use siding::prelude::*;

static LEGS: AtomicU32 = AtomicU32::new(0);
static PLANS: AtomicU32 = AtomicU32::new(0);
static APPLIES: AtomicU32 = AtomicU32::new(0);

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
    reason: Option<String>,
}

/// Deploys a service after a person approved the plan.
#[mcp_tool(task = "required", ttl = "24h", poll = "10ms")]
async fn deploy(
    ctx: &mut Ctx,
    /// Service to deploy.
    service: String,
    /// Region to deploy to.
    #[arg(default = "eu-west-1")]
    region: String,
) -> Result<Deployed> {
    LEGS.fetch_add(1, Relaxed);
    let plan = ctx.step("plan", make_plan(&service, &region)).await?;
    let approval: Approval = ctx.input(format!("Deploy {plan} to {region}?")).await?;
    if !approval.approve {
        return Err(ToolError::new("not approved"));
    }
    let release = ctx.step("apply", apply(&plan)).await?;
    Ok(Deployed {
        release,
        reason: approval.reason,
    })
}

async fn make_plan(service: &str, region: &str) -> Result<String> {
    PLANS.fetch_add(1, Relaxed);
    Ok(format!("{service} on one host in {region}"))
}

async fn apply(plan: &str) -> Result<String> {
    APPLIES.fetch_add(1, Relaxed);
    Ok(format!("release 1: {plan}"))
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("deployer.db");
    println!("store: the SQLite file {}", path.display());

    println!("\n1. a server starts, and a client calls `deploy`");
    let (server, client) = connect(&path).await?;
    let call = CallToolRequestParams::new("deploy")
        .with_arguments(serde_json::from_value(json!({ "service": "api" }))?);
    let CallToolResponse::Task(created) = client.call_tool_once(call).await? else {
        return Err("`deploy` should have become a task".into());
    };
    let id = created.task.task_id;
    println!("   it is a task: {id}");

    let (key, question) = question(&client, &id).await?;
    println!("   the task waits for `{key}`: {question}");

    println!("\n2. the server goes away");
    client.cancel().await?;
    server.abort();

    println!("\n3. another server starts on the same file, and the person answers");
    let (server, client) = connect(&path).await?;
    let answer =
        json!({ "action": "accept", "content": { "approve": true, "reason": "looks good" } });
    let answers = [(key, answer)].into();
    client
        .update_task(UpdateTaskParams::new(&*id, answers))
        .await?;
    let result = result(&client, &id).await?;
    println!("   the task is completed: {}", result["structuredContent"]);
    client.cancel().await?;
    server.abort();

    let [legs, plans, applies] = [&LEGS, &PLANS, &APPLIES].map(|count| count.load(Relaxed));
    println!(
        "\nthe function ran in {legs} legs; the step `plan` ran {plans} time(s), `apply` {applies}"
    );
    if (legs, plans, applies) != (2, 1, 1) {
        return Err("expected 2 legs, and each step once".into());
    }
    Ok(())
}

type Client = RunningService<RoleClient, ClientConfig>;
type Serving = tokio::task::JoinHandle<Result<(), siding::ServeError>>;

/// Starts a server on the file, and a client that can answer questions and follow tasks.
async fn connect(path: &Path) -> Result<(Serving, Client)> {
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let server = Server::new("deployer", env!("CARGO_PKG_VERSION"))
        .tool::<deploy>()
        .store(SqliteStore::open(path).await?);
    let server = tokio::spawn(server.serve(reader, writer));
    let capabilities = ClientCapabilities::builder()
        .enable_elicitation()
        .enable_tasks()
        .build();
    let client = ClientConfig::new(capabilities, Implementation::new("quickstart", "1.0.0"));
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    Ok((server, client.serve_with_lifecycle(ours, lifecycle).await?))
}

/// Polls the task until it asks something.
async fn question(client: &Client, id: &str) -> Result<(String, String)> {
    loop {
        match poll(client, id).await? {
            TaskPayload::Working => {}
            TaskPayload::InputRequired { input_requests } => {
                let (key, request) = input_requests.into_iter().next().ok_or("no question")?;
                let InputRequest::Elicitation(ElicitRequest {
                    params: ElicitRequestParams::FormElicitationParams { message, .. },
                    ..
                }) = request
                else {
                    return Err("not a form".into());
                };
                return Ok((key, message));
            }
            other => return Err(format!("the task ended: {other:?}").into()),
        }
    }
}

/// Polls the task until it is completed.
async fn result(client: &Client, id: &str) -> Result<serde_json::Map<String, serde_json::Value>> {
    loop {
        match poll(client, id).await? {
            TaskPayload::Working => {}
            TaskPayload::Completed { result } => return Ok(result),
            other => return Err(format!("not completed: {other:?}").into()),
        }
    }
}

async fn poll(client: &Client, id: &str) -> Result<TaskPayload> {
    let task = client.get_task(GetTaskParams::new(id)).await?.task;
    let pause = task.task.poll_interval_ms.unwrap_or(1_000);
    if !task.status().is_terminal() {
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    Ok(task.payload)
}
