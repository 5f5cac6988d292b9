use siding::prelude::*;

#[derive(Debug)]
struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

async fn fetch(name: &str) -> std::result::Result<String, Failed> {
    Ok(name.to_owned())
}

/// Steps of every form, in a call.
#[mcp_tool]
async fn run(ctx: &mut Ctx, name: String) -> Result<usize> {
    let plain = ctx.step("plain", fetch(&name)).await?;
    let block = ctx
        .step("block", async { Ok(fetch(&name).await?.len()) })
        .await?;
    let tail = ctx.step("tail", async { fetch(&name).await }).await?;
    let branches = ctx
        .step("branches", async move {
            if plain.is_empty() {
                return Err("empty".into());
            }
            if plain.len() > 3 {
                return fetch(&plain).await;
            }
            match plain.len() {
                0 => fetch("none").await,
                1 => Err(Failed),
                2 => panic!("two"),
                _ => Ok(plain),
            }
        })
        .await?;
    for host in ["a", "b"] {
        ctx.step(format!("visit {host}"), async { siding::Ok(()) })
            .await?;
    }
    Ok(block + tail.len() + branches.len())
}

fn main() {
    let _ = Server::new("steps", "1").tool::<run>();
}
