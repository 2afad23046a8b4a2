//! What the agent's last message says about tests, held against what was run.
//!
//! | claim | supported by |
//! |---|---|
//! | "tests pass" | a test command after the last edit that ended well, ran at least one test, and whose exit code was its own; or a green check that tests |

use std::sync::LazyLock;

use regex::Regex;

use super::activity::{Activity, Ended, Ran};
use crate::checks::result::CheckResult;

fn matches(pattern: &'static LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// A command that runs tests, as far as its name tells.
pub fn is_test(command: &str) -> bool {
    static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x)(^|[\s;&|(/])(
              cargo\s+(\S+\s+)*?(test|nextest) | (python3?\s+-m\s+)?(pytest|py\.test) | python3?\s+-m\s+unittest |
              (npm|pnpm|yarn|bun)\s+(run\s+)?t(est)?(:\S+)? | (npx\s+|pnpm\s+exec\s+|yarn\s+)?(jest|vitest|mocha|playwright\s+test) |
              node\s+--test | go\s+test | (\./)?(mvnw?|gradlew?|gradle)\s+.*(test|verify|check) |
              (make|just)\s+(\S+\s+)*?(tests?|check) | tox | nox | ctest | (bundle\s+exec\s+)?rspec | mix\s+test |
              dotnet\s+test | (\S*/)?phpunit | deno\s+test | swift\s+test
            )(\s|$|[;&|)])",
        )
        .ok()
    });
    matches(&TEST, command)
}

fn says_that_tests_pass(text: &str) -> bool {
    static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?ix)\b(tests?|suite|specs?)\b[^.!?\n]{0,40}?\b(pass(es|ed|ing)?|green|succeed(s|ed)?)\b
              | \b\d+\s+(tests?\s+)?passed\b | \bpass(es|ing)?\s+all\s+tests\b",
        )
        .ok()
    });
    static NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(not|n't|cannot|could not|fail(s|ed|ing)?|should|would|will|until|once|if|unable)\b")
            .ok()
    });
    // A sentence that takes it back, or only hopes for it, claims nothing.
    let sentences = text.split_inclusive(['.', '!', '?', '\n']);
    sentences.into_iter().any(|sentence| matches(&SAYS, sentence) && !matches(&NOT, sentence))
}

/// No test ran, says the output itself.
pub fn ran_none(output: &str) -> bool {
    static NONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?im)collected 0 items|no tests ran|^ran 0 tests|no tests? (found|to run)|no test files|^running 0 tests|\b0 (passing|tests? passed)\b",
        )
        .ok()
    });
    static SOME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?im)running [1-9]\d* tests?|\b[1-9]\d* (passed|passing)|^ok\s+\S+\s|^ran [1-9]",
        )
        .ok()
    });
    matches(&NONE, output) && !matches(&SOME, output)
}

/// Why the exit code says nothing about the tests.
pub fn hides_exit_code(command: &str) -> Option<&'static str> {
    static PIPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^|]\|[^|]").ok());
    static OR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\|\|\s*(true|:|echo\b|exit 0)").ok());
    static LAST: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(;|\n)\s*(true|echo\b|exit 0)[^;\n]*$").ok());
    if command.contains("pipefail") || command.contains("PIPESTATUS") || command.contains("$?") {
        return None;
    }
    if matches(&OR, command) {
        Some("what follows || replaces its exit code")
    } else if matches(&PIPE, command) {
        Some("its exit code is that of the last command of the pipe")
    } else if matches(&LAST, command) {
        Some("its exit code is that of the command after it")
    } else {
        None
    }
}

/// What the message claims and nothing supports, each with the reason.
pub fn unsupported(answer: &str, activity: &Activity, checks: &[CheckResult]) -> Vec<String> {
    if !says_that_tests_pass(answer)
        || checks.iter().any(|check| check.is_green() && is_test(&check.run))
    {
        return Vec::new();
    }
    let tests: Vec<&Ran> = activity.commands().filter(|ran| is_test(&ran.command)).collect();
    let claim = "The last message says that tests pass";
    let Some(last) = tests.iter().rfind(|ran| ran.after_last_edit) else {
        let edited = activity.last_edit.as_deref().unwrap_or_default();
        return vec![match tests.last() {
            Some(ran) => format!(
                "{claim}, and no test command ran after the last edit ({edited}); the last one before it: `{}`.",
                short(&ran.command)
            ),
            None => format!("{claim}, and no test command was seen in this session."),
        }];
    };
    let command = short(&last.command);
    match last.how {
        Ended::Badly(code) => {
            let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
            vec![format!("{claim}, and the last test command, `{command}`, failed{code}.")]
        }
        Ended::Unknown => vec![format!("{claim}, and the end of `{command}` was not seen.")],
        Ended::Well if ran_none(&last.output) => {
            vec![format!("{claim}, and `{command}` ran no test, as its output says.")]
        }
        Ended::Well => match hides_exit_code(&last.command) {
            Some(why) => vec![format!("{claim}; of `{command}` {why}.")],
            None => Vec::new(),
        },
    }
}

pub fn short(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    match line.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::super::activity::tests::activity;
    use super::*;

    #[test]
    fn commands_that_test_are_known_by_name() {
        for command in [
            "cargo test",
            "cd x && cargo test --lib",
            "cargo +nightly nextest run",
            "pytest -q",
            "python -m pytest",
            "python3 -m unittest",
            "npm test",
            "npm run test:unit",
            "pnpm test",
            "npx vitest run",
            "go test ./...",
            "./mvnw -q test",
            "./gradlew check",
            "make test",
            "just check",
            "tox",
            "(cd a; pytest)",
            "uv run pytest",
        ] {
            assert!(is_test(command), "{command}");
        }
        for command in [
            "cargo build",
            "cat test.py",
            "ls tests",
            "npm install",
            "echo pytest-cov",
            "git commit -m test",
        ] {
            assert!(!is_test(command), "{command}");
        }
    }

    #[test]
    fn a_claim_is_said_as_a_fact() {
        for text in [
            "All tests pass.",
            "The test suite is green now",
            "12 passed",
            "Fixed. The tests are passing!",
        ] {
            assert!(says_that_tests_pass(text), "{text}");
        }
        for text in [
            "I could not run the tests.",
            "The tests should pass.",
            "Two tests do not pass.",
            "I added tests.",
            "Once tests pass, merge.",
        ] {
            assert!(!says_that_tests_pass(text), "{text}");
        }
    }

    #[test]
    fn a_claim_is_held_against_what_was_run() {
        for (lines, why) in [
            (&["edit a.py", "run pytest => 3 passed"][..], ""),
            (
                &["run pytest => 3 passed", "edit a.py"],
                "no test command ran after the last edit (a.py)",
            ),
            (&["edit a.py"], "no test command was seen"),
            (&["fail pytest => Exit code 1\n1 failed"], "failed with exit code 1"),
            (&["run pytest => collected 0 items\nno tests ran"], "ran no test"),
            (&["run cargo test => running 0 tests\n"], "ran no test"),
            (&["run cargo test => running 4 tests\nrunning 0 tests\n"], ""),
            (&["run pytest -q 2>&1 | tail -3 => 3 passed"], "last command of the pipe"),
            (&["run pytest || true => 1 failed, 3 passed"], "what follows || replaces"),
            (&["run pytest; echo done => 3 passed"], "the command after it"),
            (&["run set -o pipefail; pytest | tail => 3 passed"], ""),
            (&["fail pytest => Exit code 1", "edit a.py", "run pytest => 3 passed"], ""),
        ] {
            let found = unsupported("All tests pass.", &activity(lines), &[]);
            assert_eq!(found.len(), usize::from(!why.is_empty()), "{lines:?}: {found:?}");
            assert!(found.iter().all(|text| text.contains(why)), "{lines:?}: {found:?}");
        }
        assert!(unsupported("Done.", &activity(&["edit a.py"]), &[]).is_empty());
    }
}
