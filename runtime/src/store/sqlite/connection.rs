//! Connections, and the file behind them.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{
    APPLICATION, FORMAT, PATIENCE,
    failure::{Failure, Unusable, is_locked},
    statement,
};
use crate::store::StoreError;

/// `PRAGMA synchronous`: a commit returns when the disk has it.
const FULL: i64 = 2;
/// `PRAGMA synchronous`: a commit returns when the system has it.
const NORMAL: i64 = 1;
/// How long to wait before another try to lock a file that somebody else has locked. SQLite's own
/// pauses grow to a tenth of a second, in which a process that writes without end has taken the lock
/// a hundred times again.
const PAUSE: Duration = Duration::from_millis(1);

/// What a file is.
enum Content {
    Nothing,
    Store,
}

/// The absolute path of a store: the folder that is current may become another.
pub(super) fn place(path: &Path) -> Result<PathBuf, Unusable> {
    if path.as_os_str().is_empty() || path.as_os_str() == ":memory:" {
        return Err(Unusable::NoFile);
    }
    std::path::absolute(path).map_err(Unusable::NoCurrentFolder)
}

/// The connection that writes. Creates the store where there is none; a file that is something else
/// stays as it is.
pub(super) fn writing(path: &Path) -> Result<Connection, StoreError> {
    let fresh = !path.exists();
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_CREATE)?;
    if fresh {
        keep_private(path)?;
    }
    if identify(path, &connection)?.is_empty() {
        log_ahead(path, &connection)?;
        create(path, &mut connection)?;
    }
    log_ahead(path, &connection)?;
    wait_for_disk(path, &connection)?;
    Ok(connection)
}

/// A connection that reads beside the one that writes.
pub(super) fn reading(path: &Path) -> Result<Connection, Failure> {
    let connection = connect(path, OpenFlags::empty());
    let set = connection.and_then(|connection| {
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    });
    set.map_err(|error| Failure::new(path, error))
}

/// A connection for heartbeats, which say nothing of worth after a crash of the machine: they do not
/// wait for the disk.
pub(super) fn beating(path: &Path) -> Result<Connection, Failure> {
    let connection = connect(path, OpenFlags::empty());
    let set = connection.and_then(|connection| {
        connection.pragma_update(None, "synchronous", NORMAL)?;
        Ok(connection)
    });
    set.map_err(|error| Failure::new(path, error))
}

impl Content {
    const fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // Each connection has one user at a time, so SQLite needs no locks of its own.
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    Ok(connection)
}

/// Waits before another try, unless it took too long already.
#[expect(
    clippy::disallowed_methods,
    reason = "the lock of another program has no virtual clock"
)]
fn wait_for_lock(tries: i32) -> bool {
    thread_local! {
        /// When this thread began to wait: SQLite counts only the tries, each of which may take
        /// longer than its pause.
        static SINCE: Cell<Instant> = Cell::new(Instant::now());
    }
    if tries == 0 {
        SINCE.set(Instant::now());
    }
    thread::sleep(PAUSE);
    SINCE.get().elapsed() < PATIENCE
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    if path.is_dir() {
        return Err(Unusable::Folder(path.into()).into());
    }
    if path.parent().is_some_and(|folder| !folder.is_dir()) {
        return Err(Unusable::NoFolder(path.into()).into());
    }
    let connection = connect(path, flags).map_err(|error| Failure::new(path, error))?;
    // SQLite opens what it cannot write without a word.
    match connection.is_readonly("main") {
        Ok(false) => Ok(connection),
        Ok(true) => Err(Unusable::ReadOnly(path.into()).into()),
        Err(error) => Err(Failure::new(path, error).into()),
    }
}

/// Arguments and answers are nobody else's business. SQLite gives its other files the permissions of
/// this one. The file is not opened for it: closing it would drop the locks of other connections.
#[cfg(unix)]
fn keep_private(path: &Path) -> Result<(), Unusable> {
    use std::{fs, os::unix::fs::PermissionsExt};

    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(|error| Unusable::Permissions(path.into(), error))
}

#[cfg(not(unix))]
fn keep_private(_: &Path) -> Result<(), Unusable> {
    Ok(())
}

fn identify(path: &Path, connection: &Connection) -> Result<Content, StoreError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let read = || {
        let objects = connection.query_row(statement::COUNT_OBJECTS, [], |row| row.get(0))?;
        Ok((number("application_id")?, number("user_version")?, objects))
    };
    // At one moment: another process may be creating the store.
    let moment = connection.is_autocommit();
    let moment = moment.then(|| connection.unchecked_transaction());
    let content = moment.transpose().and_then(|_moment| read());
    match content.map_err(|error| Failure::new(path, error))? {
        (APPLICATION, FORMAT, _) => Ok(Content::Store),
        (APPLICATION, format, _) if format < FORMAT => {
            Err(Unusable::Older(path.into(), format).into())
        }
        (APPLICATION, format, _) => Err(Unusable::Newer(path.into(), format).into()),
        (0, 0, 0_i64) => Ok(Content::Nothing),
        _ => Err(Unusable::Foreign(path.into()).into()),
    }
}

/// Writes the schema, unless another process was faster.
fn create(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let fail = |error| StoreError::from(Failure::new(path, error));
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = transaction.map_err(fail)?;
    if identify(path, &transaction)?.is_empty() {
        let write = || {
            transaction.execute_batch(statement::SCHEMA)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", FORMAT)
        };
        write().map_err(fail)?;
    }
    transaction.commit().map_err(fail)
}

/// Lets reads go on beside writes.
fn log_ahead(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let set = || {
        connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))
    };
    // To change the mode, SQLite needs the file for itself, and does not always wait for it.
    let mut tries = 0;
    let mode = loop {
        match set() {
            Err(error) if is_locked(&error) && wait_for_lock(tries) => tries += 1,
            mode => break mode.map_err(|error| Failure::new(path, error))?,
        }
    };
    if mode == "wal" {
        Ok(())
    } else {
        Err(Unusable::NoLog(path.into(), mode).into())
    }
}

/// Lets a commit return only when the disk has it. SQLite takes a value that it does not know for
/// another one, so it is asked what it took.
fn wait_for_disk(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let set = || {
        connection.pragma_update(None, "synchronous", FULL)?;
        // For macOS, where a plain fsync leaves the data in the cache of the drive.
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_query_value(None, "synchronous", |row| row.get(0))
    };
    match set().map_err(|error| Failure::new(path, error))? {
        FULL => Ok(()),
        other => Err(Unusable::NotDurable(path.into(), other).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_another_process_creates_is_nothing_and_then_a_store() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let path = folder.path().join(format!("{round}.db"));
            let mut creating = connect(&path, OpenFlags::SQLITE_OPEN_CREATE).unwrap();
            log_ahead(&path, &creating).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| {
                    let looking = connect(&path, OpenFlags::empty()).unwrap();
                    while identify(&path, &looking).unwrap().is_empty() {}
                });
                create(&path, &mut creating).unwrap();
            });
        }
    }
}
