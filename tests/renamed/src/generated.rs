//! Tools that `macro_rules!` write.

type Number = u32;

/// The parts that differ as identifiers, the context and the type of the parameter among them.
macro_rules! by_ident {
    ($name:ident($ctx:ident, $argument:ident: $ty:ident)) => {
        /// Adds what the person says.
        #[::framework::mcp_tool(task = "optional", crate = ::framework)]
        async fn $name($ctx: &mut ::framework::Ctx, $argument: $ty) -> ::framework::Result<$ty> {
            let more: $ty = $ctx.input("How many more?").await?;
            $ctx.step("sum", async { ::framework::Ok($argument + more) })
                .await
        }
    };
}

/// Types as types and as paths, and attributes passed through.
macro_rules! by_type {
    ($(#[$attribute:meta])* $name:ident($first:ty, $second:path) -> $returned:ty = $value:expr) => {
        $(#[$attribute])*
        #[::framework::mcp_tool(crate = ::framework)]
        async fn $name(
            /// The first.
            first: $first,
            #[arg(default = $value)] second: $second,
        ) -> $returned {
            ::std::format!("{first} {second}")
        }
    };
}

/// A whole tool from outside, by tokens.
macro_rules! by_tokens {
    ($($function:tt)*) => {
        #[::framework::mcp_tool(task = "optional", crate = ::framework)]
        $($function)*
    };
}

/// A body from outside, in which the context has the name that was given for it.
macro_rules! by_block {
    ($name:ident |$ctx:ident| $body:block) => {
        /// Has its body from outside.
        #[::framework::mcp_tool(task = "optional", crate = ::framework)]
        async fn $name($ctx: &mut ::framework::Ctx) -> ::framework::Result<bool> $body
    };
}

/// A question from outside.
macro_rules! by_expression {
    ($name:ident |$ctx:ident| $question:expr) => {
        /// Has its question from outside.
        #[::framework::mcp_tool(task = "optional", crate = ::framework)]
        async fn $name($ctx: &mut ::framework::Ctx) -> ::framework::Result<bool> {
            let sure: bool = $question;
            ::framework::Ok(sure)
        }
    };
}

/// An item from outside, as it is.
macro_rules! by_item {
    ($function:item) => {
        #[::framework::mcp_tool(crate = ::framework)]
        $function
    };
}

/// Several at once, one of them in a macro in the macro.
macro_rules! several {
    ($($name:ident: $argument:ident),*) => {
        $(by_ident!($name(argument_1, $argument: u8));)*
    };
}

by_ident!(added(context, ctx: Number));
several!(first: inputs, second: output);

by_type! {
    /// Says what it was given.
    #[allow(clippy::unused_async, reason = "a tool is async")]
    told(&str, ::std::primitive::u8) -> ::std::string::String = 7
}

by_tokens! {
    /// Is written outside of the macro.
    async fn whole(ctx: &mut ::framework::Ctx) -> ::framework::Result<bool> {
        let sure: bool = ctx.input("Sure?").await?;
        ::framework::Ok(!sure)
    }
}

by_block!(
    block | person | {
        let sure: bool = person.input("Sure?").await?;
        person.step("note", async { ::framework::Ok(sure) }).await
    }
);

by_expression!(expression | ctx | ctx.input("Sure?").await?);

by_item! {
    /// Is an item.
    async fn item(text: &str) -> usize {
        text.len()
    }
}

/// The tools of this module.
pub fn tools() -> ::framework::Tools {
    ::framework::tools![added, first, second, told, whole, block, expression, item]
}
