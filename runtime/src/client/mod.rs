//! Drives a tool of any MCP server to its end: programs, tests and the command line see a call as a
//! stream of events, or only its result.
//!
//! A server may answer at once, ask first, or make a task of the call, which is then polled and
//! answered until it ends (SEP-2663). A program writes the same in each case:
//!
//! ```
//! use serde_json::json;
//! use siding::{
//!     client::{Answer, Client, Question},
//!     prelude::*,
//! };
//! use std::time::Duration;
//!
//! /// Orders tea.
//! #[mcp_tool(task = "required", poll = "5ms")]
//! async fn order(ctx: &mut Ctx, tea: String) -> Result<String> {
//!     let cups: u8 = ctx.input(format!("How many cups of {tea}?")).await?;
//!     Ok(format!("{cups} {tea}"))
//! }
//!
//! # #[tokio::main] async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! # let (ours, theirs) = tokio::io::duplex(16 * 1024);
//! # let (reader, writer) = tokio::io::split(theirs);
//! # tokio::spawn(Server::new("tea", "1.0.0").tool::<order>().serve(reader, writer));
//! # let transport = ours;
//! let client = Client::builder("thirsty", "1.0.0")
//!     .answers(|_: Question| async { Answer::Accept(json!({ "value": 2 })) })
//!     .connect(transport) // any transport of `rmcp`
//!     .await?;
//! let result = client
//!     .call("order", json!({ "tea": "Assam" }))
//!     .timeout(Duration::from_secs(60))
//!     .finish()
//!     .await?;
//! assert_eq!(result.content[0].as_text().unwrap().text, "2 Assam");
//! # Ok(()) }
//! ```

/// The page about the client, whose code is tested too.
#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../../docs/client.md")]
#[derive(Debug)]
pub struct Page;

mod answers;
mod builder;
mod call;
mod connection;
mod drive;
mod error;
mod event;
mod questions;
mod request;
mod task;
mod work;

use std::sync::Arc;

use rmcp::{model::Tool, service::ServiceError};
use serde::Serialize;

use self::connection::Connection;
pub use self::{
    answers::{Answer, Answers, Ask, Question},
    builder::ClientBuilder,
    call::{Call, Events},
    error::{CallError, ConnectError},
    event::{Event, Progress},
};

/// A connection to a server whose tools are called.
///
/// Clones share the connection. It is closed when the last of them, and of the calls made with them, is
/// dropped.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Arc<Connection>,
}

impl Client {
    /// A client of this name and version, to be connected.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(name.into(), version.into())
    }

    /// The tools of the server, of all pages.
    ///
    /// # Errors
    ///
    /// Where the server refuses, or the connection fails.
    pub async fn tools(&self) -> Result<Vec<Tool>, ServiceError> {
        self.connection.peer.list_all_tools().await
    }

    /// A call of the tool `name`, with an object that has a member for each argument. Nothing is sent
    /// until its events are looked at.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> Call {
        Call::of_tool(self.connection.clone(), name.into(), arguments)
    }

    /// Goes on with a task by its id, which a program may have kept from [`Event::Created`] in a run
    /// before. Questions that were answered in that run are asked again if the server still shows
    /// them.
    ///
    /// ```
    /// use serde_json::json;
    /// use siding::{client::Client, testing::FakeServer};
    ///
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = FakeServer::new();
    /// server.task("kept", [json!({
    ///     "taskId": "kept",
    ///     "createdAt": "2026-11-29T12:00:00Z",
    ///     "lastUpdatedAt": "2026-11-29T12:00:00Z",
    ///     "ttlMs": null,
    ///     "status": "completed",
    ///     "result": { "content": [{ "type": "text", "text": "done" }] },
    /// })]);
    /// let client = Client::builder("again", "1.0.0").connect(server.connect()).await?;
    /// let result = client.resume("kept").finish().await?;
    /// assert_eq!(result.content[0].as_text().unwrap().text, "done");
    /// # Ok(()) }
    /// ```
    pub fn resume(&self, task: impl Into<String>) -> Call {
        Call::of_task(self.connection.clone(), task.into())
    }

    /// Closes the connection and waits until it is closed; calls that still run fail.
    pub async fn close(self) {
        self.connection.close().await;
    }
}
