//! The tools that the public MCP conformance suite expects of a server under test.
//!
//! `--http 127.0.0.1:0` serves them over HTTP at `/mcp` and prints the address.

mod handler;
mod rounds;

use std::time::Duration;

use clap::Parser;
use siding::prelude::*;
use tokio::{net::TcpListener, time::sleep};

/// Greets somebody.
#[mcp_tool]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Computes for some time.
#[mcp_tool(task = "optional")]
async fn slow_compute(
    ctx: &mut Ctx,
    /// How long it takes.
    seconds: u64,
    /// Comes back in the result.
    label: Option<String>,
) -> Result<String> {
    let label = label.unwrap_or_default();
    tokio::select! {
        () = sleep(Duration::from_secs(seconds)) => Ok(format!("computed {label} in {seconds} s")),
        () = ctx.cancelled() => Err(ToolError::new("cancelled")),
    }
}

/// Fails after a second, as a tool fails.
#[mcp_tool(task = "required")]
async fn failing_job() -> Result<String> {
    sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("the job failed"))
}

/// Fails as a request fails.
#[mcp_tool(task = "required")]
async fn protocol_error_job() -> Result<String> {
    Err(ToolError::protocol(-32603, "the job broke down", None))
}

/// What `confirm_delete` asks for.
#[derive(Input)]
struct Confirmation {
    /// Really?
    confirm: bool,
}

/// Deletes a file after somebody confirmed it.
#[mcp_tool(task = "required")]
async fn confirm_delete(ctx: &mut Ctx, filename: String) -> Result<String> {
    let confirmation: Confirmation = ctx.input(format!("Delete {filename}?")).await?;
    Ok(if confirmation.confirm {
        format!("deleted {filename}")
    } else {
        format!("kept {filename}")
    })
}

/// What a name is asked by.
#[derive(Input)]
struct Named {
    name: String,
}

/// Asks two questions at once.
#[mcp_tool(task = "required")]
async fn multi_input(ctx: &mut Ctx) -> Result<String> {
    let (first, second): (Named, Named) = ctx.input_all(("First name?", "Second name?")).await?;
    Ok(format!("{} and {}", first.name, second.name))
}

#[derive(Parser)]
struct Options {
    /// Serve over HTTP on this address, instead of standard input and output.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    let server = Server::over(handler::Handler)
        .tools(tools![
            greet,
            slow_compute,
            failing_job,
            protocol_error_job,
            confirm_delete,
            multi_input,
        ])
        .tools(rounds::all());
    match options.http {
        None => server.serve_stdio().await?,
        Some(address) => {
            let listener = TcpListener::bind(address).await?;
            eprintln!("listening on http://{}/mcp", listener.local_addr()?);
            server.serve_listener(listener).await?;
        }
    }
    siding::Ok(())
}
