//! What the documentation names exists.

use std::{collections::BTreeSet, fs, path::Path};

use crate::parity::functions;

#[test]
fn every_row_about_replays_names_a_test_or_a_ui_case_that_exists() {
    assert_eq!(shown("docs/replay.md", |line| line.starts_with("| P")), 35);
}

#[test]
fn every_promise_names_a_test_that_exists() {
    let is_promise = |line: &str| line.starts_with("| ") && !line.starts_with("| |");
    assert!(shown("docs/promises.md", is_promise) > 15);
}

/// How many rows a page has, each of which names what shows it in its last column.
fn shown(page: &str, is_row: impl Fn(&str) -> bool) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut names = BTreeSet::new();
    functions(&root.join("tests/integration"), &mut names);
    functions(&root.join("runtime/src"), &mut names);
    for case in fs::read_dir(root.join("ui-tests/fail")).unwrap() {
        let path = case.unwrap().path();
        names.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    let table = fs::read_to_string(root.join(page)).unwrap();
    let mut rows = 0;
    for line in table.lines().filter(|line| is_row(line)) {
        rows += 1;
        let column = line.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let mut shown = column.split('`').skip(1).step_by(2).peekable();
        assert!(shown.peek().is_some(), "nothing shows this: {line}");
        for name in shown {
            assert!(names.contains(name), "`{name}` does not exist: {line}");
        }
    }
    rows
}

#[test]
fn every_reason_that_an_error_gives_stands_in_the_table_of_errors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut given = BTreeSet::new();
    reasons(&root.join("runtime/src"), &mut given);
    assert!(given.contains("over_limit"), "{given:?}");
    let page = fs::read_to_string(root.join("docs/clients.md")).unwrap();
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| -3") || line.starts_with("| 4"));
    let documented: BTreeSet<String> = rows
        .filter_map(|row| row.split('`').nth(1))
        .map(str::to_owned)
        .collect();
    assert_eq!(documented, given);
}

#[test]
fn every_operation_of_a_context_and_of_a_question_stands_among_what_a_tool_can_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/tools.md")).unwrap();
    let documented = |call: String| page.contains(&call);
    let operations = methods(&root.join("runtime/src/ctx/mod.rs"));
    assert!(operations.contains("detach"), "{operations:?}");
    for name in operations {
        assert!(documented(format!("`ctx.{name}(")), "{name}");
    }
    let mut options = methods(&root.join("runtime/src/input/question.rs"));
    assert!(options.contains("timeout"), "{options:?}");
    // What only expansions call.
    for hidden in ["new", "worded", "at"] {
        assert!(options.remove(hidden), "{hidden}");
    }
    for name in options {
        assert!(documented(format!("`.{name}(")), "{name}");
    }
}

#[test]
fn every_operation_of_a_context_is_known_to_the_macro() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let source = fs::read_to_string(root.join("macros/src/body/context.rs")).unwrap();
    let listed = source.lines().filter_map(|line| {
        let name = line.trim().strip_prefix('"')?;
        Some(name.strip_suffix("\",")?.to_owned())
    });
    let listed: BTreeSet<String> = listed.collect();
    assert_eq!(listed, methods(&root.join("runtime/src/ctx/mod.rs")));
}

/// The public functions of a source file.
fn methods(file: &Path) -> BTreeSet<String> {
    let source = fs::read_to_string(file).unwrap();
    let lines = source.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix("pub ")?;
        let line = line
            .trim_start_matches("const ")
            .trim_start_matches("async ");
        let name = line.strip_prefix("fn ")?;
        name.split(['(', '<']).next().map(str::to_owned)
    });
    lines.collect()
}

/// Collects what stands in `because("..")` in the sources under `folder`.
fn reasons(folder: &Path, given: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            reasons(&path, given);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let named = source.split(".because(\"").skip(1);
        given.extend(named.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
    }
}
