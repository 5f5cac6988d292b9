//! The server that an author builds, and the ways to serve it.

mod elicitation;
pub(crate) mod handler;
#[cfg(feature = "http")]
mod http;
mod lines;
mod listen;
mod live;
mod owner;
mod serve;
mod tasks;
mod tools;
mod under;
mod wire;

use std::{error::Error, fmt, path::PathBuf, sync::Arc, time::Duration};

use rmcp::{ServerHandler, model::Implementation};

#[cfg(feature = "http")]
pub use self::http::HttpService;
pub use self::serve::ServeError;
pub use self::tasks::{TaskError, Tasks};
pub use self::tools::{Toolbox, Tools};
use self::{
    handler::Handler,
    owner::Owners,
    under::{Nothing, Underneath},
};
use crate::{
    MemoryStore, Tool, ToolError,
    ctx::Serves,
    disclosure::Disclosure,
    engine::{Engine, Parts, ledger::Ledger, limits::Limits, news::News},
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
    /// Where it works, for a server whose tasks are bound to a folder.
    folder: Option<PathBuf>,
    version: String,
    instructions: Option<String>,
    disclosure: Disclosure,
    store: Arc<dyn Store>,
    host: Arc<dyn Host>,
    limits: Limits,
    owners: Owners,
    under: Arc<dyn Underneath>,
    news: News,
    drift_grace: Duration,
    shutdown: Option<BoxFuture<'static, ()>>,
    patience: Duration,
    #[cfg(feature = "http")]
    access: http::Access,
}

impl Server {
    /// A server without tools, whose tasks are in memory until it is given another store.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::on(Arc::new(Nothing), name.into(), version.into())
    }

    /// A server over a handler that you have already: its prompts, resources and completion, and its
    /// own tools, beside those that are added here. It goes by the name, the version and the
    /// instructions of the handler.
    ///
    /// No tool may have the name of one of the handler's, as far as its `get_tool` tells; rmcp's
    /// `#[tool_handler]` writes that.
    ///
    /// ```
    /// use rmcp::{
    ///     ErrorData, ServerHandler,
    ///     model::{ListPromptsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig},
    ///     service::{RequestContext, RoleServer},
    /// };
    /// use siding::prelude::*;
    ///
    /// struct Prompts;
    ///
    /// impl ServerHandler for Prompts {
    ///     fn get_info(&self) -> ServerConfig {
    ///         ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
    ///     }
    ///
    ///     async fn list_prompts(
    ///         &self,
    ///         _: Option<PaginatedRequestParams>,
    ///         _: RequestContext<RoleServer>,
    ///     ) -> std::result::Result<ListPromptsResult, ErrorData> {
    ///         Ok(ListPromptsResult::default())
    ///     }
    /// }
    ///
    /// /// Asks, then answers.
    /// #[mcp_tool(task = "optional")]
    /// async fn ask(ctx: &mut Ctx) -> Result<String> {
    ///     let name: String = ctx.input("Your name?").await?;
    ///     Ok(name)
    /// }
    ///
    /// let server = Server::over(Prompts).tool::<ask>();
    /// # let _ = server;
    /// ```
    pub fn over(handler: impl ServerHandler) -> Self {
        let Implementation { name, version, .. } = handler.get_info().server_info;
        Self::on(Arc::new(handler), name, version)
    }

    fn on(under: Arc<dyn Underneath>, name: String, version: String) -> Self {
        Self {
            state: Arc::new(()),
            tools: Vec::new(),
            settings: Settings {
                name,
                folder: None,
                version,
                instructions: None,
                disclosure: Disclosure::default(),
                store: Arc::new(MemoryStore::new()),
                host: Arc::new(SystemHost),
                limits: Limits::default(),
                owners: Owners::default(),
                under,
                news: News::default(),
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
        self.settings.disclosure.map(map);
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
        self.settings.disclosure.mask(mask);
        self
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

    /// Sets how much one call, and all tasks together, may take.
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
    /// workers may go on with it; over HTTP, responses under way get as long again. The same happens,
    /// without a signal, when a client closes its streams.
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

    pub(crate) fn build(self) -> Result<Handler, ServeError> {
        let mut tools =
            tools::distinct(self.tools).map_err(|error| ServeError::Build(error.to_string()))?;
        let mut settings = self.settings;
        let disclosure = Arc::new(std::mem::take(&mut settings.disclosure));
        for tool in &mut tools {
            tool.disclosure = disclosure.clone();
        }
        let clash = |tool: &&Registered| settings.under.tool(tool.definition.name).is_some();
        if let Some(tool) = tools.iter().find(clash) {
            let error = tools::clash(tool);
            return Err(ServeError::Build(error.to_string()));
        }
        if !settings.store.is_durable() && tools.iter().any(wire::can_be_task) {
            tracing::warn!("tasks are kept in memory: they end with this process");
        }
        let mut config = settings.under.config();
        config.server_info.name.clone_from(&settings.name);
        config.server_info.version.clone_from(&settings.version);
        config.instructions = settings.instructions.take().or(config.instructions);
        let facts = wire::Facts::new(config, &tools);
        let engine = Engine::start(Parts {
            tools,
            ledger: settings.ledger(),
            limits: settings.limits,
            pool: settings.pool(),
            server_version: settings.version,
            drift_grace: settings.drift_grace,
        });
        Ok(Handler::new(engine, facts, settings.owners, settings.under))
    }
}

impl Settings {
    /// The group of servers that run each other's tasks.
    fn pool(&self) -> String {
        match &self.folder {
            None => self.name.clone(),
            Some(folder) => format!("{} in {}", self.name, folder.display()),
        }
    }

    /// Ready when the server is told to stop; never where nobody will tell it.
    fn told(&mut self) -> BoxFuture<'static, ()> {
        let shutdown = self.shutdown.take();
        shutdown.unwrap_or_else(|| Box::pin(std::future::pending()))
    }

    fn ledger(&self) -> Ledger {
        Ledger {
            store: self.store.clone(),
            host: self.host.clone(),
            news: self.news.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_the_name_of_the_server_and_the_folder_where_it_has_one() {
        let mut server = Server::new("shop", "1.0.0");
        assert_eq!(server.settings.pool(), "shop");
        server.settings.folder = Some("/srv/shop".into());
        assert_eq!(server.settings.pool(), "shop in /srv/shop");
    }
}
