//! What the examples promise.

#[test]
fn the_smallest_server_is_at_most_12_lines() {
    let source = include_str!("../../examples/smallest.rs");
    let code = source.lines().map(str::trim);
    let lines: Vec<_> = code
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect();
    assert!(lines.len() <= 12, "{} lines: {lines:#?}", lines.len());
    assert!(source.contains("task = \"required\"") && source.contains("ctx.input("));
}
