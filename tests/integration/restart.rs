//! How long it takes from the death of a server until its tasks go on.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use siding::prelude::*;

use crate::support::{Process, eventually};

/// How often it is measured.
const RUNS: usize = 20;

/// Where the child keeps its tasks and its log.
const FOLDER: &str = "SIDING_RESTART_FOLDER";

/// Has a step that begins and never ends.
#[mcp_tool(task = "required", ttl = "24h")]
async fn begins(ctx: &mut Ctx<Arc<PathBuf>>) -> Result<String> {
    let begun = ctx.state();
    ctx.step("begin", async {
        let file = fs::File::options().create(true).append(true).open(&**begun);
        file?.write_all(b"begun\n")?;
        std::future::pending::<Result<()>>().await
    })
    .await?;
    Ok("ended".into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it serves until it is killed"]
async fn the_server_that_is_started_again() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    let store = SqliteStore::open(folder.join("tasks.db")).await.unwrap();
    let server = Server::new("shop", "1.0.0").state(Arc::new(folder.join("begun")));
    let server = server.tool::<begins>().store(store);
    server
        .serve(tokio::io::stdin(), tokio::io::stdout())
        .await
        .unwrap();
}

fn started(folder: &Path) -> Process {
    let name = "restart::the_server_that_is_started_again";
    Process::start(name, &[(FOLDER, folder)], &folder.join("log"))
}

/// Waits until the step has begun so many times.
fn begun(folder: &Path, times: usize) {
    eventually("the step", || {
        let begun = fs::read_to_string(folder.join("begun")).ok()?;
        (begun.lines().count() >= times).then_some(())
    });
}

/// How long the step of a task that was killed took to begin again.
fn again(has_other: bool) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut server = started(folder);
    server.task("begins", json!({}));
    begun(folder, 1);
    let mut other = has_other.then(|| started(folder));
    if let Some(other) = &mut other {
        // It serves from here on.
        other.request("tools/list", json!({})).unwrap();
    }
    let since = Instant::now();
    server.kill();
    let _next = other.unwrap_or_else(|| started(folder));
    begun(folder, 2);
    since.elapsed()
}

/// The median of some runs.
fn median(what: &str, has_other: bool) -> Duration {
    let mut times: Vec<_> = (0..RUNS).map(|_| again(has_other)).collect();
    times.sort();
    let (median, longest) = (times[RUNS / 2], times[RUNS - 1]);
    println!("{what}: {median:?} (median of {RUNS}), {longest:?} at most");
    median
}

#[test]
fn a_task_goes_on_when_its_server_was_killed_and_started_again() {
    median("from a kill to the next line, started again", false);
}

#[test]
fn a_task_goes_on_in_the_server_that_is_left() {
    median("from a kill to the next line, in another server", true);
}

#[test]
#[ignore = "a figure: run by `.ci/run figures`"]
fn figure_a_task_goes_on_within_a_second_after_a_restart() {
    let median = median("from a kill to the next line, started again", false);
    assert!(median <= Duration::from_secs(1), "{median:?}");
}

#[test]
#[ignore = "a figure: run by `.ci/run figures`"]
fn figure_a_task_goes_on_within_a_second_in_the_server_that_is_left() {
    let median = median("from a kill to the next line, in another server", true);
    assert!(median <= Duration::from_secs(1), "{median:?}");
}
