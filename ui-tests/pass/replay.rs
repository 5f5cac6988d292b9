//! What looks as if it ran again on each resume, and is in order.

#![deny(warnings)]

use std::time::{Duration, SystemTime};

use futures::stream::{self, StreamExt};
use siding::prelude::*;
use tokio::{sync::Mutex, time::timeout};

async fn fetch() -> Result<u32> {
    Ok(1)
}

async fn helper(ctx: &mut Ctx) -> Result<u32> {
    ctx.step("fetch", fetch()).await
}

/// Asks, with everything else in steps.
#[mcp_tool(task = "required")]
async fn steps(ctx: &mut Ctx<Mutex<u32>>) -> Result<u32> {
    let timed = ctx.step("timed", timeout(Duration::from_secs(1), fetch())).await??;
    let mut sum = 0;
    sum += ctx
        .step("sum", async {
            let mut sum = 0;
            for _ in 0..3 {
                sum += tokio::spawn(fetch()).await??;
            }
            let begun = SystemTime::now();
            let (one, two) = tokio::join!(fetch(), fetch());
            Ok(sum + one? + two? + u32::from(begun.elapsed().is_ok()))
        })
        .await?;
    sum += helper(ctx).await?;
    let work = async { siding::Ok(fetch().await?) };
    sum += ctx.step("work", work).await?;
    ctx.step("count", async {
        let mut buffer = vec![0];
        buffer[0] = 1;
        extend(&mut buffer);
        Ok(())
    })
    .await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(if sure { sum + timed } else { 0 })
}

fn extend(buffer: &mut Vec<u32>) {
    buffer.push(1);
}

/// Takes a lock that it lets go.
#[mcp_tool(task = "required", allow(await_outside_step, impure_call))]
async fn locks(ctx: &mut Ctx<Mutex<u32>>) -> Result<u32> {
    let state = ctx.state();
    let count = *state.lock().await;
    {
        let mut guard = state.lock().await;
        *guard += 1;
    }
    let guard = state.lock().await;
    drop(guard);
    let begun = SystemTime::now();
    let sure: bool = ctx.input(format!("{begun:?}")).await?;
    let guard = state.lock().await;
    Ok(if sure { *guard } else { count })
}

/// Borrows the items of a stream, in the ways that compile.
#[mcp_tool]
async fn streams(items: Vec<String>) -> Result<usize> {
    let lengths = stream::iter(&items).map(|item| length(item));
    let lengths: Vec<usize> = lengths.buffer_unordered(2).boxed().collect().await;
    let others = stream::iter(items.iter().map(|item| length(item))).buffered(2).boxed();
    let others: Vec<usize> = others.collect().await;
    let futures: Vec<_> = items.iter().map(|item| length(item)).collect();
    let third: Vec<usize> = stream::iter(futures).buffered(2).collect().await;
    Ok(lengths.len() + others.len() + third.len())
}

async fn length(text: &str) -> usize {
    text.len()
}

/// Never parks.
#[mcp_tool]
async fn plain() -> Result<u32> {
    let _ = SystemTime::now();
    fetch().await
}

/// Asks inside of macros that list expressions.
#[mcp_tool(task = "optional")]
async fn macros(ctx: &mut Ctx) -> Result<String> {
    let text = format!("{}", ctx.input::<u8>("How many?").key("count").await?);
    let all = vec![ctx.input::<u8>("First?").key("first").await?; 2];
    assert!(ctx.input::<bool>("Sure?").key("sure").await?, "not {}", "sure");
    println!("{name}", name = ctx.input::<String>("Name?").await?);
    Ok(format!("{text}{all:?}"))
}

fn main() {
    let _ = Server::new("replay", "1")
        .state(Mutex::new(0))
        .tools(tools![steps, locks, plain, macros, streams]);
}
