use siding::prelude::*;

struct Secret;

#[mcp_tool]
async fn tell() -> Result<Secret> {
    Ok(Secret)
}

fn main() {}
