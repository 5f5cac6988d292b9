//! Calls that a client waits for and that may become more than a call: a task, or a round of
//! questions. Nothing of them is in the store before that.

use std::{future::poll_fn, sync::Arc};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    Rejection, Reply, Shared,
    ends::failed,
    leg::{Fault, Leg, Parking, Reach, Way},
    machine::{self, LegEvent},
    rounds::too_late,
    runner::{Registration, span, wind_down},
    shutting_down, store_failed,
    turn::{Running, Turn},
};
use crate::{
    ToolError,
    error::ProtocolError,
    host::Timestamp,
    journal::Entry,
    record::{Delivery, End, Origin, Record},
    store::{Creation, Insertion, StoreError},
};

/// A call that a client waits for.
#[derive(Debug)]
pub(super) struct Attended {
    pub(super) origin: Arc<Origin>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) reach: Reach,
    /// When it becomes a task whatever it does.
    pub(super) detach_at: Option<Timestamp>,
    /// Raised when the client has left.
    pub(super) left: CancellationToken,
}

/// Why a call is looked at that goes on.
enum Stop {
    /// Its function got somewhere.
    Turn(Turn),
    /// It takes so long that it becomes a task.
    Overdue,
    /// The server shuts down.
    Closing,
}

/// Why an execution was not written.
pub(super) enum Unwritten {
    /// There are too many.
    Full(u64),
    /// The store failed.
    Failed(StoreError),
}

impl From<Unwritten> for ProtocolError {
    fn from(why: Unwritten) -> Self {
        match why {
            Unwritten::Full(limit) => Self::over_limit(format!(
                "there are {limit} unfinished tasks, and no more may be; try later"
            )),
            Unwritten::Failed(error) => store_failed(&error),
        }
    }
}

impl Shared {
    /// Runs a call until there is something to answer its client with.
    pub(super) async fn attend(self: &Arc<Self>, call: Attended) -> Result<Reply, Rejection> {
        let _begins = self.begins()?;
        self.has_place(&call).await?;
        let (reply, replied) = oneshot::channel();
        let shared = self.clone();
        // It may go on when its client has its answer.
        self.spawn_work(async move { shared.run_attended(call, reply).await });
        let replied = replied.await.unwrap_or_else(|_| Err(shutting_down()));
        Ok(replied?)
    }

    /// Refuses a call that would have no place where it has to be kept, before it does anything. One
    /// that neither asks nor becomes a task needs none.
    async fn has_place(&self, call: &Attended) -> Result<(), ProtocolError> {
        let tool = self.tools.get(call.origin.tool.as_str());
        let asks = tool.is_some_and(|tool| tool.definition.has("input"));
        let becomes_task = !matches!(call.reach.way, Way::Rounds { detaches: false });
        if !asks && !becomes_task {
            return Ok(());
        }
        let limit = self.limits.live_tasks;
        match self.ledger.store.live().await {
            Ok(live) if live < limit => Ok(()),
            Ok(_) => Err(Unwritten::Full(limit).into()),
            Err(error) => Err(Unwritten::Failed(error).into()),
        }
    }

    async fn run_attended(
        self: &Arc<Self>,
        mut call: Attended,
        reply: oneshot::Sender<Result<Reply, ProtocolError>>,
    ) {
        let Some(tool) = self.tools.get(call.origin.tool.as_str()) else {
            return;
        };
        let leg = self.unwritten(
            call.origin.clone(),
            CancellationToken::new(),
            call.reach.clone(),
            span(&call.origin, 1),
        );
        let mut running = Running::start(tool, &leg);
        let (answer, goes_on) = loop {
            match self.run_unwritten(&mut running, &leg, &call).await {
                Stop::Turn(Turn::Detaching) => match self.create_task(&leg, &call).await {
                    Ok(record) => {
                        leg.tell_detached(Ok(()));
                        break (Ok(Reply::task(record)), true);
                    }
                    Err(why) => {
                        leg.tell_detached(Err(ProtocolError::from(why).into_tool_error()));
                    }
                },
                Stop::Overdue => match self.create_task(&leg, &call).await {
                    Ok(record) => break (Ok(Reply::task(record)), true),
                    Err(why) => {
                        let why = ProtocolError::from(why).message;
                        tracing::warn!(%why, "a call cannot become a task, and goes on as a call");
                        call.detach_at = None;
                    }
                },
                Stop::Turn(turn) => break (self.answer(turn, &leg, &call).await, false),
                Stop::Closing => break (Err(shutting_down()), false),
            }
        };
        // Before anybody hears of the task: whoever cancels it finds the leg.
        let registration = leg
            .hold()
            .filter(|_| goes_on)
            .map(|hold| Registration::new(self, &hold.latest(), leg.cancelled.clone()));
        // Whether its client is still there is known to the transport alone.
        let _gone = reply.send(answer);
        if goes_on {
            let left = CancellationToken::new();
            self.finish_leg(running, &leg, tool, &left).await;
        }
        drop(registration);
    }

    /// Polls the function while there is no execution, until something has to be done about it.
    async fn run_unwritten(&self, running: &mut Running, leg: &Arc<Leg>, call: &Attended) -> Stop {
        let host = self.host();
        let left = async {
            call.left.cancelled().await;
            leg.cancelled.cancel();
            wind_down(host, &leg.cancelled).await;
        };
        let overdue = async {
            host.reached(call.detach_at).await;
            // Whoever has left would never hear of the task.
            if call.left.is_cancelled() {
                std::future::pending::<()>().await;
            }
        };
        let telling = leg.tell_all();
        tokio::pin!(left, overdue, telling);
        loop {
            let turn = tokio::select! {
                biased;
                turn = poll_fn(|cx| running.poll(leg, cx)) => turn,
                () = &mut left => Turn::Dropped,
                () = self.hurry.cancelled() => return Stop::Closing,
                () = &mut overdue => return Stop::Overdue,
                () = &mut telling => continue,
            };
            match turn {
                Turn::Detaching if call.left.is_cancelled() => {
                    leg.tell_detached(Err(ToolError::cancelled()));
                }
                turn => return Stop::Turn(turn),
            }
        }
    }

    /// What the client is told of a call that goes no further in this leg.
    async fn answer(
        &self,
        turn: Turn,
        leg: &Arc<Leg>,
        call: &Attended,
    ) -> Result<Reply, ProtocolError> {
        leg.tell_last_progress().await;
        match turn {
            Turn::Ended(end) | Turn::Panicked(end) => Ok(Reply::End(end)),
            Turn::Faulted(fault) => Ok(Reply::End(failed(&fault))),
            Turn::Parked(parking) => self.park(leg, call, parking).await,
            Turn::Dropped | Turn::Detaching => Ok(Reply::End(End::Cancelled)),
        }
    }

    /// Writes the execution as a task whose leg goes on.
    async fn create_task(&self, leg: &Arc<Leg>, call: &Attended) -> Result<Arc<Record>, Unwritten> {
        let record = Arc::new(self.created(call, Delivery::Task).await?);
        let since = self.host().steady();
        self.write(record.clone(), leg.pending()).await?;
        leg.take_hold(self.hold(record.clone(), since));
        Ok(record)
    }

    /// Writes the execution as it waits after its first leg: as a task, or for the answers to its first
    /// round.
    async fn park(
        &self,
        leg: &Arc<Leg>,
        call: &Attended,
        parking: Parking,
    ) -> Result<Reply, ProtocolError> {
        let (delivery, round) = match call.reach.way {
            Way::Task => (Delivery::Task, None),
            _ => (Delivery::Rounds, Some(self.ledger.random_name())),
        };
        let record = self.created(call, delivery).await?;
        let parked = LegEvent::Parked {
            parking,
            round,
            told: leg.take_told(),
            cut_off: leg.is_cut_off(),
        };
        let now = self.host().now();
        if record.is_expired(now) {
            return Err(too_late());
        }
        match machine::begun(record, vec![parked], now) {
            Ok((record, journal)) => {
                let record = Arc::new(record);
                self.write(record.clone(), journal).await?;
                Ok(match delivery {
                    Delivery::Task => Reply::task(record),
                    Delivery::Rounds => Reply::asked(record),
                })
            }
            Err(refusal) => Ok(Reply::End(failed(&Fault::from(refusal)))),
        }
    }

    async fn created(&self, call: &Attended, delivery: Delivery) -> Result<Record, Unwritten> {
        let lease = self.lease().await.map_err(Unwritten::Failed)?;
        let origin = call.origin.clone();
        Ok(Record::created(origin, delivery, call.ttl_ms, lease))
    }

    /// Writes a new execution. It is known to every instance when this is done, and is not there
    /// where it fails.
    pub(super) async fn write(
        &self,
        record: Arc<Record>,
        journal: Vec<Entry>,
    ) -> Result<(), Unwritten> {
        let store = &self.ledger.store;
        if self.adrift().unwanted.contains(record.id()) {
            let error = "an earlier try to write it is not undone yet";
            return Err(Unwritten::Failed(StoreError::new(error)));
        }
        let creation = Creation {
            record: record.clone(),
            journal,
            limit: self.limits.live_tasks,
        };
        match store.insert(creation).await {
            Ok(Insertion::Done) => Ok(()),
            Ok(Insertion::Full) => Err(Unwritten::Full(self.limits.live_tasks)),
            Err(error) => {
                // It may be there all the same, if only the news of it was lost.
                if let Err(error) = store.remove(record.id()).await {
                    tracing::error!(task = %record.id(), %error, "a task may be there for nobody");
                    self.unwanted(record.id());
                }
                Err(Unwritten::Failed(error))
            }
        }
    }
}
