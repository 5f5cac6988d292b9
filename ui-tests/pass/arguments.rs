use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use siding::prelude::*;

type Maybe<T> = Option<T>;

#[derive(Deserialize, JsonSchema)]
struct Point {
    x: f64,
    y: f64,
}

/// Takes one of each.
#[mcp_tool(
    title = "All of them",
    read_only = true,
    idempotent,
    open_world = false
)]
async fn all(
    text: &str,
    maybe: Option<&str>,
    alias: Maybe<u8>,
    copied: Cow<'_, str>,
    mut count: u32,
    points: Vec<Point>,
    #[arg(default = 3)] times: u8,
    #[arg(default = "eu")] region: String,
    #[arg(default = "x")] label: Option<String>,
    #[arg(rename = "type", description = "What it is.")] kind: String,
    r#match: bool,
) -> String {
    count += u32::from(times) + u32::from(alias.unwrap_or_default());
    let sum: f64 = points.iter().map(|point| point.x + point.y).sum();
    format!(
        "{text}{maybe:?}{copied}{count}{sum}{region}{label:?}{kind}{}",
        r#match
    )
}

/// The context may stand anywhere, and have any name.
#[mcp_tool]
async fn last(name: String, context: &mut Ctx) -> String {
    context.status(&name);
    name
}

/// No arguments.
#[mcp_tool(description = "Says when.")]
async fn r#when() -> &'static str {
    "now"
}

fn main() {
    let _ = Server::new("arguments", "1").tools(tools![all, last, r#when]);
}
