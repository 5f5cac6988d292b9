//! The tower service, and what it does to requests before and answers after rmcp.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use rmcp::{
    model::{ErrorCode, ErrorData},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tower_service::Service;

use super::{
    super::{handler::Handler, listen::Listening, owner::Owners},
    receipt::{Guard, Noted, Receipt},
};
use crate::engine::Engine;

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// What acknowledges a listen request.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// A server as a tower service, to be nested in a router with layers for TLS and authentication.
///
/// Clones serve the same tasks; the work ends when the last one is dropped.
#[derive(Clone)]
pub struct HttpService {
    inner: StreamableHttpService<Handler, LocalSessionManager>,
    engine: Engine,
    owners: Owners,
    /// Whether this server has tasks at all.
    has_tasks: bool,
    /// The bytes that the body of a request may have.
    limit: usize,
}

impl HttpService {
    pub(super) fn new(handler: Handler, config: StreamableHttpServerConfig) -> Self {
        Self {
            engine: handler.engine().clone(),
            owners: handler.owners().clone(),
            has_tasks: handler.has_tasks(),
            limit: config.max_request_body_bytes,
            inner: StreamableHttpService::new(
                move || Ok(handler.clone()),
                Arc::new(LocalSessionManager::default()),
                config,
            ),
        }
    }

    async fn answer<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body + Send + 'static,
        B::Error: fmt::Display,
        B::Data: Send + 'static,
    {
        let headers = request.headers();
        let method = headers.get(METHOD).and_then(|name| name.to_str().ok());
        match method.unwrap_or_default() {
            "tools/call" => self.call_tool(request).await,
            "subscriptions/listen" if self.has_tasks => self.listen(request).await,
            method if method.starts_with("tasks/") && !headers.contains_key(NAME) => {
                self.with_name(request).await
            }
            _ => self.inner.handle(request).await.map(Body::new),
        }
    }

    /// A call: a task that it makes is cancelled if the answer does not leave.
    async fn call_tool<B>(self, mut request: Request<B>) -> Response<Body>
    where
        B: http_body::Body + Send + 'static,
        B::Error: fmt::Display,
    {
        let receipt = Receipt::default();
        request.extensions_mut().insert(receipt.clone());
        let guard = Guard(receipt);
        let answer = self.inner.handle(request).await;
        answer.map(|body| Body::new(Noted { body, guard }))
    }

    /// A listen request: the task ids in it go by rmcp.
    async fn listen<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body + Send + 'static,
        B::Error: fmt::Display,
    {
        let (mut parts, body) = match self.whole(request).await {
            Ok(whole) => whole,
            Err(refused) => return refused,
        };
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let listening = match Listening::read(&message) {
            Ok(Some(listening)) => listening,
            Ok(None) => return self.pass_on(parts, body).await,
            Err(error) => return self.refuse(&parts, &message["id"], &error).await,
        };
        match self.owners.read(&parts) {
            Ok(owner) => listening.grant(&self.engine, owner.as_deref()).await,
            Err(error) => return self.refuse(&parts, &message["id"], &error).await,
        }
        parts.extensions.insert(listening.clone());
        let answer = self.pass_on(parts, body).await;
        let mut waiting = Some(listening);
        let mut acknowledged = move |data: Bytes| {
            let waits = waiting.as_ref();
            let Some(told) = waits.and_then(|listening| acknowledge(&data, listening)) else {
                return data;
            };
            waiting = None;
            told
        };
        answer.map(|body| Body::new(body.map_frame(move |frame| frame.map_data(&mut acknowledged))))
    }

    /// A request on a task without `Mcp-Name`. The header is for gateways; some clients leave it out,
    /// and what it must say stands in the body. One that says something else is refused by rmcp.
    async fn with_name<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body + Send + 'static,
        B::Error: fmt::Display,
    {
        let (mut parts, body) = match self.whole(request).await {
            Ok(whole) => whole,
            Err(refused) => return refused,
        };
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let id = message["params"]["taskId"].as_str();
        if let Some(name) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
            parts.headers.insert(NAME, name);
        }
        self.pass_on(parts, body).await
    }

    /// Answers what rmcp does not get to see with an error, unless it comes from where nothing is
    /// accepted.
    async fn refuse(&self, parts: &Parts, id: &Value, error: &ErrorData) -> Response<Body> {
        // A method that rmcp does not serve: it looks only at where the request comes from.
        let mut probe = Request::new(Full::new(Bytes::new()));
        *probe.method_mut() = Method::OPTIONS;
        *probe.uri_mut() = parts.uri.clone();
        *probe.headers_mut() = parts.headers.clone();
        let looked_at = self.inner.handle(probe).await;
        if looked_at.status() == StatusCode::FORBIDDEN {
            return looked_at.map(Body::new);
        }
        // As rmcp answers errors of its handlers (2026-07-28, Streamable HTTP).
        let status = match error.code {
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        let mut refused = Response::new(Body::from(message.to_string()));
        *refused.status_mut() = status;
        let json = HeaderValue::from_static("application/json");
        refused.headers_mut().insert(header::CONTENT_TYPE, json);
        refused
    }

    async fn pass_on(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let request = Request::from_parts(parts, Full::new(body));
        self.inner.handle(request).await.map(Body::new)
    }

    /// The parts and the whole body of a request, or what is answered where it is too large.
    async fn whole<B>(&self, request: Request<B>) -> Result<(Parts, Bytes), Response<Body>>
    where
        B: http_body::Body + Send + 'static,
        B::Error: fmt::Display,
    {
        let (parts, body) = request.into_parts();
        let body = body.map_err(|error| io::Error::other(error.to_string()));
        match Limited::new(body, self.limit).collect().await {
            Ok(body) => Ok((parts, body.to_bytes())),
            Err(error) => {
                let (status, why) = if error.is::<LengthLimitError>() {
                    let why = format!("the body has more than {} bytes", self.limit);
                    (StatusCode::PAYLOAD_TOO_LARGE, why)
                } else {
                    let why = format!("the body cannot be read: {error}");
                    (StatusCode::BAD_REQUEST, why)
                };
                let mut refused = Response::new(Body::from(why));
                *refused.status_mut() = status;
                Err(refused)
            }
        }
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
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}

/// The event `data` with the tasks that are granted, where it is the acknowledgement.
fn acknowledge(data: &Bytes, listening: &Listening) -> Option<Bytes> {
    let event = std::str::from_utf8(data).ok()?;
    if !event.contains(ACKNOWLEDGED) {
        return None;
    }
    let lines = event.split_inclusive('\n').map(|line| {
        let message = line.strip_prefix("data:").map(str::trim);
        match message.and_then(|message| serde_json::from_str::<Value>(message).ok()) {
            Some(mut message) => {
                listening.acknowledge(&mut message);
                format!("data: {message}\n")
            }
            None => line.to_owned(),
        }
    });
    Some(lines.collect::<String>().into())
}
