//! Signs about how the tests run, and about files that look like the output of a test run.

use std::sync::LazyLock;

use regex::Regex;

use super::{FileDiff, Sign, is_test_file, sign};
use crate::brief::edits::is_prose;
use crate::brief::facts::How;

type Pattern = LazyLock<Option<Regex>>;

fn matches(pattern: &'static Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Files that only say how tests run.
static RUNNERS: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(^|/)(pytest\.ini|tox\.ini|noxfile\.py|conftest\.py|\.coveragerc|(jest|vitest|karma|playwright|cypress)\.conf(ig)?\.\w+|\.mocharc(\.\w+)?|nextest\.toml|surefire\.xml)$",
    )
    .ok()
});

/// Lines of other files that do.
fn says_how(path: &str, line: &str) -> bool {
    static SCRIPTS: Pattern = LazyLock::new(|| Regex::new(r#""(pre|post)?test[\w:-]*"\s*:"#).ok());
    static PYTHON: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*(addopts|testpaths|python_files|norecursedirs)\s*=|--(deselect|ignore)\b|\[tool\.pytest").ok()
    });
    static CARGO: Pattern =
        LazyLock::new(|| Regex::new(r"^\s*(test|autotests|harness|doctest)\s*=\s*false").ok());
    static MAKE: Pattern = LazyLock::new(|| {
        Regex::new(r"^(test|check)[\w-]*\s*:|^\t.*\b(pytest|unittest|cargo test|go test|npm test|jest|vitest|ctest)\b").ok()
    });
    static MAVEN: Pattern = LazyLock::new(|| {
        Regex::new(r"skipTests|maven\.test\.skip|testFailureIgnore|ignoreFailures").ok()
    });
    match path.rsplit('/').next().unwrap_or_default() {
        "package.json" => matches(&SCRIPTS, line),
        "pyproject.toml" | "setup.cfg" => matches(&PYTHON, line),
        "Cargo.toml" => matches(&CARGO, line),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => matches(&MAKE, line),
        "pom.xml" | "build.gradle" | "build.gradle.kts" => matches(&MAVEN, line),
        _ => false,
    }
}

pub fn edited(file: &FileDiff) -> Option<Sign> {
    // One that was not there before runs nothing less than before.
    let line = || {
        let added = file.added.iter().find(|(_, line)| says_how(&file.path, line));
        let removed = file.removed.iter().any(|line| says_how(&file.path, line));
        let is_new = file.how == Some(How::Added);
        added
            .filter(|_| !is_new)
            .map(|(at, line)| (*at, line.clone()))
            .or_else(|| removed.then(|| (0, String::new())))
    };
    if matches(&RUNNERS, &file.path) {
        return Some(sign(file, 0, WHAT, ""));
    }
    line().map(|(at, text)| sign(file, at, WHAT, &text))
}

const WHAT: &str = "the way the tests run is edited";

/// Prose, or a file without a kind, that was put there and says that tests passed.
pub fn log(file: &FileDiff) -> Option<Sign> {
    static RESULT: Pattern = LazyLock::new(|| {
        Regex::new(r"^=*\s*\d+ passed(,| in)|^test result: ok\.|^Ran \d+ tests? in|^Tests run: \d+, Failures|^ok\s+\S+\s+[\d.]+s$|^Tests:\s+\d+ passed").ok()
    });
    let may_be = is_prose(&file.path) || !file.path.contains('.');
    if !may_be || is_test_file(&file.path) {
        return None;
    }
    let (at, line) = file.added.iter().find(|(_, line)| matches(&RESULT, line))?;
    Some(sign(file, *at, "the output of a test run, in a file", line))
}
