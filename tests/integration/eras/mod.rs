//! What a server says of itself to clients of each era, to the letter.

use expect_test::{ExpectFile, expect_file};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, TASKS, Wire};

#[derive(Serialize, JsonSchema)]
struct Deployed {
    release: String,
}

/// Deploys a service after somebody approved.
#[mcp_tool(
    task = "required",
    title = "Deploy",
    destructive,
    ttl = "24h",
    poll = "2s"
)]
async fn deploy(ctx: &mut Ctx, service: String) -> Result<Deployed> {
    let sure: bool = ctx.input(format!("Deploy {service}?")).await?;
    let release = sure.to_string();
    Ok(Deployed { release })
}

/// Looks at a service, perhaps for a while.
#[mcp_tool(task = "optional", read_only, detach = "after 2s")]
async fn inspect(
    /// Its name.
    service: String,
    #[arg(default = 3, range(1..=9))] depth: u8,
) -> Vec<String> {
    vec![service; depth.into()]
}

/// Tells the time.
#[mcp_tool]
async fn clock() -> &'static str {
    "noon"
}

fn server() -> Server {
    Server::new("deployer", "1.2.3")
        .instructions("Deploy on weekdays.")
        .tools(tools![deploy, inspect, clock])
}

fn without_tasks() -> Server {
    Server::new("clock", "1.2.3").tool::<clock>()
}

fn check(said: &Value, golden: &ExpectFile) {
    let said = serde_json::to_string_pretty(said).unwrap();
    golden.assert_eq(&format!("{said}\n"));
}

/// What is said to a client of 2026-07-28: `server/discover` and `tools/list`.
async fn modern(server: Server, declares: Declares) -> Value {
    let mut wire = Wire::modern(server, declares);
    json!({
        "server/discover": wire.request("server/discover", json!({})).await.unwrap(),
        "tools/list": wire.request("tools/list", json!({})).await.unwrap(),
    })
}

/// What is said to a client that opens with `initialize`, and `tools/list` after it.
async fn older(server: Server, version: &str, declares: Declares) -> Value {
    let (mut wire, initialized) = Wire::older(server, version, declares).await;
    json!({
        "initialize": initialized,
        "tools/list": wire.request("tools/list", json!({})).await.unwrap(),
    })
}

#[tokio::test(start_paused = true)]
async fn s22_the_era_of_2026_07_28() {
    let said = modern(server(), Declares::Tasks).await;
    check(&said, &expect_file!["2026-07-28.json"]);
    // Lists do not vary by what a client declares (2026-07-28, tools).
    assert_eq!(modern(server(), Declares::Nothing).await, said);
}

#[tokio::test(start_paused = true)]
async fn s22_f01_without_a_tool_that_can_be_a_task_nothing_is_said_of_tasks() {
    let said = modern(without_tasks(), Declares::Tasks).await;
    check(&said, &expect_file!["2026-07-28-without-tasks.json"]);
    assert!(!said.to_string().contains("tasks"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn s22_the_eras_with_a_handshake() {
    let versions = [
        ("2025-11-25", expect_file!["2025-11-25.json"]),
        ("2025-06-18", expect_file!["2025-06-18.json"]),
        ("2025-03-26", expect_file!["2025-03-26.json"]),
        ("2024-11-05", expect_file!["2024-11-05.json"]),
    ];
    for (version, golden) in versions {
        let said = older(server(), version, Declares::Tasks).await;
        check(&said, &golden);
        assert_eq!(said["initialize"]["protocolVersion"], version);
        assert!(!said.to_string().contains(TASKS), "{version}: {said}");
        assert!(
            !said.to_string().contains("taskSupport"),
            "{version}: {said}"
        );
        assert!(!said.to_string().contains("\"tasks\""), "{version}: {said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_that_has_no_handshake_is_answered_with_one_that_has() {
    let said = older(server(), "2026-07-28", Declares::Tasks).await;
    assert_eq!(said["initialize"]["protocolVersion"], "2025-11-25");
    assert!(!said.to_string().contains(TASKS), "{said}");
}
