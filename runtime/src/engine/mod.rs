//! Runs calls and tasks: everything between the wire and the author's function.

mod attended;
mod calls;
mod driver;
mod ends;
mod hold;
pub(crate) mod ledger;
pub(crate) mod leg;
pub(crate) mod limits;
pub(crate) mod machine;
pub(crate) mod news;
mod recovery;
mod rounds;
mod runner;
mod trials;
mod turn;
mod watch;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::sync::{Notify, OnceCell};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

pub(crate) use self::calls::{Call, Rejection, Reply, Retry};
use self::{
    ledger::{Ledger, Rejected},
    limits::Limits,
    machine::{Event, Refusal, Report},
};
use crate::{
    error::ProtocolError,
    host::Host,
    record::{Lease, Record, TaskId},
    store::{Life, StoreError},
    tool::Registered,
};

/// How long to wait after the store failed.
const PAUSE: Duration = Duration::from_secs(1);
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
    /// This server, in leases.
    worker: String,
    /// Its life, from its first claim on.
    life: OnceCell<Life>,
    /// What it holds, or may hold, without a leg of its own.
    adrift: Mutex<Adrift>,
    /// Told when there is something to do that the store does not tell of.
    wake: Notify,
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

/// Executions that a store that failed may have left behind.
#[derive(Debug, Default)]
struct Adrift {
    /// Those that this worker may hold without a leg.
    held: HashSet<TaskId>,
    /// Those that were not acknowledged to anybody, and are to be removed.
    unwanted: HashSet<TaskId>,
    /// Dead workers that held more than one, of which some may be taken from them already.
    crowded: HashSet<String>,
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

impl Engine {
    /// Starts an engine. Must be called in a runtime.
    pub(crate) fn start(parts: Parts) -> Self {
        let stop = CancellationToken::new();
        let worker = parts.ledger.random_name();
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
            life: OnceCell::new(),
            adrift: Mutex::default(),
            wake: Notify::new(),
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
        self.shared.host().sleep(pause).await;
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
        // What asks by round trips is no task, or not yet.
        if record.origin.owner.as_deref() != owner || !record.is_task() {
            return Err(rejected(Rejected::Missing, id));
        }
        if record.is_expired(self.shared.host().now()) {
            return Err(expired(id));
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

    /// Cancels a task that its client never heard of.
    pub(crate) async fn abandon(&self, id: &TaskId) {
        let reason = Some("its client left before it heard of the task".into());
        let abandoned = async {
            let known = self.shared.ledger.load(id).await?;
            let event = Event::Cancelled { reason };
            self.shared.ledger.commit(known, event).await
        };
        match abandoned.await {
            Ok(_) => self.shared.raise(id),
            Err(why) => tracing::warn!(task = %id, ?why, "a task runs for nobody"),
        }
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

    /// While this is held, a server that stops waits for what begins.
    fn begins(&self) -> Result<TaskTrackerToken, ProtocolError> {
        let begins = self.legs.token();
        if self.closing.is_cancelled() {
            return Err(shutting_down());
        }
        Ok(begins)
    }

    /// A claim of this worker, which the store knows before it holds anything.
    async fn lease(&self) -> Result<Lease, StoreError> {
        let enlist = || self.ledger.store.enlist(&self.worker);
        self.life.get_or_try_init(enlist).await?;
        Ok(Lease {
            worker: self.worker.clone(),
            trial: None,
        })
    }

    /// This worker may hold the execution, and has no leg of it.
    fn orphaned(&self, id: &TaskId) {
        self.adrift().held.insert(id.clone());
        self.wake.notify_one();
    }

    /// The execution may have been written, and nobody heard of it.
    fn unwanted(&self, id: &TaskId) {
        self.adrift().unwanted.insert(id.clone());
        self.wake.notify_one();
    }

    fn adrift(&self) -> MutexGuard<'_, Adrift> {
        self.adrift.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<TaskId, (u64, CancellationToken)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raises the token of the leg that runs here with this fence.
    fn raise_if(&self, id: &TaskId, fence: u64) {
        if let Some((_, token)) = self.running().get(id).filter(|(of, _)| *of == fence) {
            token.cancel();
        }
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

fn expired(id: &TaskId) -> ProtocolError {
    ProtocolError::invalid_params(format!("the task `{id}` expired")).because("expired")
}

fn shutting_down() -> ProtocolError {
    let error = ProtocolError::internal("the server is shutting down; try again");
    error.because("shutting_down")
}

fn store_failed(error: &StoreError) -> ProtocolError {
    tracing::error!(%error, "a request could not be served");
    ProtocolError::internal("the task store failed; try again").because("store")
}
