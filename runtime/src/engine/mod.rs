//! Runs calls and tasks: everything between the wire and the author's function.

mod driver;
mod ends;
mod hold;
pub(crate) mod ledger;
pub(crate) mod leg;
pub(crate) mod limits;
pub(crate) mod machine;
mod runner;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use self::{
    ledger::{Ledger, Rejected},
    leg::Leg,
    limits::Limits,
    machine::{Event, Refusal, Report},
};
use crate::{
    decision::{Caller, Decision, decide},
    error::ProtocolError,
    host::{Host, Timestamp},
    record::{Client, Delivery, End, FORMAT, Lease, Origin, Record, TaskId},
    store::{Insertion, StoreError},
    tool::Registered,
};

/// How long a claim lasts without a word from its leg.
const LEASE: Duration = Duration::from_secs(30);
/// How long a leg that cleans up may take.
const CLEANING: Duration = Duration::from_mins(5);
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
    limits: Limits,
    pool: String,
    server_version: String,
    drift_grace: Duration,
    /// This process, in leases.
    worker: String,
    /// The fences and the tokens of the legs that run here, the last of each execution.
    running: Mutex<HashMap<TaskId, (u64, CancellationToken)>>,
    /// The legs that run here, and whatever begins them.
    legs: TaskTracker,
    /// Raised when no more legs are to begin.
    closing: CancellationToken,
    /// Raised when the legs that run are to let go.
    hurry: CancellationToken,
    /// Raised when everything is to end where it stands.
    stop: CancellationToken,
}

/// What an engine is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tools: Vec<Registered>,
    pub(crate) ledger: Ledger,
    pub(crate) limits: Limits,
    pub(crate) pool: String,
    pub(crate) server_version: String,
    pub(crate) drift_grace: Duration,
}

/// A call of a tool, as it came in.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) caller: Caller,
    pub(crate) client: Client,
    pub(crate) owner: Option<String>,
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
        let worker = TaskId::from_random(parts.ledger.host.random()).to_string();
        let named = parts.tools.into_iter().map(|mut tool| {
            // Types are not among the operations, so the version tells such changes apart.
            tool.fingerprint = format!("{}\n{}", parts.server_version, tool.fingerprint);
            (tool.definition.name, tool)
        });
        let shared = Arc::new(Shared {
            tools: named.collect(),
            ledger: parts.ledger,
            limits: parts.limits,
            pool: parts.pool,
            server_version: parts.server_version,
            drift_grace: parts.drift_grace,
            worker,
            running: Mutex::default(),
            legs: TaskTracker::new(),
            closing: stop.child_token(),
            hurry: stop.child_token(),
            stop: stop.clone(),
        });
        shared.legs.spawn(driver::drive(shared.clone()));
        Self {
            shared,
            _stop: Arc::new(stop.drop_guard()),
        }
    }

    /// Begins no more legs, gives those that run until `patience` is over to reach a park or their
    /// end, and then takes their leases from them, so that other workers go on at once.
    pub(crate) async fn shut_down(&self, patience: Duration) {
        let Shared {
            closing,
            legs,
            hurry,
            ..
        } = &*self.shared;
        closing.cancel();
        legs.close();
        tokio::select! {
            () = legs.wait() => return,
            () = self.pass(patience) => {}
        }
        hurry.cancel();
        legs.wait().await;
    }

    /// Waits for `pause`.
    pub(crate) async fn pass(&self, pause: Duration) {
        let host = self.shared.host();
        host.sleep_until(host.now().after(pause)).await;
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
        let checked = ends::guard(tool.definition.name, || tool.check(&call.arguments))?;
        let arguments = match checked {
            Ok(arguments) => arguments,
            Err(violations) => {
                let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
                let text = format!(
                    "invalid arguments for `{}`:\n{}",
                    call.tool,
                    lines.join("\n")
                );
                return Ok(Reply::End(ends::tool_error(text)));
            }
        };
        let mut origin = self.shared.origin(tool, arguments, call.client, call.owner);
        if decision == Decision::Task {
            origin.delivery = Delivery::Task;
            let ttl_ms = Some(tool.definition.ttl_ms);
            return Ok(Reply::Task(self.create(origin, ttl_ms).await?));
        }
        let leg = Leg::new(leg::Parts {
            origin: origin.into(),
            cancelled: call.cancelled,
            host: self.shared.ledger.host.clone(),
            limits: self.shared.limits,
            journal: Vec::new(),
            hold: None,
            closing: false,
            span: tracing::Span::none(),
        });
        Ok(Reply::End(
            runner::run_in_call(tool, &leg, self.shared.host()).await,
        ))
    }

    /// Makes a task. It is in the store, and so known to every instance, before its first leg
    /// begins and before the client hears of it.
    async fn create(&self, origin: Origin, ttl_ms: Option<u64>) -> Result<Arc<Record>, Rejection> {
        // A server that stops from here on waits for the leg.
        let _begins = self.shared.legs.token();
        if self.shared.closing.is_cancelled() {
            let error = ProtocolError::internal("the server is shutting down; try again");
            return Err(error.because("shutting_down").into());
        }
        let record = Arc::new(Record::created(origin, ttl_ms, self.shared.lease()));
        let limit = self.shared.limits.live_tasks;
        let inserted = self.shared.ledger.store.insert(record.clone(), limit).await;
        if inserted.map_err(|error| store_failed(&error))? == Insertion::Full {
            let message =
                format!("there are {limit} unfinished tasks, and no more may be; try later");
            return Err(ProtocolError::over_limit(message).into());
        }
        self.shared.spawn_leg(record.clone(), Vec::new());
        Ok(record)
    }

    /// The task, if it is there for this owner. What belongs to others is not there, and only its
    /// owner is told that a task was there.
    pub(crate) async fn get(
        &self,
        id: &TaskId,
        owner: Option<&str>,
    ) -> Result<Arc<Record>, ProtocolError> {
        let record = match self.shared.ledger.load(id).await {
            Ok(record) => record,
            Err(why) => return Err(rejected(why, id)),
        };
        if record.origin.owner.as_deref() != owner {
            return Err(rejected(Rejected::Missing, id));
        }
        if record.is_expired(self.shared.host().now()) {
            let message = format!("the task `{id}` expired");
            return Err(ProtocolError::invalid_params(message).because("expired"));
        }
        Ok(record)
    }

    /// Takes answers for a task.
    pub(crate) async fn update(
        &self,
        id: &TaskId,
        owner: Option<&str>,
        answers: BTreeMap<String, Value>,
    ) -> Result<Report, ProtocolError> {
        let known = self.get(id, owner).await?;
        let (_, report) = self.apply(known, Event::Answered(answers)).await?;
        tracing::debug!(task = %id, ?report, "update");
        Ok(report)
    }

    /// Cancels a task: final for everyone who looks, at once.
    pub(crate) async fn cancel(
        &self,
        id: &TaskId,
        owner: Option<&str>,
    ) -> Result<(), ProtocolError> {
        let known = self.get(id, owner).await?;
        self.apply(known, Event::Cancelled { reason: None }).await?;
        self.shared.raise(id);
        Ok(())
    }

    async fn apply(
        &self,
        known: Arc<Record>,
        event: Event,
    ) -> Result<(Arc<Record>, Report), ProtocolError> {
        let id = known.id().clone();
        let applied = self.shared.ledger.commit(known, event).await;
        applied.map_err(|why| rejected(why, &id))
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
        self.host().now().after(LEASE)
    }

    fn origin(
        &self,
        tool: &Registered,
        arguments: Map<String, Value>,
        client: Client,
        owner: Option<String>,
    ) -> Origin {
        let definition = &tool.definition;
        let random = || TaskId::from_random(self.host().random());
        Origin {
            format: FORMAT,
            id: random(),
            delivery: Delivery::Call,
            pool: self.pool.clone(),
            tool: definition.name.into(),
            fingerprint: tool.fingerprint.clone(),
            server_version: self.server_version.clone(),
            seed: random().to_string(),
            arguments,
            owner,
            client,
            created_at: self.host().now(),
            poll_ms: definition.poll_ms,
            cleans_up: definition
                .operations
                .iter()
                .any(|(kind, _)| *kind == "cleanup"),
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<TaskId, (u64, CancellationToken)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self, id: &TaskId) -> bool {
        self.running().contains_key(id)
    }

    /// Raises the token of the leg that runs here for `id`, where there is one.
    fn raise(&self, id: &TaskId) {
        if let Some((_, token)) = self.running().get(id) {
            token.cancel();
        }
    }
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
