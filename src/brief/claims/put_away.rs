//! Work that the agent put out of the way with git before it called the task done.

use std::sync::LazyLock;

use regex::Regex;

use crate::brief::activity::{Activity, Ended, Ran};
use crate::brief::signs::is_test_file;
use crate::brief::text::Facts;

/// A test file that the agent set back with git, so that it is as it was when the task began, and of
/// which it says nothing.
pub fn set_back(facts: &Facts<'_>) -> Option<String> {
    static BACK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\bgit\s+(?:checkout|restore)\s+(?:--\s+|HEAD\s+--\s+)?([\w./-]+)").ok()
    });
    static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)restor|revert|undo|undid|discard|put back|set back|took back|checkout|check(ed)? out").ok()
    });
    let changed = facts.examined.changed.as_ref()?;
    let matches = |form: &'static LazyLock<Option<Regex>>, text: &str| {
        form.as_ref().is_some_and(|form| form.is_match(text))
    };
    if changed.count > changed.files.len() || matches(&TOLD, facts.last_answer) {
        return None;
    }
    let ran = facts.activity.commands().filter(|ran| ran.how == Ended::Well);
    let mut paths = ran.flat_map(|ran| {
        let found = BACK.iter().flat_map(|back| back.captures_iter(&ran.command));
        found.filter_map(|found| Some(found.get(1)?.as_str()))
    });
    let is_as_before = |path: &&str| {
        is_test_file(path) && !changed.files.iter().any(|file| file.path.ends_with(*path))
    };
    paths.find(is_as_before).map(|path| {
        format!("`git` set `{path}` back, and the file is as it was when the task began (from the agent's commands).")
    })
}

/// Whether the last use of `git stash` put changes into the stash.
pub fn is_stashed(activity: &Activity) -> bool {
    static STASH: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bgit\s+stash\b\s*([\w-]*)").ok());
    let is_stash = |ran: &&Ran| ran.how == Ended::Well && ran.command.contains("stash");
    let ran = activity.commands().filter(is_stash);
    let done = ran.flat_map(|ran| {
        let found = STASH.iter().flat_map(|stash| stash.captures_iter(&ran.command));
        found.filter_map(|found| match found.get(1)?.as_str() {
            "list" | "show" => None,
            "pop" | "apply" | "branch" | "drop" | "clear" => Some(false),
            _ => Some(true),
        })
    });
    done.last().unwrap_or(false)
}
