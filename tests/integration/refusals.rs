//! Code that does not take no for an answer.

use serde_json::json;
use siding::prelude::*;

use crate::support::{Declares, Wire};

/// Asks until somebody answers.
#[mcp_tool(task = "optional")]
async fn insists(ctx: &mut Ctx) -> Result<bool> {
    loop {
        if let Ok(sure) = ctx.input::<bool>("Sure?").key("sure").await {
            ctx.cleanup("close", async { Ok(()) }).await?;
            return Ok(sure);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_asks_a_client_who_cannot_be_asked_ends() {
    let server = Server::new("insists", "1.0.0").tool::<insists>();
    let mut wire = Wire::modern(server, Declares::Nothing);
    let error = wire.call("insists", json!({})).await.unwrap_err();
    assert_eq!(error["data"]["reason"], "misuse", "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_asks_after_its_task_was_cancelled_ends() {
    let server = Server::new("insists", "1.0.0").tool::<insists>();
    let mut wire = Wire::tasks(server);
    let id = wire.parked("insists", json!({})).await;
    wire.cancel(&id).await.unwrap();
    // The closing leg runs on the thread of this test: were it to spin, nothing would be answered.
    for _ in 0..10 {
        assert_eq!(wire.get(&id).await["status"], "cancelled");
    }
}
