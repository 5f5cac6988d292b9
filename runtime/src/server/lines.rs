//! Messages as lines: standard input and output, and any other pair of byte streams.
//!
//! It reads and writes what rmcp's own transport does, and more: the task ids of listen requests, of
//! which rmcp knows nothing, and an answer to lines that are no messages.

use std::{collections::HashMap, io, sync::Arc};

use futures_util::StreamExt;
use rmcp::{
    model::{
        ClientJsonRpcMessage, ErrorData, GetExtensions, JsonRpcMessage, JsonRpcNotification,
        NotificationMetaObject, RequestId, ServerJsonRpcMessage, ServerNotification,
    },
    service::RoleServer,
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
};
use tokio_util::{
    bytes::BytesMut,
    codec::{Decoder, FramedRead, LinesCodec, LinesCodecError},
};

use super::listen::Listening;
use crate::{engine::Engine, host::BoxFuture};

/// The bytes that a line may have: what a message over HTTP may have, and then some.
const LONGEST: usize = 16 * 1024 * 1024;

/// A connection with one client.
pub(super) struct Lines<R, W> {
    reader: FramedRead<R, Forgiving>,
    /// `None` when it was closed.
    writer: Arc<Mutex<Option<W>>>,
    engine: Engine,
    /// Whether this server has tasks at all.
    has_tasks: bool,
    /// Listen requests that were neither acknowledged nor refused yet.
    listening: HashMap<RequestId, Listening>,
    /// An answer that is being written. It outlives a `receive` that is given up.
    answering: Option<BoxFuture<'static, io::Result<()>>>,
}

/// What is to be done with a line.
enum Read {
    Message(Box<ClientJsonRpcMessage>),
    Answer(Value),
    Nothing,
}

impl<R: AsyncRead, W> Lines<R, W> {
    pub(super) fn new(reader: R, writer: W, engine: Engine, has_tasks: bool) -> Self {
        Self {
            reader: FramedRead::new(reader, Forgiving(LinesCodec::new_with_max_length(LONGEST))),
            writer: Arc::new(Mutex::new(Some(writer))),
            engine,
            has_tasks,
            listening: HashMap::new(),
            answering: None,
        }
    }

    fn read(&mut self, line: &str) -> Read {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return Read::Nothing;
        }
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => {
                let why = format!("this line is not JSON: {error}");
                return Read::Answer(refusal(&Value::Null, &ErrorData::parse_error(why, None)));
            }
        };
        let listening = match self.has_tasks.then(|| Listening::read(&message)) {
            None | Some(Ok(None)) => None,
            Some(Ok(Some(listening))) => Some(listening),
            Some(Err(error)) => return Read::Answer(refusal(&message["id"], &error)),
        };
        let is_notification = message.get("id").is_none() && message.get("method").is_some();
        match serde_json::from_value::<ClientJsonRpcMessage>(message) {
            Ok(mut parsed) => {
                if let (Some(listening), JsonRpcMessage::Request(request)) =
                    (listening, &mut parsed)
                {
                    self.listening.insert(request.id.clone(), listening.clone());
                    request.request.extensions_mut().insert(listening);
                }
                Read::Message(Box::new(parsed))
            }
            // Nobody waits for an answer to it.
            Err(error) if is_notification => {
                tracing::debug!(%error, "a notification is not understood");
                Read::Nothing
            }
            Err(error) => {
                let why = format!("this is no JSON-RPC message: {error}");
                let error = ErrorData::invalid_request(why, None);
                Read::Answer(refusal(&Value::Null, &error))
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let settled = settled(&message).and_then(|id| self.listening.remove(&id));
        let acknowledges = settled.map(|listening| (listening, self.engine.clone()));
        let writer = self.writer.clone();
        async move {
            let line = match acknowledges {
                Some((listening, engine)) => {
                    let mut message = serde_json::to_value(&message)?;
                    // Nobody is known by name on such a connection.
                    listening.grant(&engine, None).await;
                    listening.acknowledge(&mut message);
                    serde_json::to_vec(&message)
                }
                None => serde_json::to_vec(&message),
            };
            write(&writer, line?).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(answering) = &mut self.answering {
                let written = answering.as_mut().await;
                self.answering = None;
                if let Err(error) = written {
                    tracing::debug!(%error, "the client does not read any more");
                    return None;
                }
            }
            let read = match self.reader.next().await? {
                Ok(Ok(line)) => self.read(&line),
                Ok(Err(why)) => {
                    let error = ErrorData::parse_error(why, None);
                    Read::Answer(refusal(&Value::Null, &error))
                }
                Err(error) => {
                    tracing::debug!(%error, "the client cannot be read any more");
                    return None;
                }
            };
            match read {
                Read::Message(message) => return Some(*message),
                Read::Answer(answer) => {
                    let writer = self.writer.clone();
                    self.answering = Some(Box::pin(async move {
                        write(&writer, serde_json::to_vec(&answer)?).await
                    }));
                }
                Read::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let writer = self.writer.lock().await.take();
        match writer {
            Some(mut writer) => writer.shutdown().await,
            None => Ok(()),
        }
    }
}

/// The id of the request that `message` answers, or of the listen request that it acknowledges.
fn settled(message: &ServerJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Notification(JsonRpcNotification {
            notification: ServerNotification::SubscriptionsAcknowledgedNotification(acknowledged),
            ..
        }) => {
            let meta = acknowledged.extensions.get::<NotificationMetaObject>()?;
            meta.subscription_id()
        }
        JsonRpcMessage::Notification(_) | JsonRpcMessage::Request(_) => None,
    }
}

/// Lines, and why some are none: after what it cannot read it goes on with the next line.
struct Forgiving(LinesCodec);

impl Forgiving {
    fn forgive(
        read: Result<Option<String>, LinesCodecError>,
    ) -> io::Result<Option<Result<String, String>>> {
        match read {
            Ok(line) => Ok(line.map(Ok)),
            Err(LinesCodecError::MaxLineLengthExceeded) => Ok(Some(Err(format!(
                "this line has more than {LONGEST} bytes"
            )))),
            Err(LinesCodecError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Ok(Some(Err("this line is not UTF-8".into())))
            }
            Err(LinesCodecError::Io(error)) => Err(error),
        }
    }
}

impl Decoder for Forgiving {
    type Item = Result<String, String>;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        Self::forgive(self.0.decode(bytes))
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        Self::forgive(self.0.decode_eof(bytes))
    }
}

/// An error without the id of a request, where there is none (2026-07-28, error responses).
fn refusal(id: &Value, error: &ErrorData) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "error": error });
    if !id.is_null() {
        message["id"] = id.clone();
    }
    message
}

async fn write<W: AsyncWrite + Unpin>(
    writer: &Mutex<Option<W>>,
    mut line: Vec<u8>,
) -> io::Result<()> {
    line.push(b'\n');
    match &mut *writer.lock().await {
        Some(writer) => {
            writer.write_all(&line).await?;
            writer.flush().await
        }
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}
