//! Proposes checks for a project, from the files that say how it is built. Proposes only commands
//! that these files name or that are usual for the language.
//!
//! | in the project's directory | proposed |
//! |---|---|
//! | `justfile`, `Makefile` with a recipe `test` or `check`, and `lint` | `just test`, `make lint`; where they have one for tests, instead of the language's own |
//! | `Cargo.toml` | `cargo test`, clippy where the project configures it |
//! | `package.json` | its scripts for tests, types and lint, with the package manager of the lock file |
//! | `pyproject.toml` and others that name pytest, ruff | `pytest`, `ruff check`, inside uv, poetry, pdm or pipenv |
//! | only `test_*.py`, there or in `tests` | `pytest` if they are written for it, else `unittest` |
//! | `go.mod` | `go vet ./...`, `go test ./...` |
//! | `pom.xml`, `build.gradle` | `mvn test`, `gradle check`, or their wrappers |
//! | `deno.json`, `mix.exs`, `Package.swift`, `composer.json`, `Gemfile` with rspec | the one command that tests it |

use serde_json::Value;

use super::Check;

/// Reads a file of the project's directory, if it exists.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Lists the names in a directory below the project's; `.` is the project's own.
pub type ListDir<'a> = &'a dyn Fn(&str) -> Vec<String>;

pub fn propose(read: ReadFile<'_>, list: ListDir<'_>) -> Vec<Check> {
    let (mut commands, tested) = recipes(read);
    if !tested {
        commands.splice(0..0, language_commands(read, list));
    }
    commands.dedup();
    commands.iter().map(|command| Check::command(command)).collect()
}

fn language_commands(read: ReadFile<'_>, list: ListDir<'_>) -> Vec<String> {
    [cargo(read), node(read), python(read, list), go(read), java(read), others(read)].concat()
}

fn has(read: ReadFile<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| read(name).is_some())
}

/// Recipes come before a language's own commands: their author has decided how the project is
/// checked. Also returns whether one of them runs the tests.
fn recipes(read: ReadFile<'_>) -> (Vec<String>, bool) {
    for (names, runner) in [
        (&["justfile", "Justfile", ".justfile"][..], "just"),
        (&["GNUmakefile", "Makefile", "makefile"], "make"),
    ] {
        let Some(text) = names.iter().find_map(|name| read(name)) else { continue };
        let targets: Vec<_> = text.lines().flat_map(|line| recipe(line, runner)).collect();
        let is_there = |wanted: &&str| targets.contains(wanted);
        let tests = ["test", "tests", "check"].into_iter().find(is_there);
        let lint = Some("lint").filter(is_there);
        let found = [tests, lint].into_iter().flatten();
        let found: Vec<_> = found.map(|recipe| format!("{runner} {recipe}")).collect();
        if !found.is_empty() {
            return (found, tests.is_some());
        }
    }
    (Vec::new(), false)
}

/// The recipes that a line defines: `test: build`, in a Makefile also `test lint: build`, in a
/// justfile also `test FILTER='': …` and `test *ARGS:`. `test := x` is a variable, and a recipe
/// with a parameter that has no default cannot be run without arguments.
fn recipe<'a>(line: &'a str, runner: &str) -> Vec<&'a str> {
    let Some((head, rest)) = line.split_once(':') else { return Vec::new() };
    if rest.starts_with('=') || line.starts_with([' ', '\t', '#', '.']) {
        return Vec::new();
    }
    let words: Vec<_> = head.split_whitespace().collect();
    match (runner, words.as_slice()) {
        ("make", targets) => targets.to_vec(),
        (_, [name, parameters @ ..])
            if parameters.iter().all(|word| word.contains('=') || word.starts_with('*')) =>
        {
            vec![name.trim_start_matches('@')]
        }
        _ => Vec::new(),
    }
}

fn cargo(read: ReadFile<'_>) -> Vec<String> {
    let Some(manifest) = read("Cargo.toml") else { return Vec::new() };
    let workspace = if manifest.contains("[workspace]") { " --workspace" } else { "" };
    let mut commands = vec![format!("cargo test{workspace}")];
    if manifest.contains("lints.clippy]") || has(read, &["clippy.toml", ".clippy.toml"]) {
        commands.push(format!("cargo clippy{workspace} --all-targets -- -D warnings"));
    }
    commands
}

fn node(read: ReadFile<'_>) -> Vec<String> {
    // Editors on Windows put a byte order mark in front, which npm passes over, too.
    let parsed =
        |text: String| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).ok();
    let manifest = read("package.json").and_then(parsed);
    let Some(manifest) = manifest else { return Vec::new() };
    let manager = package_manager(read, &manifest);
    let script = |name: &str| manifest["scripts"][name].as_str();
    // Excludes the placeholder that `npm init` writes, and scripts that wait for changes and never
    // end.
    let runs = |name: &&str| {
        script(name).is_some_and(|script| {
            !script.contains("no test specified") && !script.contains("--watch")
        })
    };
    let types = ["typecheck", "type-check", "check-types", "tsc"].into_iter().find(runs);
    let tests = ["test"].into_iter().find(runs);
    let lint = ["lint"].into_iter().find(runs);
    let found = [types, lint, tests].into_iter().flatten();
    // `react-scripts test` waits for changes unless `CI` is set.
    let watches = |name| script(name).is_some_and(|script| script.contains("react-scripts test"));
    let ci = |name| if watches(name) { "CI=true " } else { "" };
    found.map(|name| format!("{}{manager} run {name}", ci(name))).collect()
}

fn package_manager(read: ReadFile<'_>, manifest: &Value) -> &'static str {
    let named = manifest["packageManager"].as_str().unwrap_or_default();
    for (manager, files) in [
        ("pnpm", &["pnpm-lock.yaml"][..]),
        ("yarn", &["yarn.lock"]),
        ("bun", &["bun.lock", "bun.lockb"]),
    ] {
        if named.split('@').next() == Some(manager) || has(read, files) {
            return manager;
        }
    }
    "npm"
}

fn python(read: ReadFile<'_>, list: ListDir<'_>) -> Vec<String> {
    let files = [
        "pyproject.toml",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
    ];
    let texts: Vec<_> = files.iter().filter_map(|name| read(name)).collect();
    let names = |tool: &str| texts.iter().any(|text| text.contains(tool));
    let runner = [
        ("uv.lock", "uv run "),
        ("poetry.lock", "poetry run "),
        ("pdm.lock", "pdm run "),
        ("Pipfile.lock", "pipenv run "),
    ];
    let runner = runner.iter().find(|(lock, _)| has(read, &[lock])).map(|(_, runner)| *runner);
    let run = |command: &str| match runner {
        Some(runner) if command.starts_with("unittest") => format!("{runner}python -m {command}"),
        Some(runner) => format!("{runner}{command}"),
        None => format!("python3 -m {command}"),
    };
    let pytest = names("pytest") || has(read, &["pytest.ini", "conftest.py", "tests/conftest.py"]);
    let tests = if pytest { Some("pytest -q") } else { unnamed_tests(read, list) };
    let ruff = names("tool.ruff") || has(read, &["ruff.toml", ".ruff.toml"]);
    tests.into_iter().chain(ruff.then_some("ruff check")).map(run).collect()
}

/// What runs the tests of a project in which no file names a tool for them.
fn unnamed_tests(read: ReadFile<'_>, list: ListDir<'_>) -> Option<&'static str> {
    [(".", "", "unittest"), ("tests", "tests/", "unittest discover -s tests")].into_iter().find_map(
        |(dir, prefix, unittest)| {
            let is_test = |name: &String| name.starts_with("test_") && name.ends_with(".py");
            let names = list(dir).into_iter().filter(is_test);
            let texts: Vec<_> = names.filter_map(|name| read(&format!("{prefix}{name}"))).collect();
            let any_line =
                |wanted: fn(&str) -> bool| texts.iter().any(|text| text.lines().any(wanted));
            if any_line(|line| line.starts_with("def test_") || line.contains("import pytest")) {
                return Some("pytest -q");
            }
            any_line(|line| line.contains("unittest")).then_some(unittest)
        },
    )
}

fn go(read: ReadFile<'_>) -> Vec<String> {
    if !has(read, &["go.mod"]) {
        return Vec::new();
    }
    ["go vet ./...", "go test ./..."].map(str::to_owned).into()
}

fn java(read: ReadFile<'_>) -> Vec<String> {
    let wrapped = |wrapper: &str, plain: &str| {
        if has(read, &[wrapper]) { format!("./{wrapper}") } else { plain.to_owned() }
    };
    if has(read, &["pom.xml"]) {
        return vec![format!("{} -B -q test", wrapped("mvnw", "mvn"))];
    }
    let gradle = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    if has(read, &gradle) {
        return vec![format!("{} check", wrapped("gradlew", "gradle"))];
    }
    Vec::new()
}

fn others(read: ReadFile<'_>) -> Vec<String> {
    let mentions = |file: &str, word: &str| read(file).is_some_and(|text| text.contains(word));
    let scripts = read("composer.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let composer = scripts.is_some_and(|manifest| manifest["scripts"]["test"] != Value::Null);
    [
        (has(read, &["deno.json", "deno.jsonc"]), "deno test"),
        (has(read, &["mix.exs"]), "mix test"),
        (has(read, &["Package.swift"]), "swift test"),
        (composer, "composer test"),
        (mentions("Gemfile", "rspec"), "bundle exec rspec"),
    ]
    .iter()
    .filter(|(there, _)| *there)
    .map(|(_, command)| (*command).to_owned())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(files: &[(&str, &str)]) -> Vec<String> {
        let read = |name: &str| {
            files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned())
        };
        let list = |dir: &str| {
            let below = files.iter().filter_map(|(file, _)| match file.rsplit_once('/') {
                Some((parent, name)) => (dir == parent).then_some(name),
                None => (dir == ".").then_some(*file),
            });
            below.map(str::to_owned).collect()
        };
        propose(&read, &list).into_iter().map(|check| check.run).collect()
    }

    #[test]
    fn every_kind_of_project_gets_its_own_commands() {
        let scripts = r#"{"scripts":{"test":"vitest run","lint":"eslint .","typecheck":"tsc"}}"#;
        for (files, commands) in [
            (&[][..], &[][..]),
            (&[("Cargo.toml", "[package]")], &["cargo test"]),
            (
                &[("Cargo.toml", "[workspace]\n[workspace.lints.clippy]")],
                &[
                    "cargo test --workspace",
                    "cargo clippy --workspace --all-targets -- -D warnings",
                ],
            ),
            (&[("package.json", scripts)], &["npm run typecheck", "npm run lint", "npm run test"]),
            (
                &[("package.json", r#"{"scripts":{"test":"jest"}}"#), ("pnpm-lock.yaml", "")],
                &["pnpm run test"],
            ),
            (
                &[("package.json", r#"{"scripts":{"test":"jest"}}"#), ("yarn.lock", "")],
                &["yarn run test"],
            ),
            (
                &[("package.json", r#"{"packageManager":"bun@1.2","scripts":{"test":"x"}}"#)],
                &["bun run test"],
            ),
            (
                &[(
                    "package.json",
                    r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
                )],
                &[],
            ),
            (&[("package.json", r#"{"scripts":{"test":"jest --watch"}}"#)], &[]),
            (&[("package.json", "broken")], &[]),
            (&[("package.json", "\u{feff}{\"scripts\":{\"test\":\"jest\"}}")], &["npm run test"]),
            (&[("pyproject.toml", "[tool.pytest.ini_options]")], &["python3 -m pytest -q"]),
            (
                &[("pyproject.toml", "dev = [\"pytest\"]\n[tool.ruff]"), ("uv.lock", "")],
                &["uv run pytest -q", "uv run ruff check"],
            ),
            (
                &[("requirements.txt", "flask\npytest"), ("poetry.lock", "")],
                &["poetry run pytest -q"],
            ),
            (&[("conftest.py", "")], &["python3 -m pytest -q"]),
            (&[("pyproject.toml", "[project]")], &[]),
            (&[("test_a.py", "def test_a():\n")], &["python3 -m pytest -q"]),
            (&[("tests/test_a.py", "import pytest\n"), ("uv.lock", "")], &["uv run pytest -q"]),
            (&[("test_a.py", "import unittest\n")], &["python3 -m unittest"]),
            (
                &[("test_a.py", "import unittest\n"), ("poetry.lock", "")],
                &["poetry run python -m unittest"],
            ),
            (
                &[("tests/test_a.py", "from unittest import TestCase\n")],
                &["python3 -m unittest discover -s tests"],
            ),
            (&[("test_data.txt", "import pytest"), ("test_a.py", "print(1)")], &[]),
            (&[("go.mod", "module x")], &["go vet ./...", "go test ./..."]),
            (&[("pom.xml", "")], &["mvn -B -q test"]),
            (&[("pom.xml", ""), ("mvnw", "")], &["./mvnw -B -q test"]),
            (&[("build.gradle.kts", ""), ("gradlew", "")], &["./gradlew check"]),
            (&[("build.gradle", "")], &["gradle check"]),
            (
                &[("Makefile", "all: x\n\ntest: all\n\tpytest\nlint:\n\truff")],
                &["make test", "make lint"],
            ),
            (
                &[("Makefile", "test := x\n.PHONY: test\n"), ("go.mod", "")],
                &["go vet ./...", "go test ./..."],
            ),
            (
                &[("justfile", "@test filter='':\n  cargo test\n"), ("Cargo.toml", "")],
                &["just test"],
            ),
            (&[("justfile", "test filter:\n  cargo test\n"), ("Cargo.toml", "")], &["cargo test"]),
            (&[("justfile", "test *ARGS:\n  x\n"), ("Cargo.toml", "")], &["just test"]),
            (&[("justfile", "lint:\n  x\n"), ("Cargo.toml", "")], &["cargo test", "just lint"]),
            (&[("Makefile", "test lint: all\n\techo $@\n")], &["make test", "make lint"]),
            (
                &[("package.json", r#"{"scripts":{"test":"react-scripts test"}}"#)],
                &["CI=true npm run test"],
            ),
            (&[("deno.json", "{}")], &["deno test"]),
            (&[("mix.exs", "")], &["mix test"]),
            (&[("Gemfile", "gem 'rspec'")], &["bundle exec rspec"]),
            (&[("composer.json", r#"{"scripts":{"test":"phpunit"}}"#)], &["composer test"]),
            (
                &[("Cargo.toml", "[package]"), ("package.json", r#"{"scripts":{"test":"x"}}"#)],
                &["cargo test", "npm run test"],
            ),
        ] {
            assert_eq!(proposed(files), commands, "{files:?}");
        }
    }
}
