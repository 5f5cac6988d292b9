//! Faults as machines really have them: blocked threads, clocks that jump, stores that fail for a
//! while, files that vanish. A finished step is not repeated, and what must be undone is undone.

mod cleanup;
mod clocks;
mod files;
mod full_disk;
mod outcomes;
mod told;
mod ttl;
mod unreadable;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use siding::{Store, prelude::*};
use tokio::time::{Duration, sleep};

/// What happened on the other side.
#[derive(Default)]
struct World {
    begun: AtomicU32,
    ended: AtomicU32,
}

type App = Arc<World>;

impl World {
    fn begun(&self) -> u32 {
        self.begun.load(Relaxed)
    }

    fn ended(&self) -> u32 {
        self.ended.load(Relaxed)
    }
}

/// Works for a while.
#[mcp_tool(task = "required", ttl = "24h")]
async fn work(ctx: &mut Ctx<App>, seconds: u64) -> Result<String> {
    let world = ctx.state();
    ctx.step("charge", async {
        world.begun.fetch_add(1, Relaxed);
        sleep(Duration::from_secs(seconds)).await;
        world.ended.fetch_add(1, Relaxed);
        Ok(())
    })
    .await?;
    Ok("charged".into())
}

fn server(world: &App, store: impl Store) -> Server<App> {
    let server = Server::new("shop", "1.0.0").state(world.clone());
    server.tool::<work>().store(store)
}
