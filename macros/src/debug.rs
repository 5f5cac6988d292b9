//! Shows an expansion to whoever asks for it.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt as _;

/// The name of the function, or of the type of a toolbox, whose expansion is to be shown.
const VARIABLE: &str = "SIDING_DEBUG_MACRO";

/// Prints `expansion` to standard error, if it is that of what the variable names.
pub(crate) fn print(name: &Ident, expansion: &TokenStream) {
    let name = name.unraw().to_string();
    if env::var(VARIABLE).is_ok_and(|wanted| wanted == name) {
        let source = expansion.to_string();
        let formatted = rustfmt(&source).unwrap_or(source);
        eprintln!("// {VARIABLE}: what `{name}` expands to\n{formatted}");
    }
}

/// Formats `source`; `None` where that cannot be done.
fn rustfmt(source: &str) -> Option<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    rustfmt.stdin.take()?.write_all(source.as_bytes()).ok()?;
    let output = rustfmt.wait_with_output().ok()?;
    let formatted = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !formatted.is_empty()).then_some(formatted)
}
