#![doc = include_str!("../README.md")]

#[doc(hidden)]
pub mod __private;
#[cfg(feature = "client")]
pub mod client;
mod ctx;
mod decision;
mod digest;
mod disclosure;
mod engine;
mod error;
mod faithful;
pub mod host;
pub mod input;
pub mod journal;
mod nesting;
pub mod prelude;
pub mod record;
mod replaying;
pub mod retry;
mod server;
pub mod store;
#[cfg(any(feature = "testing", test))]
pub mod testing;
pub mod tool;

#[cfg(feature = "http")]
pub use self::server::HttpService;
#[cfg(feature = "sqlite")]
pub use self::store::SqliteStore;
pub use self::{
    ctx::{
        Context, Ctx, Detaching, Handle, Journaled, NoState, Serves, Sleeping, Stateful, Step,
        StepOutcome,
    },
    decision::Mode,
    engine::limits::Limits,
    error::{Failure, Ok, ProtocolError, Result, ToolError},
    input::{Choice, Field, Input},
    replaying::is_replaying,
    server::{ServeError, Server, TaskError, Tasks, Toolbox, Tools},
    store::{MemoryStore, Store},
    tool::{Argument, Tool},
};
#[doc(inline)]
pub use siding_macros::{Input, mcp_part, mcp_tool, mcp_tools};
