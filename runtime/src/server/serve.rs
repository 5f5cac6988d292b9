//! Serves a client over a pair of byte streams.

use std::{error::Error, io, time::Duration};

use rmcp::{ServiceExt, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Server, handler::Handler, lines::Lines};

/// Why a server could not serve, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The tools do not go together.
    #[error("the server cannot be built: {0}")]
    Build(String),
    /// The address could not be listened on.
    #[error("cannot listen: {0}")]
    Listen(#[source] io::Error),
    /// The transport failed.
    #[error("the transport failed: {0}")]
    Transport(#[source] Box<dyn Error + Send + Sync>),
}

impl<S: Send + Sync + 'static> Server<S> {
    /// Serves one client over standard input and output, until it closes them.
    ///
    /// Standard output carries nothing but the protocol: log to standard error.
    ///
    /// Such a server is started once for each client, in a folder that its tools may work in: only
    /// servers of one name in one folder run each other's tasks.
    ///
    /// # Errors
    ///
    /// Where the tools do not go together, or the transport failed.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(mut self) -> Result<(), ServeError> {
        let folder = std::env::current_dir().and_then(std::fs::canonicalize);
        self.settings.folder = folder.ok();
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        self.serve(reader, writer).await
    }

    /// Serves one client over any pair of byte streams, until it closes them: for tests
    /// (`tokio::io::duplex`) and for other transports.
    ///
    /// # Errors
    ///
    /// Where the tools do not go together, or the transport failed.
    pub async fn serve<R, W>(mut self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let told = self.settings.told();
        let patience = self.settings.patience;
        let handler = self.build()?;
        let engine = handler.engine().clone();
        let ended = serve_one(handler, (reader, writer), told, patience).await;
        engine.shut_down(patience).await;
        ended
    }
}

/// Serves one client until it leaves, or until the server is `told` to stop and has come to its end.
async fn serve_one<R, W>(
    handler: Handler,
    streams: (R, W),
    told: impl Future<Output = ()>,
    patience: Duration,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    tokio::pin!(told);
    let engine = handler.engine().clone();
    let (reader, writer) = streams;
    let lines = Lines::new(reader, writer, engine.clone(), handler.has_tasks());
    let begun = tokio::select! {
        begun = handler.serve(lines) => begun,
        // A client that never said anything misses nothing.
        () = &mut told => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // A client that leaves before it said anything has not failed us.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Transport(error.into())),
    };
    let stop = running.cancellation_token();
    let closed = running.waiting();
    tokio::pin!(closed);
    let ended = tokio::select! {
        ended = &mut closed => ended,
        () = told => {
            engine.shut_down(patience).await;
            stop.cancel();
            closed.await
        }
    };
    ended
        .map(drop)
        .map_err(|error| ServeError::Transport(error.into()))
}
