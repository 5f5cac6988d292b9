//! What comes in between: a clock that goes on, a cancel, a leg that has not let go yet.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::json;
use siding::{host::BoxFuture, prelude::*, record::Status};
use tokio::time::advance;

use crate::support::{HookedStore, Moment, Wire};

/// Sleeps for ten seconds.
#[mcp_tool(task = "required")]
async fn nap(ctx: &mut Ctx) -> Result<bool> {
    ctx.sleep(Duration::from_secs(10)).await?;
    Ok(true)
}

fn nothing() -> BoxFuture<'static, ()> {
    Box::pin(async {})
}

#[tokio::test(start_paused = true)]
async fn what_becomes_due_while_the_driver_looks_is_not_overlooked() {
    let parked = Arc::new(AtomicBool::new(false));
    let store = HookedStore::new(MemoryStore::new(), move |moment| match moment {
        Moment::Committed(record) if record.legs() == 1 && record.status() == Status::Working => {
            parked.store(true, Relaxed);
            nothing()
        }
        // The sleep ends after it was looked for what can run, and before the driver waits.
        Moment::Looked if parked.swap(false, Relaxed) => {
            Box::pin(advance(Duration::from_secs(10)))
        }
        _ => nothing(),
    });
    let server = Server::new("naps", "1.0.0").store(store).tool::<nap>();
    let mut wire = Wire::tasks(server);
    let id = wire.task("nap", json!({})).await;
    assert_eq!(wire.end(&id).await["status"], "completed");
}
