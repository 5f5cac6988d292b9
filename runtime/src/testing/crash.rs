//! Crashes: a store that stops answering after a write, as it looks from a process that died.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{TestServer, around::store_around};
use crate::{MemoryStore, Server, host::BoxFuture};

/// A store in memory that can be made to go silent right after a write: the write is done, and
/// nobody hears of it.
#[derive(Clone, Debug)]
pub(super) struct CrashStore {
    store: MemoryStore,
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
            store: MemoryStore::new(),
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
    async fn read<T>(&self, work: BoxFuture<'_, T>) -> T {
        if self.crashed().is_cancelled() {
            return std::future::pending().await;
        }
        work.await
    }

    async fn write<'a, T>(&'a self, write: impl Fn() -> BoxFuture<'a, T>) -> T {
        let done = self.read(write()).await;
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

// For a server it is durable: what is in it outlives every crash.
store_around! { CrashStore, is_durable: |_| true }

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
