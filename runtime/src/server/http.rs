//! Streamable HTTP.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{Router, body::Body};
use http::{Request, Response};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::{TcpListener, ToSocketAddrs};
use tower_service::Service;

use super::{ServeError, Server, handler::Handler};

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

type Inner = StreamableHttpService<Handler, LocalSessionManager>;

/// A server as a tower service, to be nested in a router with layers for TLS and authentication.
///
/// Clones serve the same tasks; the work ends when the last one is dropped.
#[derive(Clone)]
pub struct HttpService {
    inner: Inner,
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: http_body::Body + Send + 'static,
    B::Error: fmt::Display,
    B::Data: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let response = self.inner.call(request);
        Box::pin(async move { Ok(response.await?.map(Body::new)) })
    }
}

impl<S: Send + Sync + 'static> Server<S> {
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
    pub fn into_service(mut self) -> Result<HttpService, ServeError> {
        let mut config = StreamableHttpServerConfig::default();
        config.allowed_hosts.append(&mut self.hosts);
        let origins = LOOPBACK_ORIGINS
            .into_iter()
            .map(Into::into)
            .chain(self.origins.drain(..));
        let config = config.with_allowed_origins(origins.collect::<Vec<String>>());
        let handler = self.build()?;
        Ok(HttpService {
            inner: StreamableHttpService::new(
                move || Ok(handler.clone()),
                Arc::new(LocalSessionManager::default()),
                config,
            ),
        })
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
        self.hosts.extend(own_hosts(address));
        let app = Router::new().route_service(PATH, self.into_service()?);
        let served = axum::serve(listener, app).await;
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
