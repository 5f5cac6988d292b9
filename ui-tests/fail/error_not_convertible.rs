use siding::prelude::*;

struct ShopError;

#[mcp_tool]
async fn buy() -> Result<String, ShopError> {
    Err(ShopError)
}

fn main() {}
