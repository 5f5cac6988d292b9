//! A call before it is made, and its events.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::Stream;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{CallError, Event, connection::Connection, drive::Drive};
use crate::host::BoxFuture;

/// A call of a tool, or a task to go on with, before it begins.
///
/// ```no_run
/// # async fn example(client: siding::client::Client) -> Result<(), siding::client::CallError> {
/// use siding::client::Event;
/// use std::time::Duration;
///
/// let mut events = client
///     .call("deploy", serde_json::json!({ "service": "api" }))
///     .timeout(Duration::from_secs(60 * 60))
///     .events();
/// while let Some(event) = events.next().await {
///     match event? {
///         Event::Created(task) => println!("to be resumed as {}", task.task_id),
///         Event::Status(task) => println!("{}", task.status_message.unwrap_or_default()),
///         Event::Result(result) | Event::Completed(result) => println!("{:?}", result.content),
///         _ => {}
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "nothing is called before `events` or `finish`"]
pub struct Call {
    connection: Arc<Connection>,
    pub(super) target: Target,
    pub(super) timeout: Option<Duration>,
    pub(super) token: Option<CancellationToken>,
}

/// What is driven.
#[derive(Debug)]
pub(super) enum Target {
    Tool(CallToolRequestParams),
    Task(String),
    /// Arguments that are no object.
    Unfit(String),
}

impl Call {
    pub(super) fn of_tool(
        connection: Arc<Connection>,
        name: String,
        arguments: impl Serialize,
    ) -> Self {
        let params = CallToolRequestParams::new(name);
        let target = match serde_json::to_value(arguments) {
            Ok(Value::Object(arguments)) => Target::Tool(params.with_arguments(arguments)),
            Ok(Value::Null) => Target::Tool(params),
            Ok(other) => Target::Unfit(format!("these are `{other}`")),
            Err(error) => Target::Unfit(format!("these cannot be written as JSON: {error}")),
        };
        Self::of(connection, target)
    }

    pub(super) const fn of_task(connection: Arc<Connection>, id: String) -> Self {
        Self::of(connection, Target::Task(id))
    }

    const fn of(connection: Arc<Connection>, target: Target) -> Self {
        Self {
            connection,
            target,
            timeout: None,
            token: None,
        }
    }

    /// How long the call may take in all, from [`events`](Self::events) or [`finish`](Self::finish) on:
    /// requests, waits, and the person's answering. When it is over, the server is told to stop, and
    /// the call ends with [`CallError::TimedOut`]. Without, and with `Duration::MAX`, there is no
    /// end but that of the task.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Ends the call when `token` is cancelled: the server is told to stop, and the last event is
    /// [`Event::Cancelled`].
    ///
    /// ```
    /// use serde_json::json;
    /// use siding::{
    ///     client::{CallError, Client},
    ///     testing::{FakeServer, Reply},
    /// };
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = FakeServer::new();
    /// server.reply(Reply::task("t1", json!({})));
    /// server.task("t1", [json!({ "status": "working" })]);
    /// let client = Client::builder("impatient", "1.0.0").connect(server.connect()).await?;
    /// let token = CancellationToken::new();
    /// let call = tokio::spawn(client.call("brew", json!({})).cancel_on(token.clone()).finish());
    /// server.until("tools/call").await;
    /// token.cancel();
    /// assert!(matches!(call.await?, Err(CallError::Cancelled { .. })));
    /// # Ok(()) }
    /// ```
    pub fn cancel_on(mut self, token: CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Begins the call, and gives what happens to it.
    pub fn events(self) -> Events {
        // The channel holds what was said last, so that the call goes on only as it is listened to.
        let (tells, told) = mpsc::channel(1);
        let drive = Drive::new(self.connection.clone(), tells);
        Events {
            told,
            running: Some(Box::pin(drive.run(self))),
            error: None,
        }
    }

    /// Makes the call, and gives its result.
    ///
    /// # Errors
    ///
    /// Where there is no result; a token's cancel is [`CallError::Cancelled`].
    pub async fn finish(self) -> Result<CallToolResult, CallError> {
        let mut events = self.events();
        let mut cancelled = None;
        while let Some(event) = events.next().await {
            match event? {
                Event::Result(result) | Event::Completed(result) => return Ok(result),
                Event::Cancelled { id } => cancelled = id,
                Event::Created(_) | Event::Status(_) | Event::Asked(_) | Event::Progress(_) => {}
            }
        }
        Err(CallError::Cancelled { id: cancelled })
    }
}

/// What happens to a call. It goes on while this is polled, and is given up on the server when this is
/// dropped before the end; whoever needs to be sure that the server was told takes
/// [`Call::cancel_on`] and reads on to the end.
#[must_use = "the call goes on only while its events are looked at"]
pub struct Events {
    told: mpsc::Receiver<Event>,
    running: Option<BoxFuture<'static, Result<(), CallError>>>,
    error: Option<CallError>,
}

impl Events {
    /// The next event; `None` after the last. Nothing is lost where this is dropped before it is
    /// ready.
    pub async fn next(&mut self) -> Option<Result<Event, CallError>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Events {
    type Item = Result<Event, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Poll::Ready(Some(event)) = self.told.poll_recv(cx) {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(running) = &mut self.running else {
                return Poll::Ready(self.error.take().map(Err));
            };
            match running.as_mut().poll(cx) {
                Poll::Ready(ended) => {
                    self.running = None;
                    self.error = ended.err();
                }
                Poll::Pending => {
                    return match self.told.poll_recv(cx) {
                        Poll::Ready(Some(event)) => Poll::Ready(Some(Ok(event))),
                        Poll::Ready(None) | Poll::Pending => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("ended", &self.running.is_none())
            .finish_non_exhaustive()
    }
}
