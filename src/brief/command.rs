//! Classifies shell commands.
//!
//! | question | answered by |
//! |---|---|
//! | does it test, build, lint, commit, push? | its name, wherever in a script it stands |
//! | does what is called a test run one? | its options, and what the script defines |
//! | does it only print what it is given? | `echo`, `printf`, `true`, `:`, and nothing else in it |
//!
//! What the output says is decided in `output`.

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

/// Programs that run another program, which their arguments name.
const THROUGH: &str = r"^(?:(?:ba|da|z)?sh\s+(?:\./)?)?(?:(?:uv|poetry|pipenv|pdm|hatch|rye|mise|bundle|pnpm|npm|yarn|bun|nix|conda|docker|podman|coverage)\s(?:\S+\s)*?|python[\d.]*\s+-m\s+(?:coverage\s+run\s+(?:\S+\s)*?-m\s+)?)?";

impl CommandKind {
    fn pattern(self) -> &'static Pattern {
        static TEST: Pattern = LazyLock::new(|| {
            let names = r"(?:
                cargo\s+(\S+\s+)*?(test|nextest) | pytest | py\.test | unittest |
                (npm|pnpm|yarn|bun)\s+(run\s+)?(t(est)?|e2e|unit|integration)(:\S+)? | (t(est)?|e2e)(:\S+)? | jest | vitest | mocha | playwright\s+test |
                node\s+(\S+\s+)*?--test | go\s+(\S+\s+)?test | (mvnw?|gradlew?)\s.*?\b(test|verify|check) |
                (make|just)\s+(\S+\s+)*?(tests?|check) | tox | nox | ctest | rspec | mix\s+test |
                (nx|turbo|lerna|moon)\s+(\S+\s+)*?(test|e2e)(:\S+)? | gotestsum | rails\s+test | (\S*/)?run[_-]?tests? |
                dotnet\s+test | rustc\s.*?--test | phpunit | deno\s+test | swift\s+test | bazel(isk)?\s+test | prove | bats |
                rake\s+(test|spec) | (php\s+)?artisan\s+test | (python[\d.]*\s+)?(\S*/)?manage\.py\s+test | zig\s+(build\s+)?test | sbt\s.*?\btest |
                lein\s+test | nose2? | behave | cypress\s+run | ava | karma\s+start | meson\s+test | ninja\s+test | composer\s+(run\s+)?test | trial | doctest |
                python[\d.]*\s+(-[bBdEIOsSuvq]+\s+)*(\S*/)?(test_\S*|\S*_tests?|tests?|check_\S*|selftest)\.py | (ba|da|z)?sh\s+\S*tests?(\.sh)? | (run[_-]?)?tests?\.sh
              )(\s|$)";
            whole(names)
        });
        static BUILD: Pattern = LazyLock::new(|| {
            whole(
                r"(?:cargo\s+(\S+\s+)*?(build|check|run|test|clippy|nextest) | (npm|pnpm|yarn|bun)\s+(run\s+)?(build|compile)\S* |
                 go\s+(build|test|vet|run|install) | (mvnw?|gradlew?)\s.*?\b(compile|package|install|build|test|verify|check) |
                 make | just\s+\S*build\S* | cmake | ninja | tsc | rustc | gcc | g\+\+ | clang\S* | javac | dotnet\s+(build|test) | swift\s+build |
                 (docker|podman|buildah)\s.*?\b(build|bud|buildx|--build) | bazel(isk)?\s+(build|test) | nix(-build|\s+build) | (ba|da|z)?sh\s+\S*build\S* | (\S*/)?build\S*\.sh |
                 (vite|next|nuxt|astro|nx|turbo|ng|webpack|rollup|esbuild|hugo|mkdocs)\s+(\S+\s+)*?build | webpack | rollup | esbuild |
                 python[\d.]*\s+-m\s+build | pip\s+wheel | npm\s+pack | pyinstaller |
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

    pub(super) fn names(self, command: &shell::Command) -> bool {
        // The shell's own `test -f a` tests nothing; `npm test` does.
        let is_builtin = self == Self::Test && matches!(&*command.words[0], "test" | "t");
        !is_builtin && matches(self.pattern(), &command.words.join(" "))
    }

    /// Whether the script runs a command of this kind. What is only printed or passed as input is
    /// not run.
    pub fn is(self, script: &str) -> bool {
        shell::commands(&without_here_documents(script)).iter().any(|command| self.names(command))
    }
}

/// A pattern that matches these names at the start of a command, or behind a program that runs it.
fn whole(names: &str) -> Option<Regex> {
    Regex::new(&format!("{THROUGH}(?x:{names})")).ok()
}

pub fn is_test(script: &str) -> bool {
    CommandKind::Test.is(script)
}

/// Why a test command in the script tests nothing: it only lists what it would run, it calls a
/// function that the script itself defines under the name of a program, or it disables assertions.
pub fn runs_no_test(script: &str) -> Option<&'static str> {
    static DEFINED: Pattern = LazyLock::new(|| {
        Regex::new(r"(?:^|[;&|\n]\s*)(?:function\s+)?([\w.-]+)\s*\(\s*\)\s*\{|\balias\s+([\w.-]+)=")
            .ok()
    });
    let script = without_here_documents(script);
    let mut tests = shell::commands(&script);
    tests.retain(|command| CommandKind::Test.names(command));
    let names: Vec<_> = DEFINED
        .iter()
        .flat_map(|defined| defined.captures_iter(&script))
        .filter_map(|found| found.get(1).or(found.get(2)))
        .map(|name| name.as_str())
        .collect();
    if tests.iter().any(|test| names.contains(&test.words[0].as_str())) {
        return Some("the script itself defines what it runs under that name");
    }
    // The assertions of unittest are method calls, which -O does not remove.
    let without_asserts = |test: &shell::Command| {
        let options = test.words.iter().skip(1).take_while(|word| word.starts_with('-'));
        test.words[0].starts_with("python")
            && options.into_iter().any(|word| word == "-O" || word == "-OO")
            && !test.words.iter().any(|word| word == "unittest")
    };
    if tests.iter().any(without_asserts) {
        return Some("the option -O tells Python to leave out every assert");
    }
    let informs = |test: &shell::Command| {
        test.words.iter().any(|word| word == "--version" || word == "--help")
    };
    if !tests.is_empty() && tests.iter().all(informs) {
        return Some("it only prints its version or its help");
    }
    let lists = |test: &shell::Command| lists_tests(&test.words);
    (!tests.is_empty() && tests.iter().all(lists)).then_some("it only tells what it would run")
}

fn lists_tests(words: &[String]) -> bool {
    const LISTING: [&str; 13] = [
        "--collect-only",
        "--co",
        "--no-run",
        "--list",
        "--listTests",
        "--list-tests",
        "--show-only",
        "--dry-run",
        "--just-print",
        "--listenvs",
        "-DskipTests",
        "-DskipTests=true",
        "-Dmaven.test.skip=true",
    ];
    let Some((program, args)) = words.split_first() else { return false };
    let own = |arg: &String| match program.as_str() {
        "make" | "gmake" | "just" => arg == "-n",
        "ctest" => arg == "-N",
        "go" => arg == "-c" || arg.starts_with("-list"),
        _ => false,
    };
    args.iter().any(|arg| LISTING.contains(&arg.as_str()) || own(arg))
        || args.windows(2).any(|pair| match (pair[0].as_str(), pair[1].as_str()) {
            ("nextest", "list") => true,
            ("-x" | "--exclude-task", "test" | "check") => program.starts_with("gradle"),
            _ => false,
        })
}

/// Whether the script only prints what it was given.
pub fn only_prints(script: &str) -> bool {
    static LITERAL: Pattern = LazyLock::new(|| {
        Regex::new(r#"^(print|console\.log|puts|echo)\s*\(?\s*(?:"[^"]*"|'[^']*')\s*\)?\s*;?$"#)
            .ok()
    });
    let prints = |command: &shell::Command| match command.words.as_slice() {
        [program, ..] if ["echo", "printf", "true", ":", "sleep"].contains(&program.as_str()) => {
            true
        }
        [program, option, code] if ["-c", "-e"].contains(&option.as_str()) => {
            matches(&LITERAL, code.trim()) || knows_nothing(program, code)
        }
        // A here-document: text that is typed in the command itself.
        [program, input] => program == "cat" && input.starts_with("<<"),
        _ => false,
    };
    let commands = shell::commands(&without_here_documents(script));
    !commands.is_empty() && commands.iter().all(prints)
}

/// Whether an inline program reads nothing and calls nothing outside, so that it can only print its
/// own words.
fn knows_nothing(program: &str, code: &str) -> bool {
    static REACHES_OUT: Pattern = LazyLock::new(|| {
        Regex::new(
            r"import|require|open|read|exec|eval|system|process|sys|\bos\b|File|fs|fetch|ENV|<|`",
        )
        .ok()
    });
    let is_known = program.starts_with("python") || ["node", "ruby", "perl"].contains(&program);
    let prints = ["print", "console.log", "puts", "say"].iter().any(|word| code.contains(word));
    is_known && prints && !matches(&REACHES_OUT, code)
}

/// Whether the script prints these words regardless of what its other commands do: an `echo`
/// without a condition before it.
pub fn says_itself(script: &str, words: &str) -> bool {
    static PRINTS: Pattern = LazyLock::new(|| {
        Regex::new(r"(?m)(^\s*|[;&|({]+\s*|\b(?:then|else|do)\s+)(?:echo|printf)\s(.*)").ok()
    });
    let script = without_here_documents(script);
    let found = PRINTS.iter().flat_map(|prints| prints.captures_iter(&script));
    let mut anyway = found
        .filter(|found| argument(&found[2]).contains(words))
        .map(|found| matches!(found[1].trim(), "" | ";" | "&"))
        .peekable();
    anyway.peek().is_some() && anyway.all(|anyway| anyway)
}

/// The text up to the operator that ends the command.
fn argument(text: &str) -> &str {
    let mut quote = None;
    let end = text.char_indices().find(|(_, c)| {
        match (quote, c) {
            (Some(open), c) if open == *c => quote = None,
            (None, '"' | '\'') => quote = Some(*c),
            _ => {}
        }
        quote.is_none() && matches!(c, ';' | '&' | '|')
    });
    end.map_or(text, |(end, _)| &text[..end])
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
            "sh mvnw -q test",
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
            "python3 check_texts.py",
        ] {
            assert!(is_test(command), "{command}");
        }
        for command in [
            "cargo build",
            "cat test.py",
            "test -f test.py",
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
    fn a_test_command_that_runs_no_test_is_known() {
        for script in [
            "pytest --collect-only -q",
            "python3 -m pytest --co",
            "cargo test --no-run",
            "cargo test -- --list",
            "cargo nextest list",
            "make -n test",
            "ctest -N",
            "go test -list .",
            "mvn -q test -DskipTests",
            "gradle build -x test",
            "python3() { echo OK; }; python3 -m unittest",
            "alias pytest='echo 3 passed'; pytest",
            "python3 -O test_slug.py",
            "pytest --version",
        ] {
            assert!(runs_no_test(script).is_some(), "{script}");
        }
        for script in [
            "pytest --collect-only -q && pytest",
            "make test",
            "npm run test -- -n 4",
            "run() { pytest -q; }; run",
            "pytest -x test",
            "ls --dry-run",
            "python3 -O -m unittest",
            "python3 test_slug.py -O",
        ] {
            assert_eq!(runs_no_test(script), None, "{script}");
        }
    }

    #[test]
    fn what_a_script_says_anyway_is_told_from_what_it_finds_out() {
        for script in ["ls; echo 'all is there'", "ls\necho all is there", "echo all is there; ls"]
        {
            assert!(says_itself(script, "all is there"), "{script}");
        }
        for script in [
            "test -f a && echo all is there",
            "grep x a || echo all is there",
            "if ls; then echo all is there; fi",
            "ls; grep 'all is there' a",
            "echo look; grep 'all is there' a",
            "cat a",
        ] {
            assert!(!says_itself(script, "all is there"), "{script}");
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
            "python3 -c \"print(6 * 2, 'passed')\"",
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
}
