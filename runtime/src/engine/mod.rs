//! Runs calls and tasks: everything between the wire and the author's function.

mod driver;
mod hold;
pub(crate) mod ledger;
pub(crate) mod leg;
pub(crate) mod machine;
mod runner;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    ledger::{Ledger, Rejected},
    leg::Leg,
    machine::{Event, Refusal, Report},
};
use crate::{
    decision::{Caller, Decision, decide},
    error::ProtocolError,
    host::{Host, Timestamp},
    record::{Client, End, FORMAT, Lease, Origin, Record, TaskId},
    store::{Store, StoreError},
    tool::Registered,
};

/// How long a claim lasts without a word from its leg.
const LEASE: Duration = Duration::from_secs(30);
/// How long a leg may go on after it was cancelled.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the tools of one server on one store. Its work ends when the last handle is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    shared: Arc<Shared>,
    /// Ends the driver and the legs, which hold `shared` too.
    _stop: Arc<DropGuard>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    tools: HashMap<&'static str, Registered>,
    ledger: Ledger,
    pool: String,
    server_version: String,
    /// This process, in leases.
    worker: String,
    /// The tokens of the legs that run here.
    running: Mutex<HashMap<TaskId, CancellationToken>>,
    stop: CancellationToken,
}

/// What an engine is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tools: Vec<Registered>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) pool: String,
    pub(crate) server_version: String,
}

/// A call of a tool, as it came in.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) caller: Caller,
    pub(crate) client: Client,
    /// Raised when the client gave up on the request.
    pub(crate) cancelled: CancellationToken,
}

/// What a call is answered with.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It is done.
    End(End),
    /// It goes on as a task.
    Task(Arc<Record>),
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Rejection {
    /// The client must declare the tasks extension.
    NeedsTasks,
    /// A JSON-RPC error.
    Error(ProtocolError),
}

impl From<ProtocolError> for Rejection {
    fn from(error: ProtocolError) -> Self {
        Self::Error(error)
    }
}

impl Engine {
    /// Starts an engine. Must be called in a runtime.
    pub(crate) fn start(parts: Parts) -> Self {
        let stop = CancellationToken::new();
        let Parts { store, host, .. } = parts;
        let worker = TaskId::from_random(host.random()).to_string();
        let named = parts
            .tools
            .into_iter()
            .map(|tool| (tool.definition.name, tool));
        let shared = Arc::new(Shared {
            tools: named.collect(),
            ledger: Ledger { store, host },
            pool: parts.pool,
            server_version: parts.server_version,
            worker,
            running: Mutex::default(),
            stop: stop.clone(),
        });
        tokio::spawn(driver::drive(shared.clone()));
        Self {
            shared,
            _stop: Arc::new(stop.drop_guard()),
        }
    }

    /// Calls a tool: in this call or as a task, by one decision before any work.
    pub(crate) async fn call(&self, call: Call) -> Result<Reply, Rejection> {
        let Some(tool) = self.shared.tools.get(call.tool.as_str()) else {
            let message = format!(
                "unknown tool `{}`; `tools/list` names those there are",
                call.tool
            );
            return Err(ProtocolError::invalid_params(message).into());
        };
        let decision = decide(tool.definition.mode, call.caller);
        if decision == Decision::NeedsTasks {
            return Err(Rejection::NeedsTasks);
        }
        let arguments = match tool.check(&call.arguments) {
            Ok(arguments) => arguments,
            Err(violations) => {
                let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
                let text = format!(
                    "invalid arguments for `{}`:\n{}",
                    call.tool,
                    lines.join("\n")
                );
                return Ok(Reply::End(runner::tool_error(text)));
            }
        };
        let origin = self.shared.origin(tool, arguments, call.client);
        if decision == Decision::Task {
            return Ok(Reply::Task(self.create(origin).await?));
        }
        let leg = Leg::new(origin.into(), call.cancelled, Vec::new(), None);
        Ok(Reply::End(
            runner::run_in_call(tool, &leg, self.shared.host()).await,
        ))
    }

    /// Makes a task. It is in the store, and so known to every instance, before its first leg
    /// begins and before the client hears of it.
    async fn create(&self, mut origin: Origin) -> Result<Arc<Record>, Rejection> {
        origin.id = Some(TaskId::from_random(self.shared.host().random()));
        let record = Arc::new(Record::created(origin, self.shared.lease()));
        let store = &self.shared.ledger.store;
        store
            .insert(record.clone())
            .await
            .map_err(|error| store_failed(&error))?;
        self.shared.spawn_leg(record.clone(), Vec::new());
        Ok(record)
    }

    /// The task as it stands.
    pub(crate) async fn get(&self, id: &TaskId) -> Result<Arc<Record>, ProtocolError> {
        self.shared
            .ledger
            .find(id)
            .await
            .map_err(|why| rejected(why, id))
    }

    /// Takes answers for a task.
    pub(crate) async fn update(
        &self,
        id: &TaskId,
        answers: BTreeMap<String, Value>,
    ) -> Result<Report, ProtocolError> {
        let (_, report) = self.apply(id, Event::Answered(answers)).await?;
        tracing::debug!(task = %id, accepted = ?report.accepted, ignored = ?report.ignored, "update");
        Ok(report)
    }

    /// Cancels a task: final for everyone who looks, at once.
    pub(crate) async fn cancel(
        &self,
        id: &TaskId,
        reason: Option<String>,
    ) -> Result<(), ProtocolError> {
        self.apply(id, Event::Cancelled { reason }).await?;
        self.shared.raise(id);
        Ok(())
    }

    async fn apply(
        &self,
        id: &TaskId,
        event: Event,
    ) -> Result<(Arc<Record>, Report), ProtocolError> {
        let ledger = &self.shared.ledger;
        let known = ledger.find(id).await.map_err(|why| rejected(why, id))?;
        ledger
            .commit(known, event)
            .await
            .map_err(|why| rejected(why, id))
    }
}

impl Shared {
    fn host(&self) -> &dyn Host {
        &*self.ledger.host
    }

    fn lease(&self) -> Lease {
        Lease {
            worker: self.worker.clone(),
            until: self.lease_end(),
        }
    }

    fn lease_end(&self) -> Timestamp {
        later(self.host().now(), LEASE)
    }

    fn origin(&self, tool: &Registered, arguments: Map<String, Value>, client: Client) -> Origin {
        let definition = &tool.definition;
        Origin {
            format: FORMAT,
            id: None,
            pool: self.pool.clone(),
            tool: definition.name.into(),
            fingerprint: format!("{}\n{}", self.server_version, tool.fingerprint),
            arguments,
            client,
            created_at: self.host().now(),
            ttl_ms: Some(definition.ttl_ms),
            poll_ms: definition.poll_ms,
        }
    }

    /// Raises the token of the leg that runs here for `id`, where there is one.
    fn raise(&self, id: &TaskId) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = running.get(id) {
            token.cancel();
        }
    }
}

/// The point `by` after `time`.
fn later(time: Timestamp, by: Duration) -> Timestamp {
    let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
    time.checked_add(millis).unwrap_or(time)
}

/// What the client is told where an event was not taken.
fn rejected(why: Rejected, id: &TaskId) -> ProtocolError {
    match why {
        Rejected::Store(error) => store_failed(&error),
        Rejected::Refused(Refusal::WrongAnswer { key, violation }) => {
            ProtocolError::invalid_params(format!(
                "the answer to `{key}` does not fit: {violation}; nothing was taken, answer it again"
            ))
            .because("wrong_answer")
        }
        Rejected::Missing | Rejected::Refused(_) => {
            ProtocolError::invalid_params(format!("there is no task `{id}`")).because("unknown_task")
        }
    }
}

fn store_failed(error: &StoreError) -> ProtocolError {
    tracing::error!(%error, "a request could not be served");
    ProtocolError::internal("the task store failed; try again").because("store")
}
