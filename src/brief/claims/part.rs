//! Whether test commands ran only a part of the tests, although the message says that all pass.

use std::sync::LazyLock;

use regex::Regex;

use super::told::sentences_that_tests_pass;
use crate::brief::activity::{Activity, Ended, Ran};
use crate::brief::command::CommandKind;
use crate::review::permission::shell;

/// The last such command, if every test command after the last edit ran only a part.
/// `one_package`: the project has no second Cargo package that `-p` could leave out.
pub fn only_a_part<'a>(text: &str, activity: &'a Activity, one_package: bool) -> Option<&'a str> {
    if !says_all(text) {
        return None;
    }
    let counts = |ran: &&Ran| {
        ran.after_last_edit && ran.how == Ended::Well && CommandKind::Test.is(&ran.command)
    };
    let tests: Vec<_> = activity.commands().filter(counts).collect();
    let leaves_out = |output: &str| {
        static LEFT: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\b[1-9]\d* (filtered out|deselected)\b").ok());
        LEFT.as_ref().is_some_and(|left| left.is_match(output))
    };
    let all =
        tests.iter().all(|ran| is_a_part(&ran.command, one_package) || leaves_out(&ran.output));
    tests.last().filter(|_| all).map(|ran| ran.command.as_str())
}

fn says_all(text: &str) -> bool {
    static ALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(all( of)? (the |\d+ )?(unit |\w+ )?(tests|specs)|(whole|entire|complete|full) (test |unit )?(suite|workspace|project)|every (unit )?test|alle (tests|\w+tests)|tous les tests|tod[ao]s (las|los) (pruebas|tests))|\s\./\.\.\.|(所有|全部)(的)?(单元)?测试|测试(都|全部)|全ての?テスト|すべてのテスト",
        )
        .ok()
    });
    let mut sentences = sentences_that_tests_pass(text);
    sentences.any(|sentence| ALL.as_ref().is_some_and(|all| all.is_match(sentence)))
}

/// Whether the script tests, and each of its test commands names a part of the tests: by a pattern,
/// a package or a single test. A file or a directory may well hold all the tests that there are.
fn is_a_part(script: &str, one_package: bool) -> bool {
    let mut tests = shell::commands(script)
        .into_iter()
        .filter(|command| CommandKind::Test.is(&shell_words::join(&command.words)))
        .peekable();
    tests.peek().is_some() && tests.all(|test| names_a_part(&test.words, one_package))
}

fn names_a_part(words: &[String], one_package: bool) -> bool {
    let has = |options: &[&str]| {
        words.iter().any(|word| {
            options.iter().any(|option| {
                word.strip_prefix(option)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
        })
    };
    let runs = |name: &str| words.iter().any(|word| word.rsplit('/').next() == Some(name));
    if runs("cargo") {
        return has(&["--test", "--bin", "--example", "--doc"])
            || !one_package && has(&["-p", "--package"]);
    }
    if runs("go") {
        let packages: Vec<_> = words.iter().filter(|word| word.starts_with("./")).collect();
        let one = packages.iter().all(|package| !package.ends_with("...") && *package != "./");
        return has(&["-run", "--run", "-short"]) || (!packages.is_empty() && one);
    }
    if ["jest", "vitest", "mocha", "playwright", "npm", "yarn", "pnpm", "bun"].into_iter().any(runs)
    {
        let own = ["--testNamePattern", "--testPathPattern", "--grep", "--onlyChanged"];
        return has(&own) || has(&["-t"]) || (runs("mocha") || runs("playwright")) && has(&["-g"]);
    }
    if runs("node") {
        return has(&["--test-name-pattern", "--test-only"]);
    }
    if ["mvn", "mvnw"].into_iter().any(runs) {
        return has(&["-Dtest", "-pl", "--projects"]);
    }
    if ["gradle", "gradlew"].into_iter().any(runs) {
        return has(&["--tests"]);
    }
    if runs("ctest") {
        return has(&["-R", "-E", "-L", "-LE", "--tests-regex", "--exclude-regex"]);
    }
    if ["dotnet", "phpunit", "swift", "deno"].into_iter().any(runs) {
        return has(&["--filter"]);
    }
    let pytest = runs("pytest") || runs("py.test");
    (pytest || runs("unittest")) && has(&["-k"])
        || pytest
            && (has(&["--deselect", "--ignore", "--ignore-glob", "--lf", "--last-failed"])
                || words.iter().any(|word| word.contains("::")))
}

#[cfg(test)]
mod tests {
    use super::super::super::activity::tests::activity;
    use super::*;

    #[test]
    fn a_part_of_the_tests_is_not_all_of_them() {
        for (text, lines, part) in [
            ("All tests pass.", &["run pytest -k words"][..], "pytest -k words"),
            ("All 12 tests pass now.", &["run npx jest -t adds"], "npx jest -t adds"),
            ("已修复，所有测试都通过了。", &["run npx jest -t 二加二"], "npx jest -t 二加二"),
            (
                "Alle Tests sind grün.",
                &["run mvn -q test -Dtest=CartTest"],
                "mvn -q test -Dtest=CartTest",
            ),
            ("The whole suite passes.", &["run cargo test -q -p a"], "cargo test -q -p a"),
            ("`go test ./...` passes.", &["run go test ./mail"], "go test ./mail"),
            (
                "Fixed, and `go test ./...` passes all tests.",
                &["run go test ./mail"],
                "go test ./mail",
            ),
            (
                "All tests pass.",
                &["run pytest a.py::test_a", "run pytest b.py::test_b"],
                "pytest b.py::test_b",
            ),
            ("Every test passes.", &["run cd a && cargo test -p a"], "cd a && cargo test -p a"),
            ("All tests pass.", &["run pytest --ignore=tests/a"], "pytest --ignore=tests/a"),
            (
                "All tests pass.",
                &["run pytest -m fast => 1 passed, 1 deselected"],
                "pytest -m fast",
            ),
            ("All tests pass.", &["run cargo test a => 1 passed; 3 filtered out"], "cargo test a"),
            ("All tests pass.", &["run ctest -R cart"], "ctest -R cart"),
            ("All tests pass.", &["run cargo test => 1 passed; 0 filtered out"], ""),
            ("All tests pass.", &["run pytest -m fast => 1 passed"], ""),
            // Some other command ran all of them, or nobody says that all pass.
            ("All tests pass.", &["run pytest", "run pytest -k words"], ""),
            ("All tests pass.", &["run pytest -k a && pytest"], ""),
            ("The test passes.", &["run pytest -k words"], ""),
            ("The tests of the cart pass.", &["run cargo test -p cart"], ""),
            ("All tests pass.", &["run pytest tests/test_cart.py"], ""),
            ("All tests pass.", &["run cargo test --workspace"], ""),
            ("All tests pass.", &["run go test ./..."], ""),
            ("All tests should pass.", &["run pytest -k words"], ""),
            ("All tests pass.", &["run make test"], ""),
            ("All tests pass.", &["run ls"], ""),
        ] {
            let seen = activity(lines);
            let found = only_a_part(text, &seen, false);
            assert_eq!(found.unwrap_or_default(), part, "{text} {lines:?}");
        }
        let seen = activity(&["run cargo test -p shop"]);
        assert_eq!(only_a_part("All tests pass.", &seen, true), None);
    }
}
