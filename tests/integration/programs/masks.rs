//! What clients are told of the errors of other code.

use std::{error::Error, fmt, io};

use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Wire};

const SECRET: &str = "postgres://admin:hunter2@db";

#[derive(Debug)]
struct Timeout {
    seconds: u32,
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SECRET)
    }
}

impl Error for Timeout {}

#[derive(Debug)]
struct Wrapped(Timeout);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SECRET)
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn fail(how: &str) -> Result<String> {
    match how {
        "foreign" => Err(io::Error::other(SECRET))?,
        "text" => Err(SECRET)?,
        "mapped" => Err(Timeout { seconds: 3 })?,
        "wrapped" => Err(Wrapped(Timeout { seconds: 4 }))?,
        "own" => Err(ToolError::new("the author says so")),
        "protocol" => Err(ToolError::protocol(4001, "closed", None)),
        _ => Ok("fine".into()),
    }
}

/// Fails without a context.
#[mcp_tool(task = "optional")]
async fn plain(how: String) -> Result<String> {
    fail(&how)
}

/// Fails with a context.
#[mcp_tool(task = "optional")]
async fn contextual(ctx: &mut Ctx, how: String) -> Result<String> {
    ctx.status("failing");
    fail(&how)
}

/// Fails in a step.
#[mcp_tool(task = "optional")]
async fn stepped(ctx: &mut Ctx, how: String) -> Result<String> {
    ctx.step("fail", async { fail(&how) }).await
}

/// Fails in one of several steps.
#[mcp_tool(task = "optional")]
async fn grouped(ctx: &mut Ctx, how: String) -> Result<String> {
    let ways = ["fine".to_owned(), how];
    let texts = ctx
        .step_all("fail", ways, |how| async move { fail(&how) })
        .await?;
    Ok(texts[1].clone())
}

/// Fails in a step, and tells its error in words of its own.
#[mcp_tool(task = "optional")]
async fn retold(ctx: &mut Ctx, how: String) -> Result<String> {
    match ctx.step("fail", async { fail(&how) }).await {
        Ok(text) => Ok(text),
        Err(error) => Err(ToolError::new(format!("the step failed: {error}"))),
    }
}

const TOOLS: [&str; 5] = ["plain", "contextual", "stepped", "grouped", "retold"];

fn server(mask: bool) -> Server {
    Server::new("masks", "1.0.0")
        .tools(tools![plain, contextual, stepped, grouped, retold])
        .map_error::<Timeout>(|timeout| ToolError::new(format!("{} s", timeout.seconds)))
        .mask_errors(mask)
}

/// How the tool ends, in the call and as a task.
async fn ends(mask: bool, tool: &str, how: &str) -> [Value; 2] {
    let mut wire = Wire::modern(server(mask), Declares::Nothing);
    let arguments = json!({ "how": how });
    let direct = match wire.call(tool, arguments.clone()).await {
        Ok(result) => result["content"][0]["text"].clone(),
        Err(error) => error["message"].clone(),
    };
    let mut wire = Wire::tasks(server(mask));
    let id = wire.task(tool, arguments).await;
    let task = wire.end(&id).await;
    assert!(!mask || !task.to_string().contains("hunter2"), "{task}");
    let in_task = match &task["result"] {
        Value::Null => task["error"]["message"].clone(),
        result => result["content"][0]["text"].clone(),
    };
    [direct, in_task]
}

#[tokio::test(start_paused = true)]
async fn f09_a_foreign_text_never_leaks() {
    for tool in TOOLS {
        for how in ["foreign", "text"] {
            for text in ends(true, tool, how).await {
                let text = text.as_str().unwrap();
                assert!(
                    text.ends_with("the tool failed; the log of the server tells why"),
                    "{text}"
                );
            }
            for text in ends(false, tool, how).await {
                assert!(text.as_str().unwrap().ends_with(SECRET), "{text}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f09_the_texts_of_the_author_and_of_maps_stay() {
    for mask in [true, false] {
        for tool in TOOLS {
            for (how, expected) in [
                ("mapped", "3 s"),
                ("wrapped", "4 s"),
                ("own", "the author says so"),
                ("protocol", "closed"),
                ("fine", "fine"),
            ] {
                for text in ends(mask, tool, how).await {
                    let text = text.as_str().unwrap();
                    assert!(text.ends_with(expected), "{tool} {how}: {text}");
                }
            }
        }
    }
}
