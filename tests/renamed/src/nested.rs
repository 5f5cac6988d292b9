//! Tools in modules and in functions.

mod one {
    /// Is one of two with this name.
    #[::framework::mcp_tool(crate = ::framework, name = "one.tool")]
    pub(super) async fn tool() -> &'static str {
        "one"
    }

    pub(super) mod deeper {
        /// Is seen from two modules up.
        #[::framework::mcp_tool(crate = ::framework, name = "deeper.tool")]
        pub(in super::super) async fn tool() -> u8 {
            super::tool().await;
            3
        }
    }
}

mod two {
    use super::one;

    /// Calls the other one.
    #[::framework::mcp_tool(crate = ::framework, name = "two.tool")]
    pub(super) async fn tool() -> ::std::string::String {
        ::std::format!("not {}", one::tool().await)
    }
}

/// The tools of this module.
pub fn tools() -> ::framework::Tools {
    /// Is seen in here only.
    #[::framework::mcp_tool(crate = ::framework)]
    async fn local(ctx: &mut ::framework::Ctx, word: &str) -> ::framework::Result<bool> {
        let word = word.len();
        ctx.step("long", async { ::framework::Ok(word > 3) }).await
    }

    ::framework::tools![local, one::tool, one::deeper::tool, two::tool]
}
