//! How a client is made.

use std::{fmt, sync::Arc};

use rmcp::{
    model::{
        ClientCapabilities, ClientConfig, ElicitationCapability, FormElicitationCapability,
        Implementation, ProtocolVersion, UrlElicitationCapability,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RoleClient},
    transport::IntoTransport,
};

use super::{
    Answers, Client, ConnectError,
    answers::{Nobody, Respondent},
    connection::{Connection, Inbox},
};
use crate::host::{Host, SystemHost};

/// A [`Client`] that is not yet connected.
#[must_use = "a client does nothing before it is connected"]
pub struct ClientBuilder {
    info: Implementation,
    respondent: Arc<dyn Respondent>,
    host: Arc<dyn Host>,
    follows_tasks: bool,
    is_older: bool,
}

impl ClientBuilder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            respondent: Arc::new(Nobody),
            host: Arc::new(SystemHost),
            follows_tasks: true,
            is_older: false,
        }
    }

    /// Who answers what the server asks. Without, the server is told that nobody does.
    pub fn answers(mut self, answers: impl Answers) -> Self {
        self.respondent = Arc::new(answers);
        self
    }

    /// Where time comes from; the operating system, if this is not called.
    pub fn host(mut self, host: impl Host) -> Self {
        self.host = Arc::new(host);
        self
    }

    /// Tells the server that this client follows no tasks, to see what a tool does for such: it asks
    /// in round trips (SEP-2322), and its result comes with the last of them.
    ///
    /// ```
    /// use serde_json::json;
    /// use siding::{client::{Answer, Client, Question}, prelude::*};
    ///
    /// /// Asks in front of its only step.
    /// #[mcp_tool(task = "optional")]
    /// async fn brew(ctx: &mut Ctx) -> siding::Result<String> {
    ///     let tea: String = ctx.input("Which tea?").await?;
    ///     ctx.step("brew", async { siding::Ok(tea) }).await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (near, far) = tokio::io::duplex(4096);
    /// let (reader, writer) = tokio::io::split(far);
    /// tokio::spawn(Server::new("kitchen", "1.0.0").tool::<brew>().serve(reader, writer));
    /// let client = Client::builder("test", "1.0.0")
    ///     .answers(|_: Question| async { Answer::Accept(json!({ "value": "green" })) })
    ///     .without_tasks()
    ///     .connect(near)
    ///     .await?;
    /// let mut events = client.call("brew", json!({})).events();
    /// let mut kinds = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     kinds.push(match event? {
    ///         siding::client::Event::Asked(question) => question.message,
    ///         siding::client::Event::Result(_) => "done, and never a task".into(),
    ///         other => format!("{other:?}"),
    ///     });
    /// }
    /// assert_eq!(kinds, ["Which tea?", "done, and never a task"]);
    /// # Ok(()) }
    /// ```
    pub const fn without_tasks(mut self) -> Self {
        self.follows_tasks = false;
        self
    }

    /// Speaks as clients did before 2026-07-28: begins by `initialize` with 2025-11-25, and is asked
    /// live, while the call waits.
    ///
    /// ```no_run
    /// # async fn example(transport: tokio::io::DuplexStream) -> Result<(), siding::client::ConnectError> {
    /// let older = siding::client::Client::builder("test", "1.0.0").older().connect(transport).await?;
    /// # Ok(()) }
    /// ```
    pub const fn older(mut self) -> Self {
        self.is_older = true;
        self
    }

    /// Connects over any transport of `rmcp`.
    ///
    /// Speaks 2026-07-28 where the server answers `server/discover`. Where it refuses, or says nothing for
    /// 10 s, 2025-11-25 is proposed to it by `initialize`, and it may choose an older one.
    ///
    /// # Errors
    ///
    /// Where there is no connection, or no common protocol.
    pub async fn connect<T, E, A>(self, transport: T) -> Result<Client, ConnectError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let capabilities = capabilities(&*self.respondent, self.follows_tasks);
        let mut config = ClientConfig::new(capabilities, self.info);
        let lifecycle = if self.is_older {
            config.protocol_version = ProtocolVersion::V_2025_11_25;
            ClientLifecycleMode::Initialize
        } else {
            ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            }
        };
        let inbox = Inbox::new(config);
        let running = inbox.serve_with_lifecycle(transport, lifecycle).await?;
        let connection = Connection::new(running, self.host, self.respondent);
        Ok(Client {
            connection: Arc::new(connection),
        })
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("info", &self.info)
            .field("host", &self.host)
            .field("follows_tasks", &self.follows_tasks)
            .field("is_older", &self.is_older)
            .finish_non_exhaustive()
    }
}

/// What the server is told on each request.
fn capabilities(respondent: &dyn Respondent, follows_tasks: bool) -> ClientCapabilities {
    let mut elicitation = ElicitationCapability::new();
    if respondent.answers_forms() {
        elicitation = elicitation.with_form(FormElicitationCapability::new());
    }
    if respondent.answers_urls() {
        elicitation = elicitation.with_url(UrlElicitationCapability::new());
    }
    let answers = elicitation.form.is_some() || elicitation.url.is_some();
    let mut capabilities = if follows_tasks {
        ClientCapabilities::builder().enable_tasks().build()
    } else {
        ClientCapabilities::default()
    };
    capabilities.elicitation = answers.then_some(elicitation);
    capabilities
}
