//! All that a file with tools usually needs: `use siding::prelude::*;`.

pub use crate::{
    Ctx, Input, MemoryStore, Result, Server, ToolError, mcp_part, mcp_tool, mcp_tools, tools,
};
