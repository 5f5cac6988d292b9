//! Tools in a crate that has nothing but the runtime, and that under another name.

#![no_implicit_prelude]

pub mod generated;
pub mod nested;
pub mod raw;
pub mod reexported;
pub mod shadowed;

/// A server with all of them.
pub fn server() -> ::framework::Server {
    let server = ::framework::Server::new("renamed", "1.0.0");
    let server = server
        .tools(generated::tools())
        .tools(nested::tools())
        .tools(reexported::tools());
    server
        .tool::<raw::r#match>()
        .tool::<raw::r#loop>()
        .tool::<shadowed::shadowed>()
        .tool::<shadowed::output>()
}
