//! All that a file with tools usually needs: `use siding::prelude::*;`.

pub use crate::{Ctx, Input, MemoryStore, Result, Server, ToolError, mcp_tool, tools};
