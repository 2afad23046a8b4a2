//! Signs worth a look in what changed: facts with their place, not accusations. Most of them have
//! an honest reason. A sign that is often wrong is not in the table.
//!
//! | sign | found in |
//! |---|---|
//! | a test file is deleted | the file's name |
//! | fewer tests than before | definitions of tests taken away, less those put there |
//! | a test is skipped | `#[ignore]`, `pytest.mark.skip`, `it.skip`, `t.Skip`, `@Disabled`, … |
//! | fewer assertions than before | a test file |
//! | an expected value is rewritten | an assertion of a test file that differs in its literals only |
//! | an assertion that cannot fail | `assert True`, `assert!(true)`, … |
//! | a stub | `todo!()`, `NotImplementedError`, `UnsupportedOperationException`, … |
//! | a TODO | a line put there |
//! | a warning is silenced | `# type: ignore`, `@ts-ignore`, `eslint-disable`, `#[allow(`, `//nolint` |
//! | a test without a body, a stub | `signs/bodies.rs`: an empty function in a language that is known |
//! | CI or checks are edited | the file's name |
//! | the way the tests run is edited | `signs/runner.rs`: `conftest.py`, the test script of package.json, … |
//! | the output of a test run, in a file | `signs/runner.rs`: prose that was put there |
//! | a merge marker | a line put there |
//! | a file without content | a file put there |

mod bodies;
mod runner;

use std::sync::LazyLock;

use regex::Regex;

use super::facts::{How, Sign};

/// Of one kind in one file.
const OF_A_KIND: usize = 2;
const MOST: usize = 24;
const QUOTE: usize = 100;

/// What happened to one file, line by line.
#[derive(Debug, Clone, Default)]
pub struct FileDiff {
    pub path: String,
    pub how: Option<How>,
    pub removed: Vec<String>,
    /// With their line numbers.
    pub added: Vec<(u32, String)>,
    /// It was put there, and has nothing in it.
    pub empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Python,
    Script,
    Go,
    Java,
}

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
                    r"^\s*#\[ignore\b",
                    r"\b(assert(_eq|_ne|_matches)?|debug_assert\w*)!",
                    r"\bassert!\(\s*true\s*[,)]",
                    r"\b(todo|unimplemented)!\(",
                    r"#!?\[allow\(",
                ]),
                row([
                    r"^\s*(async\s+)?def test_",
                    r"@pytest\.mark\.(skip|skipif|xfail)\b|@(unittest\.)?skip(If|Unless)?\b|\bpytest\.(skip|xfail)\(|\.skipTest\(",
                    r"^\s*assert\b|\bself\.assert\w+\(|\bpytest\.raises\(",
                    r"^\s*assert\s+(True|1)\s*(#.*)?$|\bassertTrue\(\s*True\s*\)",
                    r"\braise NotImplementedError\b",
                    r"#\s*(type:\s*ignore|noqa)\b",
                ]),
                row([
                    r"(^|[^.\w])(it|test)(\.each\b.*)?\(",
                    r"\b(it|test|describe)\.(skip|todo|only|fixme)\b|(^|[^.\w])(xit|xdescribe|xtest|fit|fdescribe)\(",
                    r"\bexpect\(|\bassert(\.\w+)?\(",
                    r"\bexpect\(\s*(true|1)\s*\)\.(toBe|toEqual)\(\s*(true|1)\s*\)|\bassert(\.ok)?\(\s*true\s*\)",
                    r#"(?i)throw new Error\(\s*["'`](not implemented|todo|unimplemented)"#,
                    r"@ts-(ignore|nocheck)\b|eslint-disable",
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
                    r"^\s*@(Disabled|Ignore)\b",
                    r"\b(assert\w+|verify|fail)\(",
                    r"\bassertTrue\(\s*true\s*\)",
                    r#"\bnew UnsupportedOperationException\(|\bTODO\(""#,
                    r"@SuppressWarnings\b",
                ]),
            ]
        });
        ALL.get(self as usize)?.as_ref()
    }
}

pub fn is_test_file(path: &str) -> bool {
    static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(^|/)(tests?|__tests__|spec|testdata|src/test)/|(^|/)test_[^/]*\.py$|_test\.(py|go|rs)$|(^|/)tests?\.rs$|\.(test|spec)\.[cm]?[jt]sx?$|(Test|Tests|IT)\.(java|kt)$",
        )
        .ok()
    });
    TEST.as_ref().is_some_and(|pattern| pattern.is_match(path))
}

fn is_about_checks(path: &str) -> bool {
    static CI: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^\.github/workflows/|^\.gitlab-ci\.ya?ml$|^\.circleci/|(^|/)Jenkinsfile$|^azure-pipelines\.ya?ml$|^\.pre-commit-config\.yaml$|(^|/)SUPERVISOR\.md$|^\.buildkite/|^\.travis\.yml$",
        )
        .ok()
    });
    CI.as_ref().is_some_and(|pattern| pattern.is_match(path))
}

/// Empty on purpose, as everybody knows.
fn may_be_empty(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(name, "__init__.py" | ".gitkeep" | ".keep" | "py.typed" | ".nojekyll")
}

pub fn signs(files: &[FileDiff]) -> Vec<Sign> {
    let mut found: Vec<Sign> = files.iter().flat_map(of_file).collect();
    found.truncate(MOST);
    found
}

/// One in a line of a file; of the file as a whole, the line is 0.
fn sign(file: &FileDiff, line: u32, what: &str, text: &str) -> Sign {
    let place = if line == 0 { file.path.clone() } else { format!("{}:{line}", file.path) };
    let quote = text.trim().chars().take(QUOTE).collect();
    Sign { place, what: what.to_owned(), quote }
}

fn of_file(file: &FileDiff) -> Vec<Sign> {
    let mut found = Vec::new();
    let whole =
        |what: &str| Sign { place: file.path.clone(), what: what.to_owned(), quote: String::new() };
    let is_test = is_test_file(&file.path);
    if is_test && file.how == Some(How::Deleted) {
        return vec![whole("a test file is deleted")];
    }
    if is_about_checks(&file.path) {
        found.push(whole("CI or checks are edited"));
    }
    if file.empty && !may_be_empty(&file.path) {
        found.push(whole("a file without content"));
    }
    found.extend(runner::edited(file));
    found.extend(runner::log(file));
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
    lines("an assertion that cannot fail", &|line| patterns.always.is_match(line));
    lines("a stub", &|line| patterns.stub.is_match(line));
    lines("a warning is silenced", &|line| patterns.silenced.is_match(line));
    if !is_test {
        lines("a TODO", &|line| {
            is_todo(line) && !file.removed.iter().any(|old| old.trim() == line.trim())
        });
    }
    found.extend(bodies::without(file, language));
    let fewer = |pattern: &Regex| {
        let removed = file.removed.iter().filter(|line| pattern.is_match(line)).count();
        let added = file.added.iter().filter(|(_, line)| pattern.is_match(line)).count();
        removed.saturating_sub(added)
    };
    match fewer(&patterns.test) {
        0 => {}
        many => found.push(whole(&format!("{many} fewer tests than before"))),
    }
    if is_test {
        match fewer(&patterns.assertion) {
            0 => {}
            many => found.push(whole(&format!("{many} fewer assertions than before"))),
        }
        found.extend(rewritten(file, patterns));
    }
    found
}

fn is_todo(line: &str) -> bool {
    static TODO: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(//|#|/\*|\*)\s*(TODO|FIXME|XXX)\b").ok());
    TODO.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// Assertions that were there before with other literals.
fn rewritten(file: &FileDiff, patterns: &Patterns) -> Vec<Sign> {
    static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\b\d[\w.]*\b|\b(true|false|True|False|None|null)\b"#).ok()
    });
    let Some(literal) = LITERAL.as_ref() else { return Vec::new() };
    let shape = |line: &str| literal.replace_all(line.trim(), "_").into_owned();
    let before: Vec<_> = file
        .removed
        .iter()
        .filter(|line| patterns.assertion.is_match(line))
        .map(|line| (line.trim(), shape(line)))
        .collect();
    let mut found = Vec::new();
    for (at, line) in &file.added {
        let same = |(old, form): &&(&str, String)| *old != line.trim() && *form == shape(line);
        if patterns.assertion.is_match(line)
            && let Some((old, _)) = before.iter().find(same)
        {
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
mod tests {
    use super::*;

    fn found(path: &str, removed: &[&str], added: &[&str]) -> Vec<String> {
        let file = FileDiff {
            path: path.into(),
            how: Some(How::Modified),
            removed: removed.iter().map(|&line| line.to_owned()).collect(),
            added: (1..).zip(added.iter().map(|&line| line.to_owned())).collect(),
            empty: false,
        };
        signs(&[file]).into_iter().map(|sign| sign.what).collect()
    }

    #[test]
    fn every_sign_is_found_in_every_language() {
        for (path, removed, added, sign) in [
            (
                "src/a.rs",
                &["    #[test]", "    fn works() {"][..],
                &[][..],
                "1 fewer tests than before",
            ),
            ("tests/test_a.py", &["def test_works():"], &[], "1 fewer tests than before"),
            ("a.test.ts", &["  it('works', () => {"], &[], "1 fewer tests than before"),
            ("a_test.go", &["func TestWorks(t *testing.T) {"], &[], "1 fewer tests than before"),
            ("src/test/ATest.java", &["  @Test"], &[], "1 fewer tests than before"),
            ("src/a.rs", &[], &["    #[ignore = \"slow\"]"], "a test is skipped"),
            ("tests/test_a.py", &[], &["@pytest.mark.skip(reason='x')"], "a test is skipped"),
            ("tests/test_a.py", &[], &["@unittest.skip('x')"], "a test is skipped"),
            ("a.spec.ts", &[], &["  it.skip('works', () => {"], "a test is skipped"),
            ("a.spec.js", &[], &["xdescribe('a', () => {"], "a test is skipped"),
            ("a.spec.js", &[], &["it.only('a', () => {"], "a test is skipped"),
            ("a_test.go", &[], &["\tt.Skip(\"later\")"], "a test is skipped"),
            ("ATest.java", &[], &["  @Disabled"], "a test is skipped"),
            ("tests/a.rs", &["    assert_eq!(a, 1);"], &[], "1 fewer assertions than before"),
            ("tests/test_a.py", &["    assert a == 1"], &[], "1 fewer assertions than before"),
            ("a.test.js", &["  expect(a).toBe(1)"], &[], "1 fewer assertions than before"),
            ("a_test.go", &["\t\tt.Errorf(\"x\")"], &[], "1 fewer assertions than before"),
            ("ATest.java", &["    assertEquals(1, a);"], &[], "1 fewer assertions than before"),
            (
                "tests/a.rs",
                &["assert_eq!(f(), 4);"],
                &["assert_eq!(f(), 5);"],
                "an expected value is rewritten",
            ),
            (
                "tests/test_a.py",
                &["    assert f() == 'a'"],
                &["    assert f() == 'b'"],
                "an expected value is rewritten",
            ),
            ("tests/test_a.py", &[], &["    assert True"], "an assertion that cannot fail"),
            ("tests/a.rs", &[], &["    assert!(true);"], "an assertion that cannot fail"),
            ("a.test.ts", &[], &["  expect(true).toBe(true)"], "an assertion that cannot fail"),
            ("src/a.rs", &[], &["    todo!()"], "a stub"),
            ("a.py", &[], &["    raise NotImplementedError"], "a stub"),
            ("a.ts", &[], &["  throw new Error('not implemented')"], "a stub"),
            ("a.go", &[], &["\tpanic(\"not implemented\")"], "a stub"),
            ("A.java", &[], &["throw new UnsupportedOperationException();"], "a stub"),
            ("a.py", &[], &["    # TODO handle accents"], "a TODO"),
            ("a.py", &[], &["x = y  # type: ignore"], "a warning is silenced"),
            ("a.ts", &[], &["// @ts-ignore"], "a warning is silenced"),
            ("src/a.rs", &[], &["#[allow(dead_code)]"], "a warning is silenced"),
            ("tests/test_a.py", &[], &["def test_a():", "    pass"], "a test without a body"),
            ("a.py", &[], &["def f(x):", "    pass", "", "y = 1"], "a stub"),
            ("src/a.rs", &[], &["#[test]", "fn a() {}"], "a test without a body"),
            ("a.test.ts", &[], &["it('a', () => {})"], "a test without a body"),
            ("a_test.go", &[], &["func TestA(t *testing.T) {}"], "a test without a body"),
            ("ATest.java", &[], &["@Test", "void a() {}"], "a test without a body"),
            ("conftest.py", &[], &["x"], "the way the tests run is edited"),
            (
                "package.json",
                &["    \"test\": \"jest\","],
                &["    \"test\": \"true\","],
                "the way the tests run is edited",
            ),
            ("pyproject.toml", &[], &["addopts = '-k fast'"], "the way the tests run is edited"),
            ("Cargo.toml", &[], &["test = false"], "the way the tests run is edited"),
            ("Makefile", &["\tcargo test"], &[], "the way the tests run is edited"),
            ("pom.xml", &[], &["<skipTests>true</skipTests>"], "the way the tests run is edited"),
            ("out.txt", &[], &["Ran 2 tests in 0.001s"], "the output of a test run, in a file"),
            ("log", &[], &["== 3 passed in 0.1s =="], "the output of a test run, in a file"),
            (".github/workflows/ci.yml", &[], &["x"], "CI or checks are edited"),
            ("SUPERVISOR.md", &[], &["x"], "CI or checks are edited"),
            ("notes.txt", &[], &["<<<<<<< HEAD"], "a merge marker"),
        ] {
            assert_eq!(found(path, removed, added), [sign], "{path} {removed:?} {added:?}");
        }
    }

    #[test]
    fn ordinary_work_has_no_signs() {
        for (path, removed, added) in [
            ("src/a.rs", &["fn f() -> u8 { 1 }"][..], &["fn f() -> u8 { 2 }"][..]),
            ("tests/test_a.py", &["def test_old():"], &["def test_new():"]),
            (
                "tests/test_a.py",
                &["    assert a == 1"],
                &["    assert a == 1", "    assert b == 2"],
            ),
            ("a.py", &["    # TODO x"], &["    # TODO x"]),
            ("README.md", &[], &["TODO list and todo!() in prose"]),
            ("a.py", &[], &["if rule == '=======':", "    pass"]),
            ("a.ts", &[], &["  audit('x'); submit(1)"]),
            ("a.go", &[], &["\tpanic(\"unreachable\")"]),
            ("a.py", &[], &["@abstractmethod", "def f(self):", "    pass"]),
            ("a.py", &[], &["class Mine(Exception):", "    pass"]),
            ("a.py", &[], &["def f():", "    pass", "    return 1"]),
            ("src/a.rs", &[], &["impl Marker for A {}", "fn new() {}"]),
            ("package.json", &[], &["    \"name\": \"test\","]),
            ("Cargo.toml", &[], &["[dev-dependencies]", "proptest = \"1\""]),
            ("CHANGELOG.md", &[], &["- 3 tests passed before"]),
        ] {
            let signs = found(path, removed, added);
            assert!(signs.is_empty(), "{path}: {signs:?}");
        }
    }

    #[test]
    fn a_deleted_test_file_and_an_empty_file_are_signs() {
        let deleted = FileDiff {
            path: "tests/test_a.py".into(),
            how: Some(How::Deleted),
            ..FileDiff::default()
        };
        let empty = FileDiff {
            path: "report.md".into(),
            how: Some(How::Added),
            empty: true,
            ..FileDiff::default()
        };
        let marker =
            FileDiff { path: "pkg/__init__.py".into(), empty: true, ..FileDiff::default() };
        let what: Vec<_> =
            signs(&[deleted, empty, marker]).into_iter().map(|sign| sign.what).collect();
        assert_eq!(what, ["a test file is deleted", "a file without content"]);
    }
}
