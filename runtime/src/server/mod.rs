//! The server that an author builds, and the ways to serve it.

mod handler;
#[cfg(feature = "http")]
mod http;
mod tools;
mod wire;

use std::{error::Error, fmt, io, sync::Arc};

use rmcp::{ServiceExt, model::Implementation, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use self::handler::Handler;
#[cfg(feature = "http")]
pub use self::http::HttpService;
pub use self::tools::{Toolbox, Tools};
use crate::{
    MemoryStore, Tool, ToolError,
    ctx::Serves,
    disclosure::Disclosure,
    engine::{Engine, Parts},
    host::{Host, SystemHost},
    store::Store,
    tool::{BuildError, Registered},
};

/// A server of tools: built by its methods, then served.
///
/// ```no_run
/// use siding::prelude::*;
///
/// /// Greets somebody.
/// #[mcp_tool]
/// async fn greet(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// #[tokio::main]
/// async fn main() -> siding::Result<()> {
///     Server::new("greeter", env!("CARGO_PKG_VERSION"))
///         .tool::<greet>()
///         .serve_stdio()
///         .await?;
///     siding::Ok(())
/// }
/// ```
#[must_use = "a server does nothing until it is served"]
pub struct Server<S = ()> {
    name: String,
    version: String,
    instructions: Option<String>,
    state: Arc<S>,
    tools: Vec<Result<Registered, BuildError>>,
    disclosure: Disclosure,
    store: Arc<dyn Store>,
    host: Arc<dyn Host>,
    hosts: Vec<String>,
    origins: Vec<String>,
}

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

impl Server {
    /// A server without tools, whose tasks are in memory until it is given another store.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            instructions: None,
            state: Arc::new(()),
            tools: Vec::new(),
            disclosure: Disclosure::default(),
            store: Arc::new(MemoryStore::new()),
            host: Arc::new(SystemHost),
            hosts: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Gives the server a state, for the tools that are added after this and take
    /// `&mut Ctx<State>`.
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Server<S> {
        Server {
            name: self.name,
            version: self.version,
            instructions: self.instructions,
            state: Arc::new(state),
            tools: self.tools,
            disclosure: self.disclosure,
            store: self.store,
            host: self.host,
            hosts: self.hosts,
            origins: self.origins,
        }
    }

    /// Gives the server `toolbox` as its state, and adds the methods of it that are tools.
    pub fn toolbox<T: Toolbox>(self, toolbox: T) -> Server<T> {
        self.state(toolbox).tools(T::tools())
    }
}

impl<S: Send + Sync + 'static> Server<S> {
    /// Adds a tool, named by its function.
    pub fn tool<T>(mut self) -> Self
    where
        T: Tool,
        T::State: Serves<S>,
    {
        self.tools.push(Registered::new::<T, S>(self.state.clone()));
        self
    }

    /// Adds several tools: `.tools(tools![deploy, rollback])`.
    pub fn tools(self, tools: Tools<S>) -> Self {
        tools.add_to(self)
    }

    /// Tells an error of another type, wherever `?` or a step converted one, by `map`: with the
    /// text or the JSON-RPC error that clients should see.
    ///
    /// An error in the chain of sources counts too, the outermost first.
    ///
    /// ```
    /// use siding::prelude::*;
    /// # #[derive(Debug)] struct ShopError;
    /// # impl std::fmt::Display for ShopError {
    /// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("..") }
    /// # }
    /// # impl std::error::Error for ShopError {}
    ///
    /// let server = Server::new("shop", "1.0.0")
    ///     .map_error::<ShopError>(|_| ToolError::new("the shop is closed"));
    /// # let _ = server;
    /// ```
    pub fn map_error<E: Error + 'static>(mut self, map: fn(&E) -> ToolError) -> Self {
        self.disclosure.map(map);
        self
    }

    /// Hides the texts of the errors of other code, which `?` and steps convert, from clients; they
    /// are in the log. The texts of [`ToolError::new`] and of mapped errors are always told.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// let server = Server::new("shop", "1.0.0").mask_errors(true);
    /// # let _ = server;
    /// ```
    pub fn mask_errors(mut self, mask: bool) -> Self {
        self.disclosure.mask(mask);
        self
    }

    /// Keeps tasks in `store`. Several servers may share one.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Tells the model how to use the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Takes time and randomness from `host`, for tests that move the clock.
    pub fn host(mut self, host: impl Host) -> Self {
        self.host = Arc::new(host);
        self
    }

    /// Accepts HTTP requests for these hosts (`example.com`, `example.com:8080`) besides those of
    /// the loopback interface. Requests for any other `Host` are refused.
    pub fn allow_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Accepts HTTP requests of pages from these origins (`https://app.example.com:443`) besides
    /// those of the loopback interface. Requests with any other `Origin` get 403 (2026-07-28,
    /// Streamable HTTP).
    pub fn allow_origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        self.origins.extend(origins.into_iter().map(Into::into));
        self
    }

    /// Serves one client over standard input and output, until it closes them.
    ///
    /// Standard output carries nothing but the protocol: log to standard error.
    ///
    /// # Errors
    ///
    /// Where the tools do not go together, or the transport failed.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        self.serve(reader, writer).await
    }

    /// Serves one client over any pair of byte streams, until it closes them: for tests
    /// (`tokio::io::duplex`) and for other transports.
    ///
    /// # Errors
    ///
    /// Where the tools do not go together, or the transport failed.
    pub async fn serve<R, W>(self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let handler = self.build()?;
        let running = match handler.serve((reader, writer)).await {
            Ok(running) => running,
            // A client that leaves before it said anything has not failed us.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Transport(error.into())),
        };
        match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::Transport(error.into())),
        }
    }

    fn build(self) -> Result<Handler, ServeError> {
        let mut tools =
            tools::distinct(self.tools).map_err(|error| ServeError::Build(error.to_string()))?;
        let disclosure = Arc::new(self.disclosure);
        for tool in &mut tools {
            tool.disclosure = disclosure.clone();
        }
        if !self.store.is_durable() && tools.iter().any(wire::can_be_task) {
            tracing::warn!("tasks are kept in memory: they end with this process");
        }
        let info = Implementation::new(self.name.clone(), self.version.clone());
        let facts = wire::Facts::new(info, self.instructions, &tools);
        let engine = Engine::start(Parts {
            tools,
            store: self.store,
            host: self.host,
            pool: self.name,
            server_version: self.version,
        });
        Ok(Handler::new(engine, facts))
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("tools", &self.tools)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
