//! The official SDK's client drives a task to its end, over every transport.

use rmcp::{
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, GetTaskParams,
        Implementation, ProtocolVersion, TaskPayload, UpdateTaskParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::json;
use siding::prelude::*;
use tokio::{
    net::TcpListener,
    time::{Duration, sleep},
};

type Client = RunningService<RoleClient, ClientConfig>;

/// What the person fills in.
#[derive(Input)]
struct Approval {
    /// Go ahead?
    approve: bool,
    reason: Option<String>,
}

/// Deploys after somebody approved.
#[mcp_tool(task = "required", poll = "5ms")]
async fn deploy(ctx: &mut Ctx, service: String) -> Result<String> {
    let plan = ctx
        .step("plan", async { Ok(format!("{service} on one host")) })
        .await?;
    let approval: Approval = ctx.input(format!("Deploy {plan}?")).await?;
    if !approval.approve {
        return Err(ToolError::new("not approved"));
    }
    let reason = approval.reason.unwrap_or_default();
    let release = ctx
        .step("apply", async { Ok("release 1".to_owned()) })
        .await?;
    Ok(format!("{release}: {plan} ({reason})"))
}

fn server() -> Server {
    Server::new("deployer", "1.0.0").tool::<deploy>()
}

fn client() -> (ClientConfig, ClientLifecycleMode) {
    let capabilities = ClientCapabilities::builder()
        .enable_elicitation()
        .enable_tasks()
        .build();
    let config = ClientConfig::new(capabilities, Implementation::new("tests", "1.0.0"));
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    (config, lifecycle)
}

async fn drive(client: &Client) {
    let call = CallToolRequestParams::new("deploy")
        .with_arguments(serde_json::from_value(json!({ "service": "api" })).unwrap());
    let CallToolResponse::Task(created) = client.call_tool_once(call).await.unwrap() else {
        panic!("no task");
    };
    let id = created.task.task_id;
    let mut asked = 0;
    for _ in 0..1_000 {
        let task = client
            .get_task(GetTaskParams::new(&*id))
            .await
            .unwrap()
            .task;
        match task.payload {
            TaskPayload::InputRequired { input_requests } => {
                asked += 1;
                let keys: Vec<_> = input_requests.keys().collect();
                assert_eq!(keys, ["approval"]);
                let content = json!({ "approve": true, "reason": "fine" });
                let answer = json!({ "action": "accept", "content": content });
                let answers = [("approval".to_owned(), answer)].into();
                client
                    .update_task(UpdateTaskParams::new(&*id, answers))
                    .await
                    .unwrap();
            }
            TaskPayload::Completed { result } => {
                let text = &result["content"][0]["text"];
                assert_eq!(text, "release 1: api on one host (fine)");
                assert_eq!(asked, 1);
                return;
            }
            TaskPayload::Working => sleep(Duration::from_millis(5)).await,
            other => panic!("{other:?}"),
        }
    }
    panic!("the task never ended");
}

#[tokio::test(start_paused = true)]
async fn the_client_of_the_sdk_drives_a_task_over_a_duplex() {
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(server().serve(reader, writer));
    let (config, lifecycle) = client();
    let client = config.serve_with_lifecycle(ours, lifecycle).await.unwrap();
    drive(&client).await;
    client.cancel().await.unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_client_of_the_sdk_drives_the_same_tool_over_http() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(server().serve_listener(listener));
    let (config, lifecycle) = client();
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let client = config
        .serve_with_lifecycle(transport, lifecycle)
        .await
        .unwrap();
    drive(&client).await;
    client.cancel().await.unwrap();
    serving.abort();
}
