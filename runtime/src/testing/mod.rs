//! For tests of tools: a server in memory whose clock, answers and crashes are in your hand. And for
//! tests of stores: what every store has to keep to, and one that fails when it is told to.
//!
//! ```
//! use siding::{prelude::*, testing::TestServer};
//!
//! /// Orders tea.
//! #[mcp_tool(task = "required")]
//! async fn order(ctx: &mut Ctx, tea: String) -> Result<String> {
//!     let sure: bool = ctx.input(format!("Order {tea}?")).await?;
//!     let cups: u8 = ctx.input("How many cups?").await?;
//!     let name: String = ctx.input("For whom?").await?;
//!     Ok(format!("{cups} {tea} for {name}: {sure}"))
//! }
//!
//! # #[tokio::main] async fn main() {
//! let server = TestServer::new(|| Server::new("tea", "1.0.0").tool::<order>());
//! let task = server.call("order", serde_json::json!({ "tea": "Assam" })).await;
//! task.answer("sure", true).await;
//! task.answer("cups", 2).await;
//! server.crash().await; // nothing of it is lost
//! task.answer("name", "Ada").await;
//! assert_eq!(task.end().await.text(), "2 Assam for Ada: true");
//! # }
//! ```

/// The page about testing, whose code is tested too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
#[derive(Debug)]
pub struct Page;

mod around;
mod crash;
mod fake_server;
mod faulty;
mod host;
mod replay;
mod sample;
mod server;
pub mod store_conformance;
mod task;

#[doc(hidden)]
pub use self::sample::{record, step};
pub use self::{
    crash::crash_everywhere,
    fake_server::{FakeServer, Received, Reply},
    faulty::{Fault, FaultyStore},
    host::TestHost,
    replay::{Recording, replay_check},
    server::TestServer,
    task::{Ended, TestTask},
};
