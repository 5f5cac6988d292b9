//! What the examples promise.

/// The lines that are neither blank nor comments.
fn code(source: &str) -> Vec<&str> {
    let lines = source.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect()
}

#[test]
fn the_smallest_server_is_at_most_12_lines() {
    let source = include_str!("../../examples/smallest.rs");
    let lines = code(source);
    assert!(lines.len() <= 12, "{} lines: {lines:#?}", lines.len());
    assert!(source.contains("task = \"required\"") && source.contains("ctx.input("));
}

#[test]
fn the_table_of_lines_tells_the_truth_about_ours() {
    let table = include_str!("../../docs/lines.md");
    let ours = table.lines().find(|line| line.starts_with("| siding"));
    let told = ours.and_then(|row| row.split('|').nth(3)).unwrap().trim();
    let counted = code(include_str!("../../examples/smallest.rs")).len();
    assert_eq!(told, counted.to_string());
}
