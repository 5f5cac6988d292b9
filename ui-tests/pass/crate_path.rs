//! The runtime under another name, as a crate that re-exports it would have it.

pub mod framework {
    pub use ::siding as tools;

    #[macro_export]
    macro_rules! answer {
        ($name:ident) => {
            #[::siding::mcp_tool(task = "optional", crate = $crate::framework::tools)]
            async fn $name(ctx: &mut $crate::framework::tools::Ctx) -> ::siding::Result<bool> {
                let sure: bool = ctx.input("Sure?").await?;
                ctx.step("note", async { Ok(sure) }).await
            }
        };
    }
}

#[derive(framework::tools::Input)]
#[input(crate = crate::framework::tools)]
struct Approval {
    sure: bool,
}

answer!(answer);

#[framework::tools::mcp_tool(task = "optional", crate = crate::framework::tools)]
async fn approve(ctx: &mut framework::tools::Ctx) -> framework::tools::Result<bool> {
    let approval: Approval = ctx.input("Sure?").await?;
    Ok(approval.sure)
}

fn main() {
    let _ = framework::tools::Server::new("path", "1")
        .tool::<answer>()
        .tool::<approve>();
}
