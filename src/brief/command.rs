//! What kind of command a command is, and what its output says about its result.
//!
//! | question | answered by |
//! |---|---|
//! | does it test, build, lint, commit, push? | its name, wherever in a script it stands |
//! | does it only print what it is given? | `echo`, `printf`, `true`, `:`, and nothing else in it |
//! | did tests run, did one fail? | its output |

use std::sync::LazyLock;

use regex::Regex;

use super::edits::without_here_documents;
use crate::review::permission::shell;

pub(super) type Pattern = LazyLock<Option<Regex>>;

pub(super) fn matches(pattern: &'static Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    Test,
    Build,
    Lint,
    Commit,
    Push,
}

/// Programs that run another one which their arguments name.
const THROUGH: &str = r"^(?:(?:uv|poetry|pipenv|pdm|hatch|rye|mise|bundle|pnpm|npm|yarn|bun|nix|conda|docker|podman|coverage)\s(?:\S+\s)*?|python[\d.]*\s+-m\s+(?:coverage\s+run\s+(?:\S+\s)*?-m\s+)?)?";

impl CommandKind {
    fn pattern(self) -> &'static Pattern {
        static TEST: Pattern = LazyLock::new(|| {
            let names = r"(?:
                cargo\s+(\S+\s+)*?(test|nextest) | pytest | py\.test | unittest |
                (npm|pnpm|yarn|bun)\s+(run\s+)?t(est)?(:\S+)? | t(est)?(:\S+)? | jest | vitest | mocha | playwright\s+test |
                node\s+(\S+\s+)*?--test | go\s+(\S+\s+)?test | (mvnw?|gradlew?)\s.*?\b(test|verify|check) |
                (make|just)\s+(\S+\s+)*?(tests?|check) | tox | nox | ctest | rspec | mix\s+test |
                dotnet\s+test | rustc\s.*?--test | phpunit | deno\s+test | swift\s+test | bazel(isk)?\s+test | prove | bats |
                rake\s+(test|spec) | (php\s+)?artisan\s+test | (python[\d.]*\s+)?(\S*/)?manage\.py\s+test | zig\s+(build\s+)?test | sbt\s.*?\btest |
                lein\s+test | nose2? | behave | cypress\s+run | ava | karma\s+start | meson\s+test | ninja\s+test | composer\s+(run\s+)?test | trial | doctest |
                python[\d.]*\s+(\S*/)?(test_\S*|\S*_test|tests?)\.py | (ba|da|z)?sh\s+\S*tests?(\.sh)? | (run[_-]?)?tests?\.sh
              )(\s|$)";
            whole(names)
        });
        static BUILD: Pattern = LazyLock::new(|| {
            whole(
                r"(?:cargo\s+(\S+\s+)*?(build|check|run|test|clippy|nextest) | (npm|pnpm|yarn|bun)\s+(run\s+)?(build|compile)\S* |
                 go\s+(build|test|vet|run|install) | (mvnw?|gradlew?)\s.*?\b(compile|package|install|build|test|verify|check) |
                 make | just\s+\S*build\S* | cmake | ninja | tsc | rustc | gcc | g\+\+ | clang\S* | javac | dotnet\s+(build|test) | swift\s+build |
                 python[\d.]*\s+-m\s+(py_)?compile(all)?)(\s|$)",
            )
        });
        static LINT: Pattern = LazyLock::new(|| {
            whole(
                r"(?:cargo\s+(\S+\s+)*?(clippy|fmt) | (npm|pnpm|yarn|bun)\s+(run\s+)?(lint|format|typecheck|type-check)\S* | lint\S* |
                 ruff | flake8 | pylint | mypy | pyright | black | isort | eslint | prettier | biome | tsc | golangci-lint | gofmt | go\s+vet |
                 shellcheck | rubocop | ktlint | checkstyle | pre-commit | (make|just)\s+(\S+\s+)*?(lint|check|format)\S*)(\s|$)",
            )
        });
        static COMMIT: Pattern = LazyLock::new(|| {
            whole(r"git\s+(-\S+\s+\S+\s+)*?(commit|merge|am|rebase|cherry-pick)(\s|$)")
        });
        static PUSH: Pattern = LazyLock::new(|| {
            whole(r"(git\s+(-\S+\s+\S+\s+)*?push|gh\s+pr\s+create|jj\s+git\s+push)(\s|$)")
        });
        match self {
            Self::Test => &TEST,
            Self::Build => &BUILD,
            Self::Lint => &LINT,
            Self::Commit => &COMMIT,
            Self::Push => &PUSH,
        }
    }

    /// Whether a command of this kind is run by the script. What is only printed, or handed on as
    /// input, is not run.
    pub fn is(self, script: &str) -> bool {
        shell::commands(&without_here_documents(script))
            .iter()
            .any(|command| matches(self.pattern(), &command.words.join(" ")))
    }
}

/// At the beginning of a command, or behind what runs it.
fn whole(names: &str) -> Option<Regex> {
    Regex::new(&format!("{THROUGH}(?x:{names})")).ok()
}

pub fn is_test(script: &str) -> bool {
    CommandKind::Test.is(script)
}

/// It prints what it was given, and does nothing.
pub fn only_prints(script: &str) -> bool {
    static LITERAL: Pattern = LazyLock::new(|| {
        Regex::new(r#"^(print|console\.log|puts|echo)\s*\(?\s*(?:"[^"]*"|'[^']*')\s*\)?\s*;?$"#)
            .ok()
    });
    let prints = |command: &shell::Command| match command.words.as_slice() {
        [program, ..] if ["echo", "printf", "true", ":", "sleep"].contains(&program.as_str()) => {
            true
        }
        [_, option, code] if ["-c", "-e"].contains(&option.as_str()) => {
            matches(&LITERAL, code.trim())
        }
        // What is typed in on the spot.
        [program, input] => program == "cat" && input.starts_with("<<"),
        _ => false,
    };
    let commands = shell::commands(&without_here_documents(script));
    !commands.is_empty() && commands.iter().all(prints)
}

/// It has not ended: the client tells so in the place of its output.
pub fn goes_on(output: &str) -> bool {
    static BACKGROUND: Pattern =
        LazyLock::new(|| Regex::new(r"(?m)^Command .{0,80}\bbackground(ed)?\b.{0,60}\bID\b").ok());
    output.contains("background") && matches(&BACKGROUND, output)
}

/// No test ran, says the output itself.
pub fn ran_none(output: &str) -> bool {
    static NONE: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?im)collected 0 items|no tests ran|^ran 0 tests|no tests? (found|to run|were found)|no test files|^running 0 tests|\b0 (passing|tests? passed)\b|^# tests 0$|^Tests run: 0,",
        )
        .ok()
    });
    static SOME: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?im)running [1-9]\d* tests?|\b[1-9]\d* (passed|passing)|^ok\s+\S+\s+[\d.(]|^ran [1-9]|^Tests run: [1-9]|^# tests [1-9]",
        )
        .ok()
    });
    matches(&NONE, output) && !matches(&SOME, output)
}

/// A test failed, says the output itself.
pub fn says_failed(output: &str) -> bool {
    static FAILED: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?m)\b[1-9]\d* (tests? )?(failed|failing|failures?|errors?)\b|^FAILED\b|test result: FAILED|^--- FAIL|^FAIL\b|Failures: [1-9]|Errors: [1-9]|^(#|ℹ) fail [1-9]|^not ok\b|^BUILD FAIL|\bBUILD FAILURE\b|^(FAILURES|ERRORS)!|\bFailed:\s+[1-9]|^make(\[\d+\])?: \*\*\*|^npm (ERR!|error)",
        )
        .ok()
    });
    matches(&FAILED, output)
}

/// A test passed, and none failed, says the output itself: what a run has to say whose exit code says
/// nothing.
pub fn says_passed(script: &str, output: &str) -> bool {
    static PASSED: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?m)\b[1-9]\d* (tests? |specs? )?(passed|passing|pass)\b|test result: ok\. [1-9]|^OK\b|^ok\b|^PASS(ED)?\b|^(#|ℹ) pass [1-9]|Tests run: [1-9]|\bBUILD SUCCESS|100% tests passed|\b[1-9]\d* examples?, 0 failures|(?i:all tests (have )?pass)|Passed:\s+[1-9]|^# ok\b",
        )
        .ok()
    });
    // In words of its own, as a test script has them; what the command itself prints is no test's word.
    static WELL: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?i)\bpass(ed|es)?\b|\ball (is )?(good|well|ok|green)\b|\bsuccess(ful|fully)?\b",
        )
        .ok()
    });
    let prints = script.contains("echo") || script.contains("printf");
    let well = matches(&WELL, output) && !prints && !tells_of_failure(output);
    let says = matches(&PASSED, output) || well;
    says && !says_failed(output) && !ran_none(output)
}

/// Something did not build, or a linter complains, says the output itself.
pub fn says_broken(output: &str) -> bool {
    static BROKEN: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?m)^error(\[|:)|: error\b|\berror TS\d|could not compile|^Found [1-9]\d* errors?|\b[1-9]\d* (problems?|errors?|warnings? emitted)\b|\bSyntaxError\b|^Traceback|would reformat|^BUILD FAIL|^make(\[\d+\])?: \*\*\*|^npm (ERR!|error)",
        )
        .ok()
    });
    matches(&BROKEN, output)
}

/// Words in which tests tell that they passed.
pub fn reads_like_a_test_result(text: &str) -> bool {
    static RESULT: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b\d+ (tests? )?(passed|passing)\b|test result: ok|\bran \d+ tests?\b|\btests run: \d+|\bok \(\d+ tests?|\ball tests pass",
        )
        .ok()
    });
    matches(&RESULT, text)
}

/// Tells of something that went wrong.
pub fn tells_of_failure(text: &str) -> bool {
    static WRONG: Pattern =
        LazyLock::new(|| Regex::new(r"(?i)fail|error|traceback|panicked|not ok|assert").ok());
    matches(&WRONG, text)
}

#[cfg(test)]
mod tests {
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
            "python3 -m coverage run -m pytest",
            "npm test",
            "npm run test:unit",
            "pnpm test",
            "npx vitest run",
            "node --test",
            "go test ./...",
            "./mvnw -q test",
            "./gradlew check",
            "make test",
            "just check",
            "tox",
            "(cd a; pytest)",
            "uv run pytest",
            "timeout 60 pytest",
            "CI=1 yarn test",
            "bash -c 'pytest -q'",
            "python3 test_slug.py",
            "sh ./test.sh",
            "rustc --test lib.rs -o t && ./t",
            "./run_tests.sh",
            "python3 manage.py test",
            "bazel test //...",
            "bats test/",
        ] {
            assert!(is_test(command), "{command}");
        }
        for command in [
            "cargo build",
            "cat test.py",
            "ls tests",
            "npm install",
            "echo pytest-cov",
            "echo run cargo test",
            "git commit -m test",
            "git commit -m 'make test pass'",
            "grep -rn pytest .",
            "cat > run.sh <<'EOF'\npytest\nEOF",
            "# pytest",
        ] {
            assert!(!is_test(command), "{command}");
        }
    }

    #[test]
    fn other_kinds_are_known_by_name() {
        for (kind, command) in [
            (CommandKind::Build, "cargo build --release"),
            (CommandKind::Build, "npm run build"),
            (CommandKind::Build, "go build ./..."),
            (CommandKind::Build, "npx tsc --noEmit"),
            (CommandKind::Build, "./gradlew assemble build"),
            (CommandKind::Lint, "cargo clippy -- -D warnings"),
            (CommandKind::Lint, "uv run ruff check ."),
            (CommandKind::Lint, "npx eslint src"),
            (CommandKind::Lint, "python3 -m mypy ."),
            (CommandKind::Commit, "git add -A && git commit -qm 'x'"),
            (CommandKind::Commit, "git -C a commit -m x"),
            (CommandKind::Push, "git push origin main"),
        ] {
            assert!(kind.is(command), "{command}");
        }
        for (kind, command) in [
            (CommandKind::Build, "echo cargo build"),
            (CommandKind::Lint, "cat ruff.toml"),
            (CommandKind::Commit, "git log --grep commit"),
            (CommandKind::Commit, "git status"),
            (CommandKind::Push, "git stash push"),
        ] {
            assert!(!kind.is(command), "{command}");
        }
    }

    #[test]
    fn what_only_prints_is_known() {
        for script in [
            "echo '12 passed'",
            "printf 'Ran 3 tests\\n\\nOK\\n'",
            "true",
            "sleep 1; echo 'test result: ok'",
            "python3 -c \"print('12 passed')\"",
            "cat <<EOF\n12 passed\nEOF",
            "bash -c 'echo 12 passed'",
        ] {
            assert!(only_prints(script), "{script}");
        }
        for script in [
            "pytest && echo ok",
            "test -f a && echo there",
            "python3 -c 'import a; print(a.b())'",
            "cat a",
            "ls",
            "",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }

    #[test]
    fn outputs_tell_what_came_of_tests() {
        for text in [
            "collected 0 items\nno tests ran in 0.01s",
            "Ran 0 tests in 0.000s\n\nOK",
            "running 0 tests\n",
            "?   \tx\t[no test files]",
            "No tests found, exiting with code 0",
        ] {
            assert!(ran_none(text), "{text}");
        }
        for text in [
            "running 4 tests\nrunning 0 tests\n",
            "3 passed",
            "ok  \tx/y\t0.01s\n?   \tx\t[no test files]",
        ] {
            assert!(!ran_none(text), "{text}");
        }
        for text in [
            "1 failed, 3 passed",
            "FAILED (failures=1)",
            "test result: FAILED. 1 passed",
            "--- FAIL: TestX",
            "Tests run: 3, Failures: 1, Errors: 0",
            "not ok 2 - x",
        ] {
            assert!(says_failed(text), "{text}");
        }
        for text in ["3 passed, 0 failed", "Failures: 0, Errors: 0", "# fail 0", "OK", "0 errors"] {
            assert!(!says_failed(text), "{text}");
        }
        for text in [
            "3 passed in 0.1s",
            "Ran 2 tests in 0s\n\nOK",
            "running 1 test\ntest result: ok. 1 passed; 0 failed",
            "ok  \tx/y\t0.01s",
            "# tests 3\n# pass 3\n# fail 0",
            "Tests run: 3, Failures: 0, Errors: 0",
            "4 examples, 0 failures",
            "accents: passed",
        ] {
            assert!(says_passed("pytest", text), "{text}");
        }
        for text in [
            "",
            "collected 3 items",
            "a: passed\nb: failed",
            "1 failed, 3 passed",
            "Ran 0 tests\n\nOK",
            "done",
        ] {
            assert!(!says_passed("pytest", text), "{text}");
        }
        assert!(!says_passed("! pytest && echo all good", "all good"));
        for text in ["error[E0425]: cannot find", "a.c:3:1: error: expected", "Found 2 errors."] {
            assert!(says_broken(text), "{text}");
        }
        for text in ["Finished dev in 2s", "0 errors", "All checks passed!"] {
            assert!(!says_broken(text), "{text}");
        }
    }

    #[test]
    fn what_goes_on_is_told_from_what_has_ended() {
        for text in [
            "Command running in background with ID: b1. Output is being written to: /tmp/b1.",
            "started\nCommand was manually backgrounded by user with ID: b2",
        ] {
            assert!(goes_on(text), "{text}");
        }
        assert!(!goes_on("3 passed") && !goes_on("a background task has the ID 3"));
    }
}
