//! A disk that is full for a while.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use serde_json::json;
use siding::{host::SystemHost, prelude::*};
use tokio::time::{Duration, sleep};

use super::World;
use crate::support::{Disk, Wire};

/// Charges, while the disk fills up.
#[mcp_tool(task = "required")]
async fn charges_on_a_full_disk(ctx: &mut Ctx<(Arc<World>, Arc<Disk>)>) -> Result<String> {
    let state = ctx.state();
    ctx.step("charge", async {
        state.0.begun.fetch_add(1, Relaxed);
        state.1.fill();
        Ok("x".repeat(100_000))
    })
    .await?;
    state.0.ended.fetch_add(1, Relaxed);
    Ok("charged".into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full_when_a_step_ends_costs_no_outcome() {
    let (world, disk) = (Arc::new(World::default()), Arc::new(Disk::new("2m")));
    if !disk.can_be_full() {
        println!("NOT TESTED: no tmpfs can be mounted here, which needs root");
        return;
    }
    let store = SqliteStore::open(disk.store()).await.unwrap();
    let server = Server::new("shop", "1.0.0").state((world.clone(), disk.clone()));
    let server = server.tool::<charges_on_a_full_disk>().store(store);
    let mut wire = Wire::with_host(server, SystemHost);
    let id = wire.task("charges_on_a_full_disk", json!({})).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!((world.begun(), world.ended()), (1, 0));
    let refused = wire.call("charges_on_a_full_disk", json!({})).await;
    assert_eq!(refused.unwrap_err()["data"]["reason"], "store");
    disk.free();
    assert_eq!(wire.end(&id).await["status"], "completed");
    assert_eq!((world.begun(), world.ended()), (1, 1));
    wire.close().await;
}
