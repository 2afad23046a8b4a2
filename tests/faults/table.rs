//! `docs/faults.md` names every test of this suite, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../../docs/faults.md");

#[test]
fn every_fault_has_a_row() {
    let rows: BTreeSet<_> = TABLE
        .lines()
        .filter(|line| line.starts_with("| ") && line.ends_with("` |"))
        .filter_map(|line| line.rsplit('`').nth(1).map(str::to_owned))
        .collect();
    let mut tests = BTreeSet::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
    for entry in fs::read_dir(dir).expect("this suite").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a source file");
        for after in text.split("#[test]\nfn ").skip(1) {
            tests.insert(after.split('(').next().unwrap_or_default().to_owned());
        }
    }
    tests.remove("every_fault_has_a_row");
    assert!(tests.len() > 40, "the tests are found: {tests:?}");
    assert_eq!(rows, tests);
}
