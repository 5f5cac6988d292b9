//! The tick list keeps its word.

use std::{collections::BTreeSet, fs, path::Path};

/// `W6` as it stands in names: `w06`.
fn in_names(row: &str) -> String {
    let (letter, number) = row.split_at(1);
    format!("{}{number:0>2}_", letter.to_lowercase())
}

pub(crate) fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let names = source
                .split("fn ")
                .skip(1)
                .filter_map(|rest| rest.split('(').next());
            found.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn every_ticked_row_of_parity_has_a_test_with_its_id() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    functions(root, &mut names);
    functions(&root.join("../runtime/src"), &mut names);
    let table = fs::read_to_string(root.join("PARITY.md")).unwrap();
    let mut ticked = 0;
    for line in table.lines().filter(|line| line.ends_with("| ✓ |")) {
        let row = line.trim_start_matches("| ").split(' ').next().unwrap();
        let id = in_names(row);
        assert!(
            names.iter().any(|name| name.contains(&id)),
            "{row} has no test with `{id}`"
        );
        ticked += 1;
    }
    assert!(ticked > 0, "no row is ticked");
}
