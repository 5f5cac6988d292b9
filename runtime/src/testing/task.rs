//! A task, as its client sees it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Recording, TestServer};
use crate::{
    error::ProtocolError,
    host::Host,
    record::{End, Pinned, Record, TaskId},
    store::Store,
};

/// How long nothing may happen to a task that a test waits for, in tokio's time.
const PATIENCE: Duration = Duration::from_secs(30);

/// A task that a [`TestServer`] works on.
#[derive(Clone, Debug)]
pub struct TestTask {
    server: TestServer,
    id: TaskId,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    end: End,
}

impl TestTask {
    pub(super) const fn new(server: TestServer, id: TaskId) -> Self {
        Self { server, id }
    }

    /// The id of the task.
    pub const fn id(&self) -> &TaskId {
        &self.id
    }

    /// Waits for the question `key`, and gives what the person reads.
    ///
    /// # Panics
    ///
    /// Where the task ends, or nothing happens, before it asks.
    pub async fn asks(&self, key: &str) -> String {
        let question = self.question(key).await;
        question
            .unwrap_or_else(|| panic!("`{key}` was answered already"))
            .ask
            .message
    }

    /// Waits for the question `key` and fills in its form: an object with its fields, or the bare
    /// value of a plain type.
    ///
    /// # Panics
    ///
    /// Where the answer does not fit, and where the task ends, or nothing happens, before it asks.
    pub async fn answer(&self, key: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_else(|error| panic!("`{key}`: {error}"));
        let content = match value {
            Value::Object(fields) => Value::Object(fields),
            Value::Null => json!({}),
            plain => json!({ "value": plain }),
        };
        self.respond(key, json!({ "action": "accept", "content": content }))
            .await;
    }

    /// Waits for the question `key` and says no.
    ///
    /// # Panics
    ///
    /// Where the task ends, or nothing happens, before it asks.
    pub async fn decline(&self, key: &str) {
        self.respond(key, json!({ "action": "decline" })).await;
    }

    /// Waits for the question `key` and closes it.
    ///
    /// # Panics
    ///
    /// Where the task ends, or nothing happens, before it asks.
    pub async fn dismiss(&self, key: &str) {
        self.respond(key, json!({ "action": "cancel" })).await;
    }

    async fn respond(&self, key: &str, response: Value) {
        if self.question(key).await.is_none() {
            return;
        }
        let times = if self.server.delivers_twice() { 2 } else { 1 };
        for _ in 0..times {
            self.update(key, &response).await;
        }
    }

    /// Delivers an answer until somebody acknowledges it, as a client does.
    async fn update(&self, key: &str, response: &Value) {
        loop {
            let answers = BTreeMap::from([(key.to_owned(), response.clone())]);
            let updated =
                async |engine: &crate::engine::Engine| engine.update(&self.id, None, answers).await;
            match self.server.alive(updated).await {
                Some(Ok(_)) => return,
                Some(Err(error)) => panic!("{}", error.message),
                None => {}
            }
        }
    }

    /// Cancels the task.
    ///
    /// # Panics
    ///
    /// Where there is no such task.
    pub async fn cancel(&self) {
        loop {
            let cancelled =
                async |engine: &crate::engine::Engine| engine.cancel(&self.id, None).await;
            match self.server.alive(cancelled).await {
                Some(Ok(())) => return,
                Some(Err(error)) => panic!("{}", error.message),
                None => {}
            }
        }
    }

    /// Waits for the end of the task.
    ///
    /// # Panics
    ///
    /// Where the task waits for an answer, or nothing happens.
    pub async fn end(&self) -> Ended {
        let ended = |record: &Record| {
            if let Some(pinned) = record.questions.first() {
                panic!("the task waits for the answer to `{}`", pinned.key);
            }
            record.end.clone()
        };
        Ended {
            end: self.wait_for("end", ended).await,
        }
    }

    /// Waits until the task is as `ready` says, and gives what that found.
    ///
    /// # Panics
    ///
    /// Where nothing happens any more.
    async fn wait_for<T>(&self, what: &str, ready: impl Fn(&Record) -> Option<T>) -> T {
        loop {
            let store = self.server.store();
            let seen = self.server.alive(async |_| store.position().await).await;
            let record = self
                .server
                .alive(async |_| store.load(&self.id).await)
                .await;
            let (Some(Ok(seen)), Some(Ok(Some(record)))) = (seen, record) else {
                continue;
            };
            assert!(
                !record.is_expired(self.server.host().now()),
                "waited for the task to {what}, but it expired: its time to live is over"
            );
            if let Some(found) = ready(&record) {
                return found;
            }
            let changed = self
                .server
                .alive(async |_| changed(store, seen).await)
                .await;
            assert!(
                changed != Some(false),
                "waited for the task to {what}, but nothing happens any more: it is {:?}; advance \
                 the clock if it sleeps",
                record.status()
            );
        }
    }

    /// The question `key` when it is put; `None` where it was answered before.
    async fn question(&self, key: &str) -> Option<Pinned> {
        let asked = |record: &Record| {
            if let Some(end) = &record.end {
                panic!("waited for `{key}`, but the task ended: {end:?}");
            }
            let outstanding = record.questions.iter().find(|pinned| pinned.key == key);
            let was_put = record.spent.iter().any(|spent| spent == key);
            match (outstanding, record.questions.first()) {
                (Some(pinned), _) => Some(Some(pinned.clone())),
                (None, _) if was_put => Some(None),
                // All that is asked at once is put at once.
                (None, Some(other)) => panic!(
                    "waited for the question `{key}`, but the task waits for the answer to `{}`",
                    other.key
                ),
                (None, None) => None,
            }
        };
        self.wait_for(&format!("ask `{key}`"), asked).await
    }

    /// The record as it stands.
    ///
    /// # Panics
    ///
    /// Where there is no such task any more.
    pub async fn record(&self) -> Arc<Record> {
        let found = self.server.store().load(&self.id).await;
        found.ok().flatten().expect("the task is there")
    }

    /// The whole run of a task that has ended, to be replayed by [`replay_check`](super::replay_check)
    /// now, or against later code.
    ///
    /// # Panics
    ///
    /// Where the task has not ended.
    pub async fn recording(&self) -> Recording {
        let record = self.record().await;
        let journal = self.server.store().journal(&self.id).await;
        Recording::new(&record, journal.unwrap_or_default())
    }
}

/// Whether something was written since `seen`.
pub(super) async fn changed(store: &impl Store, seen: u64) -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test must not hang")]
    let waited = tokio::time::timeout(PATIENCE, store.changes(seen));
    waited.await.is_ok()
}

impl Ended {
    pub(super) const fn new(end: End) -> Self {
        Self { end }
    }

    /// The text of the result, or of the tool's error.
    ///
    /// # Panics
    ///
    /// Where there is no such text.
    pub fn text(&self) -> &str {
        let text = self
            .result()
            .get("content")
            .and_then(|content| content[0]["text"].as_str());
        text.unwrap_or_else(|| panic!("no text: {:?}", self.end))
    }

    /// The structured content of the result.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn structured(&self) -> Value {
        let content = self.result().get("structuredContent").cloned();
        content.unwrap_or_else(|| panic!("no structured content: {:?}", self.end))
    }

    /// Whether the tool failed for a reason that the model should read.
    pub fn is_error(&self) -> bool {
        matches!(&self.end, End::Result(result) if result.get("isError") == Some(&json!(true)))
    }

    /// Whether the task was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.end == End::Cancelled
    }

    /// The JSON-RPC error that the task failed with.
    pub const fn error(&self) -> Option<&ProtocolError> {
        match &self.end {
            End::Error(error) => Some(error),
            End::Result(_) | End::Cancelled => None,
        }
    }

    fn result(&self) -> &Map<String, Value> {
        match &self.end {
            End::Result(result) => result,
            other => panic!("the task has no result: {other:?}"),
        }
    }
}
