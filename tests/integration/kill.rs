//! A server on a SQLite file is killed at a named point of a task, again and again; the next one
//! goes on. Nothing that was acknowledged is lost, and no step that was journaled starts again.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, OpenOptions},
    future::ready,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use serde_json::{Value, json};
use siding::{SqliteStore, journal::Kind, prelude::*, store::JournalChange};
use tokio::time::Duration;

use crate::support::{Declares, HookedStore, Moment};

/// How often the server is killed at each point.
const KILLS: usize = 40;

/// Where the child keeps its tasks and its effects, and where it halts.
const FOLDER: &str = "SIDING_KILL_FOLDER";
const POINT: &str = "SIDING_KILL_POINT";

/// Says that the child stands still, to whoever started it, and stands still.
fn halt() -> ! {
    eprintln!("halted");
    loop {
        std::thread::park();
    }
}

/// What the tool needs to know of its server.
struct Shop {
    effects: PathBuf,
    halts_in_step: AtomicBool,
}

impl Shop {
    fn happened(&self, what: &str) {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.effects);
        writeln!(file.unwrap(), "{what}").unwrap();
    }
}

/// Plans, asks, applies.
#[mcp_tool(task = "required", ttl = "24h")]
async fn deploy(ctx: &mut Ctx<Arc<Shop>>, number: usize) -> Result<String> {
    let shop = ctx.state();
    ctx.step("plan", async {
        shop.happened(&format!("plan {number}"));
        Ok(())
    })
    .await?;
    let approve: bool = ctx.input("Go ahead?").await?;
    let shop = ctx.state();
    ctx.step("apply", async {
        if shop.halts_in_step.load(Relaxed) {
            halt();
        }
        shop.happened(&format!("apply {number}"));
        Ok(())
    })
    .await?;
    Ok(format!("{number}: {approve}"))
}

/// The store, which halts the process where it would write more after an answer was made durable.
fn halting_after_answer(store: SqliteStore) -> HookedStore {
    let answered = AtomicBool::new(false);
    HookedStore::new(store, move |moment| {
        if let Moment::Committing(change) = moment {
            let answers = match &change.journal {
                JournalChange::Append(entries) => {
                    entries.iter().any(|entry| entry.kind() == Kind::Answered)
                }
                JournalChange::Clear => false,
            };
            // The claim of the next leg may come before this one hears that the answer is durable.
            if answered.fetch_or(answers, Relaxed) && !answers {
                halt();
            }
        }
        Box::pin(ready(()))
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it serves until it is killed"]
async fn the_server_that_is_killed() {
    let (Ok(folder), Ok(point)) = (env::var(FOLDER), env::var(POINT)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let store = SqliteStore::open(folder.join("tasks.db")).await.unwrap();
    if point == "commit" {
        // Not before the answer: the task itself has to be there.
        let answers = folder.join("answering");
        store.before_commit(move || {
            if answers.exists() {
                halt();
            }
        });
    }
    let shop = Arc::new(Shop {
        effects: folder.join("effects"),
        halts_in_step: AtomicBool::new(point == "step"),
    });
    let server = Server::new("shop", "1.0.0").state(shop).tool::<deploy>();
    let server = if point == "resume" {
        server.store(halting_after_answer(store))
    } else {
        server.store(store)
    };
    server
        .serve(tokio::io::stdin(), tokio::io::stdout())
        .await
        .unwrap();
}

/// A server in a process of its own, spoken to over its standard streams.
struct Served {
    child: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
    errors: BufReader<std::process::ChildStderr>,
    next_id: u64,
}

impl Served {
    fn start(folder: &Path, point: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "kill::the_server_that_is_killed",
            ])
            .env(FOLDER, folder)
            .env(POINT, point)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            requests: child.stdin.take().unwrap(),
            responses: BufReader::new(child.stdout.take().unwrap()),
            errors: BufReader::new(child.stderr.take().unwrap()),
            child,
            next_id: 1,
        }
    }

    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        params["_meta"] = Declares::Tasks.meta();
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.requests, "{request}").unwrap();
        id
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let mut line = String::new();
            let read = self.responses.read_line(&mut line).unwrap();
            assert!(read > 0, "the server ended");
            // The test runner writes to the same stream.
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message["id"] == id {
                assert_eq!(message.get("error"), None, "{method}");
                return message["result"].take();
            }
        }
    }

    fn until(&mut self, id: &str, status: &str) -> Value {
        for _ in 0..5_000 {
            let task = self.request("tasks/get", json!({ "taskId": id }));
            if task["status"] == status {
                return task;
            }
            assert_ne!(task["status"], "failed", "{task}");
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("the task never became `{status}`");
    }

    fn deploy(&mut self, number: usize) -> String {
        let params = json!({ "name": "deploy", "arguments": { "number": number } });
        let created = self.request("tools/call", params);
        created["taskId"].as_str().unwrap().into()
    }

    fn approval(id: &str) -> Value {
        let answer = json!({ "action": "accept", "content": { "value": true } });
        json!({ "taskId": id, "inputResponses": { "approve": answer } })
    }

    /// Waits until it says that it stands still, and kills it there.
    fn kill_when_halted(self) {
        let mut errors = self.errors;
        let mut line = String::new();
        while line.trim() != "halted" {
            line.clear();
            assert!(errors.read_line(&mut line).unwrap() > 0, "the server ended");
        }
        kill(self.child);
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// How often each effect happened.
fn effects(folder: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(folder.join("effects")).unwrap().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// Kills a server at `point` of a task, and lets the next one end the task and begin the next; and
/// so on.
fn killed_at(point: &str, at_point: impl Fn(Served, &str)) {
    let folder = tempfile::tempdir().unwrap();
    let answering = folder.path().join("answering");
    for number in 0..KILLS {
        let mut served = Served::start(folder.path(), point);
        let id = served.deploy(number);
        served.until(&id, "input_required");
        fs::write(&answering, "").unwrap();
        at_point(served, &id);
        fs::remove_file(&answering).unwrap();

        let mut served = Served::start(folder.path(), "nowhere");
        let task = served.request("tasks/get", json!({ "taskId": id }));
        if task["status"] == "input_required" {
            served.request("tasks/update", Served::approval(&id));
        }
        let task = served.until(&id, "completed");
        assert_eq!(
            task["result"]["content"][0]["text"],
            format!("{number}: true")
        );
        kill(served.child);
    }
    let effects = effects(folder.path());
    for number in 0..KILLS {
        assert_eq!(
            effects[&format!("plan {number}")],
            1,
            "the step was journaled"
        );
        assert_eq!(effects[&format!("apply {number}")], 1);
    }
}

#[test]
fn u05_killed_while_parked_forty_times() {
    killed_at("nowhere", |served, _| kill(served.child));
}

#[test]
fn u04_killed_between_the_acknowledgement_of_an_answer_and_the_resume_forty_times() {
    killed_at("resume", |mut served, id| {
        // Acknowledged: from here on nobody answers again.
        served.request("tasks/update", Served::approval(id));
        served.kill_when_halted();
    });
}

#[test]
fn u05_killed_inside_of_a_step_forty_times() {
    killed_at("step", |mut served, id| {
        served.request("tasks/update", Served::approval(id));
        served.kill_when_halted();
    });
}

#[test]
fn s18_killed_inside_of_a_group_commit_forty_times() {
    killed_at("commit", |mut served, id| {
        served.send("tasks/update", Served::approval(id));
        served.kill_when_halted();
    });
}
