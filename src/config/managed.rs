//! The settings that whoever administers the machine gives the client. They stand above all others, also
//! above those on the command line, and no option keeps the client from them; so an agent that runs as
//! root could name the judge's endpoint there. Who judges is not asked when they have changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::files;

#[cfg(target_os = "macos")]
const DIRECTORY: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
const DIRECTORY: &str = "/etc/claude-code";

/// More files than any administrator has.
const MOST: usize = 1000;

/// What they are at this moment; nothing where there are none.
pub fn fingerprint() -> String {
    of(Path::new(DIRECTORY))
}

/// Whether they are what they were.
pub fn check(then: &str) -> Result<()> {
    if fingerprint() != then {
        bail!(
            "the settings in {DIRECTORY}, which every claude on this machine obeys, were changed since \
             supervision began. Look at them: whoever wrote them decides where the supervisor's questions \
             go. A new session takes them as they are"
        );
    }
    Ok(())
}

fn of(dir: &Path) -> String {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop().filter(|_| found.len() < MOST) {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir { &mut left } else { &mut found }.push(entry.path());
        }
    }
    if found.is_empty() {
        return String::new();
    }
    found.sort();
    let all: Vec<_> =
        found.iter().map(|path| format!("{} {}", files::digest_of(path), path.display())).collect();
    files::hex_digest(all.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_comes_changes_or_goes_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude-code");
        assert_eq!(of(&path), "");
        fs::create_dir_all(path.join("managed-settings.d")).unwrap();
        assert_eq!(of(&path), "");
        let mut seen = vec![String::new()];
        for (name, text) in [
            ("managed-settings.json", "{}"),
            ("managed-settings.json", "{ }"),
            ("managed-settings.d/one.json", "{}"),
            ("CLAUDE.md", "x"),
        ] {
            fs::write(path.join(name), text).unwrap();
            assert_eq!(of(&path), of(&path));
            assert!(!seen.contains(&of(&path)), "{name}");
            seen.push(of(&path));
        }
        fs::remove_file(path.join("CLAUDE.md")).unwrap();
        assert_eq!(of(&path), seen[3]);
    }
}
