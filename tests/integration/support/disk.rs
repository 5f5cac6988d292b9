//! A disk that can be full.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

/// A small disk in memory, or a folder if this machine mounts none for us.
pub(crate) struct Disk {
    folder: tempfile::TempDir,
    mounted: bool,
}

impl Disk {
    /// One of this size, as `mount` takes it.
    pub(crate) fn new(size: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        Self { folder, mounted }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("tasks.db")
    }

    /// Whether it can be full without harm to anybody else.
    pub(crate) const fn can_be_full(&self) -> bool {
        self.mounted
    }

    /// Takes all space that is left.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.ballast()).unwrap();
        for size in [1 << 16, 1 << 12] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    pub(crate) fn free(&self) {
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
