//! Futures that borrow, in the bodies of tools.

use futures::{
    future::try_join_all,
    stream::{self, StreamExt, TryStreamExt},
};
use serde_json::json;
use siding::prelude::*;

use crate::support::Wire;

async fn fetch(item: &str) -> Result<usize> {
    tokio::task::yield_now().await;
    Ok(item.len())
}

/// Fetches several at once, borrowing each, in a step.
#[mcp_tool(task = "required")]
async fn in_step(ctx: &mut Ctx, items: Vec<String>) -> Result<usize> {
    let sizes: Vec<usize> = ctx
        .step("sizes", async {
            let fetches: Vec<_> = items.iter().map(|item| fetch(item)).collect();
            let fetches = stream::iter(fetches).buffer_unordered(2);
            fetches.try_collect().await
        })
        .await?;
    Ok(sizes.iter().sum())
}

/// Does so in the body, in every way that compiles.
#[mcp_tool(task = "optional")]
async fn in_body(ctx: &mut Ctx, items: Vec<String>) -> Result<usize> {
    ctx.status("fetching");
    let fetches = stream::iter(0..items.len()).map(|index| fetch(&items[index]));
    let by_index: Vec<usize> = fetches.buffer_unordered(2).try_collect().await?;
    let joined = try_join_all(items.iter().map(|item| fetch(item))).await?;
    let fetches = stream::iter(items).map(|item| async move { fetch(&item).await });
    let owned: Vec<usize> = fetches.buffer_unordered(2).try_collect().await?;
    assert_eq!(joined.len(), by_index.len());
    Ok(owned.iter().sum())
}

#[tokio::test(start_paused = true)]
async fn u17_items_are_borrowed_by_many_futures_at_once() {
    let mut wire = Wire::tasks(Server::new("borrows", "1.0.0").tools(tools![in_step, in_body]));
    for tool in ["in_step", "in_body"] {
        let id = wire
            .task(tool, json!({ "items": ["a", "bc", "def"] }))
            .await;
        let task = wire.end(&id).await;
        assert_eq!(task["result"]["structuredContent"], 6, "{task}");
    }
}
