//! Tools by their names, several at once.

use std::fmt;

use super::Server;
use crate::{
    Tool,
    ctx::Serves,
    tool::{BuildError, Registered},
};

/// A type whose methods are tools, by `#[mcp_tools]` on their `impl` block.
///
/// ```
/// use siding::prelude::*;
///
/// struct Deployer {
///     region: String,
/// }
///
/// #[mcp_tools]
/// impl Deployer {
///     /// Deploys a service.
///     #[mcp_tool(task = "optional")]
///     async fn deploy(&self, ctx: &mut Ctx, service: String) -> Result<String> {
///         let sure: bool = ctx.input(format!("Deploy {service} to {}?", self.region)).await?;
///         Ok(sure.to_string())
///     }
///
///     /// Tells the region.
///     #[mcp_tool(read_only)]
///     async fn region(&self) -> String {
///         self.region.clone()
///     }
/// }
///
/// let deployer = Deployer { region: "eu-west-1".into() };
/// let server = Server::new("deployer", "1.0.0").toolbox(deployer);
/// # let _ = server;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools",
    label = "no `impl` block of this type has `#[mcp_tools]`",
    note = "put `#[mcp_tools]` on the `impl` block, and `#[mcp_tool]` on the methods in it"
)]
pub trait Toolbox: Sized + Send + Sync + 'static {
    #[doc(hidden)]
    fn tools() -> Tools<Self>;
}

/// The tools, if no two have one name.
pub(super) fn distinct(
    tools: Vec<Result<Registered, BuildError>>,
) -> Result<Vec<Registered>, BuildError> {
    let mut distinct: Vec<Registered> = Vec::with_capacity(tools.len());
    for tool in tools {
        let tool = tool?;
        let name = tool.definition.name;
        if let Some(first) = distinct.iter().find(|first| first.definition.name == name) {
            return Err(BuildError::SameName {
                name,
                first: first.definition.place,
                second: tool.definition.place,
            });
        }
        distinct.push(tool);
    }
    Ok(distinct)
}

/// The tool has the name of one of the handler's under the server.
pub(super) fn clash(tool: &Registered) -> BuildError {
    BuildError::Tool {
        tool: tool.definition.name,
        place: tool.definition.place,
        problem:
            "has the name of a tool of the handler that was given to `Server::over`; give one \
                  of them another name"
                .into(),
    }
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

    pub(super) fn add_to(self, server: Server<S>) -> Server<S> {
        self.add.into_iter().fold(server, |server, add| add(server))
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
