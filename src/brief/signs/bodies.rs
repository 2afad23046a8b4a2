//! Added functions with an empty body: tests that test nothing, and stubs.

use std::sync::LazyLock;

use regex::Regex;

use super::{FileDiff, Language, Sign, sign};

type Pattern = LazyLock<Option<Regex>>;

fn matches(pattern: &'static Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

pub fn without(file: &FileDiff, language: Language) -> Vec<Sign> {
    let mut found = Vec::new();
    for (at, (number, line)) in file.added.iter().enumerate() {
        // Only a line that directly follows in the file, not the next added one.
        let next = |distance: u32| {
            let (next, text) = file.added.get(at + distance as usize)?;
            (*next == number + distance).then_some(text.as_str())
        };
        let before = at.checked_sub(1).map_or("", |before| file.added[before].1.as_str());
        let what = match language {
            Language::Python => python(line, next(1), next(2), before),
            Language::Rust => (matches(&RUST_TEST, before) && matches(&RUST, line)).then_some(TEST),
            Language::Script => matches(&SCRIPT, line).then_some(TEST),
            Language::Go => matches(&GO, line).then_some(TEST),
            Language::Java => (before.trim() == "@Test" && matches(&JAVA, line)).then_some(TEST),
            Language::Shell => None,
        };
        found.extend(what.map(|what| sign(file, *number, what, line)));
    }
    found.truncate(super::OF_A_KIND);
    found
}

/// Whether something before the function says that it needs no body.
pub fn is_abstract(file: &FileDiff, line: &str) -> bool {
    const NEAR: usize = 12;
    static DEF: Pattern = LazyLock::new(|| Regex::new(r"^\s*(async\s+)?def ").ok());
    let Some(at) = file.added.iter().position(|(_, other)| other == line) else { return false };
    let above = file.added[..at].iter().rev().take(NEAR).map(|(_, line)| line.as_str());
    let mut above = above.skip_while(|line| !matches(&DEF, line)).skip(1);
    above.next().is_some_and(|line| line.contains("abstract"))
}

const TEST: &str = "a test without a body";
const STUB: &str = "a stub";

static RUST_TEST: Pattern = LazyLock::new(|| Regex::new(r"^\s*#\[(\w+::)?test\b").ok());
static RUST: Pattern = LazyLock::new(|| Regex::new(r"\bfn\s+\w+\(\)\s*\{\s*\}").ok());
static SCRIPT: Pattern = LazyLock::new(|| {
    Regex::new(r"(^|[^.\w])(it|test)\(.*?(=>|function\s*\(\w*\))\s*\{\s*\}\s*\)").ok()
});
static GO: Pattern =
    LazyLock::new(|| Regex::new(r"^func Test\w*\(\w+ \*testing\.T\)\s*\{\s*\}").ok());
static JAVA: Pattern = LazyLock::new(|| Regex::new(r"\bvoid\s+\w+\(\)\s*\{\s*\}").ok());

/// A `def` whose whole body is `pass`, unless it is abstract and meant to be empty.
fn python(
    line: &str,
    next: Option<&str>,
    after: Option<&str>,
    before: &str,
) -> Option<&'static str> {
    static DEF: Pattern =
        LazyLock::new(|| Regex::new(r"^\s*(async\s+)?def \w+\(.*\).*:\s*(pass)?$").ok());
    let depth = |line: &str| line.len() - line.trim_start().len();
    if !matches(&DEF, line) || before.contains("abstractmethod") || before.contains("overload") {
        return None;
    }
    let inline = line.trim_end().ends_with("pass");
    let only = next.is_some_and(|body| body.trim() == "pass")
        && after.is_none_or(|after| after.trim().is_empty() || depth(after) <= depth(line));
    let is_test = line.contains("def test_");
    (inline || only).then_some(if is_test { TEST } else { STUB })
}
