//! The layers of ARCHITECTURE.md, held by a test: the core touches nothing and knows only the core.

use std::fs;
use std::path::{Path, PathBuf};

const CORE: [&str; 10] = [
    "claude_args",
    "event",
    "form",
    "hook",
    "launch",
    "machine",
    "review_prompt",
    "session_id",
    "stream",
    "verdict",
];

/// What would let the world into the core.
const WORLD: [&str; 13] = [
    "std::fs",
    "std::env",
    "std::process",
    "std::thread",
    "std::net",
    "std::io",
    "Instant",
    "SystemTime",
    "crossterm",
    "crossbeam",
    "nix::",
    "portable_pty",
    "jiff",
];

fn source(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() && path.file_name().is_some_and(|name| name != "tests") {
        for entry in fs::read_dir(path).expect("a directory") {
            source(&entry.expect("an entry").path(), files);
        }
    } else if path.is_file() && path.file_name().is_some_and(|name| name != "tests.rs") {
        files.push(path.to_owned());
    }
}

/// The code of a core module, without its tests.
fn core() -> Vec<(PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for name in CORE {
        let file = src.join(format!("{name}.rs"));
        source(&if file.exists() { file } else { src.join(name) }, &mut files);
    }
    let code = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        (path, code)
    };
    files.into_iter().map(code).collect()
}

#[test]
fn the_core_touches_nothing() {
    for (path, code) in core() {
        for word in WORLD {
            assert!(!code.contains(word), "{} uses {word}", path.display());
        }
    }
}

#[test]
fn the_core_knows_only_the_core() {
    for (path, code) in core() {
        for import in code.split("crate::").skip(1) {
            let module: String =
                import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let known = CORE.contains(&module.as_str()) || import.starts_with('{');
            assert!(known, "{} imports crate::{module}", path.display());
        }
    }
}
