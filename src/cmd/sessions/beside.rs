//! The files next to the recordings in the state directory, one set for each conversation: the Stop
//! hook's state and its lock, and what the supervisor printed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::client::session_id;
use crate::record::find;
use crate::record::read::Recording;

const BEGINNING: &str = "supervisor-";
/// The longest suffix first; otherwise a part of it would be taken for a part of the id.
const ENDINGS: [&str; 3] = ["-output.jsonl", ".json", ".lock"];

#[derive(Debug, Default)]
pub struct Files {
    paths: Vec<PathBuf>,
    /// When the newest of them was written; `None` if unknown.
    pub last: Option<Timestamp>,
}

/// All such files, by the id of the conversation.
pub fn all(state_dir: &Path) -> BTreeMap<String, Files> {
    let mut found: BTreeMap<String, Files> = BTreeMap::new();
    let Ok(entries) = fs::read_dir(state_dir) else { return found };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest = name.strip_prefix(BEGINNING);
        let id = rest.and_then(|rest| ENDINGS.iter().find_map(|end| rest.strip_suffix(end)));
        let Some(id) = id.filter(|id| session_id::is_safe(id)) else { continue };
        // For a link this is the age of the link itself, and removing it removes only the link.
        let written = entry.metadata().and_then(|meta| meta.modified()).ok();
        let written = written.and_then(|time| Timestamp::try_from(time).ok());
        let files = found.entry(id.to_owned()).or_default();
        files.paths.push(entry.path());
        files.last = files.last.max(written);
    }
    found
}

impl Files {
    /// Removes the files, unless another process holds their lock.
    pub fn remove(&self) -> std::io::Result<()> {
        let lock = self.paths.iter().find(|path| path.extension().is_some_and(|end| end == "lock"));
        let lock = lock.and_then(|path| crate::files::open_regular(path).ok());
        if lock.as_ref().is_some_and(|lock| lock.try_lock().is_err()) {
            return Ok(());
        }
        self.paths.iter().try_for_each(|path| match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }
}

/// The ids of all conversations in these recordings.
pub fn conversations(dirs: impl IntoIterator<Item = PathBuf>) -> BTreeSet<String> {
    let recordings = dirs.into_iter().filter_map(|dir| Recording::open(&dir).ok());
    recordings
        .flat_map(|recording| find::conversations(&recording).into_iter().chain([recording.id()]))
        .collect()
}

/// Whether this is a real directory, and not a link to somebody else's.
pub fn is_no_link(dir: &Path) -> bool {
    fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn they_are_found_by_their_id_and_left_while_they_are_locked() {
        let state = tempfile::tempdir().unwrap();
        for name in [
            "supervisor-a.json",
            "supervisor-a.lock",
            "supervisor-a-output.jsonl",
            "supervisor-b-output.jsonl",
            "supervisor-a b.json",
            "history.jsonl",
            ".gitignore",
        ] {
            fs::write(state.path().join(name), "").unwrap();
        }
        let found = all(state.path());
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert!(found["a"].last.is_some());
        let held = File::open(state.path().join("supervisor-a.lock")).unwrap();
        held.lock().unwrap();
        found["a"].remove().unwrap();
        assert!(state.path().join("supervisor-a.json").exists());
        drop(held);
        found["a"].remove().unwrap();
        found["a"].remove().unwrap();
        let left: Vec<_> = all(state.path()).into_keys().collect();
        assert_eq!(left, ["b"]);
        assert!(state.path().join("supervisor-a b.json").exists());
    }
}
