//! A view of a call for use outside of its context.

use std::sync::Arc;

use crate::{engine::leg::Leg, record::TaskId};

/// What steps and spawned work may see and tell of the call they belong to.
///
/// It is no context: nothing can be asked and no step can be run with it.
///
/// ```
/// use siding::prelude::*;
///
/// /// Copies in the background of a step, and tells how far it is.
/// #[mcp_tool(task = "required")]
/// async fn copy(ctx: &mut Ctx, files: u32) -> Result<u32> {
///     let handle = ctx.handle();
///     let work = async {
///         for file in 0..files {
///             if handle.is_cancelled() {
///                 return siding::Ok(file);
///             }
///             handle.status(format!("{file} of {files}"));
///         }
///         siding::Ok(files)
///     };
///     ctx.step("copy", work).await
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Handle {
    leg: Arc<Leg>,
}

impl Handle {
    pub(super) const fn new(leg: Arc<Leg>) -> Self {
        Self { leg }
    }

    /// Tells how it goes, as [`Ctx::status`](crate::Ctx::status) does.
    pub fn status(&self, message: impl Into<String>) {
        self.leg.tell(|told| told.status = Some(message.into()));
    }

    /// Tells how far it is, as [`Ctx::progress`](crate::Ctx::progress) does.
    pub fn progress(&self, done: u64, total: u64) {
        self.leg.progress(done, total);
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.leg.cancelled.is_cancelled()
    }

    /// Ready when the call is cancelled.
    pub async fn cancelled(&self) {
        self.leg.cancelled.cancelled().await;
    }

    /// The id of the task; `None` in a call that is none.
    pub fn task_id(&self) -> Option<&TaskId> {
        self.leg.task_id()
    }
}
