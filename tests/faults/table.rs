//! `docs/faults.md` names every test of this suite; whatever else it names is a test in the file that it
//! says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../../docs/faults.md");

#[test]
fn every_fault_has_a_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeSet::new();
    for line in TABLE.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |")) {
        let test = line.rsplit(" | ").next().unwrap_or_default().trim_end_matches(" |");
        match test.split_once(": ") {
            None => assert!(rows.insert(test.trim_matches('`').to_owned()), "{test} twice"),
            Some((file, test)) => {
                let text = fs::read_to_string(root.join(file.trim_matches('`')));
                let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
                let called = format!("fn {}(", test.trim_matches('`'));
                assert!(text.contains(&called), "{file} has no {test}");
            }
        }
    }
    let mut tests = BTreeSet::new();
    for entry in fs::read_dir(root.join("tests/faults")).expect("this suite").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a source file");
        for after in text.split("#[test]\nfn ").skip(1) {
            tests.insert(after.split('(').next().unwrap_or_default().to_owned());
        }
    }
    tests.remove("every_fault_has_a_row");
    assert!(tests.len() > 40, "the tests are found: {tests:?}");
    let without: Vec<_> = tests.difference(&rows).collect();
    let gone: Vec<_> = rows.difference(&tests).collect();
    assert!(without.is_empty() && gone.is_empty(), "no row: {without:?}; no test: {gone:?}");
}
