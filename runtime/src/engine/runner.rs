//! Runs legs: drives the author's function and writes down what each of its turns came to.

use std::{future::poll_fn, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    CLEANING, GRACE, Shared,
    ends::failed,
    hold::Hold,
    leg::{self, Fault, Leg, Reach, Way},
    machine::Release,
    turn::{Running, Turn},
};
use crate::{
    host::Host,
    journal::Entry,
    record::{Closing, Drift, End, Origin, Record, TaskId},
    tool::Registered,
};

/// Runs a tool to its end in the request that called it.
pub(super) async fn run_in_call(tool: &Registered, leg: &Arc<Leg>, host: &dyn Host) -> End {
    let mut running = Running::start(tool, leg);
    let turn = async {
        loop {
            let turn = tokio::select! {
                biased;
                turn = poll_fn(|cx| running.poll(leg, cx)) => turn,
                () = leg.tell_all() => continue,
            };
            match turn {
                Turn::Ended(end) | Turn::Panicked(end) => return end,
                Turn::Faulted(fault) => return failed(&fault),
                // Without a task there is nothing that could park.
                Turn::Parked(_) | Turn::Detaching | Turn::Dropped => {}
            }
        }
    };
    let end = tokio::select! {
        biased;
        end = turn => end,
        () = wind_down(host, &leg.cancelled) => End::Cancelled,
    };
    leg.tell_last_progress().await;
    end
}

/// A leg of an execution that this worker has just claimed.
pub(super) struct Claimed {
    pub(super) record: Arc<Record>,
    pub(super) journal: Vec<Entry>,
    /// When the store was asked for it, by the steady clock.
    pub(super) since: Duration,
    pub(super) reach: Reach,
    /// Raised when the one who waits for the leg has left; never for a task.
    pub(super) left: CancellationToken,
}

impl Claimed {
    /// A leg that nobody waits for.
    pub(super) fn unattended(record: Arc<Record>, journal: Vec<Entry>, since: Duration) -> Self {
        let way = if record.is_task() {
            Way::Task
        } else {
            Way::Rounds { detaches: false }
        };
        let elicits = record.origin.client.elicits();
        Self {
            record,
            journal,
            since,
            reach: Reach {
                way,
                elicits,
                listens: None,
            },
            left: CancellationToken::new(),
        }
    }
}

impl Shared {
    /// Runs a leg.
    pub(super) fn spawn_leg(self: &Arc<Self>, claimed: Claimed) {
        let shared = self.clone();
        // Before the leg is first polled: whoever cancels from here on finds it.
        let registration = Registration::new(self, &claimed.record, CancellationToken::new());
        self.spawn_work(async move { shared.run_leg(claimed, &registration.token).await });
    }

    /// Does work that the server waits for when it shuts down.
    pub(super) fn spawn_work(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.legs.spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = work => {}
            }
        });
    }

    async fn run_leg(&self, claimed: Claimed, cancelled: &CancellationToken) {
        let Claimed {
            record,
            journal,
            since,
            reach,
            left,
        } = claimed;
        let Some(tool) = self.tools.get(record.origin.tool.as_str()) else {
            return;
        };
        let closing = matches!(record.closing, Some(Closing::Running { .. }));
        if closing {
            cancelled.cancel();
        }
        let leg = Leg::new(leg::Parts {
            origin: record.origin.clone(),
            cancelled: cancelled.clone(),
            host: self.ledger.host.clone(),
            limits: self.limits,
            journal,
            reach,
            span: span(&record.origin, record.legs()),
            interrupted: record.interrupted,
            hold: Some(self.hold(record, since)),
            closing,
        });
        let running = Running::start(tool, &leg);
        self.finish_leg(running, &leg, tool, &left).await;
    }

    /// Polls the function until the leg is over, and writes down what became of it.
    pub(super) async fn finish_leg(
        &self,
        mut running: Running,
        leg: &Arc<Leg>,
        tool: &Registered,
        left: &CancellationToken,
    ) {
        let Some(hold) = leg.hold() else { return };
        let turn = self.drive_leg(&mut running, leg, hold, left).await;
        drop(running);
        let written = match turn {
            Turn::Dropped => self.let_go(leg, hold).await,
            turn => self.write_down(turn, leg, hold, tool).await,
        };
        if let Err(fault) = written {
            self.unwritten_end(&fault, hold);
        }
    }

    /// Lets go of an execution whose leg was dropped. What it did is written first.
    async fn let_go(&self, leg: &Arc<Leg>, hold: &Hold) -> Result<(), Fault> {
        hold.settle().await?;
        // A sleep that began goes on while nobody waits for it.
        leg.flush().await;
        let told = leg.take_told();
        if !told.is_empty()
            && let Err(error) = hold.tell(told).await
        {
            tracing::warn!(%error, "the last status of a leg is lost");
        }
        let release = match (leg.is_closing(), leg.is_cut_off()) {
            (true, _) if !self.hurry.is_cancelled() => Release::OutOfTime,
            (_, true) => Release::Interrupted,
            (_, false) => Release::AtRest,
        };
        hold.release(release).await
    }

    /// Logs why the end of a leg is not in the store.
    fn unwritten_end(&self, fault: &Fault, hold: &Hold) {
        let record = hold.latest();
        let id = record.id();
        if let Fault::Superseded = fault {
            tracing::debug!(task = %id, "a leg ended that nobody waits for any more");
        } else {
            tracing::error!(task = %id, ?fault, "the end of a leg could not be written");
            self.orphaned(id);
        }
    }

    /// Writes down what became of a leg.
    async fn write_down(
        &self,
        turn: Turn,
        leg: &Leg,
        hold: &Hold,
        tool: &Registered,
    ) -> Result<(), Fault> {
        let written = match turn {
            Turn::Ended(end) => hold.finish(end, leg.take_told(), leg.is_cut_off()).await,
            Turn::Panicked(end) => {
                hold.fail(end, "its code panicked".into(), leg.is_cut_off())
                    .await
            }
            Turn::Parked(parking) => hold.park(parking, leg.take_told(), leg.is_cut_off()).await,
            Turn::Faulted(fault) => Err(fault),
            Turn::Dropped | Turn::Detaching => Ok(()),
        };
        match written {
            Err(Fault::Drift(message)) => hold.drift(self.drift(message, leg, hold, tool)).await,
            Err(fault) if fault.is_final() => {
                let end = failed(&fault);
                let why = match &end {
                    End::Error(error) => error.message.clone().into_owned(),
                    End::Result(_) | End::Cancelled => String::new(),
                };
                hold.fail(end, why, leg.is_cut_off()).await
            }
            written => written,
        }
    }

    /// Leaves the task to workers with other code, for a while.
    fn drift(&self, message: String, leg: &Leg, hold: &Hold, tool: &Registered) -> Drift {
        let grace = self.host().now().after(self.drift_grace);
        // What has to be cleaned up may be over already.
        let end = hold.latest().expires_at().filter(|_| !leg.is_closing());
        Drift {
            fingerprint: tool.fingerprint.clone(),
            message,
            until: end.map_or(grace, |end| end.min(grace)),
        }
    }

    /// Polls the function until the leg is over, and lets go of it some time after it was cancelled,
    /// when nobody waits for it any more, or when the server began to close.
    async fn drive_leg(
        &self,
        running: &mut Running,
        leg: &Arc<Leg>,
        hold: &Hold,
        left: &CancellationToken,
    ) -> Turn {
        let host = self.host();
        let given_up = async {
            if leg.is_closing() {
                // It may try again, but not for ever.
                host.sleep(CLEANING).await;
            } else {
                wind_down(host, &leg.cancelled).await;
            }
        };
        // What is in flight ends first: the client may come back for it. Nobody waits for a task.
        let abandoned = async {
            left.cancelled().await;
            if hold.latest().is_task() {
                std::future::pending::<()>().await;
            }
            leg.wind_up().await;
        };
        // Beside the function, which goes on while the store takes its time.
        let telling = leg.tell_all();
        tokio::pin!(given_up, abandoned, telling);
        loop {
            let turn = tokio::select! {
                biased;
                turn = poll_fn(|cx| running.poll(leg, cx)) => turn,
                () = &mut given_up => return Turn::Dropped,
                () = &mut abandoned => return Turn::Dropped,
                () = self.hurry.cancelled() => return Turn::Dropped,
                () = &mut telling => continue,
            };
            let Turn::Detaching = turn else { return turn };
            match hold.detach().await {
                Ok(()) => leg.tell_detached(Ok(())),
                Err(fault) => return Turn::Faulted(fault),
            }
        }
    }

    /// The hold on an execution that this worker asked the store for at `since`.
    pub(super) fn hold(&self, record: Arc<Record>, since: Duration) -> Hold {
        Hold::new(self.ledger.clone(), record, since, self.hurry.clone())
    }
}

/// Ready when a leg that was cancelled has had its time to end.
pub(super) async fn wind_down(host: &dyn Host, cancelled: &CancellationToken) {
    cancelled.cancelled().await;
    host.sleep(GRACE).await;
}

/// The span of a leg.
pub(super) fn span(origin: &Origin, leg: u32) -> tracing::Span {
    tracing::info_span!(
        "leg",
        tool = origin.tool,
        task = %origin.id,
        leg,
        replaying = tracing::field::Empty,
    )
}

/// Makes the token of a leg known to those who cancel, until it is dropped.
pub(super) struct Registration {
    shared: Arc<Shared>,
    id: TaskId,
    fence: u64,
    token: CancellationToken,
}

impl Registration {
    pub(super) fn new(shared: &Arc<Shared>, record: &Record, token: CancellationToken) -> Self {
        let registration = Self {
            shared: shared.clone(),
            id: record.id().clone(),
            fence: record.fence,
            token,
        };
        let token = registration.token.clone();
        let before = shared
            .running()
            .insert(record.id().clone(), (record.fence, token));
        if let Some((_, superseded)) = before {
            superseded.cancel();
        }
        registration
    }
}

impl Drop for Registration {
    /// Leaves what belongs to a later leg of the execution, which may have begun already.
    fn drop(&mut self) {
        let mut running = self.shared.running();
        if running
            .get(&self.id)
            .is_some_and(|(fence, _)| *fence == self.fence)
        {
            running.remove(&self.id);
        }
    }
}
