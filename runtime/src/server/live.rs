//! A client while it waits: asking it, by `elicitation/create` of 2025-11-25 and before, and telling it
//! how far the call is.

use rmcp::{
    model::{ClientResult, ProgressNotificationParam, ProgressToken, ServerRequest},
    service::{Peer, PeerRequestOptions, RequestHandle, RoleServer, ServiceError},
};
use serde_json::Value;

use super::elicitation::elicitation;
use crate::{
    engine::leg::{Link, Listens},
    host::BoxFuture,
    input::form::Ask,
};

/// The client of a session.
#[derive(Debug)]
pub(super) struct LiveClient {
    peer: Peer<RoleServer>,
}

impl LiveClient {
    pub(super) const fn new(peer: Peer<RoleServer>) -> Self {
        Self { peer }
    }
}

impl Link for LiveClient {
    fn elicit<'a>(&'a self, id: &'a str, ask: &'a Ask) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let request = ServerRequest::ElicitRequest(elicitation(id, ask));
            let sent = self
                .peer
                .send_cancellable_request(request, PeerRequestOptions::no_options());
            let mut asked = Asked(Some(sent.await.map_err(|error| error.to_string())?));
            let answered = asked.answer().await.map_err(|error| error.to_string())?;
            serde_json::to_value(answered).map_err(|error| error.to_string())
        })
    }
}

/// A client that named a token for the progress of its call.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) peer: Peer<RoleServer>,
    pub(super) token: ProgressToken,
}

impl Listens for Listener {
    fn progress(&self, done: u64, total: u64) -> BoxFuture<'_, ()> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "the protocol has floats; nobody counts beyond 2^53"
        )]
        let (done, total) = (done as f64, total as f64);
        let progress = ProgressNotificationParam::new(self.token.clone(), done).with_total(total);
        Box::pin(async move {
            if let Err(error) = self.peer.notify_progress(progress).await {
                tracing::debug!(%error, "nobody hears how far a call is");
            }
        })
    }
}

/// A question that waits for its answer. The client hears of it when nobody waits any more.
struct Asked(Option<RequestHandle<RoleServer>>);

impl Asked {
    async fn answer(&mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let answered = (&mut handle.rx).await;
        self.0 = None;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(async move {
                let reason = "nobody waits for the answer any more";
                if let Err(error) = handle.cancel(Some(reason.into())).await {
                    tracing::debug!(%error, "a question could not be taken back");
                }
            });
        }
    }
}
