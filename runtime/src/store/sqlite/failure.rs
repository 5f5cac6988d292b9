//! Failures, in words that say what to do.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::{Error, ErrorCode};

use super::{FORMAT, PATIENCE};
use crate::store::StoreError;

/// Why a file cannot be used as a store.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error("a store needs the path of a file; for one that keeps nothing there is `MemoryStore`")]
    NoFile,
    #[error("the current folder is not known; give the path of the store from the root on")]
    NoCurrentFolder(#[source] io::Error),
    #[error("the folder of `{0}` does not exist; create it first")]
    NoFolder(PathBuf),
    #[error("`{0}` is a folder; name a file in it")]
    Folder(PathBuf),
    #[error("`{0}` is a database of another program; name a file of its own for the store")]
    Foreign(PathBuf),
    #[error(
        "`{0}` has the format {1} of a newer siding, this one knows formats up to {FORMAT}; \
         start the newer one again, or restore a backup from before it"
    )]
    Newer(PathBuf, i64),
    #[error(
        "`{0}` has the format {1} of a siding before 0.1, which no version goes on with; name \
         another file, and remove this one when nobody needs its tasks"
    )]
    Older(PathBuf, i64),
    #[error("`{0}` cannot be written; give this process the right to write it and its folder")]
    ReadOnly(PathBuf),
    #[error(
        "`{0}` cannot be used with a write-ahead log (SQLite took `{1}`); \
         keep it on a local disk, not on a network file system"
    )]
    NoLog(PathBuf, String),
    #[error("SQLite would not wait for the disk at `{0}` (`synchronous` is {1})")]
    NotDurable(PathBuf, i64),
    #[error(
        "no lock can be kept in `{0}`, by which servers on one file know of each other; \
         give this process the right to write the folder that it is in"
    )]
    Locks(PathBuf, #[source] io::Error),
    #[error("the permissions of `{0}` cannot be set")]
    Permissions(PathBuf, #[source] io::Error),
}

impl From<Unusable> for StoreError {
    fn from(unusable: Unusable) -> Self {
        Self::new(unusable)
    }
}

/// A failure of SQLite, and what to do about it. Clones share it: one failure can be that of all
/// writes of a group.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{advice}: {error}")]
    Sqlite {
        advice: String,
        #[source]
        error: Arc<Error>,
    },
    /// What is written goes into a file that nobody will find again.
    #[error(
        "`{0}` was deleted, moved or replaced while this server uses it; stop the server, put the \
         file back together with those beside it (`-wal`), and start it again"
    )]
    Gone(PathBuf),
}

impl Failure {
    pub(super) fn new(path: &Path, error: Error) -> Self {
        Self::Sqlite {
            advice: advice(path, error.sqlite_error_code()),
            error: Arc::new(error),
        }
    }

    /// Whether somebody else holds the file.
    pub(super) fn is_locked(&self) -> bool {
        match self {
            Self::Sqlite { error, .. } => is_locked(error),
            Self::Gone(_) => false,
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::new(failure)
    }
}

pub(super) fn is_locked(error: &Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn advice(path: &Path, code: Option<ErrorCode>) -> String {
    let path = path.display();
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => format!(
            "`{path}` was locked by another program for {} s; \
             end its transaction (a backup, an open `sqlite3`) and try again",
            PATIENCE.as_secs()
        ),
        Some(ErrorCode::DiskFull) => {
            format!("there is no space left for `{path}`; free some, nothing was written")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => format!(
            "`{path}` cannot be written; give this process the right to write it and its folder"
        ),
        Some(ErrorCode::NotADatabase) => {
            format!("`{path}` is not a SQLite database; name another file for the store")
        }
        Some(ErrorCode::DatabaseCorrupt) => format!(
            "`{path}` is damaged; stop its servers, and restore a backup or try `.recover` of `sqlite3`"
        ),
        Some(ErrorCode::CannotOpen) => format!(
            "`{path}` cannot be opened; give this process the right to write it and its folder"
        ),
        Some(ErrorCode::TooBig) => {
            format!("a record or an entry is larger than SQLite takes; `{path}` is as it was")
        }
        Some(ErrorCode::SystemIoFailure) => format!(
            "the disk under `{path}` cannot be read or written; see whether it is full, mounted and \
             healthy, and whether `{path}` and the files beside it are those of one store"
        ),
        _ => format!("SQLite failed on `{path}`"),
    }
}
