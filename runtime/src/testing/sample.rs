//! Records for tests of stores.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, json};

use crate::{
    engine::machine::{self, Event, LegEvent, Verdict},
    error::ProtocolError,
    host::Timestamp,
    journal::{Entry, Kind},
    record::{Client, Delivery, Drift, End, FORMAT, Lease, Origin, Record, Sleep, Status, TaskId},
    store::Change,
};

/// When all samples are made: 2026-11-29T12:00:00Z.
pub(super) const START: Timestamp = Timestamp::from_millis(1_795_953_600_000);

/// `millis` after [`START`].
pub(super) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(START.as_millis() + millis)
}

/// A task that a worker just made, and holds.
pub fn record(id: &str) -> Record {
    let origin = Origin {
        format: FORMAT,
        id: TaskId::from(id),
        pool: "pool".into(),
        tool: "tool".into(),
        fingerprint: "fingerprint".into(),
        server_version: "1.0.0".into(),
        seed: "seed".into(),
        arguments: Map::from_iter([("service".into(), json!("shop"))]),
        arguments_digest: String::new(),
        owner: Some("alice".into()),
        client: Client::default(),
        created_at: START,
        poll_ms: 1_000,
        cleans_up: false,
    };
    let lease = Lease {
        worker: "worker".into(),
        trial: None,
    };
    Record::created(origin, Delivery::Task, None, lease)
}

/// The end of a step, as the machine writes it in a leg.
///
/// # Panics
///
/// If the value cannot be written as JSON.
pub fn step(record: &Record, key: &str, value: &impl Serialize) -> Change {
    let value = serde_json::to_value(value).expect("a value of a test");
    let (entry, _) = Entry::ended(Kind::Step, key, Ok(value), usize::MAX);
    in_leg(record, LegEvent::Progressed(vec![entry]))
}

/// What `event` makes of `record` in a leg of it, whether or not one runs.
pub(super) fn in_leg(record: &Record, event: LegEvent) -> Change {
    let mut held = record.clone();
    held.lease.get_or_insert(Lease {
        worker: "worker".into(),
        trial: None,
    });
    let event = Event::Leg {
        fence: record.fence,
        number: 0,
        event,
    };
    let mut change = change(&held, event, START);
    Arc::make_mut(&mut change.record)
        .lease
        .clone_from(&record.lease);
    change
}

/// What `event` makes of `record`, which has to be a change.
pub(super) fn change(record: &Record, event: Event, now: Timestamp) -> Change {
    match machine::apply(record, event, now) {
        Verdict::Change(transition, _) => Change {
            expected: record.version,
            record: Arc::new(transition.record),
            journal: transition.journal,
        },
        verdict => panic!("the machine does not change the sample: {verdict:?}"),
    }
}

impl Record {
    pub(super) fn of(mut self, pool: &str, tool: &str) -> Self {
        let origin = Arc::make_mut(&mut self.origin);
        origin.pool = pool.into();
        origin.tool = tool.into();
        self
    }

    /// It is due at `time`.
    pub(super) fn due(mut self, time: Timestamp) -> Self {
        self.lease = None;
        self.asleep = Some(Sleep {
            key: "sleep".into(),
            until: time,
        });
        self
    }

    /// It is held by `worker`.
    pub(super) fn held_by(mut self, worker: &str) -> Self {
        self.lease = Some(Lease {
            worker: worker.into(),
            trial: None,
        });
        self
    }

    /// It is never due.
    pub(super) fn parked(mut self) -> Self {
        self.lease = None;
        self.status = Status::InputRequired;
        self
    }

    /// It is alarmed at `time`.
    pub(super) fn alarm(mut self, time: Timestamp) -> Self {
        self.ttl_ms = Some(time.as_millis() - START.as_millis());
        self
    }

    /// The version `fingerprint` of its tool cannot go on with it.
    pub(super) fn avoiding(mut self, fingerprint: &str) -> Self {
        self.drift = Some(Drift {
            fingerprint: fingerprint.into(),
            message: "both sides".into(),
            until: Timestamp::from_millis(u64::MAX),
        });
        self
    }

    /// It has this status.
    pub(super) fn standing(mut self, status: Status) -> Self {
        self.status = status;
        self.end = match status {
            Status::Working | Status::InputRequired => None,
            Status::Completed => Some(End::Result(Map::new())),
            Status::Failed => Some(End::Error(ProtocolError::internal("no"))),
            Status::Cancelled => Some(End::Cancelled),
        };
        self
    }
}
