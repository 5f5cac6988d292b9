//! What the macros accept, and how they refuse the rest: one case per shape and per message.
//!
//! `TRYBUILD=overwrite` writes the expected output anew. It belongs to the compiler in
//! `rust-toolchain.toml`.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
