//! Listeners in odd positions.

use serde_json::{Value, json};
use siding::{Limits, prelude::*};
use tokio::time::{Duration, sleep};

use super::{Shop, server, sure};
use crate::support::{Declares, Wire};

/// Tells in `_meta` how far it is.
#[mcp_tool(task = "required")]
async fn stages(ctx: &mut Ctx<Shop>) -> Result<String> {
    let sure: bool = ctx.input("Sure?").await?;
    ctx.status("going");
    ctx.step("one", async {
        tokio::task::yield_now().await;
        siding::Ok(())
    })
    .await?;
    ctx.set_meta("stage", json!("two"));
    ctx.step("two", async {
        sleep(Duration::from_hours(10)).await;
        siding::Ok(())
    })
    .await?;
    Ok(sure.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_change_of_meta_within_a_millisecond_is_announced() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server.tool::<stages>());
    let id = wire.parked("stages", json!({})).await;
    let params = json!({ "notifications": { "taskIds": [id] } });
    wire.send("subscriptions/listen", params).await;
    wire.incoming("notifications/tasks").await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    sleep(Duration::from_secs(5)).await;
    let task = wire.get(&id).await;
    assert_eq!(task["_meta"]["stage"], "two", "{task}");
    let told: Vec<_> = wire
        .unread()
        .filter(|message| message["method"] == "notifications/tasks")
        .cloned()
        .collect();
    let staged = |message: &Value| message["params"]["_meta"]["stage"] == "two";
    assert!(told.iter().any(staged), "{told:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_listen_request_leaves_nothing_behind() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server);
    let id = wire.task("hold", json!({})).await;
    let listen = |notifications: Value| {
        json!({
            "jsonrpc": "2.0",
            "id": 777,
            "method": "subscriptions/listen",
            "params": { "notifications": notifications, "_meta": Declares::Tasks.meta() },
        })
    };
    let bad = json!({ "taskIds": [id], "toolsListChanged": "yes" });
    wire.write(&listen(bad)).await;
    let refused = wire.receive(777).await;
    wire.write(&listen(json!({}))).await;
    let acknowledged = wire.acknowledged().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
    assert_eq!(refused.unwrap_err()["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn a_listener_to_a_thousand_tasks_that_reads_late_hears_of_all_ends() {
    let (server, _) = server();
    let server = server.limits(Limits::default());
    let mut wire = Wire::tasks(server);
    let mut ids = Vec::new();
    for _ in 0..1_000 {
        ids.push(wire.task("hold", json!({})).await);
    }
    sleep(Duration::from_secs(1)).await;
    wire.send(
        "subscriptions/listen",
        json!({ "notifications": { "taskIds": ids } }),
    )
    .await;
    for id in &ids {
        let params = json!({ "taskId": id, "inputResponses": sure() });
        wire.send("tasks/update", params).await;
    }
    sleep(Duration::from_secs(10)).await;
    let mut ended = std::collections::HashSet::new();
    while ended.len() < 1_000 {
        let told = wire.incoming("notifications/tasks").await;
        if told["params"]["status"] == "completed" {
            ended.insert(told["params"]["taskId"].as_str().unwrap().to_owned());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_listen_id_may_be_a_string_that_looks_like_a_number() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server);
    let ids = [
        wire.task("hold", json!({})).await,
        wire.task("hold", json!({})).await,
    ];
    for (request, id) in [(json!("900"), &ids[0]), (json!(900), &ids[1])] {
        wire.write(&json!({
            "jsonrpc": "2.0",
            "id": request,
            "method": "subscriptions/listen",
            "params": { "notifications": { "taskIds": [id] }, "_meta": Declares::Tasks.meta() },
        }))
        .await;
    }
    for _ in 0..2 {
        let acknowledged = wire.acknowledged().await;
        let of = &acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        let expected = if *of == "900" { &ids[0] } else { &ids[1] };
        assert_eq!(
            acknowledged["params"]["notifications"]["taskIds"],
            json!([expected])
        );
    }
    for _ in 0..2 {
        let told = wire.incoming("notifications/tasks").await;
        let of = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        let expected = if *of == "900" { &ids[0] } else { &ids[1] };
        assert_eq!(told["params"]["taskId"], json!(expected));
    }
}

struct Brief;

impl rmcp::ServerHandler for Brief {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        let capabilities = rmcp::model::ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        rmcp::model::ServerConfig::new(capabilities)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &rmcp::model::SubscriptionFilter,
    ) -> Option<rmcp::model::SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(
        &self,
        context: rmcp::service::SubscriptionContext,
    ) -> std::result::Result<(), rmcp::ErrorData> {
        // All that it has to tell.
        let _told = context.sink().notify_tool_list_changed().await;
        Ok(())
    }
}

#[mcp_tool(task = "required")]
async fn brew(ctx: &mut Ctx) -> Result<String> {
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

#[tokio::test(start_paused = true)]
async fn tasks_are_listened_to_when_the_handler_has_no_more_to_tell() {
    let mut wire = Wire::tasks(Server::over(Brief).tool::<brew>());
    let id = wire.parked("brew", json!({})).await;
    let notifications = json!({ "taskIds": [id], "toolsListChanged": true });
    wire.send(
        "subscriptions/listen",
        json!({ "notifications": notifications }),
    )
    .await;
    sleep(Duration::from_secs(1)).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.end(&id).await;
    sleep(Duration::from_secs(1)).await;
    wire.get(&id).await;
    let completed = |message: &Value| message["params"]["status"] == "completed";
    assert!(wire.unread().any(completed));
}
