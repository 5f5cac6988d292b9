//! Crashes: a store that stops answering after a write, as it looks from a process that died.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::TestServer;
use crate::{
    MemoryStore, Server,
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Record, TaskId},
    store::{Change, Changes, Insertion, Listing, Runnable, Store, StoreError, Swap},
};

/// A store in memory that can be made to go silent right after a write: the write is done, and
/// nobody hears of it.
#[derive(Clone, Debug)]
pub(super) struct CrashStore {
    inner: MemoryStore,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug)]
struct Plan {
    /// How many writes are left until the crash.
    left: Option<u32>,
    /// Raised by the crash; another one for each life.
    crashed: CancellationToken,
}

impl CrashStore {
    pub(super) fn new() -> Self {
        Self {
            inner: MemoryStore::new(),
            plan: Arc::new(Mutex::new(Plan {
                left: None,
                crashed: CancellationToken::new(),
            })),
        }
    }

    /// Crashes after that many writes from now on.
    pub(super) fn crash_after(&self, writes: u32) {
        self.plan().left = Some(writes);
    }

    /// Whether the crash that was planned has happened.
    pub(super) fn has_crashed(&self) -> bool {
        self.plan().left == Some(0)
    }

    /// Raised when this life ends.
    pub(super) fn crashed(&self) -> CancellationToken {
        self.plan().crashed.clone()
    }

    /// Answers again.
    pub(super) fn revive(&self) {
        let mut plan = self.plan();
        plan.left = None;
        plan.crashed = CancellationToken::new();
    }

    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a process sees of `work`: nothing any more, once it died.
    async fn alive<T>(&self, work: BoxFuture<'_, T>) -> T {
        if self.crashed().is_cancelled() {
            return std::future::pending().await;
        }
        work.await
    }

    async fn write<T>(&self, work: BoxFuture<'_, T>) -> T {
        let done = self.alive(work).await;
        let crashes = {
            let mut plan = self.plan();
            plan.left = plan.left.map(|left| left.saturating_sub(1));
            plan.left == Some(0)
        };
        if crashes {
            self.crashed().cancel();
            return std::future::pending().await;
        }
        done
    }
}

impl Store for CrashStore {
    fn insert(
        &self,
        record: Arc<Record>,
        limit: u64,
    ) -> BoxFuture<'_, Result<Insertion, StoreError>> {
        Box::pin(self.write(self.inner.insert(record, limit)))
    }

    fn load<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>> {
        Box::pin(self.alive(self.inner.load(id)))
    }

    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(self.alive(self.inner.journal(id)))
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        Box::pin(self.write(self.inner.commit(change)))
    }

    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.alive(self.inner.runnable(query)))
    }

    fn alarmed(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.alive(self.inner.alarmed(now, limit)))
    }

    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.alive(self.inner.next_due(pool, now)))
    }

    fn list<'a>(
        &'a self,
        query: Listing<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.alive(self.inner.list(query)))
    }

    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.write(self.inner.remove(id)))
    }

    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.alive(self.inner.position()))
    }

    fn changes(&self, after: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        Box::pin(self.alive(self.inner.changes(after)))
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// Plays `script` again and again, each time with a crash after one more write, until it gets
/// through without meeting the crash. Gives the number of crashes.
///
/// The script holds for every play: whatever it asserts at its end, such as how often an effect
/// happened, is true wherever the server died. A step that was open at the crash runs again, so
/// count what the *other side* would count, by [`idempotency_key`](crate::Ctx::idempotency_key).
///
/// ```
/// use siding::{prelude::*, testing::crash_everywhere};
///
/// /// Asks once.
/// #[mcp_tool(task = "required")]
/// async fn ask(ctx: &mut Ctx) -> Result<bool> {
///     ctx.step("prepare", async { Ok(()) }).await?;
///     let sure: bool = ctx.input("Sure?").await?;
///     Ok(sure)
/// }
///
/// # #[tokio::main] async fn main() {
/// let server = || Server::new("asks", "1.0.0").tool::<ask>();
/// let crashes = crash_everywhere(server, async |server| {
///     let task = server.call("ask", serde_json::json!({})).await;
///     task.answer("sure", true).await;
///     assert_eq!(task.end().await.structured(), true);
/// });
/// assert!(crashes.await >= 4);
/// # }
/// ```
pub async fn crash_everywhere<S: Send + Sync + 'static>(
    server: impl Fn() -> Server<S> + Clone + Send + Sync + 'static,
    script: impl AsyncFn(&TestServer),
) -> u32 {
    let mut writes = 1;
    loop {
        let server = TestServer::new(server.clone());
        server.store().crash_after(writes);
        script(&server).await;
        if !server.crashed_once() {
            return writes - 1;
        }
        writes += 1;
    }
}

/// Longer than any lease.
pub(super) const LEASES_END: Duration = Duration::from_secs(31);
