//! Signs in the changes that are worth a look: facts with their place, not accusations. Most of
//! them have an honest reason. The table omits signs that are often wrong.
//!
//! | sign | found in |
//! |---|---|
//! | a test file is deleted | the file's name; one whose tests stand in another file now is moved |
//! | fewer tests than before | definitions of tests taken away, less those put there or moved |
//! | a test is skipped | `#[ignore]`, `pytest.mark.skip`, `it.skip`, `t.Skip`, `@Disabled`, … |
//! | fewer assertions than before | a test file |
//! | an expected value is rewritten | an assertion of a test file that differs in its literals only |
//! | an assertion that cannot fail | `assert True`, `assert!(true)`, … and what is compared with itself |
//! | a test is left out | `signs/weakened.rs`: `#[cfg(test)]`, `unittest.TestCase` taken away, `//go:build` put there |
//! | a test replaces what it tests | `signs/weakened.rs`: `patch("cart.total")`, and an assertion about `total()` |
//! | a test defines what it imported before | `signs/weakened.rs`: it tests a copy |
//! | a part of a test never runs | `signs/weakened.rs`: `if False:`, `if (false) {`, `for x in []:` put into a test |
//! | a test has to fail now | `signs/weakened.rs`: `#[should_panic]` put alone before a test |
//! | nothing waits for this assertion | `signs/weakened.rs`: `assert.rejects(…)` without `await` |
//! | a test ends early | `signs/weakened.rs`: a `return` or an `exit 0` put into a test, alone |
//! | an assertion asks for less | `signs/weakened.rs`: one that compared with a value, and only asks for any now |
//! | an assertion is replaced, a failed one is caught | `signs/weakened.rs`: `assertEqual = …`, `except AssertionError` in a test |
//! | what tests compare with is edited | a snapshot or another file of expected results, by its name |
//! | a script hides the exit code of its tests | `signs/runner.rs`: `\|\| true`, or an `exit 0` or `echo` at its end |
//! | a command is replaced by one that does nothing, a failure is ignored now | `signs/runner.rs`: `echo`, `exit 0`, `\|\| true` in a Makefile, a script, package.json, … |
//! | an error is swallowed | `signs/weakened.rs`: `except …: pass`, `catch (e) {}` |
//! | a stub | `todo!()`, `NotImplementedError`, `UnsupportedOperationException`, … |
//! | a TODO | a line put there |
//! | a warning is silenced | `# type: ignore`, `@ts-ignore`, `eslint-disable`, `#[allow(`, `//nolint` |
//! | a test without a body, a stub | `signs/bodies.rs`: an empty function in a language that is known |
//! | CI or checks are edited | the file's name |
//! | the way the tests run is edited | `signs/runner.rs`: `conftest.py`, the test script of package.json, … |
//! | the way linters run is edited | `signs/runner.rs`: their files, and their lines in others |
//! | a file has the name of a program | `signs/runner.rs`: `bin/pytest`, `cargo`, … put there |
//! | the output of a test run, in a file | `signs/runner.rs`: prose that was put there |
//! | a merge marker | a line put there |
//! | a file without content | a file put there |

mod bodies;
mod runner;
mod weakened;

use std::sync::LazyLock;

use regex::Regex;

use super::facts::{How, Sign};

/// Limits for the signs of one kind in one file, for all signs, and for the length of a quote.
const OF_A_KIND: usize = 2;
const MOST: usize = 24;
const QUOTE: usize = 100;

/// The changes in one file, line by line.
#[derive(Debug, Clone, Default)]
pub struct FileDiff {
    pub path: String,
    pub how: Option<How>,
    pub removed: Vec<String>,
    /// The added lines with their line numbers.
    pub added: Vec<(u32, String)>,
    /// The lines behind which something was removed and nothing put in its place.
    pub cuts: Vec<u32>,
    /// Whether the file is new and has no content.
    pub empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Python,
    Script,
    Go,
    Java,
    Shell,
}

/// Matches nothing.
const NEVER: &str = r"[^\s\S]";

struct Patterns {
    test: Regex,
    skip: Regex,
    assertion: Regex,
    always: Regex,
    stub: Regex,
    silenced: Regex,
}

impl Language {
    fn of(path: &str) -> Option<Self> {
        Some(match path.rsplit_once('.')?.1 {
            "rs" => Self::Rust,
            "py" => Self::Python,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => Self::Script,
            "go" => Self::Go,
            "java" | "kt" => Self::Java,
            "sh" | "bash" | "bats" => Self::Shell,
            _ => return None,
        })
    }

    fn patterns(self) -> Option<&'static Patterns> {
        static ALL: LazyLock<Vec<Option<Patterns>>> = LazyLock::new(|| {
            let row = |patterns: [&str; 6]| {
                let mut all = patterns.iter().map(|pattern| Regex::new(pattern).ok());
                let mut next = || all.next().flatten();
                Some(Patterns {
                    test: next()?,
                    skip: next()?,
                    assertion: next()?,
                    always: next()?,
                    stub: next()?,
                    silenced: next()?,
                })
            };
            vec![
                row([
                    r"^\s*#\[(\w+::)?test\b",
                    r"^\s*#\[(ignore\b|cfg\((any\(\)|false)\)|cfg_attr\(.*\bignore\b)",
                    r"\b(debug_)?assert(_\w+)?!",
                    r"\bassert!\(\s*true\s*[,)]|\bassert!\(.*\|\|\s*true\s*\)",
                    r"\b(todo|unimplemented)!\(",
                    r"#!?\[(allow|expect)\(",
                ]),
                row([
                    r"^\s*(async\s+)?def test_",
                    r"@pytest\.mark\.(skip|skipif|xfail)\b|@(unittest\.)?(skip(If|Unless)?|expectedFailure)\b|\bpytest\.(skip|xfail)\(|\.skipTest\(|\braise (unittest\.)?SkipTest\b|^\s*__test__\s*=\s*False",
                    r"^\s*assert\b|\bself\.assert\w+\(|\bpytest\.raises\(",
                    r"^\s*assert\s+(True|1)\s*(#.*)?$|\bassertTrue\(\s*True\s*\)|^\s*assert\b.*\bor True\s*$",
                    r"\braise NotImplementedError\b",
                    r"#\s*(type:\s*ignore|noqa|pyright:\s*ignore|pylint:\s*disable|nosec)\b",
                ]),
                row([
                    r"(^|[^.\w])(it|test)(\.(each\b.*|only|skip|todo|failing|fails|fixme|concurrent))?\(",
                    r"\b(it|test|describe)\.(skip|todo|only|fixme|failing|fails)\b|(^|[^.\w])(xit|xdescribe|xtest|fit|fdescribe)\(|\bthis\.skip\(\)",
                    r"\bexpect\(|\bassert(\.\w+)?\(",
                    r"\bexpect\(\s*(true|1)\s*\)\.(toBe|toEqual)\(\s*(true|1)\s*\)|\bassert(\.ok)?\(\s*true\s*\)",
                    r#"(?i)throw new Error\(\s*["'`]((method |function )?not (yet )?implemented|todo|unimplemented)"#,
                    r"@ts-(ignore|nocheck|expect-error)\b|eslint-disable|\bas (any|never)\s*([;,)\]}]|$)|\bas unknown as\b",
                ]),
                row([
                    r"^func (Test|Fuzz)\w*\(",
                    r"\bt\.Skip(f|Now)?\(",
                    r"\bt\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(assert|require)\.\w+\(",
                    r"\b(assert|require)\.True\(\s*t,\s*true\b",
                    r#"(?i)\bpanic\(\s*"(not implemented|todo|unimplemented)"#,
                    r"//\s*nolint\b",
                ]),
                row([
                    r"^\s*@(Test|ParameterizedTest)\b",
                    r"^\s*@([\w.]+\.)?(Disabled\w*|Ignore)\b|@Test\(.*\benabled\s*=\s*false|\bassume(True\(\s*false|False\(\s*true)\b",
                    r"\b(assert\w+|verify|fail)\(",
                    r"\bassertTrue\(\s*true\s*\)",
                    r#"\bnew UnsupportedOperationException\(|\bTODO\(""#,
                    r"@SuppressWarnings\b",
                ]),
                row([
                    r"^@test\b|^\s*(function\s+)?test_\w+\s*\(\)",
                    r#"^\s*skip(\s+["']|$)"#,
                    r"^\s*(if\s+|!\s+)?(\[\[?|test)\s.*\s(==?|!=|-eq|-ne|-[gl][te])\s|^\s*(assert|refute)\w*\s|^\s*(diff|cmp)\s|\bgrep\s+-\w*q",
                    r"^\s*(\[\[?|test)\s+1\s+(==?|-eq)\s+1\b",
                    NEVER,
                    r"#\s*shellcheck\s+disable",
                ]),
            ]
        });
        ALL.get(self as usize)?.as_ref()
    }
}

pub fn is_test_file(path: &str) -> bool {
    static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(^|/)(tests?|__tests__|spec|testdata|src/test)/|(^|/)test_[^/]*\.py$|_test\.(py|go|rs)$|(^|/)tests?\.rs$|\.(test|spec)\.[cm]?[jt]sx?$|(Test|Tests|IT)\.(java|kt)$|(^|/)([^/]*[-_.])?tests?\.(sh|bats)$|(^|/)tests?[-_][^/]*\.(sh|bats)$",
        )
        .ok()
    });
    TEST.as_ref().is_some_and(|pattern| pattern.is_match(path))
}

/// Whether the file holds expected results for tests, rather than code.
fn is_expectation(path: &str) -> bool {
    static EXPECTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(^|/)(__snapshots__|snapshots|goldens?|expected)/|\.(snap|golden|expected|approved\.\w+)$|(^|/)tests?/.*\.(out|stdout|stderr)$|(^|/)(tests?|testdata|fixtures|spec)/(.*/)?[^/]*(expected|golden|snapshot)[^/]*$",
        )
        .ok()
    });
    let hints = ["snap", "golden", "expected", "approved", "out", "err"];
    Language::of(path).is_none()
        && hints.iter().any(|hint| path.contains(hint))
        && EXPECTED.as_ref().is_some_and(|form| form.is_match(path))
}

fn is_about_checks(path: &str) -> bool {
    static CI: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^\.github/workflows/|^\.gitlab-ci\.ya?ml$|^\.circleci/|(^|/)Jenkinsfile$|^azure-pipelines\.ya?ml$|^\.pre-commit-config\.yaml$|(^|/)SUPERVISOR\.md$|^\.buildkite/|^\.travis\.yml$|^\.drone\.ya?ml$|^\.woodpecker|^bitbucket-pipelines\.yml$|^\.husky/|^lefthook\.ya?ml$",
        )
        .ok()
    });
    CI.as_ref().is_some_and(|pattern| pattern.is_match(path))
}

/// Files that are commonly left empty on purpose.
fn may_be_empty(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(name, "__init__.py" | ".gitkeep" | ".keep" | "py.typed" | ".nojekyll")
        || name.ends_with(".lock")
        || name == ".cargo-lock"
}

pub fn signs(files: &[FileDiff]) -> Vec<Sign> {
    let mut found: Vec<Sign> = files.iter().flat_map(|file| of_file(file, files)).collect();
    found.truncate(MOST);
    found
}

/// A sign in a line of a file; line 0 stands for the file as a whole.
fn sign(file: &FileDiff, line: u32, what: &str, text: &str) -> Sign {
    let place = if line == 0 { file.path.clone() } else { format!("{}:{line}", file.path) };
    let quote = text.trim().chars().take(QUOTE).collect();
    Sign { place, what: what.to_owned(), quote }
}

/// The number of removed lines of this form that were not added in another file: moved lines are
/// not lost.
fn lost(file: &FileDiff, form: &Regex, files: &[FileDiff]) -> usize {
    let others = files.iter().filter(|other| other.path != file.path);
    let mut came: Vec<&str> = others
        .flat_map(|other| &other.added)
        .map(|(_, line)| line.trim())
        .filter(|line| form.is_match(line))
        .collect();
    let mut went = 0;
    for line in file.removed.iter().filter(|line| form.is_match(line)) {
        match came.iter().position(|other| *other == line.trim()) {
            Some(at) => {
                came.swap_remove(at);
            }
            None => went += 1,
        }
    }
    went
}

fn is_moved(file: &FileDiff, files: &[FileDiff]) -> bool {
    let patterns = Language::of(&file.path).and_then(Language::patterns);
    patterns.is_some_and(|patterns| {
        let had = file.removed.iter().any(|line| patterns.test.is_match(line));
        had && lost(file, &patterns.test, files) == 0 && lost(file, &patterns.assertion, files) == 0
    })
}

fn of_file(file: &FileDiff, files: &[FileDiff]) -> Vec<Sign> {
    let mut found = Vec::new();
    let whole =
        |what: &str| Sign { place: file.path.clone(), what: what.to_owned(), quote: String::new() };
    let is_test = is_test_file(&file.path);
    if is_test && file.how == Some(How::Deleted) {
        return if is_moved(file, files) { found } else { vec![whole("a test file is deleted")] };
    }
    if is_about_checks(&file.path) {
        found.push(whole("CI or checks are edited"));
    }
    if file.empty && !may_be_empty(&file.path) {
        found.push(whole("a file without content"));
    }
    found.extend(runner::edited(file).or_else(|| runner::emptied(file)));
    found.extend(runner::ignores(file));
    found.extend(runner::linters(file));
    found.extend(runner::impostor(file));
    found.extend(runner::log(file));
    found.extend(runner::script(file));
    if file.how == Some(How::Modified) && is_expectation(&file.path) {
        found.push(whole("what tests compare with is edited"));
    }
    found.extend(weakened::never_runs(file));
    found.extend(weakened::ends_early(file));
    let mut lines = |what: &str, is: &dyn Fn(&str) -> bool| {
        let matching = file.added.iter().filter(|(_, line)| is(line)).take(OF_A_KIND);
        found.extend(matching.map(|(at, line)| sign(file, *at, what, line)));
    };
    lines("a merge marker", &|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "));
    let Some((language, patterns)) =
        Language::of(&file.path).and_then(|language| Some((language, language.patterns()?)))
    else {
        return found;
    };
    lines("a test is skipped", &|line| patterns.skip.is_match(line));
    lines("an assertion that cannot fail", &|line| {
        patterns.always.is_match(line) || is_test && weakened::compares_with_itself(line)
    });
    lines("a stub", &|line| patterns.stub.is_match(line) && !bodies::is_abstract(file, line));
    lines("a warning is silenced", &|line| patterns.silenced.is_match(line));
    if !is_test {
        lines("a TODO", &|line| {
            is_todo(line) && !file.removed.iter().any(|old| old.trim() == line.trim())
        });
    }
    found.extend(bodies::without(file, language));
    found.extend(weakened::left_out(file));
    match language {
        Language::Rust => found.extend(weakened::has_to_fail(file)),
        Language::Script if is_test => found.extend(weakened::is_not_awaited(file)),
        _ => {}
    }
    found.extend(weakened::swallows(file, language));
    let fewer = |pattern: &Regex| {
        let removed = lost(file, pattern, files);
        let added = file.added.iter().filter(|(_, line)| pattern.is_match(line)).count();
        removed.saturating_sub(added)
    };
    match fewer(&patterns.test) {
        0 => {}
        many => found.push(whole(&format!("{many} fewer tests than before"))),
    }
    // In Rust, tests stand in the same file as the code.
    if is_test || language == Language::Rust {
        match fewer(&patterns.assertion) {
            0 => {}
            many => found.push(whole(&format!("{many} fewer assertions than before"))),
        }
        found.extend(rewritten(file, patterns));
        if file.removed.iter().any(|line| patterns.assertion.is_match(line)) {
            found.extend(weakened::asks_for_less(file));
        }
        found.extend(weakened::without_effect(file));
        found.extend(weakened::replaces_the_tested(file, &patterns.assertion));
        found.extend(weakened::tests_a_copy(file));
    }
    found
}

fn is_todo(line: &str) -> bool {
    static TODO: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(//|#|/\*|\*)\s*(TODO|FIXME|XXX)\b").ok());
    TODO.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// Assertions that existed before with other literals.
fn rewritten(file: &FileDiff, patterns: &Patterns) -> Vec<Sign> {
    static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\b\d[\w.]*\b|\b(true|false|True|False|None|null)\b"#).ok()
    });
    let Some(literal) = LITERAL.as_ref() else { return Vec::new() };
    let shape = |line: &str| literal.replace_all(line.trim(), "_").into_owned();
    let mut before: Vec<_> = file
        .removed
        .iter()
        .filter(|line| patterns.assertion.is_match(line))
        .map(|line| (line.trim(), shape(line)))
        .collect();
    let mut found = Vec::new();
    for (at, line) in &file.added {
        let same = |(old, form): &&(&str, String)| *old != line.trim() && *form == shape(line);
        if patterns.assertion.is_match(line)
            && let Some(at_before) = before.iter().position(|old| same(&old))
        {
            // Several such lines follow each other in the same order as before.
            let (old, _) = before.remove(at_before);
            found.push(Sign {
                place: format!("{}:{at}", file.path),
                what: "an expected value is rewritten".to_owned(),
                quote: format!("{old}  →  {}", line.trim()).chars().take(2 * QUOTE).collect(),
            });
        }
    }
    found.truncate(OF_A_KIND);
    found
}

#[cfg(test)]
mod tests;
