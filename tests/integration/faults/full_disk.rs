//! A disk that is full for a while.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use serde_json::json;
use siding::{host::SystemHost, prelude::*};
use tokio::time::{Duration, sleep};

use super::World;
use crate::support::Wire;

/// A small disk in memory.
struct Disk(tempfile::TempDir);

impl Disk {
    /// `None` if this machine mounts none for us.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(folder.path())
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        mounted.then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}

/// Takes all space that is left.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

/// Charges, while the disk fills up.
#[mcp_tool(task = "required")]
async fn charges_on_a_full_disk(ctx: &mut Ctx<(Arc<World>, PathBuf)>) -> Result<String> {
    let state = ctx.state();
    ctx.step("charge", async {
        state.0.begun.fetch_add(1, Relaxed);
        fill(&state.1);
        Ok("x".repeat(100_000))
    })
    .await?;
    state.0.ended.fetch_add(1, Relaxed);
    Ok("charged".into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full_when_a_step_ends_costs_no_outcome() {
    let Some(disk) = Disk::mount() else {
        println!("NOT TESTED: no tmpfs can be mounted here, which needs root");
        return;
    };
    let (world, ballast) = (Arc::new(World::default()), disk.path().join("ballast"));
    let store = SqliteStore::open(disk.path().join("tasks.db"))
        .await
        .unwrap();
    let server = Server::new("shop", "1.0.0").state((world.clone(), ballast.clone()));
    let server = server.tool::<charges_on_a_full_disk>().store(store);
    let mut wire = Wire::with_host(server, SystemHost);
    let id = wire.task("charges_on_a_full_disk", json!({})).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!((world.begun(), world.ended()), (1, 0));
    let refused = wire.call("charges_on_a_full_disk", json!({})).await;
    assert_eq!(refused.unwrap_err()["data"]["reason"], "store");
    fs::remove_file(&ballast).unwrap();
    assert_eq!(wire.end(&id).await["status"], "completed");
    assert_eq!((world.begun(), world.ended()), (1, 1));
    wire.close().await;
}
