//! Servers that cannot be built.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use siding::prelude::*;

use crate::support::{TASKS, Wire};

mod other {
    use siding::prelude::*;

    /// Greets, too.
    #[mcp_tool(name = "greet")]
    pub(super) async fn welcome() -> String {
        "Welcome".into()
    }
}

/// Greets.
#[mcp_tool]
async fn greet() -> String {
    "Hello".into()
}

/// Something whose schema is not an object of keywords.
#[derive(Serialize, Deserialize)]
struct Never;

impl JsonSchema for Never {
    fn schema_name() -> Cow<'static, str> {
        "Never".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        false.into()
    }
}

/// Returns it.
#[mcp_tool]
async fn never() -> Never {
    Never
}

/// Takes it.
#[mcp_tool]
async fn takes_never(value: Never) {
    let Never = value;
}

/// Something whose schema does not tell its type.
#[derive(Serialize, Deserialize)]
struct Opaque(String);

impl JsonSchema for Opaque {
    fn schema_name() -> Cow<'static, str> {
        "Opaque".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

/// Limits a text that says that it is none.
#[mcp_tool]
async fn limited(#[arg(length(1..))] value: Opaque) -> String {
    value.0
}

/// Has a default outside of its limits.
#[mcp_tool]
async fn outside(#[arg(range(1..), default = 0)] count: u8) -> u8 {
    count
}

/// Why the server cannot serve.
async fn refusal(server: Server) -> String {
    let (reader, writer) = (tokio::io::empty(), tokio::io::sink());
    server
        .serve(reader, writer)
        .await
        .expect_err("it cannot serve")
        .to_string()
}

/// Where the function `name` stands in this file.
fn place(name: &str) -> String {
    let function = format!("async fn {name}(");
    let mut lines = include_str!("building.rs").lines().enumerate();
    let found = lines.find_map(|(line, text)| Some((line, text.find(&function)?)));
    let (line, column) = found.expect("the function is in this file");
    format!(
        "building.rs:{}:{}",
        line + 1,
        column + "async fn ".len() + 1
    )
}

#[tokio::test]
async fn u15_two_tools_of_one_name_are_refused_with_both_places() {
    let server = Server::new("greeter", "1.0.0").tools(tools![greet, other::welcome]);
    let text = refusal(server).await;
    for part in [
        "two tools are called `greet`",
        &place("greet"),
        &place("welcome"),
        "give one of them another `name = ..`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn u15_a_schema_that_is_not_an_object_is_refused_with_its_place() {
    for (server, name) in [
        (Server::new("never", "1.0.0").tool::<never>(), "never"),
        (
            Server::new("never", "1.0.0").tool::<takes_never>(),
            "takes_never",
        ),
    ] {
        let text = refusal(server).await;
        for part in ["schema", "takes nothing", &place(name)] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[tokio::test]
async fn limits_that_do_not_go_with_the_type_are_refused() {
    let text = refusal(Server::new("limits", "1.0.0").tool::<limited>()).await;
    assert!(
        text.contains("`value` has a `length`, but is neither"),
        "{text}"
    );
    let text = refusal(Server::new("limits", "1.0.0").tool::<outside>()).await;
    assert!(text.contains("`count` must be at least 1"), "{text}");
}

/// Asks.
#[mcp_tool(task = "required")]
async fn ask(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure)
}

/// Whatever a server is made of, it has a store: so none with a task tool cannot serve tasks.
#[tokio::test(start_paused = true)]
async fn f14_a_server_with_a_task_tool_serves_tasks() {
    let plain = Server::new("plain", "1.0.0").tool::<greet>();
    let asking = Server::new("asks", "1.0.0").tools(tools![greet, ask]);
    for (server, serves) in [(plain, false), (asking, true)] {
        let mut wire = Wire::tasks(server);
        let discovered = wire.request("server/discover", json!({})).await.unwrap();
        let declared = &discovered["capabilities"]["extensions"][TASKS];
        assert_eq!(declared.is_object(), serves, "{discovered}");
    }
}
