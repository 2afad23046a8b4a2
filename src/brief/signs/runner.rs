//! Signs about how tests and linters run, and about files that look like the output of a test run.

use std::sync::LazyLock;

use regex::Regex;

use super::{FileDiff, Sign, is_test_file, sign};
use crate::brief::command::is_test;
use crate::brief::edits::is_prose;
use crate::brief::facts::How;

type Pattern = LazyLock<Option<Regex>>;

fn matches(pattern: &'static Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Files whose only purpose is to say how tests run.
static RUNNERS: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(^|/)(pytest\.ini|tox\.ini|noxfile\.py|conftest\.py|\.coveragerc|(jest|vitest|karma|playwright|cypress)\.conf(ig)?\.\w+|\.mocharc(\.\w+)?|nextest\.toml|surefire\.xml|phpunit\.xml(\.dist)?|\.rspec)$",
    )
    .ok()
});

/// Whether a line in another file says how tests run.
fn says_how(path: &str, line: &str) -> bool {
    static SCRIPTS: Pattern = LazyLock::new(|| {
        Regex::new(r#""(pre|post)?test[\w:-]*"\s*:|"coverageThreshold"|"(branches|functions|lines|statements)"\s*:\s*\d"#).ok()
    });
    static PYTHON: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*(addopts|testpaths|python_files|norecursedirs|fail_under|omit|filterwarnings|xfail_strict)\s*=|--cov-fail-under|--(deselect|ignore)\b|\[tool\.pytest").ok()
    });
    static CARGO: Pattern =
        LazyLock::new(|| Regex::new(r"^\s*(test|autotests|harness|doctest)\s*=\s*false").ok());
    static MAKE: Pattern = LazyLock::new(|| {
        Regex::new(r"^(test|check)[\w-]*\s*:|^\t.*\b(pytest|unittest|cargo test|go test|npm test|jest|vitest|ctest)\b|^\w+\s*[:?]?=.*\b(pytest|unittest|cargo test|go test|npm test|jest|vitest)\b|^\.IGNORE\b|^SHELL\b.*\b(true|echo)\b").ok()
    });
    static MAVEN: Pattern = LazyLock::new(|| {
        Regex::new(r"skipTests|maven\.test\.skip|testFailureIgnore|ignoreFailures|\bexcludeTests|\btest\.enabled\b|exclude\b.*Tests?\b").ok()
    });
    static CMAKE: Pattern =
        LazyLock::new(|| Regex::new(r"\b(add_test|WILL_FAIL|should_fail)\b|^\s*test\(").ok());
    // Functions by which a module decides what pytest and unittest run, and how it ends.
    static HOOKS: Pattern = LazyLock::new(|| {
        Regex::new(r"^def (load_tests|pytest_(sessionfinish|collection_modifyitems|ignore_collect|runtest_\w+|pyfunc_call))\(").ok()
    });
    static RUN_BY: Pattern = LazyLock::new(|| Regex::new(r"^\s*(runner|t|test)\s*=").ok());
    match path.rsplit('/').next().unwrap_or_default() {
        "package.json" | "composer.json" | "deno.json" => matches(&SCRIPTS, line),
        "pyproject.toml" | "setup.cfg" => matches(&PYTHON, line),
        "Cargo.toml" => matches(&CARGO, line),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => matches(&MAKE, line),
        "pom.xml" | "build.gradle" | "build.gradle.kts" | "maven.config" | "gradle.properties" => {
            matches(&MAVEN, line)
        }
        "CMakeLists.txt" | "meson.build" => matches(&CMAKE, line),
        name if name.ends_with(".mk") => matches(&MAKE, line),
        name if name.ends_with(".sh") => is_test(line),
        name if name.ends_with(".py") => matches(&HOOKS, line),
        _ if path.ends_with(".cargo/config.toml") => matches(&RUN_BY, line),
        _ => false,
    }
}

pub fn edited(file: &FileDiff) -> Option<Sign> {
    // A new file cannot make less run than before.
    let line = || {
        let added = file.added.iter().find(|(_, line)| says_how(&file.path, line));
        let removed = file.removed.iter().any(|line| says_how(&file.path, line));
        let may_be_new = [".py", "maven.config", ".cargo/config.toml"];
        let is_new =
            file.how == Some(How::Added) && !may_be_new.iter().any(|end| file.path.ends_with(end));
        added
            // A script that runs one more thing runs no less.
            .filter(|_| !is_new && !file.path.ends_with(".sh"))
            .map(|(at, line)| (*at, line.clone()))
            .or_else(|| removed.then(|| (0, String::new())))
    };
    if matches(&RUNNERS, &file.path) {
        return Some(sign(file, 0, WHAT, ""));
    }
    line().map(|(at, text)| sign(file, at, WHAT, &text))
}

/// A command whose place is taken by one that only succeeds.
pub fn emptied(file: &FileDiff) -> Option<Sign> {
    static PLACES: Pattern = LazyLock::new(|| {
        Regex::new(r"(?i)(^|/)(GNUmakefile|makefile|justfile|[^/]*\.mk|package\.json|composer\.json|deno\.jsonc?|taskfile\.ya?ml|[^/]*(test|check|verify|lint|ci)[^/]*\.sh)$").ok()
    });
    static NOTHING: Pattern = LazyLock::new(|| {
        Regex::new(r#"^[\s@-]*("[\w:.-]+"\s*:\s*")?(true|:|exit 0|echo\b.*)$"#).ok()
    });
    static TEXT: Pattern =
        LazyLock::new(|| Regex::new(r#"^\s*"(name|description|main|version)"\s*:"#).ok());
    let plain = |line: &str| line.trim_end_matches([',', '"', ' ']).to_owned();
    let does_nothing = |line: &str| matches(&NOTHING, &plain(line)) && !matches(&TEXT, line);
    let counts = |line: &&str| !line.trim().is_empty();
    let removed: Vec<_> = file.removed.iter().map(String::as_str).filter(counts).collect();
    let added: Vec<_> = file.added.iter().filter(|(_, line)| counts(&line.as_str())).collect();
    let is_empty = !removed.is_empty()
        && !removed.iter().any(|line| does_nothing(line))
        && added.iter().all(|(_, line)| does_nothing(line));
    let (at, line) = added.first().filter(|_| is_empty && matches(&PLACES, &file.path))?;
    Some(sign(file, *at, "a command is replaced by one that does nothing", line))
}

/// A command that stays as it was, except that its failure no longer counts.
pub fn ignores(file: &FileDiff) -> Option<Sign> {
    static OR: Pattern = LazyLock::new(|| Regex::new(r"\s*\|\|\s*(true|:|exit 0)\b").ok());
    let (at, line) = file.added.iter().find(|(_, line)| {
        matches(&OR, line)
            && OR.as_ref().is_some_and(|or| {
                let before = or.replace_all(line, "");
                file.removed.iter().any(|old| old.trim() == before.trim())
            })
    })?;
    Some(sign(file, *at, "a failure is ignored now", line))
}

/// The configuration of linters and type checkers: their own files, and their lines in files with
/// several purposes.
pub fn linters(file: &FileDiff) -> Option<Sign> {
    static OWN: Pattern = LazyLock::new(|| {
        Regex::new(
            r"(^|/)(\.eslintrc(\.\w+)?|\.eslintignore|eslint\.config\.\w+|\.flake8|\.?ruff\.toml|\.pylintrc|\.?mypy\.ini|pyrightconfig\.json|\.?clippy\.toml|\.golangci\.ya?ml|\.rubocop\.yml|biome\.jsonc?|checkstyle\.xml|phpstan\.neon)$",
        )
        .ok()
    });
    static PYTHON: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*(ignore|extend-ignore|per-file-ignores|select|disable|disable_error_code|ignore_errors|strict)\s*=").ok()
    });
    static SCRIPT: Pattern =
        LazyLock::new(|| Regex::new(r#""(strict\w*|no[A-Z]\w*)"\s*:\s*false"#).ok());
    static CARGO: Pattern = LazyLock::new(|| Regex::new(r#"=\s*"allow""#).ok());
    if file.how != Some(How::Modified) {
        return None;
    }
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let says = |line: &str| match name {
        "pyproject.toml" | "setup.cfg" | "tox.ini" => matches(&PYTHON, line),
        "Cargo.toml" => matches(&CARGO, line),
        name if name.starts_with("tsconfig") => matches(&SCRIPT, line),
        _ => false,
    };
    let what = "the way linters run is edited";
    if matches(&OWN, &file.path) {
        return Some(sign(file, 0, what, ""));
    }
    let (at, line) = file.added.iter().find(|(_, line)| says(line))?;
    Some(sign(file, *at, what, line))
}

/// A new file with the name of a program that tests, builds or checks, which could be run instead
/// of it.
pub fn impostor(file: &FileDiff) -> Option<Sign> {
    const PROGRAMS: [&str; 28] = [
        "pytest", "python", "python3", "cargo", "rustc", "go", "node", "npm", "npx", "pnpm",
        "yarn", "bun", "jest", "vitest", "mocha", "make", "just", "ctest", "cmake", "tox", "nox",
        "mvn", "gradle", "dotnet", "ruff", "mypy", "eslint", "tsc",
    ];
    // Python finds these in the project before its own.
    const MODULES: [&str; 6] = [
        "pytest.py",
        "unittest.py",
        "sitecustomize.py",
        "usercustomize.py",
        "pytest/__main__.py",
        "unittest/__main__.py",
    ];
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let is_module = MODULES.iter().any(|module| {
        file.path.strip_suffix(module).is_some_and(|dir| dir.is_empty() || dir.ends_with('/'))
    });
    let is = file.how == Some(How::Added) && (PROGRAMS.contains(&name) || is_module);
    is.then(|| sign(file, 0, "a file has the name of a program", ""))
}

/// A script that runs tests and succeeds whatever their result.
pub fn script(file: &FileDiff) -> Option<Sign> {
    static REPLACED: Pattern =
        LazyLock::new(|| Regex::new(r"\|\|\s*(true|:|exit\s+0|echo\b|printf\b)").ok());
    static ENDS_WELL: Pattern =
        LazyLock::new(|| Regex::new(r"^(exit(\s+0)?|true|:|echo\b.*|printf\b.*)$").ok());
    static DECIDES: Pattern = LazyLock::new(|| {
        Regex::new(r"\bset\s+-\w*e|^#!.*\s-\w*e|\$\?|PIPESTATUS|\bexit\s+\S").ok()
    });
    // A condition around the test command or an operator behind it uses the result.
    static USED: Pattern =
        LazyLock::new(|| Regex::new(r"^(if|while|until|!)\s|\|\||&&|=\$\(").ok());
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let first = file.added.first().map_or("", |(_, line)| line.as_str());
    let is_shell = name.ends_with(".sh") || first.starts_with("#!") && first.contains("sh");
    if !is_shell {
        return None;
    }
    let what = "a script hides the exit code of its tests";
    let tests: Vec<_> = file.added.iter().filter(|(_, line)| is_test(line)).collect();
    if let Some((at, line)) = tests.iter().find(|(_, line)| matches(&REPLACED, line)) {
        return Some(sign(file, *at, what, line));
    }
    let lines: Vec<_> = file.added.iter().map(|(_, line)| line.trim()).collect();
    let last = lines.iter().rfind(|line| !line.is_empty() && !line.starts_with('#'))?;
    let decides = lines.iter().any(|line| *line != "exit 0" && matches(&DECIDES, line));
    let whole = file.how == Some(How::Added) && !decides && matches(&ENDS_WELL, last);
    let (at, line) = tests.into_iter().find(|(_, line)| !matches(&USED, line.trim()))?;
    whole.then(|| sign(file, *at, what, line))
}

const WHAT: &str = "the way the tests run is edited";

/// A new file of prose or without an extension that says that tests passed.
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
