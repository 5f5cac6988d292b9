//! The server that an author builds, and the ways to serve it.

pub(crate) mod handler;
#[cfg(feature = "http")]
mod http;
mod owner;
mod tasks;
mod wire;

use std::{fmt, io, sync::Arc, time::Duration};

use rmcp::{ServiceExt, model::Implementation, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "http")]
pub use self::http::HttpService;
pub use self::tasks::{TaskError, Tasks};
use self::{handler::Handler, owner::Owners};
use crate::{
    MemoryStore, Tool,
    ctx::Serves,
    engine::{Engine, Parts, ledger::Ledger, limits::Limits},
    host::{BoxFuture, Host, SystemHost},
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
    state: Arc<S>,
    tools: Vec<Result<Registered, BuildError>>,
    settings: Settings,
}

/// All of a server that does not depend on its state.
struct Settings {
    name: String,
    version: String,
    instructions: Option<String>,
    store: Arc<dyn Store>,
    host: Arc<dyn Host>,
    limits: Limits,
    owners: Owners,
    drift_grace: Duration,
    shutdown: Option<BoxFuture<'static, ()>>,
    patience: Duration,
    #[cfg(feature = "http")]
    access: http::Access,
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
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Server {
    /// A server without tools, whose tasks are in memory until it is given another store.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            state: Arc::new(()),
            tools: Vec::new(),
            settings: Settings {
                name: name.into(),
                version: version.into(),
                instructions: None,
                store: Arc::new(MemoryStore::new()),
                host: Arc::new(SystemHost),
                limits: Limits::default(),
                owners: Owners::default(),
                drift_grace: Duration::from_mins(10),
                shutdown: None,
                patience: Duration::from_secs(10),
                #[cfg(feature = "http")]
                access: http::Access::default(),
            },
        }
    }

    /// Gives the server a state, for the tools that are added after this and take
    /// `&mut Ctx<State>`.
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Server<S> {
        Server {
            state: Arc::new(state),
            tools: self.tools,
            settings: self.settings,
        }
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
        tools.add.into_iter().fold(self, |server, add| add(server))
    }

    /// Keeps tasks in `store`. Several servers may share one.
    pub fn store(mut self, store: impl Store) -> Self {
        self.settings.store = Arc::new(store);
        self
    }

    /// Tells the model how to use the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.settings.instructions = Some(text.into());
        self
    }

    /// Takes time and randomness from `host`, for tests that move the clock.
    pub fn host(mut self, host: impl Host) -> Self {
        self.settings.host = Arc::new(host);
        self
    }

    /// Sets how much one call may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets how long a task waits for a worker whose code fits its journal, after it met one whose
    /// code does not. Default: 10 minutes; never beyond the time to live of the task.
    pub fn drift_grace(mut self, grace: Duration) -> Self {
        self.settings.drift_grace = grace;
        self
    }

    /// Shuts the server down in order when `signal` is ready: no more work is taken, and what runs
    /// gets until `patience` is over (default: 10 s) to reach a park or its end before other
    /// workers may go on with it. The same happens, without a signal, when a client closes its
    /// streams.
    pub fn shutdown_on(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.settings.shutdown = Some(Box::pin(signal));
        self
    }

    /// Sets how long work that runs may take when the server shuts down. Default: 10 s.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.settings.patience = patience;
        self
    }

    /// The operator's handle on all tasks of the store. Take it after the store and the host are set.
    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.settings.ledger())
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
        let mut server = self;
        let shutdown = server.settings.shutdown.take();
        let patience = server.settings.patience;
        let handler = server.build()?;
        let engine = handler.engine().clone();
        let running = match handler.serve((reader, writer)).await {
            Ok(running) => running,
            // A client that leaves before it said anything has not failed us.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Transport(error.into())),
        };
        let stop = running.cancellation_token();
        let told = async {
            match shutdown {
                Some(signal) => signal.await,
                None => std::future::pending().await,
            }
        };
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
        engine.shut_down(patience).await;
        ended
            .map(drop)
            .map_err(|error| ServeError::Transport(error.into()))
    }

    pub(crate) fn build(self) -> Result<Handler, ServeError> {
        let tools = distinct(self.tools).map_err(|error| ServeError::Build(error.to_string()))?;
        let settings = self.settings;
        if !settings.store.is_durable() && tools.iter().any(wire::can_be_task) {
            tracing::warn!("tasks are kept in memory: they end with this process");
        }
        let info = Implementation::new(settings.name.clone(), settings.version.clone());
        let facts = wire::Facts::new(info, settings.instructions.clone(), &tools);
        let engine = Engine::start(Parts {
            tools,
            ledger: settings.ledger(),
            limits: settings.limits,
            pool: settings.name,
            server_version: settings.version,
            drift_grace: settings.drift_grace,
        });
        Ok(Handler::new(engine, facts, settings.owners))
    }
}

impl Settings {
    fn ledger(&self) -> Ledger {
        Ledger {
            store: self.store.clone(),
            host: self.host.clone(),
        }
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.settings.name)
            .field("version", &self.settings.version)
            .field("tools", &self.tools)
            .field("store", &self.settings.store)
            .finish_non_exhaustive()
    }
}

/// The tools, if no two have one name.
fn distinct(tools: Vec<Result<Registered, BuildError>>) -> Result<Vec<Registered>, BuildError> {
    let mut distinct: Vec<Registered> = Vec::with_capacity(tools.len());
    for tool in tools {
        let tool = tool?;
        let name = tool.definition.name;
        if let Some(first) = distinct.iter().find(|first| first.definition.name == name) {
            return Err(BuildError::SameName {
                name,
                first: first.path,
                second: tool.path,
            });
        }
        distinct.push(tool);
    }
    Ok(distinct)
}

/// Tools to add to a server: what [`tools!`](crate::tools) gives.
#[must_use = "give it to `Server::tools`"]
pub struct Tools<S = ()> {
    add: Vec<fn(Server<S>) -> Server<S>>,
}

impl<S: Send + Sync + 'static> Tools<S> {
    /// No tools.
    pub const fn new() -> Self {
        Self { add: Vec::new() }
    }

    /// These and one more.
    pub fn with<T>(mut self) -> Self
    where
        T: Tool,
        T::State: Serves<S>,
    {
        self.add.push(Server::tool::<T>);
        self
    }
}

impl<S: Send + Sync + 'static> Default for Tools<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for Tools<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools")
            .field("len", &self.add.len())
            .finish()
    }
}

/// Names tools by their functions, for [`Server::tools`].
///
/// ```
/// use siding::prelude::*;
///
/// /// One.
/// #[mcp_tool]
/// async fn one() -> u8 { 1 }
///
/// /// Two.
/// #[mcp_tool]
/// async fn two() -> u8 { 2 }
///
/// let server = Server::new("numbers", "1.0.0").tools(tools![one, two]);
/// # let _ = server;
/// ```
#[macro_export]
macro_rules! tools {
    ($($tool:ty),* $(,)?) => {
        $crate::Tools::new()$(.with::<$tool>())*
    };
}
