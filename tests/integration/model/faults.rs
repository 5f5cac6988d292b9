//! Faults of what the servers stand on.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A small disk in memory, or a folder where this machine mounts none for us.
pub(super) struct Disk {
    folder: tempfile::TempDir,
    mounted: bool,
}

impl Disk {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"])
            .arg(folder.path())
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        Self { folder, mounted }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn store(&self) -> PathBuf {
        self.path().join("tasks.db")
    }

    /// Whether it can be full without harm to anybody else.
    pub(super) const fn can_be_full(&self) -> bool {
        self.mounted
    }

    /// Takes all space that is left.
    pub(super) fn fill(&self) {
        let mut file = File::create(self.ballast()).unwrap();
        for size in [1 << 16, 1 << 12] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    pub(super) fn free(&self) {
        let _gone = fs::remove_file(self.ballast());
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg(self.path()).output();
        }
    }
}

/// Another program that locks the file for a while. Tells whether it got the lock.
pub(super) fn lock(store: PathBuf, held: Duration) -> JoinHandle<bool> {
    std::thread::spawn(move || {
        let begun = Instant::now();
        let taken = || -> rusqlite::Result<_> {
            let other = rusqlite::Connection::open(&store)?;
            other.busy_timeout(Duration::from_secs(1))?;
            other.execute_batch("BEGIN IMMEDIATE")?;
            Ok(other)
        };
        let Ok(other) = taken() else { return false };
        std::thread::sleep(held.saturating_sub(begun.elapsed()));
        let _over = other.execute_batch("ROLLBACK");
        true
    })
}
