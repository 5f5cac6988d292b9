//! What the fake server is still to say.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::reply::{Reply, Step, error, merged};

/// What is still to be said.
#[derive(Default)]
pub(super) struct Script {
    pub(super) is_older: bool,
    pub(super) tools: Vec<Value>,
    pub(super) calls: VecDeque<Reply>,
    pub(super) tasks: HashMap<String, Task>,
    pub(super) refusals: HashMap<String, VecDeque<Value>>,
    pub(super) ignored: HashSet<String>,
    /// The token that progress of the latest call carries.
    pub(super) progress_token: Value,
    /// The calls that wait for the answer to a live question, and what was asked.
    pub(super) waiting: Vec<(Value, String)>,
    /// Where the latest connection takes what is sent.
    pub(super) writer: Option<mpsc::UnboundedSender<Value>>,
}

#[derive(Default)]
pub(super) struct Task {
    /// The members that every state of it has, unless the state says otherwise.
    base: Map<String, Value>,
    pub(super) states: VecDeque<Value>,
}

impl Script {
    pub(super) fn respond(&mut self, id: Value, method: &str, params: &Value) {
        let refusal = self.refusals.get_mut(method).and_then(VecDeque::pop_front);
        if let Some(refusal) = refusal {
            return self.answer(id, Err(refusal));
        }
        let answer = match method {
            "server/discover" if !self.is_older => Ok(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
                "ttlMs": 0,
                "cacheScope": "private",
            })),
            "initialize" if self.is_older => Ok(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "fake", "version": "1" },
            })),
            "tools/list" => Ok(self.page(&params["cursor"])),
            "tools/call" => {
                self.progress_token = params["_meta"]["progressToken"].clone();
                return self.proceed(&id);
            }
            "tasks/get" => self.state(&params["taskId"]),
            "tasks/update" | "tasks/cancel" => Ok(json!({ "resultType": "complete" })),
            _ => Err(error(-32601, method)),
        };
        self.answer(id, answer);
    }

    /// Goes on with the replies to a call.
    pub(super) fn proceed(&mut self, call: &Value) {
        loop {
            let missing = Reply::error(-32603, "the test wrote down no reply");
            match self.calls.pop_front().unwrap_or(missing).0 {
                Step::Silence => return,
                Step::Progress(params) => self.tell_progress(params),
                Step::Question(request) => {
                    let method = request["method"].as_str().unwrap_or_default();
                    self.waiting.push((call.clone(), method.to_owned()));
                    return self.send(request);
                }
                Step::Answer(answer) => {
                    if let Ok(result) = &answer
                        && let Some(id) = result["taskId"].as_str()
                    {
                        let task = self.tasks.entry(id.to_owned()).or_default();
                        task.base = result.as_object().cloned().unwrap_or_default();
                    }
                    return self.answer(call.clone(), answer);
                }
            }
        }
    }

    fn page(&self, cursor: &Value) -> Value {
        let page: usize = cursor
            .as_str()
            .and_then(|page| page.parse().ok())
            .unwrap_or(0);
        let next = page + 1;
        let tools: Vec<&Value> = self.tools.get(page).into_iter().collect();
        let mut result = json!({
            "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private",
        });
        if next < self.tools.len() {
            result["nextCursor"] = next.to_string().into();
        }
        result
    }

    fn state(&mut self, id: &Value) -> Result<Value, Value> {
        let id = id.as_str().unwrap_or_default();
        let unknown = || error(-32602, &format!("there is no task `{id}`"));
        let task = self.tasks.get_mut(id).ok_or_else(unknown)?;
        let state = if task.states.len() > 1 {
            task.states.pop_front()
        } else {
            task.states.front().cloned()
        };
        let mut whole = Value::Object(task.base.clone());
        whole["resultType"] = "complete".into();
        Ok(merged(whole, state.ok_or_else(unknown)?))
    }

    pub(super) fn tell_progress(&self, mut params: Value) {
        params["progressToken"] = self.progress_token.clone();
        self.send(json!({
            "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
        }));
    }

    fn answer(&self, id: Value, answer: Result<Value, Value>) {
        let mut message = json!({ "jsonrpc": "2.0" });
        message["id"] = id;
        match answer {
            Ok(result) => message["result"] = result,
            Err(error) => message["error"] = error,
        }
        self.send(message);
    }

    fn send(&self, message: Value) {
        if let Some(writer) = &self.writer {
            // Where the client is gone, nobody is to be told.
            let _told = writer.send(message);
        }
    }
}
