//! A server in a process of its own: this test program again, spoken to over its standard streams.

use std::{
    env,
    ffi::OsStr,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::Declares;

/// How long a response may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A child that serves until it is killed, and does not outlive this.
pub(crate) struct Process {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    next_id: u64,
}

impl Process {
    /// Starts the ignored test `name` with these variables; what it logs goes into the file `log`.
    pub(crate) fn start<S: AsRef<OsStr>>(name: &str, variables: &[(&str, S)], log: &Path) -> Self {
        let log = File::options().create(true).append(true).open(log).unwrap();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", name])
            .envs(variables.iter().map(|(name, value)| (name, value.as_ref())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let (sender, messages) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            // The test runner writes to the same stream.
            let messages = lines
                .map_while(Result::ok)
                .filter_map(|line| serde_json::from_str(&line).ok());
            for message in messages {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            requests: child.stdin.take().unwrap(),
            child,
            messages,
            next_id: 1,
        }
    }

    /// Sends a request, and gives its id. One that is dead does not hear it.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        params["_meta"] = Declares::Tasks.meta();
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let _heard = writeln!(self.requests, "{request}");
        id
    }

    /// A response that has come, with the id of its request.
    pub(crate) fn received(&mut self) -> Option<(u64, Result<Value, Value>)> {
        self.messages.try_iter().find_map(response)
    }

    /// Waits for the response to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        loop {
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => {
                    if let Some((_, response)) = response(message).filter(|(of, _)| *of == id) {
                        return response;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("no response to `{method}`"),
                Err(RecvTimeoutError::Disconnected) => return Err(json!("the server ended")),
            }
        }
    }

    /// Calls a tool that becomes a task, and gives its id.
    pub(crate) fn task(&mut self, tool: &str, arguments: Value) -> String {
        let call = json!({ "name": tool, "arguments": arguments });
        let created = self.request("tools/call", call).unwrap();
        created["taskId"].as_str().unwrap().into()
    }

    /// Sends a signal: `STOP`, or `CONT`.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(sent.unwrap().success(), "a process can be signalled");
    }

    /// Ends it where it stands.
    pub(crate) fn kill(&mut self) {
        let _ended = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Whether it ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn response(mut message: Value) -> Option<(u64, Result<Value, Value>)> {
    let id = message["id"].as_u64()?;
    match message.get_mut("error") {
        Some(error) => Some((id, Err(error.take()))),
        None => Some((id, Ok(message["result"].take()))),
    }
}

/// Waits until `found` gives something, for a minute.
pub(crate) fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(1) {
        if let Some(found) = found() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} never came");
}
