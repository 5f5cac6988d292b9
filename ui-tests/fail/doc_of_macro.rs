use siding::prelude::*;

#[doc = include_str!("doc_of_macro.rs")]
#[mcp_tool]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
