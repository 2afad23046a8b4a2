//! Reads recordings line by line, however long they are, and never through a link.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use memchr::memmem;

use super::format::{Entry, EventLine};
use crate::client::stream::MAX_LINE;
use crate::event::{Carried, Report};
use crate::files;
use crate::record::Begun;

/// The files of a recording: the raw lines of the agent and of its reviews, the events, the screen.
pub const AGENT: &str = "agent.jsonl";
pub const SUPERVISOR: &str = "supervisor.jsonl";
pub const EVENTS: &str = "events.jsonl";
pub const CAST: &str = "session.cast";

const BUFFER: usize = 64 << 10;

/// The complete lines of a file, one after the other. Skips empty lines, and half a line at the
/// end, which a killed ccc may leave.
pub struct WholeLines {
    /// `None` if the file does not exist.
    file: Option<BufReader<File>>,
    line: Vec<u8>,
    /// How many non-empty lines were read or skipped.
    read: u64,
}

impl WholeLines {
    /// A missing file has no lines.
    pub fn open(path: &Path) -> Result<Self> {
        let file = match files::open_regular(path) {
            Ok(file) => Some(BufReader::with_capacity(BUFFER, file)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        Ok(Self { file, line: Vec::new(), read: 0 })
    }

    pub fn none() -> Self {
        Self { file: None, line: Vec::new(), read: 0 }
    }

    fn at(path: &Path, offset: u64) -> Result<Self> {
        let mut lines = Self::open(path)?;
        if let Some(file) = &mut lines.file {
            file.seek(SeekFrom::Start(offset))?;
        }
        Ok(lines)
    }

    /// The lines that begin in the last `bytes` bytes.
    pub fn last_of(path: &Path, bytes: u64) -> Result<Self> {
        let mut lines = Self::open(path)?;
        if let Some(file) = &mut lines.file {
            let length = file.get_ref().metadata()?.len();
            if let Some(from) = length.checked_sub(bytes).filter(|from| *from > 0) {
                file.seek(SeekFrom::Start(from - 1))?;
                lines.advance(0)?;
            }
        }
        Ok(lines)
    }

    /// The next line, without its line feed. A line longer than a client may print is cut.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            self.line.clear();
            self.line.shrink_to(4 * BUFFER);
            if self.advance(MAX_LINE)?.is_none() {
                return Ok(None);
            }
            if !self.line.is_empty() {
                self.read += 1;
                return Ok(Some(&self.line));
            }
        }
    }

    /// Skips lines, so that the next line is the one of this number, counted from 0.
    pub fn skip_to(&mut self, number: u64) -> io::Result<()> {
        while self.read < number {
            self.line.clear();
            // One byte is enough to know whether the line is empty.
            if self.advance(1)?.is_none() {
                return Ok(());
            }
            self.read += u64::from(!self.line.is_empty());
        }
        Ok(())
    }

    /// Reads to the end of the line and keeps its first `keep` bytes. Returns its length with the
    /// line feed, or `None` if there is no line feed any more.
    fn advance(&mut self, keep: usize) -> io::Result<Option<u64>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut length = 0;
        loop {
            let chunk = match file.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', chunk);
            let text = &chunk[..end.unwrap_or(chunk.len())];
            let room = keep.saturating_sub(self.line.len()).min(text.len());
            self.line.extend_from_slice(&text[..room]);
            let used = end.map_or(chunk.len(), |end| end + 1);
            file.consume(used);
            length += used as u64;
            if end.is_some() {
                return Ok(Some(length));
            }
        }
    }
}

/// The directory of a recording. It may end anywhere and contain lines of other versions.
#[derive(Debug)]
pub struct Recording {
    pub dir: PathBuf,
}

/// One run of ccc: the lines from one `begun` to the next.
#[derive(Debug)]
pub struct RecordedRun {
    pub number: usize,
    /// `None` for the lines of a version that did not write it.
    pub begun: Option<Begun>,
    /// `None` if the run was killed or is still going on.
    pub ended: Option<Report>,
    /// What this run hands on to the next, if it was recorded.
    pub carried: Option<Carried>,
    /// The offset of the run in `events.jsonl`, and how many lines precede it.
    offset: u64,
    pub(super) lines_before: usize,
    pub(super) lines: usize,
}

impl Recording {
    pub fn open(dir: &Path) -> Result<Self> {
        let events = dir.join(EVENTS);
        files::open_regular(&events)
            .with_context(|| format!("cannot read {}", events.display()))?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// The name of its directory, which is the id of the conversation it began with.
    pub fn id(&self) -> String {
        self.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn lines(&self, file: &str) -> Result<WholeLines> {
        WholeLines::open(&self.dir.join(file))
    }

    /// The lines of `events.jsonl` from the beginning of a run on.
    pub(super) fn lines_of(&self, run: &RecordedRun) -> Result<WholeLines> {
        WholeLines::at(&self.dir.join(EVENTS), run.offset)
    }

    /// Every line of `events.jsonl`; `None` for one that this version cannot read.
    pub fn event_lines(&self) -> Result<impl Iterator<Item = Option<EventLine>> + use<>> {
        let mut lines = self.lines(EVENTS)?;
        Ok(std::iter::from_fn(move || {
            lines.next_line().ok().flatten().map(|line| serde_json::from_slice(line).ok())
        }))
    }

    /// Its runs, in order. Only the lines that begin and end a run are parsed.
    pub fn runs(&self) -> Result<Vec<RecordedRun>> {
        let begun = memmem::Finder::new(b"\"begun\":");
        let ended = memmem::Finder::new(b"\"ended\":");
        let mut lines = self.lines(EVENTS)?;
        let mut runs: Vec<RecordedRun> = Vec::new();
        let (mut offset, mut number) = (0, 0);
        loop {
            lines.line.clear();
            let Some(length) = lines.advance(MAX_LINE)? else { return Ok(runs) };
            let line = &lines.line;
            let start = offset;
            offset += length;
            if line.is_empty() {
                continue;
            }
            let parsed = (begun.find(line).is_some() || ended.find(line).is_some())
                .then(|| serde_json::from_slice::<EventLine>(line).ok().map(|line| line.content));
            let (mut begun, mut end) = (None, None);
            match parsed.flatten() {
                Some(Entry::Begun { begun: rules }) => begun = Some(*rules),
                Some(Entry::Ended { ended, carried }) => end = Some((ended, carried)),
                _ => {}
            }
            if begun.is_some() || runs.is_empty() {
                runs.push(RecordedRun {
                    number: runs.len() + 1,
                    begun,
                    ended: None,
                    carried: None,
                    offset: start,
                    lines_before: number,
                    lines: 0,
                });
            }
            number += 1;
            if let Some(run) = runs.last_mut() {
                run.lines += 1;
                if let Some((ended, carried)) = end {
                    run.ended = Some(*ended);
                    run.carried = carried.map(|carried| *carried);
                }
            }
        }
    }
}

/// The directories of all recorded sessions, in no order. Links are skipped: ccc does not create
/// any.
pub fn sessions(state_dir: &Path) -> Vec<PathBuf> {
    let all = state_dir.join("sessions");
    if !fs::symlink_metadata(&all).is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    let Ok(dirs) = fs::read_dir(all) else { return Vec::new() };
    let dirs = dirs.flatten().filter(|dir| dir.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.map(|dir| dir.path()).filter(|dir| is_recording(dir)).collect()
}

pub fn is_recording(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(EVENTS)).is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ClientLines;

    fn write(state: &Path, id: &str, text: &str) -> PathBuf {
        let dir = state.join("sessions").join(id);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(EVENTS), text).unwrap();
        dir
    }

    fn all(path: &Path) -> Vec<String> {
        rest(WholeLines::open(path).unwrap())
    }

    fn rest(mut lines: WholeLines) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(String::from_utf8_lossy(line).into_owned());
        }
        found
    }

    #[test]
    fn the_last_lines_are_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let last = |bytes| rest(WholeLines::last_of(&path, bytes).unwrap());
        assert_eq!(last(6), ["three"]);
        assert_eq!(last(9), ["three"]);
        assert_eq!(last(10), ["two", "three"]);
        assert_eq!(last(14), ["one", "two", "three"]);
        assert_eq!(last(1_000), ["one", "two", "three"]);
        assert!(rest(WholeLines::last_of(&dir.path().join("gone"), 9).unwrap()).is_empty());
    }

    #[test]
    fn half_a_line_and_lines_of_other_versions_are_skipped() {
        let state = tempfile::tempdir().unwrap();
        let line = r#"{"v":2,"time":"2026-01-02T03:04:05Z","at":1.5,"saw":"agent","lines":3}"#;
        let text = format!("{line}\n{{\"v\":9,\"new\":1}}\n{line}\n{}", &line[..30]);
        let dir = write(state.path(), "a", &text);
        let recording = Recording::open(&dir).unwrap();
        let read: Vec<_> = recording.event_lines().unwrap().collect();
        let known = Some(Entry::Lines(ClientLines::Agent { lines: 3 }));
        let read: Vec<_> = read.into_iter().map(|line| line.map(|line| line.content)).collect();
        assert_eq!(read, [known.clone(), None, known]);
        assert!(all(&dir.join(AGENT)).is_empty());
    }

    #[test]
    fn only_complete_lines_that_are_not_empty_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let long = "x".repeat(3 * BUFFER);
        fs::write(&path, format!("\none\n\n{long}\nthree\nhal")).unwrap();
        assert_eq!(all(&path), ["one", &long, "three"]);
        let mut lines = WholeLines::open(&path).unwrap();
        lines.skip_to(2).unwrap();
        assert_eq!(lines.next_line().unwrap(), Some(b"three".as_slice()));
        lines.skip_to(9).unwrap();
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let state = tempfile::tempdir().unwrap();
        let foreign = write(state.path(), "real", "");
        let other = tempfile::tempdir().unwrap();
        fs::create_dir(other.path().join("sessions")).unwrap();
        symlink(&foreign, other.path().join("sessions/linked")).unwrap();
        assert!(sessions(other.path()).is_empty());
        let linked = tempfile::tempdir().unwrap();
        symlink(state.path().join("sessions"), linked.path().join("sessions")).unwrap();
        assert!(sessions(linked.path()).is_empty());
        let inside = other.path().join("sessions/inside");
        fs::create_dir(&inside).unwrap();
        symlink(foreign.join(EVENTS), inside.join(EVENTS)).unwrap();
        assert!(sessions(other.path()).is_empty());
        assert!(Recording::open(&inside).is_err());
        assert_eq!(sessions(state.path()), [foreign]);
    }
}
