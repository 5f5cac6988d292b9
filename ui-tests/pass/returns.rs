use schemars::JsonSchema;
use serde::Serialize;
use siding::prelude::*;

#[derive(Debug)]
struct Mine;

impl From<Mine> for ToolError {
    fn from(_: Mine) -> Self {
        Self::new("mine")
    }
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[mcp_tool]
async fn nothing() {}

#[mcp_tool]
async fn unit() -> Result<()> {
    Ok(())
}

#[mcp_tool]
async fn text() -> Result<&'static str> {
    Ok("text")
}

#[mcp_tool]
async fn structured(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

#[mcp_tool]
async fn structured_result(a: i64, b: i64) -> Result<Sum> {
    Ok(Sum { sum: a + b })
}

#[mcp_tool]
async fn foreign_error(text: String) -> Result<i64> {
    Ok(text.parse::<i64>()?)
}

#[mcp_tool]
async fn other_errors(text: String) -> Result<String> {
    if text.is_empty() {
        Err("a text")?;
    }
    if text.len() > 10 {
        Err(format!("{text} is long"))?;
    }
    Ok(text)
}

#[mcp_tool]
async fn own_error() -> Result<String, Mine> {
    Err(Mine)
}

#[mcp_tool]
async fn standard_error(text: String) -> std::result::Result<u8, std::num::ParseIntError> {
    text.parse()
}

fn main() {
    let _ = Server::new("returns", "1").tools(tools![
        nothing,
        unit,
        text,
        structured,
        structured_result,
        foreign_error,
        other_errors,
        own_error,
        standard_error,
    ]);
}
