//! Requests whose parameters do not have the shape of their method.

use serde_json::json;
use siding::prelude::*;

use crate::support::{Declares, Wire};

/// Waits for a person.
#[mcp_tool(task = "required")]
async fn wait(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure)
}

fn server() -> Server {
    Server::new("strict", "1.0.0").tool::<wait>()
}

#[tokio::test(start_paused = true)]
async fn u25_w09_parameters_of_another_shape_are_invalid_not_unknown() {
    let mut wire = Wire::tasks(server());
    let id = wire.parked("wait", json!({})).await;
    for (method, params) in [
        ("tasks/get", json!({})),
        ("tasks/get", json!({ "taskId": 7 })),
        ("tasks/update", json!({ "inputResponses": {} })),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": [] }),
        ),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": "sure" }),
        ),
        ("tasks/update", json!({ "taskId": id })),
        ("tasks/cancel", json!({ "taskId": null })),
        ("tools/call", json!({ "name": "wait", "arguments": [] })),
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({ "arguments": {} })),
        (
            "tools/call",
            json!({ "name": "wait", "inputResponses": [] }),
        ),
    ] {
        let error = wire.request(method, params.clone()).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{method} {params}: {error}");
    }
    assert_eq!(wire.get(&id).await["status"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn u25_the_declaration_comes_before_the_shape() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let error = wire.request(method, json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32021, "{method}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_methods_stay_unknown() {
    let mut wire = Wire::tasks(server());
    for method in ["tasks/find", "tools/run", "nothing"] {
        let error = wire.request(method, json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_state_that_nobody_gave_is_refused() {
    let mut wire = Wire::tasks(server());
    let params = json!({ "name": "wait", "arguments": {}, "requestState": "forged" });
    let error = wire.request("tools/call", params).await.unwrap_err();
    assert_eq!(error["code"], -32602, "{error}");
}
