//! What a tool is: the vocabulary that `#[mcp_tool]` expands to.

mod arg;
mod definition;
mod inputs;
mod limits;
mod output;
mod registered;
mod schema;

pub(crate) use self::registered::{BuildError, Outcome, Registered};
pub use self::{
    arg::{Arg, DefaultFor, default},
    definition::{Definition, Detach},
    inputs::Inputs,
    output::{EncodePlain, Output, PeelPlain, Peeled, Probe, Returned},
};
use rmcp::model::CallToolResult;

use crate::{Ctx, Result, host::BoxFuture};

/// A tool, as `#[mcp_tool]` makes one of a function.
///
/// It is named by the empty struct that has the function's name:
///
/// ```
/// use siding::prelude::*;
///
/// /// Adds two numbers.
/// #[mcp_tool]
/// async fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main] async fn main() {
/// let server = Server::new("calculator", "1.0.0").tool::<add>();
/// assert_eq!(add(1, 2).await, 3); // the function stays what it was
/// # let _ = server;
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "no function of this name has `#[mcp_tool]`",
    note = "put `#[mcp_tool]` on the `async fn` and name it here by its own name"
)]
pub trait Tool: 'static {
    /// The state that the tool's context gives; [`NoState`](crate::NoState) where it takes none.
    type State: ?Sized + Send + Sync + 'static;

    /// What is known of the tool without running anything.
    #[doc(hidden)]
    fn definition() -> Definition;

    /// Goes over the arguments and, where there is a context, calls the function.
    ///
    /// One function serves to describe, check and run the tool, so that each type of the author's
    /// is named once in the expansion: one mistake is one error, and one instance is compiled.
    #[doc(hidden)]
    fn run<'a>(inputs: &mut Inputs<'a>, ctx: Option<&'a mut Ctx<Self::State>>) -> Option<Call<'a>>;
}

/// A call of a tool that has begun.
pub type Call<'a> = BoxFuture<'a, Result<CallToolResult>>;

/// The type that a parameter of a tool must have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "not readable from JSON, or without a schema",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it",
    note = "the context is the one parameter that is `&mut`: `ctx: &mut Ctx`"
)]
pub trait Argument<'de>: serde::Deserialize<'de> + schemars::JsonSchema + Send {}

#[diagnostic::do_not_recommend]
impl<'de, T: serde::Deserialize<'de> + schemars::JsonSchema + Send> Argument<'de> for T {}

/// Boxes the future of a call.
pub fn call<'a, F>(future: F) -> Call<'a>
where
    F: Future<Output = Result<CallToolResult>> + Send + 'a,
{
    Box::pin(future)
}
