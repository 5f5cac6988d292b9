#![doc = include_str!("../README.md")]

#[doc(hidden)]
pub mod __private;
mod ctx;
mod decision;
mod disclosure;
mod engine;
mod error;
pub mod host;
pub mod input;
pub mod journal;
pub mod prelude;
pub mod record;
mod server;
pub mod store;
pub mod tool;

#[cfg(feature = "http")]
pub use self::server::HttpService;
pub use self::{
    ctx::{Context, Ctx, Journaled, NoState, Serves, Step, StepOutcome},
    decision::Mode,
    error::{Failure, Ok, ProtocolError, Result, ToolError},
    input::{Choice, Field, Input},
    server::{ServeError, Server, Toolbox, Tools},
    store::{MemoryStore, Store},
    tool::{Argument, Tool},
};
#[doc(inline)]
pub use siding_macros::{Input, mcp_part, mcp_tool, mcp_tools};
