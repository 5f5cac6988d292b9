//! Runs legs: polls the author's function, and reads after every poll what became of the leg.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError},
    task::{Context, Poll},
};

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    GRACE, LEASE, Shared,
    hold::Hold,
    later,
    leg::{Fault, Leg, Parking},
};
use crate::{
    error::ProtocolError,
    host::{BoxFuture, Host},
    journal::Entry,
    record::{End, Record, TaskId},
    tool::{Outcome, Registered},
};

/// What a poll of a leg came to.
#[derive(Debug)]
enum Turn {
    /// The function is done.
    Ended(End),
    /// It can only wait.
    Parked(Parking),
    /// It told how it goes; it is to be polled again.
    Status(String),
    /// The leg is over, whatever the function says.
    Faulted(Fault),
}

/// The function of a tool while it runs.
struct Running {
    future: Option<BoxFuture<'static, Outcome>>,
}

impl Running {
    fn start(tool: &Registered, leg: &Arc<Leg>) -> Self {
        Self {
            future: Some(tool.start(leg.clone())),
        }
    }

    /// Polls the function once and tells what became of the leg.
    fn poll(&mut self, leg: &Leg, cx: &mut Context<'_>) -> Poll<Turn> {
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        let turn = match polled {
            Err(panic) => Turn::Ended(panicked(&leg.origin.tool, panic.as_ref())),
            Ok(polled) => match (leg.take_fault(), polled) {
                (Some(fault), _) => Turn::Faulted(fault),
                (None, Poll::Ready(outcome)) => match leg.unread() {
                    Some(fault) => Turn::Faulted(fault),
                    None => Turn::Ended(end(outcome)),
                },
                (None, Poll::Pending) => {
                    if let Some(message) = leg.take_status() {
                        return Poll::Ready(Turn::Status(message));
                    }
                    match leg.parking() {
                        None => return Poll::Pending,
                        Some(parking) => leg.unread().map_or(Turn::Parked(parking), Turn::Faulted),
                    }
                }
            },
        };
        self.drop_future(&leg.origin.tool);
        Poll::Ready(turn)
    }

    /// Drops the function. What its values do when they are dropped is the author's code too.
    fn drop_future(&mut self, tool: &str) {
        let future = self.future.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
            tracing::error!(
                tool,
                panic = text_of(panic.as_ref()),
                "a value panicked when dropped"
            );
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.drop_future("");
    }
}

/// Runs a tool to its end in the request that called it.
pub(super) async fn run_in_call(tool: &Registered, leg: &Arc<Leg>, host: &dyn Host) -> End {
    let mut running = Running::start(tool, leg);
    let turn = async {
        loop {
            match poll_fn(|cx| running.poll(leg, cx)).await {
                Turn::Ended(end) => return end,
                Turn::Faulted(fault) => return failed(&fault),
                // Without a task there is nobody to tell, and nothing that could park.
                Turn::Status(_) | Turn::Parked(_) => {}
            }
        }
    };
    tokio::select! {
        biased;
        end = turn => end,
        () = wind_down(host, &leg.cancelled) => End::Cancelled,
    }
}

impl Shared {
    /// Runs a leg of an execution that this worker has just claimed.
    pub(super) fn spawn_leg(self: &Arc<Self>, record: Arc<Record>, journal: Vec<Entry>) {
        let shared = self.clone();
        tokio::spawn(async move {
            let stop = shared.stop.clone();
            tokio::select! {
                () = stop.cancelled() => {}
                () = shared.run_leg(record, journal) => {}
            }
        });
    }

    async fn run_leg(&self, record: Arc<Record>, journal: Vec<Entry>) {
        let Some(tool) = self.tools.get(record.origin.tool.as_str()) else {
            return;
        };
        let id = record.id().clone();
        let origin = record.origin.clone();
        let cancelled = CancellationToken::new();
        let _registered = Registration::new(self, &id, &cancelled);
        let hold = Hold::new(self.ledger.clone(), record);
        let leg = Leg::new(origin, cancelled, journal, Some(hold));
        let Some(hold) = &leg.hold else { return };
        let written = match self.drive_leg(tool, &leg, hold).await {
            Turn::Ended(end) => hold.finish(end).await,
            Turn::Parked(parking) => hold.park(parking).await,
            Turn::Faulted(fault @ (Fault::Drift(_) | Fault::Misuse(_))) => {
                hold.finish(failed(&fault)).await
            }
            Turn::Faulted(fault) => Err(fault),
            Turn::Status(_) => Ok(()),
        };
        match written {
            Ok(()) => {}
            Err(Fault::Superseded) => {
                tracing::debug!(task = %id, "a leg ended that nobody waits for any more");
            }
            Err(fault @ (Fault::Drift(_) | Fault::Misuse(_))) => {
                if let Err(fault) = hold.finish(failed(&fault)).await {
                    tracing::error!(task = %id, ?fault, "the end of a task could not be written");
                }
            }
            Err(Fault::Store(error)) => {
                tracing::error!(task = %id, %error, "a leg is given up until its lease has ended");
            }
        }
    }

    /// Polls the function until the leg is over, renews the lease meanwhile, and lets go of it some
    /// time after it was cancelled.
    async fn drive_leg(&self, tool: &Registered, leg: &Arc<Leg>, hold: &Hold) -> Turn {
        let mut running = Running::start(tool, leg);
        let host = self.host();
        let beat = || host.sleep_until(later(host.now(), LEASE / 3));
        let mut heartbeat = beat();
        let wind_down = wind_down(host, &leg.cancelled);
        tokio::pin!(wind_down);
        loop {
            let turn = tokio::select! {
                biased;
                turn = poll_fn(|cx| running.poll(leg, cx)) => turn,
                () = &mut wind_down => return Turn::Faulted(Fault::Superseded),
                () = &mut heartbeat => {
                    heartbeat = beat();
                    match hold.renew(self.lease_end()).await {
                        // A cancel by another process shows itself here.
                        Err(Fault::Superseded) => leg.cancelled.cancel(),
                        Err(fault) => tracing::warn!(?fault, "a lease could not be renewed"),
                        Ok(()) => {}
                    }
                    continue;
                }
            };
            let Turn::Status(message) = turn else {
                return turn;
            };
            if let Err(fault) = hold.status(message).await {
                return Turn::Faulted(fault);
            }
        }
    }
}

/// Ready when a leg that was cancelled has had its time to end.
async fn wind_down(host: &dyn Host, cancelled: &CancellationToken) {
    cancelled.cancelled().await;
    host.sleep_until(later(host.now(), GRACE)).await;
}

/// Makes the token of a leg known to those who cancel, while the leg runs.
struct Registration<'a> {
    shared: &'a Shared,
    id: &'a TaskId,
}

impl<'a> Registration<'a> {
    fn new(shared: &'a Shared, id: &'a TaskId, token: &CancellationToken) -> Self {
        let mut running = shared
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        running.insert(id.clone(), token.clone());
        Self { shared, id }
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let running = &self.shared.running;
        running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(self.id);
    }
}

/// The end that the outcome of a function is.
fn end(outcome: Outcome) -> End {
    match outcome.map_err(crate::ToolError::into_wire) {
        Ok(result) => result_end(&result),
        Err(Ok(text)) => tool_error(text),
        Err(Err(error)) => End::Error(error),
    }
}

/// The end of a call that failed for a reason that the model should read.
pub(super) fn tool_error(text: String) -> End {
    result_end(&CallToolResult::error(vec![ContentBlock::text(text)]))
}

fn result_end(result: &CallToolResult) -> End {
    match serde_json::to_value(result) {
        Ok(Value::Object(members)) => End::Result(members),
        _ => End::Error(ProtocolError::internal(
            "the result cannot be written as JSON",
        )),
    }
}

fn failed(fault: &Fault) -> End {
    End::Error(match fault {
        Fault::Drift(text) => ProtocolError::internal(text.clone()).because("drift"),
        Fault::Misuse(text) => ProtocolError::internal(text.clone()).because("misuse"),
        Fault::Store(_) => ProtocolError::internal("the task store failed").because("store"),
        Fault::Superseded => ProtocolError::internal("the call was given up"),
    })
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> End {
    tracing::error!(tool, panic = text_of(panic), "a tool panicked");
    // What a panic says was written for the author, not for the client.
    End::Error(ProtocolError::internal(format!("the tool `{tool}` panicked")).because("panic"))
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}
