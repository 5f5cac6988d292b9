//! What replays can be told from what is new.

use serde_json::json;
use siding::{prelude::*, testing::TestServer};
use tracing_subscriber::{Layer, filter::dynamic_filter_fn, fmt, layer::SubscriberExt, registry};

use crate::support::Log;

/// Says how far it is.
#[mcp_tool(task = "required")]
async fn talk(ctx: &mut Ctx) -> Result<bool> {
    tracing::info!("at the start");
    ctx.step("work", async {
        tracing::info!("in the step");
        Ok(())
    })
    .await?;
    tracing::info!("before the question");
    let sure: bool = ctx.input("Sure?").await?;
    tracing::info!("after the question");
    Ok(sure)
}

async fn talked() {
    let server = TestServer::new(|| Server::new("talker", "1.0.0").tool::<talk>());
    let task = server.call("talk", json!({})).await;
    task.answer("sure", true).await;
    task.end().await;
}

#[tokio::test]
async fn what_replays_is_dropped_by_the_filter() {
    let lines = Log::default();
    let writer = lines.clone();
    let live = dynamic_filter_fn(|_, _| !siding::is_replaying());
    let layer = fmt::layer()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let _guard = tracing::subscriber::set_default(registry().with(layer.with_filter(live)));
    talked().await;
    let text = lines.text();
    for said in [
        "at the start",
        "in the step",
        "before the question",
        "after the question",
    ] {
        assert_eq!(text.matches(said).count(), 1, "{said}:\n{text}");
    }
    let last = text
        .lines()
        .find(|line| line.contains("after the question"))
        .unwrap();
    assert!(
        last.contains("tool=\"talk\"") && last.contains("leg=2"),
        "{last}"
    );
    assert!(
        last.contains("task=") && last.contains("replaying=false"),
        "{last}"
    );
}

#[tokio::test]
async fn without_the_filter_it_is_said_again() {
    let lines = Log::default();
    let writer = lines.clone();
    let layer = fmt::layer()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let _guard = tracing::subscriber::set_default(registry().with(layer));
    talked().await;
    let text = lines.text();
    assert_eq!(text.matches("at the start").count(), 2, "{text}");
    assert_eq!(text.matches("in the step").count(), 1, "{text}");
}
