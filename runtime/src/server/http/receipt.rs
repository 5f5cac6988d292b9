//! Whether the handle of a task reached the one who asked for it. A task whose handle never left is
//! cancelled: nobody could ever ask for it.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use rmcp::service::{RequestContext, RoleServer};

use crate::{engine::Engine, record::TaskId};

/// What became of the answer to one call.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Receipt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    /// There is no task yet.
    #[default]
    Open,
    /// The answer that is on its way names this task.
    Promised { engine: Engine, id: TaskId },
    /// The answer left, or there was no task in it.
    Done,
    /// Nobody is there to be answered any more.
    Lost,
}

impl Receipt {
    /// That of the request that `context` is of.
    pub(in crate::server) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let request = context.extensions.get::<http::request::Parts>()?;
        request.extensions.get().cloned()
    }

    /// The answer will name the task `id`, which this call made.
    pub(in crate::server) fn promise(&self, engine: &Engine, id: &TaskId) {
        let mut state = self.lock();
        if let State::Lost = *state {
            abandon(engine.clone(), id.clone());
        } else {
            *state = State::Promised {
                engine: engine.clone(),
                id: id.clone(),
            };
        }
    }

    /// This part of the answer is handed to the connection.
    fn leaves(&self, data: &[u8]) {
        let mut state = self.lock();
        if let State::Promised { id, .. } = &*state {
            let id = id.as_str().as_bytes();
            if data.windows(id.len()).any(|part| part == id) {
                *state = State::Done;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cancels the task of an answer that is dropped before it left.
#[derive(Debug)]
pub(super) struct Guard(pub(super) Receipt);

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        match std::mem::replace(&mut *state, State::Lost) {
            State::Promised { engine, id } => abandon(engine, id),
            State::Done => *state = State::Done,
            State::Open | State::Lost => {}
        }
    }
}

fn abandon(engine: Engine, id: TaskId) {
    // Without a runtime the server is gone as well, and its tasks are somebody else's.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { engine.abandon(&id).await });
    }
}

/// The body of an answer, whose parts are noted as they leave.
#[derive(Debug)]
pub(super) struct Noted<B> {
    pub(super) body: B,
    pub(super) guard: Guard,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Noted<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.guard.0.leaves(data);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
