use futures::stream::{self, StreamExt, TryStreamExt};
use siding::prelude::*;

async fn fetch(item: &str) -> Result<usize> {
    Ok(item.len())
}

#[mcp_tool]
async fn sizes(items: Vec<String>) -> Result<Vec<usize>> {
    let fetches = stream::iter(&items).map(|item| fetch(item));
    fetches.buffer_unordered(2).try_collect().await
}

fn main() {}
