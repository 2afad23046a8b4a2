//! `history.jsonl`: what the person has typed in all sessions of this project, one JSON string per
//! line.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::files;

/// How many messages are kept, and how many bytes.
const ENTRIES: usize = 1000;
const BYTES: usize = 4 << 20;
/// A longer message was pasted and is not worth keeping.
const LONG: usize = 64 << 10;
/// Other sessions hold the lock for milliseconds; one that hangs must not block this one.
const TRIES: usize = 50;
const BETWEEN: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub struct History {
    dir: PathBuf,
}

impl History {
    pub fn new(state_dir: &Path) -> Self {
        Self { dir: state_dir.to_owned() }
    }

    /// All messages, newest last, without duplicates. Broken lines are skipped.
    pub fn load(&self) -> Result<Vec<String>> {
        let mut seen = std::collections::HashSet::new();
        let mut entries = entries(&self.read()?);
        entries.reverse();
        entries.retain(|entry| seen.insert(entry.clone()));
        entries.reverse();
        Ok(entries)
    }

    pub fn add(&self, text: &str) -> Result<()> {
        if text.len() > LONG {
            return Ok(());
        }
        files::prepare_state_dir(&self.dir)
            .with_context(|| format!("cannot make {}", self.dir.display()))?;
        let _lock = self.lock()?;
        let old = self.read()?;
        let mut line = serde_json::to_vec(text)?;
        line.push(b'\n');
        // An unfinished last line must not swallow this one.
        if old.last().is_some_and(|byte| *byte != b'\n') {
            line.insert(0, b'\n');
        }
        let mut lines: Vec<_> = old.split_inclusive(|byte| *byte == b'\n').collect();
        lines.push(&line);
        if lines.last() == lines.iter().rev().nth(1) {
            return Ok(());
        }
        if lines.len() <= ENTRIES && old.len() + line.len() <= BYTES {
            let path = self.path();
            let written = files::append(&path).and_then(|mut file| file.write_all(&line));
            return written.with_context(|| format!("cannot write {}", path.display()));
        }
        // Keeps well below the limits, so that not every message rewrites the file.
        let (mut entries, mut bytes) = (0, 0);
        let kept = lines.iter().rev().take_while(|line| {
            entries += 1;
            bytes += line.len();
            entries <= ENTRIES * 3 / 4 && bytes <= BYTES / 2
        });
        let kept = kept.count();
        files::replace(&self.path(), &lines[lines.len() - kept..].concat())
    }

    fn path(&self) -> PathBuf {
        self.dir.join("history.jsonl")
    }

    fn read(&self) -> Result<Vec<u8>> {
        let path = self.path();
        Ok(files::if_there(files::read_own(&path), &path)?.unwrap_or_default())
    }

    /// A separate file that is never removed: a lock on a file that is replaced locks nothing.
    fn lock(&self) -> Result<File> {
        let path = self.dir.join("history.lock");
        let file =
            files::append(&path).with_context(|| format!("cannot open {}", path.display()))?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock {}", path.display()));
                }
            }
        }
        bail!("another session has locked {}", path.display())
    }
}

fn entries(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn history() -> (tempfile::TempDir, History) {
        let dir = tempfile::tempdir().unwrap();
        let history = History::new(&dir.path().join("state"));
        (dir, history)
    }

    #[test]
    fn messages_come_back_in_order() {
        let (_dir, history) = history();
        assert_eq!(history.load().unwrap(), [""; 0]);
        for text in ["one", "two\nlines", "two\nlines", "one", "两"] {
            history.add(text).unwrap();
        }
        assert_eq!(history.load().unwrap(), ["two\nlines", "one", "两"]);
        assert_eq!(fs::read_to_string(history.path()).unwrap().lines().count(), 4);
        let mode = fs::metadata(history.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn broken_lines_are_skipped() {
        let (_dir, history) = history();
        history.add("one").unwrap();
        let broken = b"\"one\"\n{\"half\n\xff\n7\n\"two\"\n\"unfinis";
        fs::write(history.path(), broken).unwrap();
        history.add("three").unwrap();
        assert_eq!(history.load().unwrap(), ["one", "two", "three"]);
    }

    #[test]
    fn the_history_is_bounded() {
        let (_dir, history) = history();
        history.add(&"x".repeat(LONG + 1)).unwrap();
        assert_eq!(history.load().unwrap().len(), 0);
        history.add("first").unwrap();
        let many: Vec<_> = (0..ENTRIES - 1).map(|at| format!("\"{at}\"\n")).collect();
        fs::write(history.path(), many.concat()).unwrap();
        history.add("full").unwrap();
        assert_eq!(history.load().unwrap().len(), ENTRIES);
        history.add("over").unwrap();
        let kept = history.load().unwrap();
        assert_eq!(kept.len(), ENTRIES * 3 / 4);
        assert_eq!(kept[kept.len() - 2..], ["full", "over"]);
        for at in 0..100 {
            history.add(&format!("{at}{}", "y".repeat(LONG - 10))).unwrap();
        }
        assert!(fs::metadata(history.path()).unwrap().len() <= BYTES as u64);
        assert!(history.load().unwrap().last().unwrap().starts_with("99y"));
    }

    #[test]
    fn sessions_at_the_same_time_lose_nothing() {
        let (_dir, history) = history();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let history = &history;
                scope.spawn(move || {
                    for at in 0..10 {
                        // On a busy machine the lock may be held for longer than `add` waits.
                        while history.add(&format!("{thread}-{at}")).is_err() {}
                    }
                });
            }
        });
        assert_eq!(history.load().unwrap().len(), 40);
    }

    #[test]
    fn a_session_that_hangs_does_not_block_the_others() {
        let (_dir, history) = history();
        history.add("one").unwrap();
        let _lock = history.lock().unwrap();
        assert!(history.add("two").unwrap_err().to_string().contains("locked"));
    }
}
