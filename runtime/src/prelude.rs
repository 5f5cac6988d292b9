//! All that a file with tools usually needs: `use siding::prelude::*;`.

#[cfg(feature = "sqlite")]
pub use crate::SqliteStore;
pub use crate::{
    Ctx, Input, MemoryStore, Result, Server, ToolError, mcp_part, mcp_tool, mcp_tools, tools,
};
