//! Recordings, read back.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::entry::Entry;

/// The raw lines of the agent in a recording, and of its reviews.
pub const AGENT: &str = "agent.jsonl";
pub const SUPERVISOR: &str = "supervisor.jsonl";
pub const EVENTS: &str = "events.jsonl";
pub const CAST: &str = "session.cast";

#[derive(Debug)]
pub struct Recording {
    pub dir: PathBuf,
    pub entries: Vec<Entry>,
    /// Lines that this version cannot read. A killed ccc may leave half of one at the end.
    pub unread: usize,
}

impl Recording {
    pub fn open(dir: &Path) -> Result<Self> {
        let events = dir.join(EVENTS);
        let text =
            fs::read(&events).with_context(|| format!("cannot read {}", events.display()))?;
        let mut recording = Self { dir: dir.to_owned(), entries: Vec::new(), unread: 0 };
        for line in lines_of(&text) {
            match serde_json::from_slice(line) {
                Ok(entry) => recording.entries.push(entry),
                Err(_) => recording.unread += 1,
            }
        }
        Ok(recording)
    }

    /// The lines of one of its files, without a half-written last one.
    pub fn lines(&self, file: &str) -> Result<Vec<Vec<u8>>> {
        let path = self.dir.join(file);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        Ok(lines_of(&text).map(<[u8]>::to_vec).collect())
    }
}

fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memrchr(b'\n', text).unwrap_or(0);
    text[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The directories of all recorded sessions, in no order.
pub fn sessions(state_dir: &Path) -> Vec<PathBuf> {
    let Ok(dirs) = fs::read_dir(state_dir.join("sessions")) else { return Vec::new() };
    dirs.flatten().map(|dir| dir.path()).filter(|dir| dir.join(EVENTS).is_file()).collect()
}

/// The directory of a session, by its id or the beginning of it.
pub fn find(state_dir: &Path, name: &str) -> Result<PathBuf> {
    let named = |dir: &PathBuf| dir.file_name().is_some_and(|id| id.to_string_lossy() == name);
    let begins =
        |dir: &PathBuf| dir.file_name().is_some_and(|id| id.to_string_lossy().starts_with(name));
    let all = sessions(state_dir);
    if let Some(dir) = all.iter().find(|dir| named(dir)) {
        return Ok(dir.clone());
    }
    match all.iter().filter(|dir| !name.is_empty() && begins(dir)).collect::<Vec<_>>().as_slice() {
        [dir] => Ok((*dir).clone()),
        [] => bail!("there is no recorded session {name:?} in {}", state_dir.display()),
        several => bail!("{name:?} is the beginning of {} recorded sessions", several.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Saw, What};

    fn write(state: &Path, id: &str, text: &str) -> PathBuf {
        let dir = state.join("sessions").join(id);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(EVENTS), text).unwrap();
        dir
    }

    #[test]
    fn half_a_line_and_lines_of_other_versions_cost_themselves() {
        let state = tempfile::tempdir().unwrap();
        let line = r#"{"v":2,"time":"2026-01-02T03:04:05Z","at":1.5,"saw":"agent","lines":3}"#;
        let text = format!("{line}\n{{\"v\":9,\"new\":1}}\n{line}\n{}", &line[..30]);
        let dir = write(state.path(), "a", &text);
        let recording = Recording::open(&dir).unwrap();
        assert_eq!((recording.entries.len(), recording.unread), (2, 1));
        assert_eq!(recording.entries[0].what, What::Saw(Saw::Agent { lines: 3 }));
        assert!(recording.lines(AGENT).unwrap().is_empty());
    }

    #[test]
    fn a_session_is_found_by_the_beginning_of_its_id() {
        let state = tempfile::tempdir().unwrap();
        let (one, two) = (write(state.path(), "abc", ""), write(state.path(), "abcd", ""));
        assert_eq!(find(state.path(), "abc").unwrap(), one);
        assert_eq!(find(state.path(), "abcd").unwrap(), two);
        assert!(find(state.path(), "ab").unwrap_err().to_string().contains("2 recorded"));
        assert!(find(state.path(), "").is_err());
        assert!(find(state.path(), "x").unwrap_err().to_string().contains("no recorded session"));
    }
}
