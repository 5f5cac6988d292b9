#![no_implicit_prelude]
#![allow(non_camel_case_types)]

mod std {}
mod core {}
mod serde {}
struct Option;
struct Result;

#[derive(::siding::Input)]
struct Approval {
    sure: bool,
}

#[::siding::mcp_tool(task = "optional", crate = ::siding)]
async fn deploy(
    ctx: &mut ::siding::Ctx,
    inputs: ::std::string::String,
) -> ::siding::Result<::std::string::String> {
    let approval: Approval = ctx.input("Deploy?").await?;
    let output = inputs;
    let release = ctx.step("apply", async { ::siding::Ok(output) }).await?;
    ::std::assert!(approval.sure);
    ::siding::Ok(release)
}

macro_rules! tool {
    ($name:ident($ctx:ident, $argument:ident: $ty:ident) -> $returned:ty) => {
        #[::siding::mcp_tool(task = "optional")]
        async fn $name($ctx: &mut ::siding::Ctx, $argument: $ty) -> $returned {
            let sure: bool = $ctx.input("Sure?").await?;
            ::siding::Ok(if sure { $argument } else { 0 })
        }
    };
}

tool!(made(argument_1, ctx: u8) -> ::siding::Result<u8>);

mod inner {
    #[::siding::mcp_tool]
    pub(super) async fn r#match(r#type: u8) -> u8 {
        r#type
    }
}

fn main() {
    #[::siding::mcp_tool]
    async fn local() {}

    let _ = (Option, Result);
    let _ = ::siding::Server::new("hygiene", "1")
        .tool::<deploy>()
        .tool::<made>()
        .tool::<inner::r#match>()
        .tool::<local>();
}
