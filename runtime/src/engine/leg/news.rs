//! What is only told: the status of a task, its time to live, how far a call is.
//!
//! None of it may end or delay the leg. It is told beside the function, at a bounded rate; what comes
//! meanwhile takes the place of what was not told yet.

use std::{mem, sync::Arc, time::Duration};

use super::{Leg, way::Listens};
use crate::{engine::machine::Told, store::StoreError};

/// This much is told at once before the pauses begin.
const BURST: u32 = 8;
/// The pause between two messages of a leg that tells more.
const PAUSE: Duration = Duration::from_millis(250);
/// How long to wait after the store failed.
const AGAIN: Duration = Duration::from_secs(1);
/// How long a client that listens may take for what a call told last.
const LAST: Duration = Duration::from_secs(1);

impl Leg {
    /// Tells something of the task, unless the journal still has something to replay.
    pub(crate) fn tell(&self, tell: impl FnOnce(&mut Told)) {
        let mut state = self.lock();
        if self.has_status() && state.next_operation().is_none() {
            tell(&mut state.told);
            drop(state);
            self.news.notify_one();
        }
    }

    /// Tells how far it is: as the status of a task, to a client that listens otherwise.
    pub(crate) fn progress(&self, done: u64, total: u64) {
        if self.is_task() || self.listener().is_none() {
            return self.tell(|told| told.status = Some(format!("{done} of {total}")));
        }
        let mut state = self.lock();
        if state.next_operation().is_none() {
            state.progress = Some((done, total));
            drop(state);
            self.news.notify_one();
        }
    }

    /// What was told and is not in the store, for the write that ends the leg.
    pub(in crate::engine) fn take_told(&self) -> Told {
        let mut state = self.lock();
        let mut told = mem::take(&mut state.telling);
        told.extend(mem::take(&mut state.told));
        told
    }

    /// Tells whatever there is to tell, for as long as it is polled.
    pub(in crate::engine) async fn tell_all(&self) {
        let mut spare = BURST;
        loop {
            tokio::select! {
                biased;
                () = self.news.notified() => {}
                () = self.host.sleep(PAUSE), if spare < BURST => {
                    spare += 1;
                    continue;
                }
            }
            if spare == 0 {
                self.host.sleep(PAUSE).await;
            } else {
                spare -= 1;
            }
            self.tell_progress().await;
            if let Err(error) = self.tell_status().await {
                tracing::warn!(task = %self.origin.id, %error, "the status cannot be told yet");
                self.host.sleep(AGAIN).await;
                self.news.notify_one();
            }
        }
    }

    /// Tells a client that listens what the call told last, before it is answered.
    pub(in crate::engine) async fn tell_last_progress(&self) {
        tokio::select! {
            biased;
            () = self.tell_progress() => {}
            () = self.host.sleep(LAST) => {}
        }
    }

    async fn tell_progress(&self) {
        let Some(listener) = self.listener().cloned() else {
            return;
        };
        let progress = self.lock().progress.take();
        // A task has no progress (SEP-2663): what came before it was one is too late.
        if let Some((done, total)) = progress.filter(|_| !self.is_task()) {
            listener.progress(done, total).await;
        }
    }

    /// Writes the status, unless there is no execution yet: then it waits to be written with it.
    async fn tell_status(&self) -> Result<(), StoreError> {
        let Some(hold) = self.hold() else {
            return Ok(());
        };
        let told = {
            let mut state = self.lock();
            let told = mem::take(&mut state.told);
            // Until it is written, it is not forgotten: whoever drops this writes it with the end.
            state.telling.extend(told);
            state.telling.clone()
        };
        if told.is_empty() {
            return Ok(());
        }
        hold.tell(told).await?;
        self.lock().telling = Told::default();
        Ok(())
    }

    const fn listener(&self) -> Option<&Arc<dyn Listens>> {
        self.reach.listens.as_ref()
    }
}
