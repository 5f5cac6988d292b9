//! A server that says what a test wrote down, and remembers what it was asked.

mod reply;
mod script;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    sync::{mpsc, watch},
};

pub use self::reply::Reply;
use self::{reply::error, script::Script};

/// A server for tests of clients: it says what the test wrote down, true or not, and remembers what it
/// was asked. Clones are one server.
///
/// It speaks JSON as it is on the wire, so that a test can also say what no server should.
///
/// ```
/// use serde_json::json;
/// use siding::testing::{FakeServer, Reply};
///
/// # #[tokio::main] async fn main() {
/// let server = FakeServer::new();
/// server.reply(Reply::task("t1", json!({ "pollIntervalMs": 200 })));
/// server.task("t1", [
///     json!({ "status": "working", "statusMessage": "brewing" }),
///     json!({ "status": "completed", "result": { "content": [] } }),
/// ]);
/// let transport = server.connect(); // for the client under test
/// # drop(transport);
/// assert_eq!(server.count("tasks/get"), 0);
/// # }
/// ```
#[derive(Clone)]
pub struct FakeServer {
    script: Arc<Mutex<Script>>,
    received: Arc<watch::Sender<Vec<Received>>>,
}

/// A request or notification that the fake server received, or the client's answer to a question of
/// its own (by the method of that question).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Received {
    /// The method.
    pub method: String,
    /// The parameters, or the answer.
    pub params: Value,
}

impl FakeServer {
    /// A server of 2026-07-28.
    pub fn new() -> Self {
        Self {
            script: Arc::default(),
            received: Arc::new(watch::Sender::new(Vec::new())),
        }
    }

    /// A server of 2025-11-25, which knows `initialize` but not `server/discover`.
    pub fn older() -> Self {
        let server = Self::new();
        server.script().is_older = true;
        server
    }

    /// Lists this tool, on a page of its own.
    pub fn tool(&self, tool: Value) {
        self.script().tools.push(tool);
    }

    /// What `tools/call` is answered with, after the replies given before.
    pub fn reply(&self, reply: Reply) {
        self.script().calls.push_back(reply);
    }

    /// The states of a task, one for each `tasks/get`; the last one stays. Members that a state leaves out
    /// are those that the task was created with.
    pub fn task(&self, id: &str, states: impl IntoIterator<Item = Value>) {
        let mut script = self.script();
        let task = script.tasks.entry(id.to_owned()).or_default();
        task.states.extend(states);
    }

    /// Refuses the next request of this method, after the refusals given before.
    pub fn refuse(&self, method: &str, code: i32, message: &str) {
        let mut script = self.script();
        let refusals = script.refusals.entry(method.to_owned()).or_default();
        refusals.push_back(error(code, message));
    }

    /// Leaves all further requests of this method without an answer.
    pub fn ignore(&self, method: &str) {
        self.script().ignored.insert(method.to_owned());
    }

    /// Tells of the progress of the latest call, now.
    pub fn progress(&self, done: f64, total: Option<f64>) {
        let params = json!({ "progress": done, "total": total });
        self.script().tell_progress(params);
    }

    /// All that came, in order.
    pub fn received(&self) -> Vec<Received> {
        self.received.borrow().clone()
    }

    /// The parameters of all requests of one method, in order.
    pub fn params(&self, method: &str) -> Vec<Value> {
        let received = self.received.borrow();
        let of_method = received.iter().filter(|request| request.method == method);
        of_method.map(|request| request.params.clone()).collect()
    }

    /// How many requests of one method there were.
    pub fn count(&self, method: &str) -> usize {
        self.params(method).len()
    }

    /// Waits until a request of this method has come.
    pub async fn until(&self, method: &str) {
        let mut received = self.received.subscribe();
        let came = received.wait_for(|all| all.iter().any(|request| request.method == method));
        // The sender is here, so this cannot fail.
        let _came = came.await.is_ok();
    }

    /// Serves a client, and gives its end of the connection.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn connect(&self) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        tokio::spawn(self.clone().serve(ours));
        theirs
    }

    async fn serve(self, stream: DuplexStream) {
        let (reader, mut writer) = tokio::io::split(stream);
        let (sender, mut outgoing) = mpsc::unbounded_channel::<Value>();
        self.script().writer = Some(sender);
        let write = async {
            while let Some(message) = outgoing.recv().await {
                let line = format!("{message}\n");
                if writer.write_all(line.as_bytes()).await.is_err() {
                    break;
                }
            }
        };
        let read = async {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if let Ok(message) = serde_json::from_str(&line) {
                    self.receive(message);
                }
            }
        };
        tokio::select! {
            () = write => {}
            () = read => {}
        }
    }

    fn receive(&self, mut message: Value) {
        let mut script = self.script();
        let id = message["id"].take();
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            let Some((call, method)) = script.waiting.pop() else {
                return;
            };
            let params = match message.get_mut("result") {
                Some(result) => result.take(),
                None => message["error"].take(),
            };
            self.remember(method, params);
            script.proceed(&call);
            return;
        };
        let params = message["params"].take();
        self.remember(method.clone(), params.clone());
        if !id.is_null() && !script.ignored.contains(&method) {
            script.respond(id, &method, &params);
        }
    }

    fn remember(&self, method: String, params: Value) {
        let received = Received { method, params };
        self.received.send_modify(|all| all.push(received));
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for FakeServer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FakeServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeServer")
            .field("received", &*self.received.borrow())
            .finish_non_exhaustive()
    }
}
