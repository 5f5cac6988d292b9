//! Calls that come back with the answers to a round of questions (SEP-2322).

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    Call, Rejection, Reply, Retry, Shared,
    ledger::Rejected,
    leg::{Listens, Reach, Way},
    machine::{Event, Refusal},
    runner::Claimed,
    shutting_down, store_failed,
};
use crate::{
    decision::Decision,
    digest::digest,
    error::ProtocolError,
    record::{Drift, Elicits, End, Record, Status, TaskId},
    tool::Detach,
};

/// A call that came back, as far as it is not in its record.
#[derive(Debug)]
pub(super) struct Retrying {
    tool: String,
    arguments_digest: String,
    owner: Option<String>,
    elicits: Elicits,
    listens: Option<Arc<dyn Listens>>,
    decision: Decision,
    /// Raised when the client has left.
    left: CancellationToken,
}

impl Record {
    /// `requestState` for the round whose questions were put last.
    ///
    /// It is random and says nothing: what it stands for is in the record, which is why it needs no
    /// key.
    pub(crate) fn request_state(&self) -> Option<String> {
        let rounds = self.rounds.as_ref()?;
        Some(format!("{}.{}", self.id(), rounds.current.name))
    }
}

impl Shared {
    /// Goes on with a call by what its client came back with.
    pub(super) async fn retry(
        self: &Arc<Self>,
        caller: Retrying,
        Retry { state, answers }: Retry,
    ) -> Result<Reply, Rejection> {
        let _begins = self.begins()?;
        // Whoever is asked otherwise was given no handle.
        let by_rounds = matches!(caller.decision, Decision::Rounds | Decision::Task(_));
        let parts = state.split_once('.').filter(|_| by_rounds);
        let (id, round) = parts.ok_or_else(no_such_round)?;
        let id = TaskId::from(id);
        let known = match self.ledger.load(&id).await {
            Ok(record) => record,
            Err(Rejected::Store(error)) => return Err(store_failed(&error).into()),
            Err(_) => return Err(no_such_round().into()),
        };
        if known.origin.pool != self.pool || !caller.may_go_on_with(&known) {
            return Err(no_such_round().into());
        }
        // Whoever does not take questions any more would be the end of a tool that has another.
        caller.takes_questions_of(&known)?;
        let round = round.to_owned();
        let event = Event::Retried { round, answers };
        let (record, report) = match self.ledger.commit(known, event).await {
            Ok(taken) => taken,
            Err(Rejected::Store(error)) => return Err(store_failed(&error).into()),
            Err(Rejected::Refused(Refusal::OtherAnswers)) => return Err(other_answers().into()),
            Err(Rejected::Refused(Refusal::Over)) => return Err(too_late().into()),
            Err(Rejected::Refused(_) | Rejected::Missing) => return Err(no_such_round().into()),
        };
        if !report.unfit.is_empty() {
            let unfit = report.unfit;
            return Ok(Reply::Asked { record, unfit });
        }
        // What would be a task at once, had it been called like this before, is one now.
        if let Decision::Task(Detach::Always | Detach::AfterMs(_)) = caller.decision {
            let detached = self.ledger.attempt(record, Event::Detached).await;
            // Otherwise it is one already, it asks again, or it is over.
            if let Some(record) = detached.map_err(|error| store_failed(&error))? {
                return Ok(Reply::task(record));
            }
        }
        self.go_on(&caller, &id).await
    }

    /// Runs the next leg, or waits for the one that runs, until there is something to answer.
    async fn go_on(self: &Arc<Self>, caller: &Retrying, id: &TaskId) -> Result<Reply, Rejection> {
        let store = &self.ledger.store;
        let failed = |error| Rejection::from(store_failed(&error));
        let mut seen = store.position().await.map_err(failed)?;
        let mut made = false;
        loop {
            let record = store.load(id).await.map_err(failed)?;
            let Some(record) = record.filter(|record| !record.is_expired(self.host().now())) else {
                return Err(too_late().into());
            };
            if record.is_task() {
                return Ok(Reply::Task { record, made });
            }
            if let Some(end) = &record.end {
                return Ok(Reply::End(end.clone()));
            }
            if record.status() == Status::InputRequired {
                caller.takes_questions_of(&record)?;
                return Ok(Reply::asked(record));
            }
            if let Some(reply) = self.drifted(&record) {
                return Ok(reply);
            }
            // A worker that died meanwhile is noticed by the driver, which takes it from it.
            if record.lease.is_none() {
                if caller.left.is_cancelled() {
                    return Ok(Reply::End(End::Cancelled));
                }
                made |= self.claim_for(caller, record).await?;
            }
            tokio::select! {
                changes = store.changes(seen) => seen = changes.map_err(failed)?.upto,
                // Nobody hears the answer. But whoever began a leg has to know whether it made a task.
                () = caller.left.cancelled(), if !made => return Ok(Reply::End(End::Cancelled)),
                () = self.hurry.cancelled() => return Err(shutting_down().into()),
            }
        }
    }

    /// Claims the record and runs a leg of it for `caller`, unless somebody else was faster.
    async fn claim_for(
        self: &Arc<Self>,
        caller: &Retrying,
        record: Arc<Record>,
    ) -> Result<bool, Rejection> {
        let since = self.host().steady();
        let claimed = match self.lease().await {
            Ok(lease) => self.claim(record, lease).await,
            Err(error) => Err(error),
        };
        let Some((record, journal)) = claimed.map_err(|error| store_failed(&error))? else {
            return Ok(false);
        };
        let detaches = caller.decision == Decision::Task(Detach::Manual);
        self.spawn_leg(Claimed {
            record,
            journal,
            since,
            reach: Reach {
                way: Way::Rounds { detaches },
                elicits: caller.elicits,
                listens: caller.listens.clone(),
            },
            left: caller.left.clone(),
        });
        Ok(true)
    }

    /// What the client is told where the code here does not fit the journal. Another instance may
    /// still go on with it.
    fn drifted(&self, record: &Record) -> Option<Reply> {
        let Drift {
            fingerprint,
            message,
            ..
        } = record.drift.as_ref()?;
        let tool = self.tools.get(record.origin.tool.as_str())?;
        (tool.fingerprint == *fingerprint).then(|| {
            let error = ProtocolError::internal(message.clone()).because("drift");
            Reply::End(End::Error(error))
        })
    }
}

impl Retrying {
    pub(super) fn new(call: Call, decision: Decision) -> Self {
        Self {
            arguments_digest: digest(&call.arguments),
            elicits: call.client.elicits(),
            listens: call.listens,
            tool: call.tool,
            owner: call.owner,
            decision,
            left: call.cancelled,
        }
    }

    /// Whether `record` is that of a call like this one, by the same caller.
    fn may_go_on_with(&self, record: &Record) -> bool {
        let origin = &record.origin;
        origin.owner == self.owner
            && origin.tool == self.tool
            && origin.arguments_digest == self.arguments_digest
    }

    /// Refuses a request that does not say that its client takes the questions of `record`.
    fn takes_questions_of(&self, record: &Record) -> Result<(), Rejection> {
        let asks = |url: bool| {
            let mut questions = record.questions.iter();
            questions.any(|pinned| pinned.ask.url.is_some() == url)
        };
        let needs = Elicits {
            forms: asks(false) && !self.elicits.forms,
            urls: asks(true) && !self.elicits.urls,
        };
        if needs.forms || needs.urls {
            return Err(Rejection::NeedsElicitation(needs));
        }
        Ok(())
    }
}

fn no_such_round() -> ProtocolError {
    let message = "this `requestState` names no round of this call; call the tool again without it";
    ProtocolError::invalid_params(message).because("unknown_round")
}

pub(super) fn too_late() -> ProtocolError {
    let message = "the time of this call is over; call the tool again without `requestState`";
    ProtocolError::invalid_params(message).because("expired")
}

fn other_answers() -> ProtocolError {
    let message = "this round was answered otherwise already, and its answers cannot be changed; \
                   call the tool again without `requestState` to begin anew";
    ProtocolError::invalid_params(message).because("round_answered")
}
