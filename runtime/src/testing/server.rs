//! A server in memory.

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    crash::CrashStore,
    host::TestHost,
    task::{Ended, TestTask},
};
use crate::{
    Server,
    decision::{Caller, Era},
    engine::{Call, Engine, Rejection, Reply},
    host::Host,
    record::{Client, TaskId},
    store::{Listing, Store},
};

/// How many times other work gets its turn before everything counts as settled.
const TURNS: usize = 500;

/// A server whose clients, clock and crashes are in the hand of a test. Clones are one server.
#[derive(Clone)]
pub struct TestServer {
    inner: Arc<Inner>,
}

struct Inner {
    open: Box<dyn Fn(CrashStore, TestHost) -> Engine + Send + Sync>,
    store: CrashStore,
    host: TestHost,
    engine: Mutex<Option<Engine>>,
    /// The tasks that a client knows of.
    known: Mutex<HashSet<TaskId>>,
    twice: AtomicBool,
    crashed_once: AtomicBool,
}

impl TestServer {
    /// Starts what `server` makes. It is called again after each crash, and its store and clock are
    /// replaced by those of the test.
    ///
    /// # Panics
    ///
    /// Where the server cannot be built, and outside of a tokio runtime.
    pub fn new<S: Send + Sync + 'static>(
        server: impl Fn() -> Server<S> + Send + Sync + 'static,
    ) -> Self {
        let open = move |store: CrashStore, host: TestHost| {
            let built = server().store(store).host(host).into_engine();
            built.unwrap_or_else(|error| panic!("{error}"))
        };
        let (store, host) = (CrashStore::new(), TestHost::new());
        let engine = Mutex::new(Some(open(store.clone(), host.clone())));
        Self {
            inner: Arc::new(Inner {
                open: Box::new(open),
                store,
                host,
                engine,
                known: Mutex::default(),
                twice: AtomicBool::new(false),
                crashed_once: AtomicBool::new(false),
            }),
        }
    }

    /// Delivers every update twice from now on, as a client does that lost a response.
    pub fn deliver_twice(&self) {
        self.inner.twice.store(true, Relaxed);
    }

    /// Calls a tool that becomes a task.
    ///
    /// # Panics
    ///
    /// Where the call is refused or is no task, with what it was answered.
    pub async fn call(&self, tool: &str, arguments: Value) -> TestTask {
        loop {
            let called = self.alive(async |engine| engine.call(call(tool, &arguments)).await);
            match called.await {
                Some(Ok(Reply::Task { record, .. })) => return self.task(record.id().clone()),
                Some(Ok(Reply::End(end))) => panic!("`{tool}` became no task: {end:?}"),
                Some(Ok(Reply::Asked { .. })) => panic!(
                    "`{tool}` asked before it became a task, by a round: test it over a transport"
                ),
                Some(Err(Rejection::NeedsTasks | Rejection::NeedsElicitation(_))) => {
                    panic!("`{tool}` was refused")
                }
                Some(Err(Rejection::Error(error))) => panic!("`{tool}`: {}", error.message),
                // The server died before it answered, but maybe after it made the task.
                None => {
                    if let Some(id) = self.unknown().await {
                        return self.task(id);
                    }
                }
            }
        }
    }

    /// Calls a tool as a client does that has no tasks, and gives what it is answered.
    ///
    /// # Panics
    ///
    /// Where the tool runs only as a task or asks, or there is no such tool.
    pub async fn call_directly(&self, tool: &str, arguments: Value) -> Ended {
        let mut call = call(tool, &arguments);
        call.caller.declares_tasks = false;
        match self.engine().call(call).await {
            Ok(Reply::End(end)) => Ended::new(end),
            Ok(Reply::Task { .. }) => unreachable!("this client has no tasks"),
            Ok(Reply::Asked { .. }) => panic!("`{tool}` asked; use `call`"),
            Err(Rejection::NeedsElicitation(_)) => unreachable!("this client answers"),
            Err(Rejection::NeedsTasks) => panic!("`{tool}` runs only as a task; use `call`"),
            Err(Rejection::Error(error)) => panic!("`{tool}`: {}", error.message),
        }
    }

    fn task(&self, id: TaskId) -> TestTask {
        let known = &self.inner.known;
        known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone());
        TestTask::new(self.clone(), id)
    }

    /// A task that was made and that no client knows of.
    async fn unknown(&self) -> Option<TaskId> {
        let everything = Listing {
            status: None,
            after: None,
            limit: usize::MAX,
        };
        let records = self.inner.store.list(everything).await.unwrap_or_default();
        let known = self
            .inner
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut ids = records.into_iter().map(|record| record.id().clone());
        ids.find(|id| !known.contains(id))
    }

    /// Moves the clock from one moment at which something is due to the next, and lets happen what
    /// is due there, until the time has passed.
    pub async fn advance(&self, by: Duration) {
        let host = &self.inner.host;
        let end = host.now().after(by);
        loop {
            self.settle().await;
            match host.next_timer().filter(|next| *next < end) {
                Some(next) => host.advance_to(next),
                None => break,
            }
        }
        host.advance_to(end);
        self.settle().await;
    }

    /// Lets everything happen that can without the clock or an answer.
    pub async fn settle(&self) {
        loop {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            if !self.inner.store.has_crashed() {
                return;
            }
            self.restart();
        }
    }

    /// The clock.
    pub fn host(&self) -> &TestHost {
        &self.inner.host
    }

    /// Kills the server where it stands and starts another one, which goes on at once.
    pub async fn crash(&self) {
        self.reopen();
        self.settle().await;
    }

    pub(super) fn store(&self) -> &CrashStore {
        &self.inner.store
    }

    pub(super) fn delivers_twice(&self) -> bool {
        self.inner.twice.load(Relaxed)
    }

    pub(super) fn crashed_once(&self) -> bool {
        self.inner.crashed_once.load(Relaxed)
    }

    /// What the server makes of a request; `None` where it died meanwhile and was started again.
    pub(super) async fn alive<T>(&self, request: impl AsyncFnOnce(&Engine) -> T) -> Option<T> {
        let engine = self.engine().clone();
        let crashed = self.inner.store.crashed();
        let answered = tokio::select! {
            answered = request(&engine) => Some(answered),
            () = crashed.cancelled() => None,
        };
        drop(engine);
        if answered.is_none() || self.inner.store.has_crashed() {
            self.restart();
        }
        answered
    }

    fn engine(&self) -> Engine {
        let engine = self
            .inner
            .engine
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        engine
            .clone()
            .expect("there is a server between two crashes")
    }

    /// Starts another server after a crash that was planned.
    fn restart(&self) {
        self.inner.crashed_once.store(true, Relaxed);
        self.reopen();
    }

    fn reopen(&self) {
        let inner = &self.inner;
        let mut engine = inner.engine.lock().unwrap_or_else(PoisonError::into_inner);
        *engine = None;
        inner.store.revive();
        *engine = Some((inner.open)(inner.store.clone(), inner.host.clone()));
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer")
            .field("now", &self.inner.host.now())
            .finish_non_exhaustive()
    }
}

/// A call by a client that follows tasks and answers forms.
fn call(tool: &str, arguments: &Value) -> Call {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object: {arguments}");
    };
    Call {
        tool: tool.into(),
        arguments: arguments.clone(),
        caller: Caller {
            era: Era::Modern,
            declares_tasks: true,
        },
        client: client(),
        owner: None,
        link: None,
        listens: None,
        retry: None,
        cancelled: CancellationToken::new(),
    }
}

pub(super) fn client() -> Client {
    Client {
        name: Some("siding::testing".into()),
        version: None,
        protocol: Some("2026-07-28".into()),
        elicits_forms: true,
        elicits_urls: true,
    }
}
