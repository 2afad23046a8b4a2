//! `tests/SCENARIOS.md` says which test shows which scenario of the specifications, and the table at the
//! head of the machine which test shows which of its rules. Neither may rot.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../SCENARIOS.md");

struct Row<'a> {
    spec: &'a str,
    title: &'a str,
    tests: Vec<&'a str>,
}

fn rows() -> Vec<Row<'static>> {
    let cells = |line: &'static str| -> Vec<&'static str> {
        line.trim_matches('|').split('|').map(str::trim).collect()
    };
    let (_, table) = TABLE.split_once("## The table").expect("the table");
    let body = table.lines().filter(|line| line.starts_with("| 0"));
    body.map(|line| match cells(line).as_slice() {
        [spec, title, tests] => {
            Row { spec, title, tests: tests.split('`').skip(1).step_by(2).collect() }
        }
        _ => panic!("three cells: {line}"),
    })
    .collect()
}

fn sources(dir: &Path, found: &mut String) {
    for entry in fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&fs::read_to_string(&path).expect("a source file"));
        }
    }
}

fn all_sources() -> String {
    let mut text = String::new();
    for dir in ["src", "tests"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(dir), &mut text);
    }
    text
}

#[test]
fn every_scenario_has_a_test_that_exists() {
    let sources = all_sources();
    let rows = rows();
    for row in &rows {
        assert!(!row.title.is_empty() && !row.tests.is_empty(), "{} {}", row.spec, row.title);
        for test in &row.tests {
            assert!(
                sources.contains(&format!("fn {test}(")),
                "{} {}: no {test}",
                row.spec,
                row.title
            );
        }
    }
    for (spec, count) in [("000", 20), ("001", 17), ("002", 19), ("003", 11), ("004", 11)] {
        assert_eq!(rows.iter().filter(|row| row.spec == spec).count(), count, "spec {spec}");
    }
    let titles: BTreeSet<_> = rows.iter().map(|row| (row.spec, row.title)).collect();
    assert_eq!(titles.len(), rows.len(), "no scenario stands there twice");
}

#[test]
fn every_test_that_is_named_after_a_scenario_is_in_the_table() {
    let listed: BTreeSet<&str> = rows().into_iter().flat_map(|row| row.tests).collect();
    let sources = all_sources();
    let named = sources.split("fn scenario_").skip(1).filter_map(|rest| rest.split_once('('));
    // The first piece of this very function is no name.
    let named =
        named.map(|(name, _)| name).filter(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    for name in named {
        assert!(
            listed.contains(format!("scenario_{name}").as_str()),
            "scenario_{name} is not listed"
        );
    }
}

#[test]
fn every_rule_of_the_loop_has_a_test_that_exists() {
    const MACHINE: &str = include_str!("../../src/machine/mod.rs");
    let mut tests = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/machine/tests"), &mut tests);
    let table = MACHINE.lines().filter_map(|line| line.strip_prefix("//! |"));
    let rules: Vec<_> = table.skip(2).collect();
    assert!(rules.len() >= 26, "the table has lost rules: {}", rules.len());
    for rule in rules {
        let cells: Vec<_> = rule.trim_end_matches('|').split('|').map(str::trim).collect();
        let [_, _, _, named] = cells.as_slice() else { panic!("four cells: {rule}") };
        let named: Vec<_> = named.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test: {rule}");
        for test in named {
            assert!(tests.contains(&format!("#[test]\nfn {test}(")), "no {test}: {rule}");
        }
    }
}
