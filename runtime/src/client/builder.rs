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
}

impl ClientBuilder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            respondent: Arc::new(Nobody),
            host: Arc::new(SystemHost),
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
        let capabilities = capabilities(&*self.respondent);
        let inbox = Inbox::new(ClientConfig::new(capabilities, self.info));
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
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
            .finish_non_exhaustive()
    }
}

/// What the server is told on each request.
fn capabilities(respondent: &dyn Respondent) -> ClientCapabilities {
    let mut elicitation = ElicitationCapability::new();
    if respondent.answers_forms() {
        elicitation = elicitation.with_form(FormElicitationCapability::new());
    }
    if respondent.answers_urls() {
        elicitation = elicitation.with_url(UrlElicitationCapability::new());
    }
    let answers = elicitation.form.is_some() || elicitation.url.is_some();
    let mut capabilities = ClientCapabilities::builder().enable_tasks().build();
    capabilities.elicitation = answers.then_some(elicitation);
    capabilities
}
