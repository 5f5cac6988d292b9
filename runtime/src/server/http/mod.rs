//! Streamable HTTP.

mod receipt;
mod service;

use std::{
    future::IntoFuture,
    io,
    net::{IpAddr, SocketAddr},
};

use axum::Router;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio_util::sync::CancellationToken;

pub(super) use self::receipt::Receipt;
pub use self::service::HttpService;
use super::{ServeError, Server, owner::Owners};
use crate::engine::Engine;

/// Where [`Server::serve_http`] serves.
const PATH: &str = "/mcp";
/// Origins of pages that this machine serves itself.
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// From where requests are accepted, besides the loopback interface.
#[derive(Debug, Default)]
pub(super) struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl<S: Send + Sync + 'static> Server<S> {
    /// Accepts HTTP requests for these hosts (`example.com`, `example.com:8080`) besides those of
    /// the loopback interface. Requests for any other `Host` are refused.
    pub fn allow_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        let access = &mut self.settings.access;
        access.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Accepts HTTP requests of pages from these origins (`https://app.example.com:443`) besides
    /// those of the loopback interface. Requests with any other `Origin` get 403 (2026-07-28,
    /// Streamable HTTP).
    pub fn allow_origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        let access = &mut self.settings.access;
        access.origins.extend(origins.into_iter().map(Into::into));
        self
    }

    /// Reads whose request it is from its parts, where the author's own layers have put what they
    /// authenticated. A task belongs to whoever made it: for everyone else, and for nobody, it does
    /// not exist. Only the name is kept, no header and no token.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// #[derive(Clone)]
    /// struct User(String);
    ///
    /// // A layer of yours authenticates, and inserts `User` into the request's extensions.
    /// let server = Server::new("shop", "1.0.0")
    ///     .owner(|request| Some(request.extensions.get::<User>()?.0.clone()));
    /// # let _ = server;
    /// ```
    pub fn owner(
        mut self,
        owner: impl Fn(&http::request::Parts) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.settings.owners = Owners::new(owner);
        self
    }

    /// The server as a tower service, for a router of your own.
    ///
    /// ```
    /// # use siding::prelude::*;
    /// # #[tokio::main] async fn main() -> Result<()> {
    /// let service = Server::new("nested", "1.0.0").into_service()?;
    /// let app: axum::Router = axum::Router::new().route_service("/mcp", service);
    /// # let _ = app; siding::Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Where the tools do not go together.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime: the server works on its tasks from here on.
    pub fn into_service(self) -> Result<HttpService, ServeError> {
        self.service(CancellationToken::new())
            .map(|(service, _)| service)
    }

    /// The service, whose streams end with `streams`.
    fn service(mut self, streams: CancellationToken) -> Result<(HttpService, Engine), ServeError> {
        let access = std::mem::take(&mut self.settings.access);
        let mut config = StreamableHttpServerConfig::default();
        config.allowed_hosts.extend(access.hosts);
        let origins = LOOPBACK_ORIGINS
            .into_iter()
            .map(Into::into)
            .chain(access.origins);
        let config = config
            .with_allowed_origins(origins.collect::<Vec<String>>())
            .with_cancellation_token(streams);
        let handler = self.build()?;
        let engine = handler.engine().clone();
        Ok((HttpService::new(handler, config), engine))
    }

    /// Serves any number of clients over HTTP, at `/mcp` on `address`.
    ///
    /// Nobody is authenticated here: listen on the loopback interface, or put
    /// [`into_service`](Self::into_service) behind layers of your own.
    ///
    /// # Errors
    ///
    /// Where the tools do not go together, or `address` cannot be listened on.
    pub async fn serve_http(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(ServeError::Listen)?;
        self.serve_listener(listener).await
    }

    /// Serves any number of clients over HTTP, at `/mcp` on a listener that is bound already.
    ///
    /// # Errors
    ///
    /// Where the tools do not go together, or the listener failed.
    pub async fn serve_listener(mut self, listener: TcpListener) -> Result<(), ServeError> {
        let address = listener.local_addr().map_err(ServeError::Listen)?;
        self.settings.access.hosts.extend(own_hosts(address));
        let told = self.settings.told();
        let patience = self.settings.patience;
        let streams = CancellationToken::new();
        // Whatever ends the server ends the streams that its clients hold open.
        let _streams = streams.clone().drop_guard();
        let (service, engine) = self.service(streams)?;
        let app = Router::new().route_service(PATH, service);
        let closing = engine.clone();
        let draining = CancellationToken::new();
        let drains = draining.clone();
        let serve = axum::serve(listener, app).with_graceful_shutdown(async move {
            told.await;
            // Clients may still look at their tasks while work comes to its end.
            closing.shut_down(patience).await;
            drains.cancel();
        });
        let drained = async {
            draining.cancelled().await;
            engine.pass(patience).await;
        };
        let served = tokio::select! {
            served = serve.into_future() => served,
            // A stream that a client holds open would never end by itself.
            () = drained => Ok(()),
        };
        engine.shut_down(patience).await;
        served.map_err(|error: io::Error| ServeError::Transport(error.into()))
    }
}

/// The hosts by which an address that was chosen on purpose may be asked for.
fn own_hosts(address: SocketAddr) -> Option<String> {
    let ip = address.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then(|| match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    })
}
