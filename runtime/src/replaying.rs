//! Whether what happens now has happened before.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use tracing::Span;

tokio::task_local! {
    static REPLAYING: Replaying;
}

/// Whether the code that asks runs in a leg that only replays what earlier legs did.
///
/// Logs and metrics repeat on every resume unless they ask. Events of a leg are in a span `leg` with
/// the fields `tool`, `task`, `leg` and `replaying`; with `tracing-subscriber`, one line drops what
/// replays:
///
/// ```
/// use tracing_subscriber::{Layer, filter::dynamic_filter_fn, fmt, layer::SubscriberExt, registry};
///
/// let live = dynamic_filter_fn(|_, _| !siding::is_replaying());
/// let subscriber = registry().with(fmt::layer().with_filter(live));
/// # let _ = subscriber;
/// ```
pub fn is_replaying() -> bool {
    REPLAYING.try_with(Replaying::get).unwrap_or(false)
}

/// Whether a leg replays. Clones tell of the same leg.
#[derive(Clone, Debug)]
pub(crate) struct Replaying {
    flag: Arc<AtomicBool>,
    span: Span,
}

impl Replaying {
    /// A leg with the span `span`, which has a field `replaying`.
    pub(crate) fn new(replaying: bool, span: Span) -> Self {
        span.record("replaying", replaying);
        Self {
            flag: Arc::new(AtomicBool::new(replaying)),
            span,
        }
    }

    /// Ends the replay: from here on everything is new.
    pub(crate) fn end(&self) {
        if self.flag.swap(false, Relaxed) {
            self.span.record("replaying", false);
        }
    }

    /// Runs code of the leg.
    pub(crate) fn scope<T>(&self, code: impl FnOnce() -> T) -> T {
        REPLAYING.sync_scope(self.clone(), || self.span.in_scope(code))
    }

    fn get(&self) -> bool {
        self.flag.load(Relaxed)
    }
}
