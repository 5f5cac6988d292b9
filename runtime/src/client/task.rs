//! A task, polled until it ends.

use std::time::{Duration, UNIX_EPOCH};

use rmcp::model::{
    CallToolResult, ClientRequest, DetailedTask, GetTaskParams, GetTaskRequest, InputRequest,
    JsonObject, ServerResult, Task, TaskPayload, TaskStatus,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CallError, Event, drive::Drive, questions::Questions, request::unknown};
use crate::host::{Timestamp, whole_millis};

/// The pause between polls where the server names none. None is also what a server means that says 0.
const INTERVAL: Duration = Duration::from_secs(1);

impl Drive {
    /// Follows the task to its end, answering what it asks.
    pub(super) async fn follow(
        &self,
        id: String,
        created: Option<Task>,
    ) -> Result<CallToolResult, CallError> {
        let mut questions = Questions::default();
        let mut seen = created;
        // What the task asks, or ended with, is not told when it is created.
        if let Some(task) = seen
            .as_ref()
            .filter(|task| task.status == TaskStatus::Working)
        {
            self.wait(task).await?;
        }
        loop {
            let DetailedTask { task, payload, .. } = self.poll(&id).await?;
            if task.status.is_terminal() {
                self.work.done();
            } else if seen.as_ref() != Some(&task) {
                self.emit(Event::Status(task.clone())).await;
            }
            match payload {
                TaskPayload::Working => {}
                TaskPayload::InputRequired { input_requests } => {
                    tokio::select! {
                        answered = self.answer(&id, input_requests, &mut questions) => answered?,
                        () = self.connection.host.reached(expiry(&task)) => return Err(CallError::Expired { id }),
                    }
                }
                TaskPayload::Completed { result } => return read(id, result),
                TaskPayload::Failed { error } => {
                    let error = read(id.clone(), error)?;
                    return Err(CallError::Failed { id, error });
                }
                TaskPayload::Cancelled => return Err(CallError::Cancelled { id: Some(id) }),
                other => {
                    let payload = format!("{other:?}").into();
                    let id = Some(id);
                    return Err(CallError::UnknownPayload { id, payload });
                }
            }
            self.wait(&task).await?;
            seen = Some(task);
        }
    }

    /// Waits until the next poll is due; an error where the task expires before.
    async fn wait(&self, task: &Task) -> Result<(), CallError> {
        let host = &self.connection.host;
        let poll = host.now().after(interval(task));
        let expiry = expiry(task);
        let next = expiry.map_or(poll, |expiry| expiry.min(poll));
        host.sleep_until(next).await;
        if expiry.is_some_and(|expiry| expiry <= host.now()) {
            let id = task.task_id.clone();
            return Err(CallError::Expired { id });
        }
        Ok(())
    }

    async fn poll(&self, id: &str) -> Result<DetailedTask, CallError> {
        let request = GetTaskRequest::new(GetTaskParams::new(id));
        let answer = self
            .connection
            .peer
            .send_request(ClientRequest::GetTaskRequest(request))
            .await;
        match answer {
            Ok(ServerResult::GetTaskResult(result)) => Ok(result.task),
            Ok(other) => Err(unreadable(id, other)),
            Err(source) => Err(CallError::PollFailed {
                id: id.to_owned(),
                source,
            }),
        }
    }
}

fn interval(task: &Task) -> Duration {
    match task.poll_interval_ms {
        None | Some(0) => INTERVAL,
        Some(millis) => Duration::from_millis(millis),
    }
}

/// When the time to live of a task is over (SEP-2663); never where it has none, or where the time it
/// was created at cannot be read.
fn expiry(task: &Task) -> Option<Timestamp> {
    created(&task.created_at)?.checked_add(task.ttl_ms?)
}

/// UTC, as the protocol has it, with `Z` or as an offset.
fn created(at: &str) -> Option<Timestamp> {
    let time = humantime::parse_rfc3339(at).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(whole_millis(since)))
}

fn read<T: DeserializeOwned>(id: String, payload: JsonObject) -> Result<T, CallError> {
    serde_json::from_value(Value::Object(payload))
        .map_err(|source| CallError::Unreadable { id, source })
}

/// Why a state of a task cannot be read: because it asks in a way that nobody knows, or at all.
fn unreadable(id: &str, result: ServerResult) -> CallError {
    let error = unknown(Some(id.to_owned()), result);
    let CallError::UnknownPayload { payload, .. } = &error else {
        return error;
    };
    let asked = payload.get("inputRequests").and_then(Value::as_object);
    let odd = asked.into_iter().flatten().find(|(_, request)| {
        let read = serde_json::from_value::<InputRequest>((*request).clone());
        read.is_err()
    });
    match odd {
        Some((key, request)) => CallError::CannotAnswer {
            key: key.clone(),
            kind: kind(request),
        },
        None => error,
    }
}

/// What a request that cannot be read wants.
fn kind(request: &Value) -> String {
    let method = request["method"].as_str().unwrap_or("an unnamed method");
    match request["params"]["mode"].as_str() {
        Some(mode) => format!("{method}, mode {mode}"),
        None => method.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(created_at: &str, ttl_ms: Option<u64>) -> Task {
        let mut task = Task::new("t", TaskStatus::Working, created_at, created_at);
        task.ttl_ms = ttl_ms;
        task
    }

    #[test]
    fn utc_is_read_in_both_spellings() {
        for created_at in ["1970-01-01T00:00:01Z", "1970-01-01T00:00:01.000+00:00"] {
            let expiry = expiry(&task(created_at, Some(500)));
            assert_eq!(expiry, Some(Timestamp::from_millis(1_500)), "{created_at}");
        }
    }

    #[test]
    fn what_cannot_be_counted_never_expires() {
        let never = [
            task("1970-01-01T00:00:01Z", None),
            task("1970-01-01T00:00:01Z", Some(u64::MAX)),
            task("yesterday", Some(1)),
            task("1969-01-01T00:00:01Z", Some(1)),
        ];
        for task in never {
            assert_eq!(expiry(&task), None, "{task:?}");
        }
    }
}
