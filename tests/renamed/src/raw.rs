//! Names that are keywords.

#![allow(missing_debug_implementations, reason = "a form")]

/// What the person fills in.
#[derive(::framework::Input)]
#[input(crate = ::framework)]
pub struct Struct {
    r#type: u8,
    r#fn: Enum,
}

/// What the person picks.
#[derive(::framework::Input)]
#[input(crate = ::framework)]
#[allow(non_camel_case_types, reason = "keywords are in lower case")]
pub enum Enum {
    /// Yes.
    r#true,
    /// No.
    r#false,
}

/// Is called by a keyword, and so are its parameter and its context.
#[::framework::mcp_tool(task = "optional", crate = ::framework)]
pub async fn r#match(r#in: &mut ::framework::Ctx, r#type: u8) -> ::framework::Result<u8> {
    let r#where: bool = r#in.input("Where?").await?;
    let r#struct: Struct = r#in.input("What?").await?;
    let fits = ::std::matches!(r#struct.r#fn, Enum::r#true);
    ::framework::Ok(if r#where && fits {
        r#type + r#struct.r#type
    } else {
        0
    })
}

/// Takes what has another name on the wire.
#[::framework::mcp_tool(crate = ::framework, name = "for")]
pub async fn r#loop(
    r#const: u8,
    #[arg(rename = "while", default = 3)] r#static: ::std::option::Option<u8>,
) -> u8 {
    r#const + r#static.unwrap_or(0)
}
