//! The end of a time to live in the middle of a step.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI32, AtomicU32, Ordering::Relaxed},
};

use serde_json::json;
use siding::prelude::*;
use tokio::time::{Duration, sleep};

use crate::support::{VirtualHost, Wire};

#[derive(Default)]
struct Seats {
    taken: AtomicI32,
    begun: AtomicU32,
    /// What the code that cleans up was told of its step.
    told: Mutex<Vec<String>>,
}

type App = Arc<Seats>;

/// Reserves a seat, which takes some seconds, and gives it back if nobody takes it.
#[mcp_tool(task = "required", ttl = "3s")]
async fn reserve(ctx: &mut Ctx<App>, seconds: u64) -> Result<String> {
    let seats = ctx.state();
    let reserved = ctx
        .step("reserve", async {
            seats.begun.fetch_add(1, Relaxed);
            sleep(Duration::from_secs(seconds)).await;
            seats.taken.fetch_add(1, Relaxed);
            Ok(1)
        })
        .await;
    let told = match &reserved {
        Ok(_) => "reserved".to_owned(),
        Err(error) if error.is_unknown() => "unknown".into(),
        Err(error) => error.to_string(),
    };
    ctx.state().told.lock().unwrap().push(told);
    let sure: Result<bool> = ctx.input("Take it?").key("sure").await;
    if let Ok(true) = sure {
        return Ok("taken".into());
    }
    let seats = ctx.state();
    if let Ok(count) = reserved {
        ctx.cleanup("give back", async {
            seats.taken.fetch_sub(count, Relaxed);
            Ok(())
        })
        .await?;
    }
    Err(ToolError::new("not taken"))
}

/// Reserves, and panics when it is cancelled in the middle of it.
#[mcp_tool(task = "required")]
async fn gives_up(ctx: &mut Ctx<App>) -> Result<String> {
    let (seats, handle) = (ctx.state(), ctx.handle());
    let reserved: Result<()> = ctx
        .step("reserve", async {
            seats.begun.fetch_add(1, Relaxed);
            handle.cancelled().await;
            panic!("nobody thought of a cancel");
        })
        .await;
    let told = match reserved {
        Err(error) if error.is_unknown() => "unknown".to_owned(),
        other => format!("{other:?}"),
    };
    ctx.state().told.lock().unwrap().push(told);
    ctx.cleanup("give back", async { Ok(()) }).await?;
    Err(ToolError::new("not taken"))
}

fn server(seats: &App) -> Server<App> {
    Server::new("shop", "1.0.0")
        .state(seats.clone())
        .tools(tools![reserve, gives_up])
}

#[tokio::test(start_paused = true)]
async fn a_step_that_ends_in_the_grace_after_the_ttl_is_undone() {
    let seats = App::default();
    let mut wire = Wire::tasks(server(&seats));
    // The time to live ends 2 s before the step does.
    wire.task("reserve", json!({ "seconds": 5 })).await;
    sleep(Duration::from_secs(20)).await;
    assert_eq!(seats.begun.load(Relaxed), 1);
    assert_eq!(seats.taken.load(Relaxed), 0, "{:?}", seats.told.lock());
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_cut_off_is_unknown_to_the_code_that_cleans_up() {
    for cancels in [false, true] {
        let seats = App::default();
        let mut wire = Wire::tasks(server(&seats));
        let id = wire.task("reserve", json!({ "seconds": 60 })).await;
        sleep(Duration::from_secs(1)).await;
        if cancels {
            wire.cancel(&id).await.unwrap();
        }
        sleep(Duration::from_secs(30)).await;
        assert_eq!(*seats.told.lock().unwrap(), ["unknown"]);
        assert_eq!(seats.begun.load(Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_ttl_that_is_lengthened_while_a_step_runs_lets_it_end() {
    let seats = App::default();
    let (server, host) = (server(&seats), VirtualHost::new());
    let server = server.host(host);
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let id = wire.task("reserve", json!({ "seconds": 8 })).await;
    sleep(Duration::from_secs(1)).await;
    let hour = Some(Duration::from_hours(1));
    tasks.set_ttl(&id.as_str().into(), hour).await.unwrap();
    sleep(Duration::from_secs(19)).await;
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "input_required", "{task}");
    assert_eq!(seats.begun.load(Relaxed), 1);
    assert_eq!(*seats.told.lock().unwrap(), ["reserved"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_panics_after_a_cancel_is_unknown_to_the_code_that_cleans_up() {
    let seats = App::default();
    let mut wire = Wire::tasks(server(&seats));
    let id = wire.task("gives_up", json!({})).await;
    sleep(Duration::from_secs(1)).await;
    wire.cancel(&id).await.unwrap();
    sleep(Duration::from_secs(30)).await;
    let told = seats.told.lock().unwrap();
    assert_eq!(told.last().unwrap(), "unknown", "{told:?}");
    assert_eq!(seats.begun.load(Relaxed), 1);
}
