use siding::prelude::*;

#[mcp_tool]
async fn deploy(service: String, #[cfg(unix)] mode: u32) -> String {
    format!("{service} {mode}")
}

fn main() {}
