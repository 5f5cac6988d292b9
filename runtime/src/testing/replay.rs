//! Replays: does a run reach the same end from wherever it is taken up again?

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{host::TestHost, task::changed};
use crate::{
    Server,
    engine::Engine,
    host::Timestamp,
    input::form::{Answer, Ask},
    journal::{Entry, Kind},
    record::{Delivery, End, Lease, Origin, Pinned, Record, Sleep, Status},
    store::{Creation, MemoryStore, Store},
};

/// The whole run of a task: its call, its journal and its end. Its JSON can be kept in a repository
/// and replayed against later code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    origin: Arc<Origin>,
    journal: Vec<Entry>,
    end: End,
}

impl Recording {
    pub(super) fn new(record: &Record, journal: Vec<Entry>) -> Self {
        Self {
            origin: record.origin.clone(),
            journal,
            end: record.end.clone().expect("the task has ended"),
        }
    }

    /// How many entries its journal has.
    pub fn len(&self) -> usize {
        self.journal.len()
    }

    /// Whether its journal has no entry.
    pub fn is_empty(&self) -> bool {
        self.journal.is_empty()
    }

    /// The first question that `journal` has with another text, and both texts.
    fn other_text(&self, journal: &[Entry]) -> Option<(String, [String; 2])> {
        let asked = questions(&self.journal);
        questions(journal).into_iter().find_map(|(key, again)| {
            let before = asked.get(key)?;
            again
                .is_filled_in_otherwise(before)
                .then(|| (key.to_owned(), [before.message.clone(), again.message]))
        })
    }

    /// What came back for the question `key`.
    fn response(&self, key: &str) -> Option<&Entry> {
        self.journal.iter().find(|entry| {
            matches!(entry.kind(), Kind::Answered | Kind::TimedOut) && entry.key() == key
        })
    }
}

/// A run is taken up again at least so many times.
const REPLAYS: usize = 8;

/// The questions that were put, by their keys.
fn questions(journal: &[Entry]) -> BTreeMap<&str, Ask> {
    let asked = journal.iter().filter(|entry| entry.kind() == Kind::Asked);
    asked
        .filter_map(|entry| Some((entry.key(), entry.tells().ok()?)))
        .collect()
}

/// Takes a recorded run up again from every prefix of its journal, answers as it was answered, and
/// compares the texts of the questions and the end.
///
/// A tool that does not get there does something in a leg that the journal does not know of: a
/// change of a variable inside of a step, a clock or a random number outside of one, another order.
/// A short run is taken up at least 8 times: its arguments are decoded each time, and a map among
/// them has another order then. Steps behind the prefix run again, so their effects must bear it.
///
/// A question may be reworded since the run was recorded, but not be filled in differently, unless
/// it says [`text_may_differ`](crate::input::Question::text_may_differ).
///
/// ```
/// use siding::{prelude::*, testing::{TestServer, replay_check}};
///
/// /// Adds two answers.
/// #[mcp_tool(task = "required")]
/// async fn add(ctx: &mut Ctx) -> Result<i64> {
///     let a: i64 = ctx.input("First?").await?;
///     let b: i64 = ctx.input("Second?").await?;
///     ctx.step("sum", async { Ok(a + b) }).await
/// }
///
/// # #[tokio::main] async fn main() {
/// let server = || Server::new("sums", "1.0.0").tool::<add>();
/// let task = {
///     let server = TestServer::new(server);
///     let task = server.call("add", serde_json::json!({})).await;
///     task.answer("a", 2).await;
///     task.answer("b", 3).await;
///     task.end().await;
///     task
/// };
/// replay_check(server, &task.recording().await).await;
/// # }
/// ```
///
/// # Panics
///
/// If the end or the text of a question differs, with the number of entries that the run was taken up
/// from and both ends or texts.
pub async fn replay_check<S: Send + Sync + 'static>(
    server: impl Fn() -> Server<S>,
    recording: &Recording,
) {
    let prefixes = recording.len() + 1;
    for entries in (0..prefixes).cycle().take(prefixes.max(REPLAYS)) {
        let (end, journal) = replay(server(), recording, entries).await;
        if let Some((key, [recorded, replayed])) = recording.other_text(&journal) {
            panic!(
                "taken up from the first {entries} of {} entries, the question `{key}` has another \
                 text:\n  recorded: {recorded}\n  replayed: {replayed}",
                recording.len()
            );
        }
        assert!(
            end == recording.end,
            "taken up from the first {entries} of {} entries, the run ends differently:\n  \
             recorded: {:?}\n  replayed: {end:?}",
            recording.len(),
            recording.end
        );
    }
}

/// The end and the journal of the recorded run when its first entries are all that is left of it.
async fn replay<S: Send + Sync + 'static>(
    server: Server<S>,
    recording: &Recording,
    entries: usize,
) -> (End, Vec<Entry>) {
    let (store, host) = (MemoryStore::new(), TestHost::new());
    host.advance_to(recording.origin.created_at);
    let prefix = &recording.journal[..entries];
    seed(&store, recording, prefix).await;
    let built = server.store(store.clone()).host(host.clone()).into_engine();
    let engine = built.unwrap_or_else(|error| panic!("{error}"));
    let id = &recording.origin.id;
    loop {
        let seen = store.position().await.unwrap_or_default();
        let record = store
            .load(id)
            .await
            .ok()
            .flatten()
            .expect("the task is there");
        if let Some(end) = &record.end {
            let journal = store.journal(id).await.unwrap_or_default();
            return (end.clone(), journal);
        }
        if let Some(drift) = &record.drift {
            panic!(
                "taken up from the first {entries} entries: {}",
                drift.message
            );
        }
        match awaited(&record, recording) {
            Some(Outside::Moment(moment)) => host.advance_to(moment),
            Some(Outside::Answer(key, response)) => {
                let answers = [(key, response)].into();
                let updated = engine.update(id, None, answers).await;
                updated.unwrap_or_else(|error| panic!("{}", error.message));
            }
            None => {}
        }
        assert!(
            changed(&store, seen).await,
            "taken up from the first {entries} entries, the run gets stuck: it is {:?}",
            record.status()
        );
    }
}

/// Something that comes from outside of a leg.
enum Outside {
    Moment(Timestamp),
    Answer(String, serde_json::Value),
}

/// What the task waits for, as the recorded run got it.
fn awaited(record: &Record, recording: &Recording) -> Option<Outside> {
    if let Some(sleep) = &record.asleep {
        return Some(Outside::Moment(sleep.until));
    }
    if record.status() != Status::InputRequired {
        return None;
    }
    let pinned = record.questions.first()?;
    let entry = recording.response(&pinned.key).unwrap_or_else(|| {
        panic!("the recorded run has no answer to `{}`", pinned.key);
    });
    if entry.kind() == Kind::TimedOut {
        return pinned.deadline.map(Outside::Moment);
    }
    let response = match entry.tells().unwrap_or(Answer::Dismissed) {
        Answer::Accepted(content) => serde_json::json!({ "action": "accept", "content": content }),
        Answer::Declined => serde_json::json!({ "action": "decline" }),
        Answer::Dismissed => serde_json::json!({ "action": "cancel" }),
    };
    Some(Outside::Answer(pinned.key.clone(), response))
}

/// Writes the execution as it was when its journal had these entries.
async fn seed(store: &MemoryStore, recording: &Recording, prefix: &[Entry]) {
    let record = Record::interrupted(recording, prefix);
    let creation = Creation {
        journal: prefix.to_vec(),
        ..Creation::new(record)
    };
    let written = store.insert(creation).await;
    written.unwrap_or_else(|error| panic!("{error}"));
}

impl Record {
    /// The record of an execution with this journal that no worker holds.
    fn interrupted(recording: &Recording, journal: &[Entry]) -> Self {
        let origin = &*recording.origin;
        let mut record = Self::created(
            origin.clone(),
            Delivery::Task,
            None,
            Lease {
                worker: String::new(),
                trial: None,
            },
        );
        record.lease = None;
        for entry in journal {
            let key = entry.key().to_owned();
            match entry.kind() {
                Kind::Asked => {
                    record.spent.push(key.clone());
                    if let Ok(ask) = entry.tells::<Ask>() {
                        // One that nobody answered in time is over at once.
                        let response = recording.response(&key);
                        let late = response.is_some_and(|entry| entry.kind() == Kind::TimedOut);
                        let deadline = late.then_some(origin.created_at);
                        record.questions.push(Pinned { key, ask, deadline });
                    }
                }
                Kind::Answered | Kind::TimedOut => {
                    record.questions.retain(|pinned| pinned.key != key);
                }
                Kind::Asleep => {
                    record.asleep = entry.tells().ok().map(|until| Sleep { key, until });
                }
                Kind::Woke => record.asleep = None,
                _ => {}
            }
        }
        if !record.questions.is_empty() {
            record.status = Status::InputRequired;
        }
        record
    }
}

impl<S: Send + Sync + 'static> Server<S> {
    /// Starts the server without serving it.
    pub(super) fn into_engine(self) -> Result<Engine, crate::ServeError> {
        self.build().map(|handler| handler.engine().clone())
    }
}
