//! What stands in a row: records and entries as JSON text, numbers as SQLite has them.

use std::sync::Arc;

use rusqlite::types::ValueRef;

use crate::{
    host::Timestamp,
    journal::Entry,
    record::{Record, Status, TaskId},
    store::{JournalChange, StoreError},
};

/// A record and its text.
#[derive(Debug)]
pub(super) struct Row {
    record: Arc<Record>,
    pub(super) text: String,
}

/// What the indexes hold of a row, as far as it can change.
#[derive(Debug, PartialEq)]
pub(super) struct Indexed<'a> {
    pub(super) status: &'a str,
    pub(super) avoid: Option<&'a str>,
    pub(super) due_at: Option<i64>,
    pub(super) alarm_at: Option<i64>,
    pub(super) worker: Option<&'a str>,
}

/// What a write does to a journal, as text.
#[derive(Debug)]
pub(super) enum JournalText {
    Append(Vec<String>),
    Clear,
}

impl Row {
    pub(super) fn new(record: Arc<Record>) -> Result<Self, StoreError> {
        let text = serde_json::to_string(&*record).map_err(StoreError::new)?;
        Ok(Self { record, text })
    }

    pub(super) fn id(&self) -> &str {
        self.record.id().as_str()
    }

    pub(super) fn pool(&self) -> &str {
        self.record.index().pool
    }

    pub(super) fn tool(&self) -> &str {
        self.record.index().tool
    }

    pub(super) fn version(&self) -> i64 {
        self.record.version().cast_signed()
    }

    pub(super) fn indexed(&self) -> Indexed<'_> {
        let index = self.record.index();
        Indexed {
            status: status(self.record.status()),
            avoid: index.avoid,
            due_at: index.due_at.map(millis),
            alarm_at: index.alarm_at.map(millis),
            worker: index.worker,
        }
    }
}

impl<'a> Indexed<'a> {
    /// Reads five columns, from the column `first` on.
    pub(super) fn read(row: &'a rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let text = |column| match row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            text => Ok::<_, rusqlite::Error>(Some(text.as_str()?)),
        };
        Ok(Self {
            status: row.get_ref(first)?.as_str()?,
            avoid: text(first + 1)?,
            due_at: row.get(first + 2)?,
            alarm_at: row.get(first + 3)?,
            worker: text(first + 4)?,
        })
    }
}

impl JournalText {
    pub(super) fn new(change: &JournalChange) -> Result<Self, StoreError> {
        Ok(match change {
            JournalChange::Append(entries) => Self::Append(texts(entries)?),
            JournalChange::Clear => Self::Clear,
        })
    }
}

/// The texts of entries.
pub(super) fn texts(entries: &[Entry]) -> Result<Vec<String>, StoreError> {
    let texts = entries.iter().map(serde_json::to_string);
    texts.collect::<Result<_, _>>().map_err(StoreError::new)
}

/// The record `id` from its text.
pub(super) fn record(id: &TaskId, text: &str) -> Result<Arc<Record>, StoreError> {
    let read = serde_json::from_str(text).map(Arc::new);
    read.map_err(|error| unreadable("record", id, &error))
}

/// The journal of `id` from the texts of its entries.
pub(super) fn journal(id: &TaskId, texts: &[String]) -> Result<Vec<Entry>, StoreError> {
    let entries = texts.iter().map(|text| serde_json::from_str(text));
    let entries: Result<_, _> = entries.collect();
    entries.map_err(|error| unreadable("journal", id, &error))
}

fn unreadable(what: &str, id: &TaskId, error: &serde_json::Error) -> StoreError {
    StoreError::unreadable(format!(
        "the {what} of the task `{id}` cannot be read: {error}"
    ))
}

/// The name of a status in its column. It is storage format.
pub(super) const fn status(status: Status) -> &'static str {
    match status {
        Status::Working => "working",
        Status::InputRequired => "input_required",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
    }
}

/// A time as SQLite holds it, whose integers are signed: what lies beyond its last one is the end of
/// time.
pub(super) fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The time that [`millis`] made `millis` from.
pub(super) fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(match millis {
        i64::MAX => u64::MAX,
        _ => u64::try_from(millis).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_up_to_the_end_of_time() {
        for at in [0, 1, 1_795_958_401_007, u64::MAX] {
            let at = Timestamp::from_millis(at);
            assert_eq!(time(millis(at)), at);
        }
    }

    #[test]
    fn the_names_of_statuses_are_those_of_their_json() {
        for it in [
            Status::Working,
            Status::InputRequired,
            Status::Completed,
            Status::Failed,
            Status::Cancelled,
        ] {
            assert_eq!(serde_json::to_value(it).unwrap(), status(it));
        }
    }
}
