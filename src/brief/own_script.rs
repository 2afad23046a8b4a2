//! The files of the project that decide what a check does. If one of them has changed since the task
//! began, the check may be green because it checks less.

use std::sync::LazyLock;

use regex::Regex;

use super::facts::Changed;
use crate::review::permission::shell;

/// The changed file that this check runs: a script that it names, or the Makefile of its `make`.
pub fn changed_with<'a>(run: &str, changed: &'a Changed) -> Option<&'a str> {
    let commands = shell::commands(run);
    let is_run = |path: &str| commands.iter().any(|command| runs(&command.words, path));
    changed.files.iter().map(|file| file.path.as_str()).find(|path| is_run(path))
}

fn runs(words: &[String], path: &str) -> bool {
    // A program in another language may well be the work itself, unless its name says otherwise.
    static CHECKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(^|[-_.])(check|verify|lint|ci|run[-_]?tests?)[-_.]").ok()
    });
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((program, args)) = words.split_first() else { return false };
    let first = args.iter().find(|arg| !arg.starts_with('-'));
    let is_first = || {
        let given = first.map(|first| first.trim_start_matches("./"));
        given.is_some_and(|given| path == given || path.ends_with(&format!("/{given}")))
    };
    match program.as_str() {
        "make" | "gmake" => ["Makefile", "makefile", "GNUmakefile"].contains(&name),
        "just" => ["justfile", "Justfile", ".justfile"].contains(&name),
        "sh" | "bash" | "dash" | "zsh" | "source" | "." => is_first(),
        "node" | "ruby" | "perl" => named_so(&CHECKS, name) && is_first(),
        program if program.starts_with("python") => named_so(&CHECKS, name) && is_first(),
        program => program == name && !name.is_empty(),
    }
}

fn named_so(form: &LazyLock<Option<Regex>>, name: &str) -> bool {
    form.as_ref().is_some_and(|form| form.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::super::facts::{FileChange, How};
    use super::*;

    #[test]
    fn the_script_of_a_check_is_told_from_what_it_checks() {
        for (run, path, is) in [
            ("./run-tests.sh", "run-tests.sh", true),
            ("sh -e scripts/ci.sh --all", "scripts/ci.sh", true),
            ("cd web && ./check", "web/check", true),
            ("make test", "Makefile", true),
            ("just check", "justfile", true),
            ("python3 tools/check_docs.py", "tools/check_docs.py", true),
            ("bash -c './verify.sh && true'", "verify.sh", true),
            ("make test", "src/Makefile.rs", false),
            ("python3 app.py --selftest", "app.py", false),
            ("python3 -m unittest test_slug.py", "test_slug.py", false),
            ("python3 test_slug.py", "test_slug.py", false),
            ("node server.js", "server.js", false),
            ("cargo test", "Cargo.toml", false),
            ("npm test", "package.json", false),
            ("grep -q x run-tests.sh", "run-tests.sh", false),
        ] {
            let change = FileChange { path: path.into(), how: How::Modified };
            let found = changed_with(run, &Changed::new(vec![change])).is_some();
            assert_eq!(found, is, "{run} {path}");
        }
    }
}
