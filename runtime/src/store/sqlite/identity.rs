//! Whether the file under a path is still the one that was opened.
//!
//! SQLite goes on with a file that was deleted or moved, as the system keeps it for as long as it is
//! open: every commit succeeds, and the next start finds none of it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::failure::Failure;

/// The file that was opened, and the log beside it.
#[derive(Debug)]
pub(super) struct Identity {
    path: PathBuf,
    log: PathBuf,
    file: Option<Inode>,
    /// Known from the first look that finds it on: SQLite makes it when it needs it.
    log_file: OnceLock<Inode>,
    told: AtomicBool,
}

/// What tells a file from another one under the same path.
type Inode = (u64, u64);

impl Identity {
    /// That of the file that is at `path` now.
    pub(super) fn new(path: &Path) -> Self {
        let mut log = OsString::from(path);
        log.push("-wal");
        Self {
            path: path.into(),
            file: inode(path),
            log: log.into(),
            log_file: OnceLock::new(),
            told: AtomicBool::new(false),
        }
    }

    /// Fails if the file is not at its path any more.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let log = inode(&self.log);
        if let Some(log) = log {
            self.log_file.get_or_init(|| log);
        }
        let is_there = self.file.is_some() && inode(&self.path) == self.file;
        if is_there && log.as_ref() == self.log_file.get() {
            self.told.store(false, Relaxed);
            return Ok(());
        }
        let failure = Failure::Gone(self.path.clone());
        if !self.told.swap(true, Relaxed) {
            tracing::error!(%failure, "the task store is gone: nothing more is taken");
        }
        Err(failure)
    }
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<Inode> {
    use std::os::unix::fs::MetadataExt;

    let found = path.metadata().ok()?;
    Some((found.dev(), found.ino()))
}

/// Elsewhere an open file cannot be deleted.
#[cfg(not(unix))]
fn inode(path: &Path) -> Option<Inode> {
    path.exists().then_some((0, 0))
}
