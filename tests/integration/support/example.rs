//! The examples as programs.

use std::{env, path::PathBuf, process::Command};

/// The example `name`, built beside this test; it is built now where that was not done.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples").join(name);
    if !example.exists() {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let command = ["build", "-p", "siding-examples", "--example", name];
        let built = Command::new(cargo).args(command).status().unwrap();
        assert!(
            built.success(),
            "the example `{name}` has to be built first"
        );
    }
    example
}
