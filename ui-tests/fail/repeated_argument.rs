use siding::prelude::*;

#[mcp_tool]
async fn copy(from: String, #[arg(rename = "from")] to: String) -> String {
    from + &to
}

fn main() {}
