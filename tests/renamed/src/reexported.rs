//! The runtime through a crate, here a module, that hands it on under a name of its own.

#![allow(
    unused_qualifications,
    reason = "an expansion names the whole path, also where `mcp` is in scope"
)]

/// What a company's own crate would be.
pub mod platform {
    /// Everything of the runtime.
    pub mod mcp {
        pub use ::framework::*;
    }

    /// A tool that asks whether to go on.
    #[macro_export]
    macro_rules! confirmed {
        ($name:ident) => {
            #[::framework::mcp_tool(
                                                    task = "optional",
                                                    crate = $crate::reexported::platform::mcp
                                                )]
            async fn $name(
                ctx: &mut $crate::reexported::platform::mcp::Ctx,
            ) -> $crate::reexported::platform::mcp::Result<bool> {
                let sure: bool = ctx.input("Sure?").await?;
                ctx.step("note", async { ::std::result::Result::Ok(sure) })
                    .await
            }
        };
    }
}

use crate::confirmed;
use platform::mcp;

/// What the person fills in.
#[derive(mcp::Input)]
#[input(crate = crate::reexported::platform::mcp)]
struct Approval {
    sure: bool,
}

confirmed!(confirmed);

/// Has everything through the other crate.
#[mcp::mcp_tool(task = "optional", crate = crate::reexported::platform::mcp)]
async fn approved(ctx: &mut mcp::Ctx) -> mcp::Result<bool> {
    let approval: Approval = ctx.input("Sure?").await?;
    mcp::Ok(approval.sure)
}

/// The tools of this module.
pub fn tools() -> mcp::Tools {
    mcp::tools![confirmed, approved]
}
