//! The macros of [siding](https://docs.rs/siding), which re-exports them.
//!
//! What they expand to calls the runtime crate of the same version, and nothing else can rely on it.

mod args;
mod attribute;
mod body;
mod debug;
mod diagnostics;
mod docs;
mod expand;
mod form;
mod inputs;
mod part;
mod runtime;
mod signature;
#[cfg(test)]
mod tests;
mod tool;
mod toolbox;
mod types;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes an MCP tool of a free `async fn`.
///
/// The function stays callable as it is. Beside it there is a type of the same name, by which a
/// server takes the tool: `Server::tool::<deploy>()`, or `tools![deploy, rollback]`.
///
/// - The doc comment is the description that clients see.
/// - Each parameter is an argument that clients pass by its name; its doc comment is the
///   description. `Option<T>` may be left out.
/// - The one `&mut` parameter is the context, on which the body asks and runs steps.
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `task = ".."` | `"forbidden"` (default): runs in the call; `"required"`: is always a task; `"optional"`: is one where the client can have it |
/// | `name = ".."` | the name for clients, if not that of the function |
/// | `title = ".."` | a name for people |
/// | `description = ".."` | the description, instead of the doc comment |
/// | `ttl = ".."` | how long a task lives from its creation, as `"24h"` or `"90s"` (default: an hour) |
/// | `poll = ".."` | how often clients should look (default: a second) |
/// | `detach = ".."` | when the call becomes a task: `"always"` (default) at once, `"after 500ms"` if it still runs then, or when it first asks or sleeps; `"manual"` at `ctx.detach()` |
/// | `max_running = n` | how many calls run at once; others wait for their turn; so far a server with such a tool cannot be built |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints for clients: `true` or `false` |
/// | `allow(..)` | the warnings that are not wanted: `await_outside_step`, `impure_call`, `guard_across_park`, `stream_of_borrows`, `unordered_loop` |
/// | `crate = path` | where siding is, if not at `::siding` |
///
/// # Options of a parameter
///
/// `#[arg(default = value)]` is used where the client passes nothing; `#[arg(rename = "..")]` is the
/// name for clients; `#[arg(description = "..")]` stands for the doc comment.
///
/// `#[arg(range(1..=10))]` limits a number, `#[arg(length(1..=64))]` the characters of a text or the
/// elements of a list, and `#[arg(pattern = "^[a-z]+$")]` a text. They are in the schema, and a
/// value outside of them never reaches the function.
///
/// # Questions
///
/// A question has a name, under which its answer is kept: that of the variable to which the call is
/// bound, or that in `.key("..")`.
///
/// ```text
/// let approval: Approval = ctx.input("Deploy?").await?;          // `approval`
/// if ctx.input::<bool>("Sure?").key("sure").await? { .. }        // `sure`
/// ```
///
/// # To see the expansion
///
/// With the variable `SIDING_DEBUG_MACRO` set to the name of a function, or to that of a type with
/// `#[mcp_tools]`, what it expands to is printed to standard error when it is compiled:
/// `touch src/main.rs; SIDING_DEBUG_MACRO=deploy cargo check`.
#[proc_macro_attribute]
pub fn mcp_tool(options: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(options.into(), item.into()).into()
}

/// Makes a part of an `async fn`: a function that asks on behalf of the tools that call it.
///
/// It takes the context as `ctx: &mut Ctx` or `ctx: &mut Ctx<App>`; all else is as in any function.
/// The keys of its questions and steps carry its name: a question `region` in `ask_region` has the
/// key `ask_region/region`, whichever tool or part calls it.
///
/// ```text
/// #[mcp_part]
/// async fn ask_region(ctx: &mut Ctx, service: &str) -> Result<String> {
///     let region = ctx.input(format!("Where does {service} go?")).await?;
///     Ok(region)
/// }
/// ```
///
/// Its options are `allow(..)` and `crate = path`, as those of `mcp_tool`.
#[proc_macro_attribute]
pub fn mcp_part(options: TokenStream, item: TokenStream) -> TokenStream {
    part::expand(options.into(), item.into()).into()
}

/// Makes a toolbox of a type: the methods in its `impl` block that have `#[mcp_tool(..)]` are tools,
/// and the value is the state of the server.
///
/// `Server::toolbox(value)` adds them all. A method takes `&self`, and the context and arguments as
/// a function does; a type has one such block. The option `crate = path` says where siding is, if
/// not at `::siding`.
///
/// ```text
/// #[mcp_tools]
/// impl Deployer {
///     #[mcp_tool(task = "optional")]
///     async fn deploy(&self, ctx: &mut Ctx, service: String) -> Result<String> { .. }
/// }
/// ```
#[proc_macro_attribute]
pub fn mcp_tools(options: TokenStream, item: TokenStream) -> TokenStream {
    toolbox::expand(options.into(), item.into()).into()
}

/// Makes a form of a struct, or a list to pick from of an enum, to be asked with `ctx.input`.
///
/// A struct has named fields of plain types: `bool`, `String`, numbers, enums with this derive,
/// and `Option` of them. An enum has variants without data. Doc comments are shown to the person.
///
/// `#[input(rename = "..")]` on a field or a variant is its name on the wire;
/// `#[input(crate = path)]` on the item says where siding is, if not at `::siding`.
#[proc_macro_derive(Input, attributes(input))]
pub fn input(item: TokenStream) -> TokenStream {
    form::expand(parse_macro_input!(item as DeriveInput)).into()
}
