//! The smallest useful server: one task that asks one question.

use siding::prelude::*;

/// Greets whoever the person names.
#[mcp_tool(task = "required")]
async fn greet(ctx: &mut Ctx) -> Result<String> {
    let name: String = ctx.input("Who are you?").await?;
    Ok(format!("Hello, {name}!"))
}

#[tokio::main]
async fn main() -> Result<(), siding::ServeError> {
    let server = Server::new("greeter", "1.0.0").tool::<greet>();
    server.serve_stdio().await
}
