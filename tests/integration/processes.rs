//! The `deploy` example as a real server: killed, started again, and several at once.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::support::{Http, example};

/// A server process on a loopback port.
struct Process {
    child: Child,
    http: Http,
}

impl Process {
    fn start(folder: &Path, name: &str) -> Self {
        let mut child = Command::new(example("deploy"))
            .args(["--http", "127.0.0.1:0", "--name", name, "--store"])
            .arg(format!("sqlite:{}", folder.join("tasks.db").display()))
            .arg("--effects")
            .arg(folder.join("effects"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let url = line
                .strip_prefix("listening on http://")?
                .strip_suffix("/mcp")?;
            url.parse().ok()
        });
        let http = Http::at(address.expect("it says where it listens"));
        // What it logs from here on is nobody's business, but the pipe must not fill up.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, http }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    async fn request(&self, method: &str, params: Value) -> Value {
        let (_, mut message) = self.http.post(&[], method, params).await;
        assert_eq!(message.get("error"), None, "{method}");
        message["result"].take()
    }

    async fn deploy(&self) -> String {
        let params = json!({ "name": "deploy", "arguments": { "service": "api" } });
        let created = self.request("tools/call", params).await;
        created["taskId"].as_str().unwrap().into()
    }

    async fn approve(&self, id: &str) {
        let answer = json!({ "action": "accept", "content": { "approve": true } });
        let params = json!({ "taskId": id, "inputResponses": { "approval": answer } });
        self.request("tasks/update", params).await;
    }

    /// Polls until the task has this status, for some seconds.
    async fn until(&self, id: &str, status: &str) -> Value {
        for _ in 0..1_000 {
            let task = self.request("tasks/get", json!({ "taskId": id })).await;
            if task["status"] == status {
                return task;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("the task never became `{status}`");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn effects(folder: &Path) -> Vec<String> {
    let effects = fs::read_to_string(folder.join("effects")).unwrap();
    effects.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn u05_the_example_is_killed_while_it_waits_and_the_next_one_finishes() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Process::start(folder.path(), "deployer");
    let id = first.deploy().await;
    first.until(&id, "input_required").await;
    first.kill();
    assert_eq!(effects(folder.path()), ["plan"]);

    let second = Process::start(folder.path(), "deployer");
    second.until(&id, "input_required").await;
    second.approve(&id).await;
    let task = second.until(&id, "completed").await;
    let release = &task["result"]["structuredContent"]["release"];
    assert_eq!(release, "api with one host in eu-west-1, release 1");
    assert_eq!(effects(folder.path()), ["plan", "apply"]);
}

#[tokio::test]
async fn s02_what_one_process_writes_the_others_see_and_only_those_of_the_pool_run_it() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (
        Process::start(folder.path(), "deployer"),
        Process::start(folder.path(), "deployer"),
    );
    // Answered by the other one, seen by both.
    let id = first.deploy().await;
    second.until(&id, "input_required").await;
    second.approve(&id).await;
    first.until(&id, "completed").await;
    second.until(&id, "completed").await;
    // Cancelled by the other one, seen by both.
    let id = first.deploy().await;
    first.until(&id, "input_required").await;
    second
        .request("tasks/cancel", json!({ "taskId": id }))
        .await;
    first.until(&id, "cancelled").await;
    second.until(&id, "cancelled").await;
    assert_eq!(effects(folder.path()), ["plan", "apply", "plan"]);
    // Answered while only a process of another pool is there: it waits for its own.
    let id = first.deploy().await;
    first.until(&id, "input_required").await;
    drop((first, second));
    let foreign = Process::start(folder.path(), "stranger");
    foreign.approve(&id).await;
    sleep(Duration::from_millis(500)).await;
    foreign.until(&id, "working").await;
    assert_eq!(effects(folder.path()).len(), 4);
    let third = Process::start(folder.path(), "deployer");
    third.until(&id, "completed").await;
    assert_eq!(effects(folder.path()).len(), 5);
}
