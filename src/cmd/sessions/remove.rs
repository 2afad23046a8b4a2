//! `ccc sessions rm` and `prune`: recordings go, and nothing else does.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use jiff::{SignedDuration, Timestamp};

use super::super::output::print;
use super::super::place::Place;
use super::super::questions::{self, Questions};
use super::{Usage, find, list, when};
use crate::record::read::EVENTS;
use crate::record::story::{self, State, Story, is_running};
use crate::session_id;

pub fn run(place: &Place, ids: &[String], yes: bool) -> Result<()> {
    // All are found before any is removed: a mistyped id costs nothing.
    let mut dirs = Vec::new();
    for id in ids {
        let dir = find(place, Some(id))?;
        check(&dir)?;
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    let stories: Vec<_> = dirs.iter().map(|dir| Story::read(dir)).collect::<Result<_>>()?;
    remove_all(&stories, yes)
}

pub fn prune(place: &Place, older_than: Duration, dry_run: bool, yes: bool) -> Result<()> {
    let age = SignedDuration::try_from(older_than).context("that is too long ago")?;
    let before = Timestamp::now().checked_sub(age).context("that is too long ago")?;
    let mut old = story::all(&place.state_dir);
    old.retain(|story| {
        story.state != State::Running && last_change(story).is_some_and(|last| last < before)
    });
    if old.is_empty() {
        return print("There is nothing that old.\n");
    }
    if dry_run {
        return print(&format!("{}Nothing was removed.\n", listed(&old)));
    }
    remove_all(&old, yes)
}

/// By its own account and by the file's, whichever is later. One that nobody can date stays.
fn last_change(story: &Story) -> Option<Timestamp> {
    let written = fs::metadata(story.dir.join(EVENTS)).and_then(|meta| meta.modified()).ok()?;
    let written = Timestamp::try_from(written).ok()?;
    Some(story.last.map_or(written, |last| last.max(written)))
}

fn remove_all(stories: &[Story], yes: bool) -> Result<()> {
    if !yes {
        if !questions::is_possible() {
            let problem = "there is no terminal to ask at: add --yes to remove recordings";
            return Err(Usage(problem.into()).into());
        }
        print(&listed(stories))?;
        let what = count(stories.len());
        if !Questions::terminal().confirm(&format!("Remove {what}?"), false)? {
            return print("Nothing was removed.\n");
        }
    }
    for story in stories {
        check(&story.dir)?;
        fs::remove_dir_all(&story.dir)
            .with_context(|| format!("cannot remove {}", story.dir.display()))?;
    }
    print(&format!("Removed {}.\n", count(stories.len())))
}

/// Only a directory of ours, and one that nobody writes to.
fn check(dir: &Path) -> Result<()> {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ensure!(session_id::is_safe(&name), "{} is no recording of ccc's", dir.display());
    let meta =
        fs::symlink_metadata(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    if !meta.is_dir() {
        bail!("{} is a link to somewhere else; it stays as it is", dir.display());
    }
    ensure!(!is_running(dir), "session {name} is running; it stays as it is");
    Ok(())
}

fn listed(stories: &[Story]) -> String {
    let now = when::now();
    let line = |story: &Story| {
        let day = story.last.map_or_else(|| "-".to_owned(), |last| when::day(last, &now));
        let task = list::clean(story.task.as_deref().unwrap_or("-"));
        format!("{}  {day}  {task}\n", story.id)
    };
    stories.iter().map(line).collect()
}

fn count(number: usize) -> String {
    format!("{number} recording{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_plain_directories_with_harmless_names_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let make = |name: &str| -> PathBuf {
            let dir = home.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join(EVENTS), "").unwrap();
            dir
        };
        let good = make("abc");
        assert!(check(&good).is_ok());
        assert!(check(&make("a b")).is_err());
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&good, &link).unwrap();
        assert!(check(&link).unwrap_err().to_string().contains("link"));
        let file = fs::File::open(&good).unwrap();
        file.lock().unwrap();
        assert!(check(&good).unwrap_err().to_string().contains("running"));
    }
}
