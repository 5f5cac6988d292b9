//! Between items that are called like what expansions need.

#![allow(
    dead_code,
    missing_docs,
    missing_debug_implementations,
    non_snake_case,
    clippy::must_use_candidate,
    reason = "the names are all that matters here"
)]

pub mod std {}
pub mod core {}
pub mod alloc {}
pub mod serde {}
pub mod siding {}
pub mod framework {}

pub struct String;
pub struct Vec;
pub struct Box;
pub struct Option;
pub struct Some;
pub struct None;
pub struct Result;
pub struct Ctx;
pub struct Inputs;
pub trait Tool {}
pub trait Input {}
pub trait Send {}
pub trait Future {}
pub fn Ok() {}
pub fn Err() {}
pub fn call() {}
pub fn drop() {}

/// What the person fills in.
#[derive(::framework::Input)]
#[input(crate = ::framework)]
pub struct Form {
    answers: bool,
    field_0: ::std::option::Option<::std::string::String>,
    choice: Choice,
}

#[derive(::framework::Input)]
#[input(crate = ::framework)]
pub enum Choice {
    Some,
    None,
}

/// Has parameters that are called like the locals of an expansion.
#[::framework::mcp_tool(task = "optional", crate = ::framework)]
pub async fn shadowed(
    context: &mut ::framework::Ctx,
    inputs: u8,
    output: ::std::string::String,
    ctx: ::std::option::Option<bool>,
    #[arg(default = 2)] argument_1: u8,
) -> ::framework::Result<::std::string::String> {
    let form: Form = context.input("Sure?").await?;
    let step = async { ::framework::Ok(inputs + argument_1) };
    let sum = context.step("sum", step).await?;
    let choice = match form.choice {
        Choice::Some => "some",
        Choice::None => "none",
    };
    let answers = form.answers;
    let field = form.field_0;
    let text = ::std::format!("{output} {ctx:?} {sum} {answers} {field:?} {choice}");
    ::framework::Ok(text)
}

/// Is called like a local of an expansion.
#[::framework::mcp_tool(crate = ::framework)]
pub async fn output(output: ::std::borrow::Cow<'_, str>) -> ::std::string::String {
    output.into_owned()
}
