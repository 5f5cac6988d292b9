//! Writes, and what each does to the tables.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{
    row::{Indexed, JournalText, Row},
    statement,
    writer::BeforeCommit,
};
use crate::record::TaskId;

/// What is to be written.
#[derive(Debug)]
pub(super) enum Write {
    Insert {
        row: Row,
        journal: Vec<String>,
        /// No more than this many may be live.
        limit: i64,
    },
    Commit {
        expected: u64,
        row: Row,
        journal: JournalText,
    },
    Remove(TaskId),
    Dismiss(String),
}

impl Write {
    /// Writes to the transaction as the write number `seq`, and tells whether there was something to
    /// write.
    fn to(&self, transaction: &Transaction<'_>, seq: i64) -> rusqlite::Result<bool> {
        match self {
            Self::Insert {
                row,
                journal,
                limit,
            } => insert(transaction, row, journal, *limit, seq),
            Self::Commit {
                expected,
                row,
                journal,
            } => commit(transaction, expected.cast_signed(), row, journal, seq),
            Self::Remove(id) => remove(transaction, id),
            Self::Dismiss(worker) => {
                let mut dismiss = transaction.prepare_cached(statement::DISMISS)?;
                Ok(dismiss.execute([worker])? == 1)
            }
        }
    }
}

/// Writes in one transaction, and tells which of it there was to write, and the number of the last.
pub(super) fn write_all(
    connection: &mut Connection,
    writes: &[&Write],
    before_commit: &BeforeCommit,
) -> rusqlite::Result<(Vec<bool>, i64)> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before: i64 = transaction
        .prepare_cached(statement::SEQ)?
        .query_row([], |row| row.get(0))?;
    let mut seq = before;
    let mut outcomes = Vec::with_capacity(writes.len());
    for write in writes {
        let written = write.to(&transaction, seq + 1)?;
        seq += i64::from(written);
        outcomes.push(written);
    }
    if seq != before {
        transaction
            .prepare_cached(statement::SET_SEQ)?
            .execute([seq])?;
    }
    before_commit.reached();
    transaction.commit()?;
    Ok((outcomes, seq))
}

fn insert(
    transaction: &Transaction<'_>,
    row: &Row,
    journal: &[String],
    limit: i64,
    seq: i64,
) -> rusqlite::Result<bool> {
    let index = row.indexed();
    let inserted = transaction
        .prepare_cached(statement::INSERT)?
        .execute(params![
            row.id(),
            row.pool(),
            row.tool(),
            index.status,
            index.avoid,
            index.due_at,
            index.alarm_at,
            index.worker,
            row.version(),
            seq,
            row.text,
            limit,
        ])?;
    if inserted == 1 {
        append(transaction, transaction.last_insert_rowid(), journal)?;
    }
    Ok(inserted == 1)
}

fn commit(
    transaction: &Transaction<'_>,
    expected: i64,
    row: &Row,
    journal: &JournalText,
    seq: i64,
) -> rusqlite::Result<bool> {
    let index = row.indexed();
    let mut find = transaction.prepare_cached(statement::FIND)?;
    let found = find.query_row([row.id()], |found| {
        let (number, version) = (found.get::<_, i64>(0)?, found.get::<_, i64>(1)?);
        Ok((number, version, Indexed::read(found, 2)? == index))
    });
    let Some((number, _, stays)) = found
        .optional()?
        .filter(|(_, version, _)| *version == expected)
    else {
        return Ok(false);
    };
    if stays {
        let mut update = transaction.prepare_cached(statement::UPDATE)?;
        update.execute(params![number, row.version(), seq, row.text])?;
    } else {
        let mut update = transaction.prepare_cached(statement::UPDATE_INDEXED)?;
        update.execute(params![
            number,
            row.version(),
            seq,
            row.text,
            index.status,
            index.avoid,
            index.due_at,
            index.alarm_at,
            index.worker,
        ])?;
    }
    match journal {
        JournalText::Append(entries) => append(transaction, number, entries)?,
        JournalText::Clear => {
            transaction
                .prepare_cached(statement::CLEAR)?
                .execute([number])?;
        }
    }
    Ok(true)
}

fn append(transaction: &Transaction<'_>, number: i64, entries: &[String]) -> rusqlite::Result<()> {
    let mut append = transaction.prepare_cached(statement::APPEND)?;
    for entry in entries {
        append.execute(params![number, entry])?;
    }
    Ok(())
}

fn remove(transaction: &Transaction<'_>, id: &TaskId) -> rusqlite::Result<bool> {
    let mut find = transaction.prepare_cached(statement::FIND)?;
    let found = find.query_row([id.as_str()], |found| found.get::<_, i64>(0));
    let Some(number) = found.optional()? else {
        return Ok(false);
    };
    transaction
        .prepare_cached(statement::CLEAR)?
        .execute([number])?;
    transaction
        .prepare_cached(statement::REMOVE)?
        .execute([number])?;
    Ok(true)
}
