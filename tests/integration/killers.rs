//! A task that ends its process takes no innocent one with it: not again and again, and not for good.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::json;
use siding::prelude::*;
use tokio::time::{Duration, sleep};

use crate::support::{Process, eventually};

/// Where the child keeps its tasks and its effects.
const FOLDER: &str = "SIDING_KILLERS_FOLDER";
/// How often an innocent may be charged: when its process died, and once more.
const CHARGES: usize = 2;
const INNOCENTS: usize = 3;

type Effects = Arc<PathBuf>;

fn happened(effects: &Path, what: &str) {
    let file = fs::File::options().create(true).append(true).open(effects);
    file.unwrap()
        .write_all(format!("{what}\n").as_bytes())
        .unwrap();
}

/// Ends its process, once all that runs beside it is under way.
#[mcp_tool(task = "required", ttl = "24h")]
async fn aborts(ctx: &mut Ctx<Effects>) -> Result<String> {
    let effects = ctx.state();
    happened(&effects, "aborts");
    ctx.step("abort", async {
        sleep(Duration::from_millis(100)).await;
        std::process::abort();
        #[expect(unreachable_code, reason = "a step has a type")]
        Ok(())
    })
    .await?;
    Ok("lived".into())
}

/// Panics, in a process for which that is the end.
#[mcp_tool(task = "required", ttl = "24h")]
async fn panics(ctx: &mut Ctx<Effects>) -> Result<String> {
    let effects = ctx.state();
    happened(&effects, "panics");
    sleep(Duration::from_millis(100)).await;
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    panic!("as with `panic = \"abort\"`");
}

/// Charges, which takes its time.
#[mcp_tool(task = "required", ttl = "24h")]
async fn charges(ctx: &mut Ctx<Effects>, number: usize) -> Result<String> {
    let effects = ctx.state();
    ctx.step("charge", async {
        happened(&effects, &format!("charge {number}"));
        sleep(Duration::from_millis(300)).await;
        Ok(())
    })
    .await?;
    Ok("charged".into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it serves until it is killed"]
async fn the_server_that_its_tasks_kill() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    let store = SqliteStore::open(folder.join("tasks.db")).await.unwrap();
    let effects = Arc::new(folder.join("effects"));
    let server = Server::new("shop", "1.0.0").state(effects);
    let server = server.tools(tools![aborts, panics, charges]).store(store);
    server
        .serve(tokio::io::stdin(), tokio::io::stdout())
        .await
        .unwrap();
}

fn started(folder: &Path) -> Process {
    let name = "killers::the_server_that_its_tasks_kill";
    Process::start(name, &[(FOLDER, folder)], &folder.join("log"))
}

/// A killer beside innocents, and a supervisor that starts the server again each time it dies.
fn beside_innocents(killer: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = started(folder.path());
    let innocents: Vec<_> = (0..INNOCENTS)
        .map(|number| server.task("charges", json!({ "number": number })))
        .collect();
    let guilty = server.task(killer, json!({}));
    let mut deaths = 0;
    let mut ended = |id: &str| {
        eventually("the end", || {
            if server.has_ended() {
                deaths += 1;
                server = started(folder.path());
            }
            let task = server.request("tasks/get", json!({ "taskId": id })).ok()?;
            let status = task["status"].as_str()?;
            ["completed", "failed"].contains(&status).then_some(task)
        })
    };
    for innocent in innocents {
        let task = ended(&innocent);
        assert_eq!(task["status"], "completed", "{task}");
    }
    let task = ended(&guilty);
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(task["error"]["data"]["reason"], "stalled", "{task}");
    let effects = fs::read_to_string(folder.path().join("effects")).unwrap();
    println!("{deaths} deaths; {:?}", effects.lines().collect::<Vec<_>>());
    for number in 0..INNOCENTS {
        let charge = format!("charge {number}");
        let charged = effects.lines().filter(|line| **line == charge).count();
        assert!(
            (1..=CHARGES).contains(&charged),
            "{charge}: {charged} times"
        );
    }
}

#[test]
fn a_task_that_aborts_fails_and_innocents_are_charged_at_most_once_more() {
    beside_innocents("aborts");
}

#[test]
fn a_task_whose_panic_aborts_fails_and_innocents_are_charged_at_most_once_more() {
    beside_innocents("panics");
}
