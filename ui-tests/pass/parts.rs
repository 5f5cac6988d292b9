//! Parts, in every shape.

#![deny(warnings)]

use siding::prelude::*;

struct App;

/// By the first exclusive borrow.
#[mcp_part]
pub async fn first(context: &mut Ctx, seen: &mut Vec<String>) -> Result<String> {
    let name: String = context.input("Name?").await?;
    seen.push(name.clone());
    Ok(name)
}

/// For any state, with patterns, lifetimes and `impl Trait`.
#[mcp_part(allow(await_outside_step), crate = ::siding)]
async fn any<'a, S: ?Sized + Send + Sync>(
    (one, two): (&'a str, u8),
    ctx: &mut Ctx<S>,
    texts: impl IntoIterator<Item = &'a str, IntoIter: Send>,
) -> Result<String> {
    std::future::ready(()).await;
    for text in texts {
        if ctx.input::<bool>(text).key("text").await? {
            return Ok(one.repeat(two.into()));
        }
    }
    let rest = ctx.input("Else?").optional().was("remainder").await?;
    Ok(rest.unwrap_or_default())
}

/// Calls both.
#[mcp_part]
async fn both(ctx: &mut Ctx<App>) -> Result<String> {
    let mut seen = Vec::new();
    let name = first(ctx, &mut seen).await?;
    let other = any((&name, 2), ctx, ["one", "two"]).await?;
    let third = any((&name, 2), &mut **ctx, []).await?;
    Ok(name + &other + &third)
}

/// Calls the part of parts.
#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx<App>) -> Result<String> {
    both(ctx).await
}

fn main() {
    let _ = Server::new("deployer", "1").state(App).tool::<deploy>();
}
