//! The settings that the machine's administrator gives the client. They override all others,
//! including those on the command line, and no option keeps the client from reading them; so an
//! agent that runs as root could name the judge's endpoint there. No judge is asked after they have
//! changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::files;

#[cfg(target_os = "macos")]
const DIRECTORY: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
const DIRECTORY: &str = "/etc/claude-code";

/// More files than any administrator has.
const MOST: usize = 1000;

/// Identifies their current content; empty if there are none.
pub fn fingerprint() -> String {
    of(Path::new(DIRECTORY))
}

pub fn check(then: &str) -> Result<()> {
    if fingerprint() != then {
        bail!(
            "the settings in {DIRECTORY}, which every claude on this machine obeys, have changed \
             since supervision began. Look at them: they can send the supervisor to another \
             endpoint. A new session uses them as they are now"
        );
    }
    Ok(())
}

/// Settings under which only the administrator's hooks run, and no status line either.
const WITHOUT_HOOKS: [&str; 2] = ["disableAllHooks", "allowManagedHooksOnly"];

/// Which of these settings is on, and in which file.
pub fn forbids_hooks() -> Option<(&'static str, PathBuf)> {
    forbidding(Path::new(DIRECTORY))
}

fn forbidding(dir: &Path) -> Option<(&'static str, PathBuf)> {
    let more = fs::read_dir(dir.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut files: Vec<_> = more.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.insert(0, dir.join("managed-settings.json"));
    // Each file overrides those before it.
    let mut said = WITHOUT_HOOKS.map(|name| (name, None));
    for path in files.into_iter().take(MOST) {
        let text = files::read_text(&path).unwrap_or_default();
        let settings: Value = serde_json::from_str(&text).unwrap_or_default();
        for (name, forbids) in &mut said {
            match settings.get(*name) {
                Some(Value::Bool(true)) => *forbids = Some(path.clone()),
                Some(_) => *forbids = None,
                None => {}
            }
        }
    }
    said.into_iter().find_map(|(name, path)| Some((name, path?)))
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
    fn hooks_are_forbidden_by_the_last_file_that_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("managed-settings.d")).unwrap();
        assert_eq!(forbidding(dir.path()), None);
        for (name, text, forbids) in [
            ("managed-settings.json", "{\"disableAllHooks\": true}", Some("disableAllHooks")),
            ("managed-settings.d/one.json", "{\"disableAllHooks\": false}", None),
            ("managed-settings.d/one.txt", "{\"disableAllHooks\": true}", None),
            (
                "managed-settings.d/two.json",
                "{\"allowManagedHooksOnly\": true}",
                Some("allowManagedHooksOnly"),
            ),
        ] {
            fs::write(path(name), text).unwrap();
            assert_eq!(forbidding(dir.path()), forbids.map(|key| (key, path(name))), "{text}");
        }
    }

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
