//! What the fake server does about a call.

use serde_json::{Value, json};

/// What the fake server does about `tools/call`.
#[derive(Clone, Debug)]
pub struct Reply(pub(super) Step);

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Ends the call.
    Answer(Result<Value, Value>),
    /// Leaves the call without an answer.
    Silence,
    /// Tells of progress, and goes on with the next reply.
    Progress(Value),
    /// Asks the client, and goes on with the next reply when it has answered.
    Question(Value),
}

impl Reply {
    /// A result with one text.
    pub fn text(text: &str) -> Self {
        Self::result(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    /// A task, with these members beside or in place of the usual ones: created on 2026-11-29T12:00:00Z,
    /// without end, and polled as the client likes.
    pub fn task(id: &str, members: Value) -> Self {
        let created = json!({
            "resultType": "task",
            "taskId": id,
            "status": "working",
            "createdAt": "2026-11-29T12:00:00Z",
            "lastUpdatedAt": "2026-11-29T12:00:00Z",
            "ttlMs": null,
        });
        Self::result(merged(created, members))
    }

    /// A round of questions before the answer: their requests by their keys, and the state to be
    /// returned.
    pub fn round(requests: Value, state: &str) -> Self {
        let mut round = json!({ "resultType": "input_required", "requestState": state });
        round["inputRequests"] = requests;
        Self::result(round)
    }

    /// Any other result.
    pub const fn result(result: Value) -> Self {
        Self(Step::Answer(Ok(result)))
    }

    /// A JSON-RPC error.
    pub fn error(code: i32, message: &str) -> Self {
        Self(Step::Answer(Err(error(code, message))))
    }

    /// No answer at all.
    pub const fn silence() -> Self {
        Self(Step::Silence)
    }

    /// A progress notification on the way to the next reply.
    pub fn progress(done: f64, total: Option<f64>) -> Self {
        Self(Step::Progress(json!({ "progress": done, "total": total })))
    }

    /// A request that an older server makes of the client (`elicitation/create`), on the way to the next
    /// reply, which waits for the answer.
    pub fn question(method: &str, params: Value) -> Self {
        let mut request = json!({ "jsonrpc": "2.0", "id": "question", "method": method });
        request["params"] = params;
        Self(Step::Question(request))
    }
}

pub(super) fn error(code: i32, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

pub(super) fn merged(mut base: Value, members: Value) -> Value {
    if let Value::Object(members) = members {
        for (name, value) in members {
            base[name] = value;
        }
    }
    base
}
