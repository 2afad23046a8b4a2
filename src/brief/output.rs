//! What the output of a command says: whether it has ended, whether tests ran, whether one failed,
//! whether something is broken.

use std::sync::LazyLock;

use regex::Regex;

use super::command::{CommandKind, Pattern, matches};
use super::edits::without_here_documents;
use crate::review::permission::shell;

/// Whether the command still runs: the client then says so in place of the output.
pub fn goes_on(output: &str) -> bool {
    static BACKGROUND: Pattern =
        LazyLock::new(|| Regex::new(r"(?m)^Command .{0,80}\bbackground(ed)?\b.{0,60}\bID\b").ok());
    output.contains("background") && matches(&BACKGROUND, output)
}

/// How the client reports a file that its tool has created.
pub const CREATED: &str = "File created successfully";
/// What the client writes in place of an output that is empty.
pub const NO_OUTPUT: &str = "(Bash completed with no output)";

/// The output itself, without the client's remark that there is none.
pub fn without_remark(output: &str) -> &str {
    if output.trim() == NO_OUTPUT { "" } else { output }
}

/// Whether the output says that no test ran.
pub fn ran_none(output: &str) -> bool {
    static NONE: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?imx)collected\ 0\ items | no\ tests\ ran | ^ran\ 0\ tests | no\ test\ files | ^running\ 0\ tests | ^(\#|ℹ)\ tests\ 0$
            | no\ (tests?|examples)\ (found|to\ run|were\ found|is\ available|were\ executed|executed|defined|matches) | no\ test\ (modules|targets)\b
            | \b0\ (passing|tests?\ (passed|run|from\ 0)|examples,|scenarios\b|runs,\ 0\ assertions) | ^executed\ 0\ tests | ^Tests\ run:\ 0, | \bTests=0,
            | \|\ 0\ passed\ \|\ 0\ failed | ^1\.\.0\b | \bTests\ are\ skipped | ^>\ Task\ \S*test\S*\ NO-SOURCE | find\ any\ files\ to\ test
            | ^>\ (exit\ 0|true|:|echo\b.*)$
            | ^make(\[\d+\])?:\ ('[\w-]*(test|check)[\w-]*'\ is\ up\ to\ date|Nothing\ to\ be\ done\ for\ '[\w-]*(test|check))",
        )
        .ok()
    });
    static SOME: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?im)running [1-9]\d* tests?|\b[1-9]\d* (passed|passing|tests? run|(examples|scenarios|runs)\b)|^ok\s+\S+\s+([\d.]+s|\(cached\))(\s+coverage.*)?$|^ran [1-9]|^executed [1-9]|^Tests run: [1-9]|^(#|ℹ) tests [1-9]|^> Task \S*test\S*( UP-TO-DATE| FROM-CACHE)?$",
        )
        .ok()
    });
    matches(&NONE, output) && !matches(&SOME, output)
}

/// Whether the output says that the command was called in a wrong way, or is not there at all.
pub fn is_misuse(output: &str) -> bool {
    static MISUSE: Pattern = LazyLock::new(|| {
        Regex::new(r"(?im)unrecognized arguments|unexpected argument|no such option|(unknown|invalid|illegal) option|^usage:|command not found|: not found$").ok()
    });
    matches(&MISUSE, output) && !says_failed(output)
}

/// Whether the output says that a test failed.
pub fn says_failed(output: &str) -> bool {
    static FAILED: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?m)\b[1-9]\d* (tests? )?(failed|failing|failures?|errors?)\b|^FAILED\b|test result: FAILED|^--- FAIL|^FAIL\b|Failures: [1-9]|Errors: [1-9]|^(#|ℹ) fail [1-9]|^not ok\b|^BUILD FAIL|\bBUILD FAILURE\b|^(FAILURES|ERRORS)!|\bFailed:\s+[1-9]|^make(\[\d+\])?: \*\*\*|^npm (ERR!|error)|失败\W{0,3}[1-9]|^make(\[\d+\])?: .*\bError \d+ \(ignored\)",
        )
        .ok()
    });
    matches(&FAILED, &without_passed(output))
}

/// The output without the lines of passed tests, whose names may contain words like "failed".
fn without_passed(output: &str) -> String {
    static GOOD: Pattern = LazyLock::new(|| {
        Regex::new(
            r"^\s*([✓✔√]|ok \d+\b|PASS\b|--- PASS)|\.\.\. ok\s*$|\bPASSED(\s+\[\s*\d+%\])?\s*$",
        )
        .ok()
    });
    let lines: Vec<_> = output.lines().filter(|line| !matches(&GOOD, line)).collect();
    lines.join("\n")
}

/// The output without the lines that the script itself prints, which are not the result of a test.
pub fn without_own_words(script: &str, output: &str) -> String {
    let mut own = Vec::new();
    for command in shell::commands(&without_here_documents(script)) {
        if let [program, words @ ..] = command.words.as_slice()
            && ["echo", "printf"].contains(&program.as_str())
        {
            let text = words.join(" ").replace("\\n", "\n");
            own.extend(text.lines().map(|line| line.trim().to_owned()));
        }
    }
    let lines: Vec<_> =
        output.lines().filter(|line| !own.iter().any(|own| own == line.trim())).collect();
    lines.join("\n")
}

/// The exit code of a command that failed. The client names none if it refused the command, or ended it.
pub fn exit_code(output: &str) -> Option<i32> {
    let line = output.trim_start().lines().next()?.trim();
    let code = line.strip_prefix("Error: ").unwrap_or(line).strip_prefix("Exit code ")?;
    code.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The file in which the client has put an output that is too long for the conversation.
pub fn saved_to(output: &str) -> Option<&str> {
    let begin = output.strip_prefix("<persisted-output>")?.trim_start().lines().next()?;
    begin.split_once("saved to: ").map(|(_, path)| path.trim())
}

/// Whether what the tests print does not get into the output: it goes to `/dev/null`, or to a file
/// that the script does not name again.
fn is_silenced(script: &str) -> bool {
    static AWAY: Pattern =
        LazyLock::new(|| Regex::new(r"(?:^|[^\d>&]|&|\b1)>>?\s*([^\s&>;|]+)").ok());
    let script = without_here_documents(script);
    let parts = script.split([';', '\n']).flat_map(|part| part.split("&&"));
    let mut tests = parts
        .flat_map(|part| part.split("||"))
        .filter(|part| CommandKind::Test.is(part))
        .peekable();
    let goes_away = |part: &str| {
        let found = AWAY.as_ref().and_then(|away| away.captures(part));
        let target =
            found.map(|found| found.get(1).map_or("", |target| target.as_str()).to_owned());
        target.is_some_and(|file| file == "/dev/null" || script.matches(file.as_str()).count() == 1)
    };
    tests.peek().is_some() && tests.all(goes_away)
}

/// Whether the output says that a test passed and none failed. This is required if the exit code
/// says nothing.
pub fn says_passed(script: &str, output: &str) -> bool {
    static PASSED: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?m)\b[1-9]\d* (tests? |specs? )?(passed|passing|pass)\b|test result: ok\. [1-9]|^OK\b|^ok\b|^PASS(ED)?\b|^(#|ℹ) pass [1-9]|Tests run: [1-9]|\bBUILD SUCCESS|100% tests passed|\b[1-9]\d* examples?, 0 failures|(?i:all tests (have )?pass)|Passed:\s+[1-9]|^# ok\b",
        )
        .ok()
    });
    // The wording of a hand-written test script. What the command itself prints is not the result
    // of a test.
    static WELL: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?i)\bpass(ed|es)?\b|\ball (is )?(good|well|ok|green)\b|\bsuccess(ful|fully)?\b",
        )
        .ok()
    });
    let output = &without_own_words(script, output);
    let prints = script.contains("echo") || script.contains("printf");
    let well = matches(&WELL, output) && !prints && !tells_of_failure(output);
    let says = matches(&PASSED, output) || well;
    says && !says_failed(output) && !ran_none(output) && !is_silenced(script)
}

/// Whether the output says that a build failed or a linter found something.
pub fn says_broken(output: &str) -> bool {
    static BROKEN: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?m)^error(\[|:)|: error\b|\berror TS\d|could not compile|^Found [1-9]\d* errors?|\b[1-9]\d* (problems?|errors?|warnings? emitted)\b|\bSyntaxError\b|^Traceback|would reformat|^BUILD FAIL|^make(\[\d+\])?: \*\*\*|^npm (ERR!|error)",
        )
        .ok()
    });
    matches(&BROKEN, output)
}

/// The first line with a warning of a compiler or linter.
pub fn warning(output: &str) -> Option<&str> {
    static WARNS: Pattern =
        LazyLock::new(|| Regex::new(r"(?i)^\s*warning\b|: warning\b|\b[1-9]\d* warnings?\b").ok());
    output.lines().find(|line| matches(&WARNS, line)).map(str::trim)
}

/// What a test run says about tests that it skipped, in its own words.
pub fn tests_left_out(output: &str) -> Vec<&str> {
    static LEFT_OUT: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b[1-9]\d* (skipped|deselected|ignored|pending|filtered out|xfailed|rerun|flaky)\b|\bskipped[=:] ?[1-9]\d*\b|^# (skipped|todo) [1-9]\d*",
        )
        .ok()
    });
    const HINTS: [&str; 8] =
        ["kipped", "deselected", "ignored", "pending", "filtered", "xfailed", "rerun", "flaky"];
    let mut found = Vec::new();
    if !HINTS.iter().any(|hint| output.contains(hint)) {
        return found;
    }
    for one in LEFT_OUT.iter().flat_map(|form| form.find_iter(output)).map(|one| one.as_str()) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found.truncate(3);
    found
}

/// Whether the text uses the words in which test runners report success.
pub fn reads_like_a_test_result(text: &str) -> bool {
    static RESULT: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b\d+ (tests? )?(passed|passing)\b|test result: ok|\bran \d+ tests?\b|\btests run: \d+|\bok \(\d+ tests?|\ball tests pass",
        )
        .ok()
    });
    matches(&RESULT, text)
}

/// Whether the text reports that something went wrong.
pub fn tells_of_failure(text: &str) -> bool {
    static WRONG: Pattern =
        LazyLock::new(|| Regex::new(r"(?i)fail|error|traceback|panicked|not ok|assert").ok());
    matches(&WRONG, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_nothing_is_told_from_one_of_tests() {
        for text in [
            "collected 0 items\nno tests ran in 0.01s",
            "Ran 0 tests in 0.000s\n\nOK",
            "running 0 tests\n",
            "?   \tx\t[no test files]",
            "No tests found, exiting with code 0",
            "     Summary [   0.000s] 0 tests run: 0 passed, 2 skipped",
            "[INFO] Tests are skipped.",
            "make: 'test' is up to date.",
            "make[1]: Nothing to be done for 'check'.",
            "> shop@1.0.0 test\n> exit 0",
            "No test is available in Shop.Tests.dll.",
            "No test matches the given testcase filter `X` in /p/a.dll",
            "ok  \tx/y\t0.004s [no tests to run]",
            "No tests executed!",
            "No examples found.\n\n0 examples, 0 failures",
            "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
            "ok | 0 passed | 0 failed (2ms)",
            "ℹ tests 0\nℹ suites 0\nℹ pass 0",
            "Executed 0 tests, with 0 failures (0 unexpected)",
            "1..0",
            "Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS",
            "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
            "[==========] 0 tests from 0 test suites ran.\n[  PASSED  ] 0 tests.",
            "No tests defined.",
            "0 features passed, 0 failed\n0 scenarios passed, 0 failed",
            "  ✖ Couldn’t find any files to test",
        ] {
            assert!(ran_none(text), "{text}");
        }
        for text in [
            "running 4 tests\nrunning 0 tests\n",
            "3 passed",
            "ok  \tx/y\t0.01s\n?   \tx\t[no test files]",
            "Summary [   0.005s] 2 tests run: 2 passed, 0 skipped",
            "ok  \tx/y\t0.004s\nok  \tx/z\t(cached)\tcoverage: 80.0% of statements",
            "10 examples, 0 failures",
            "> Task :a:test NO-SOURCE\n> Task :b:test\n\nBUILD SUCCESSFUL",
            "ok | 2 passed | 0 failed (2ms)",
            "ℹ tests 20\nℹ pass 20",
            "Executed 10 tests, with 0 failures",
            "1..10\nok 1 a",
            "Files=1, Tests=20",
            "10 runs, 20 assertions, 0 failures",
            "OK (30 tests, 50 assertions)",
            "1 feature passed, 0 failed\n2 scenarios passed",
        ] {
            assert!(!ran_none(text), "{text}");
        }
    }

    #[test]
    fn outputs_tell_what_came_of_tests() {
        for text in [
            "1 failed, 3 passed",
            "FAILED (failures=1)",
            "test result: FAILED. 1 passed",
            "--- FAIL: TestX",
            "Tests run: 3, Failures: 1, Errors: 0",
            "not ok 2 - x",
            "make: [Makefile:2: test] Error 1 (ignored)",
        ] {
            assert!(says_failed(text), "{text}");
        }
        assert!(says_failed("✓ shows 2 errors\n✕ adds\n1 failed"));
        for text in [
            "  ✓ shows 2 errors (3 ms)\n1 passed",
            "test after 3 failures ... ok",
            "a.py::test_2_errors PASSED [ 50%]",
        ] {
            assert!(!says_failed(text), "{text}");
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
        for script in ["pytest >/dev/null; echo OK", "if pytest; then echo OK; else echo OK; fi"] {
            assert!(!says_passed(script, "OK"), "{script}");
        }
        assert!(!says_passed("! pytest && echo all good", "all good"));
        for text in ["error[E0425]: cannot find", "a.c:3:1: error: expected", "Found 2 errors."] {
            assert!(says_broken(text), "{text}");
        }
        for text in ["Finished dev in 2s", "0 errors", "All checks passed!"] {
            assert!(!says_broken(text), "{text}");
        }
        for text in ["warning: unused", "a.c:3:1: warning: unused", "Done, with 2 warnings"] {
            assert!(warning(text).is_some(), "{text}");
        }
        for text in ["0 warnings", "0 Warning(s)", "test shows_warnings ... ok"] {
            assert_eq!(warning(text), None, "{text}");
        }
        for (text, what) in [
            ("== 1 passed, 1 deselected in 0.02s ==", "1 deselected"),
            ("OK (skipped=1)", "skipped=1"),
            ("Tests run: 2, Failures: 0, Skipped: 1", "Skipped: 1"),
            ("test result: ok. 1 passed; 0 ignored; 3 filtered out", "3 filtered out"),
            ("2 passed, 0 skipped", ""),
            ("3 passed, 4 rerun in 0.1s", "4 rerun"),
        ] {
            assert_eq!(tests_left_out(text).concat(), what, "{text}");
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
