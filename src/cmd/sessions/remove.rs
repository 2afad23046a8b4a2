//! `ccc sessions rm` and `prune`: remove recordings together with the files that belong to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use jiff::{Span, Timestamp};

use super::super::output::print;
use super::super::questions::{self, Questions};
use super::{Usage, beside, find, list, when};
use crate::client::session_id;
use crate::directories::Directories;
use crate::files::open::{self, Missing};
use crate::record::read::{EVENTS, sessions};
use crate::record::story::{self, DatedRecording, Story, is_running};
use crate::surface::count;

pub fn run(place: &Directories, ids: &[String], yes: bool) -> Result<()> {
    // All sessions are found before any is removed, so that a mistyped id does no harm.
    let mut dirs = Vec::new();
    for id in ids {
        let dir = find(place, Some(id))?;
        check(&dir)?;
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    remove_all(&place.state_dir, &dirs, &BTreeSet::new(), yes)
}

pub fn prune(place: &Directories, older_than: &Span, dry_run: bool, yes: bool) -> Result<()> {
    let state_dir = &place.state_dir;
    let before = when::now()
        .checked_sub(*older_than)
        .context("the time given with --older-than is too long ago")?;
    let before = before.timestamp();
    let old = story::dated(state_dir).into_iter().filter(|recording| {
        last_change(recording).is_some_and(|last| last < before) && !is_running(&recording.dir)
    });
    let old: Vec<_> = old.map(|recording| recording.dir).collect();
    // Files that only the Stop hook left, without a recording.
    let files = beside::all(state_dir).into_iter();
    let files = files.filter(|(_, files)| files.last.is_some_and(|last| last < before));
    let mut alone: BTreeSet<String> = files.map(|(id, _)| id).collect();
    let all = sessions(state_dir);
    for dir in &all {
        alone.remove(&dir.file_name().unwrap_or_default().to_string_lossy().into_owned());
    }
    if !alone.is_empty() {
        let recorded = beside::conversations(all);
        alone.retain(|id| !recorded.contains(id));
    }
    if old.is_empty() && alone.is_empty() {
        return print("Nothing is that old.\n");
    }
    if dry_run {
        return print(&format!("{}Nothing was removed.\n", listed(&old, &alone)));
    }
    remove_all(state_dir, &old, &alone, yes)
}

/// The later of the last recorded event and the file's modification. A session that cannot be dated is kept.
fn last_change(recording: &DatedRecording) -> Option<Timestamp> {
    let written = fs::metadata(recording.dir.join(EVENTS)).and_then(|meta| meta.modified()).ok()?;
    let written = Timestamp::try_from(written).ok()?;
    Some(recording.last.map_or(written, |last| last.max(written)))
}

/// `alone` are conversations that only the Stop hook knows.
fn remove_all(
    state_dir: &Path,
    dirs: &[PathBuf],
    alone: &BTreeSet<String>,
    yes: bool,
) -> Result<()> {
    let ours = beside::is_no_link(state_dir);
    ensure!(ours, "{} is a link to somewhere else; ccc does not remove it", state_dir.display());
    let what = what(dirs.len(), alone.len());
    if !yes {
        if !questions::is_possible() {
            let problem = "ccc has no terminal to ask for confirmation; add --yes to remove the \
                recordings";
            return Err(Usage(problem.into()).into());
        }
        print(&listed(dirs, alone))?;
        if !Questions::terminal().confirm(&format!("Remove {what}?"), false)? {
            return print("Nothing was removed.\n");
        }
    }
    let files = beside::all(state_dir);
    let mut ids = BTreeSet::new();
    if !files.is_empty() {
        ids = beside::conversations(dirs.iter().cloned());
        ids.retain(|id| files.contains_key(id));
    }
    for dir in dirs {
        match check(dir).and_then(|()| remove(dir)) {
            // Another ccc is removing the same recordings.
            Err(_) if !dir.try_exists().unwrap_or(true) => {}
            other => other?,
        }
    }
    if !ids.is_empty() {
        // A conversation may continue in a recording that stays.
        let kept = beside::conversations(sessions(state_dir));
        ids.retain(|id| !kept.contains(id));
    }
    ids.extend(alone.iter().cloned());
    for (id, files) in files {
        if ids.contains(&id) {
            files.remove().with_context(|| format!("cannot remove the files of session {id}"))?;
        }
    }
    print(&format!("Removed {what}.\n"))
}

fn remove(dir: &Path) -> Result<()> {
    empty(dir);
    fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))
}

/// Leaves only the events, which are removed last: a recording without them would be found by nobody, so
/// that what is left of it after a `kill` would stay for ever.
fn empty(dir: &Path) {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    for file in files.filter(|file| file.file_name() != EVENTS) {
        // What cannot be removed here is reported when the directory is.
        let _ = fs::remove_file(file.path());
    }
}

/// Accepts only a directory of ccc, and only while nobody writes to it.
fn check(dir: &Path) -> Result<()> {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ensure!(session_id::is_safe(&name), "{} is not a recording made by ccc", dir.display());
    let all = dir.parent().unwrap_or(dir);
    for place in [all, dir] {
        if !beside::is_no_link(place) {
            bail!("{} is a link to somewhere else; ccc does not remove it", place.display());
        }
    }
    // A directory reached through a link below the state directory belongs to somebody else.
    open::directory(dir, Missing::Fail)
        .with_context(|| format!("{} was not removed", dir.display()))?;
    ensure!(!is_running(dir), "session {name} is running and was not removed");
    Ok(())
}

fn listed(dirs: &[PathBuf], alone: &BTreeSet<String>) -> String {
    let now = when::now();
    let line = |dir: &PathBuf| {
        let id = dir.file_name().unwrap_or_default().to_string_lossy();
        let story = Story::read(dir).ok();
        let last = story.as_ref().and_then(|story| story.last);
        let day = last.map_or_else(|| "-".to_owned(), |last| when::day(last, &now));
        let task = story.and_then(|story| story.task);
        format!("{id}  {day}  {}\n", list::clean(task.as_deref().unwrap_or("-")))
    };
    let hooks = alone.iter().map(|id| format!("{id}  what the Stop hook keeps\n"));
    dirs.iter().map(line).chain(hooks).collect()
}

fn what(recordings: usize, alone: usize) -> String {
    match (recordings, alone) {
        (_, 0) => count(recordings, "recording"),
        (0, _) => format!("what the Stop hook keeps about {}", count(alone, "session")),
        _ => format!(
            "{} and what the Stop hook keeps about {}",
            count(recordings, "recording"),
            count(alone, "session")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Rules;
    use crate::record::sample::SampleRecording;

    #[test]
    fn a_recording_can_be_found_until_nothing_else_is_left_of_it() {
        let dir = tempfile::tempdir().unwrap();
        for name in [EVENTS, "agent.jsonl", "session.cast"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        empty(dir.path());
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().collect();
        assert!(left.len() == 1 && left[0].file_name() == EVENTS, "{left:?}");
    }

    #[test]
    fn what_somebody_else_has_removed_meanwhile_is_gone() {
        let state = tempfile::tempdir().unwrap();
        let dir = state.path().join("sessions/abc");
        SampleRecording::begin(&dir, "2026-01-15T08:00:00Z", Rules::default()).said("do it");
        fs::remove_dir_all(&dir).unwrap();
        remove_all(state.path(), &[dir], &BTreeSet::new(), true).unwrap();
    }

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
