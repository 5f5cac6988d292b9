use siding::prelude::*;

struct Secret;

#[mcp_tool]
async fn tell(secret: Secret) -> String {
    drop(secret);
    String::new()
}

fn main() {}
