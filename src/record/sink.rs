//! One file of a recording, to which whole lines are appended. Until the session has an id, they
//! stay in memory. The first write that fails is the last one; so is the first that finds the file
//! removed or changed, which any process of the agent can do and which makes it worthless as a
//! record.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files;

/// Bytes written at once; a longer line goes to the system without being copied.
const BUFFER: usize = 64 << 10;
/// Memory that is kept for the next lines. Less would be given back and fetched again at every write
/// of a flood.
const KEPT: usize = 2 << 20;
/// Bytes kept in memory before the file is opened; enough for everything a client prints before its
/// first `init`.
const EARLY: usize = 8 << 20;

pub struct Sink {
    name: &'static str,
    state: SinkState,
    buffer: Vec<u8>,
    /// Why nothing is written any more, until `failure` has returned it.
    failed: Option<String>,
}

enum SinkState {
    Early,
    Open(Open),
    Off,
}

struct Open {
    path: PathBuf,
    file: File,
    /// The length of the file up to the end of its last line; `None` if other processes write to it
    /// too.
    whole: Option<u64>,
    /// The modification time after our last write.
    changed: Option<(i64, i64)>,
}

impl Sink {
    pub fn early(name: &'static str) -> Self {
        Self { name, state: SinkState::Early, buffer: Vec::new(), failed: None }
    }

    /// Opens a file that other processes append to as well.
    pub fn shared(name: &'static str, path: &Path) -> Self {
        let mut sink = Self::early(name);
        sink.opened(
            path,
            open_dir(path).and_then(|()| files::append(path)).map(|file| (file, None)),
        );
        sink
    }

    /// Opens the file. `first` sees its current contents and returns what to write before the lines
    /// kept so far.
    pub fn open(&mut self, path: &Path, first: impl FnOnce(&File) -> io::Result<Vec<u8>>) {
        if !matches!(self.state, SinkState::Early) {
            return;
        }
        let opened =
            open_dir(path).and_then(|()| files::append_lines(path)).and_then(|(file, len)| {
                let mut before = first(&file)?;
                before.append(&mut self.buffer);
                self.buffer = before;
                Ok((file, Some(len)))
            });
        self.opened(path, opened);
    }

    fn opened(&mut self, path: &Path, opened: io::Result<(File, Option<u64>)>) {
        match opened {
            Ok((file, whole)) => {
                self.state =
                    SinkState::Open(Open { path: path.to_owned(), file, whole, changed: None });
            }
            Err(error) => self.fail(&path.display().to_string(), &error.to_string()),
        }
    }

    /// Discards everything, now and later.
    pub fn switch_off(&mut self) {
        self.state = SinkState::Off;
        self.buffer = Vec::new();
    }

    pub fn line(&mut self, line: &[u8]) {
        match &mut self.state {
            SinkState::Open(open) if line.len() >= BUFFER => {
                let written = open.write(&mut self.buffer).and_then(|()| open.write_long(line));
                self.check(written);
            }
            _ => {
                self.add(|buffer| {
                    buffer.extend_from_slice(line);
                    buffer.push(b'\n');
                });
                if self.is_full() {
                    self.flush();
                }
            }
        }
    }

    /// Adds whole lines, which stay in memory until the next `flush`.
    pub fn add(&mut self, lines: impl FnOnce(&mut Vec<u8>)) {
        match self.state {
            SinkState::Off => {}
            SinkState::Early => {
                lines(&mut self.buffer);
                if self.buffer.len() > EARLY {
                    self.fail(self.name, "too much output before the session had an id");
                }
            }
            SinkState::Open(_) => lines(&mut self.buffer),
        }
    }

    /// Whether it is time for a `flush`.
    pub fn is_full(&self) -> bool {
        self.buffer.len() >= BUFFER
    }

    /// Hands everything so far to the operating system.
    pub fn flush(&mut self) {
        if let SinkState::Open(open) = &mut self.state {
            let written = open.write(&mut self.buffer);
            self.check(written);
        }
    }

    /// Checks the file once more at the end: it may have been removed after the last write.
    pub fn verify_untouched(&mut self) {
        if let SinkState::Open(open) = &self.state {
            let untouched = open.untouched();
            self.check(untouched);
        }
    }

    fn check(&mut self, written: io::Result<()>) {
        if let (Err(error), SinkState::Open(open)) = (written, &self.state) {
            let what = open.path.display().to_string();
            self.fail(&what, &error.to_string());
        }
    }

    pub fn fail(&mut self, what: &str, why: &str) {
        log::warn!("not recorded: {what}: {why}");
        self.switch_off();
        self.failed = Some(why.to_owned());
    }

    /// The file that is not recorded, and why; only once.
    pub fn failure(&mut self) -> Option<(&'static str, String)> {
        self.failed.take().map(|why| (self.name, why))
    }
}

/// A panic must not lose what was recorded before it.
impl Drop for Sink {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Open {
    fn write(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        self.untouched()?;
        let mut done = 0;
        let written = self.write_all(buffer, &mut done);
        if let Some(whole) = &mut self.whole {
            // After an incomplete write, the complete lines may stay.
            *whole += memchr::memrchr(b'\n', &buffer[..done]).map_or(0, |end| end + 1) as u64;
        }
        buffer.clear();
        buffer.shrink_to(KEPT);
        self.note_change();
        written.inspect_err(|_| self.cut())
    }

    fn write_long(&mut self, line: &[u8]) -> io::Result<()> {
        self.untouched()?;
        let written = self.write_all(line, &mut 0).and_then(|()| self.write_all(b"\n", &mut 0));
        if let (Ok(()), Some(whole)) = (&written, &mut self.whole) {
            *whole += line.len() as u64 + 1;
        }
        self.note_change();
        written.inspect_err(|_| self.cut())
    }

    /// Fails unless the file is where it was created, and as ccc left it.
    fn untouched(&self) -> io::Result<()> {
        let Some(whole) = self.whole else { return Ok(()) };
        let own = self.file.metadata()?;
        let there = self.path.symlink_metadata();
        if !there.is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())) {
            return Err(io::Error::other("something other than ccc removed it"));
        }
        let changed = self.changed.is_some_and(|at| at != (own.mtime(), own.mtime_nsec()));
        if changed || own.len() != whole {
            return Err(io::Error::other("something other than ccc changed it"));
        }
        Ok(())
    }

    fn note_change(&mut self) {
        self.changed = self.file.metadata().ok().map(|meta| (meta.mtime(), meta.mtime_nsec()));
    }

    fn write_all(&mut self, bytes: &[u8], done: &mut usize) -> io::Result<()> {
        while *done < bytes.len() {
            match self.file.write(&bytes[*done..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => *done += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes half a line at the end, which would spoil the file for anything that reads or
    /// continues it.
    fn cut(&mut self) {
        if let Some(Err(error)) = self.whole.map(|whole| self.file.set_len(whole)) {
            log::debug!("{}: {error}", self.path.display());
        }
    }
}

fn open_dir(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::create_dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lines_kept_before_opening_follow_the_first_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.jsonl");
        let mut sink = Sink::early("b.jsonl");
        sink.line(b"early");
        sink.flush();
        assert!(!path.parent().unwrap().exists());
        sink.open(&path, |_| Ok(b"first\n".to_vec()));
        sink.line(b"late");
        let long = vec![b'x'; 3 * BUFFER];
        sink.line(&long);
        sink.line(b"last");
        sink.flush();
        let text = fs::read(&path).unwrap();
        assert_eq!(text, [b"first\nearly\nlate\n".as_slice(), &long, b"\nlast\n"].concat());
        assert_eq!(sink.failure(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_switches_the_sink_off_and_is_reported_once() {
        let full = fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut sink = Sink::early("full");
        sink.opened(Path::new("full"), Ok((full, None)));
        sink.line(b"lost");
        sink.flush();
        let (name, why) = sink.failure().unwrap();
        assert!(name == "full" && why.contains("space"), "{why}");
        sink.line(b"lost too");
        sink.flush();
        assert_eq!(sink.failure(), None);
        assert!(sink.buffer.is_empty());
    }

    #[test]
    fn a_file_changed_by_others_is_reported_and_not_written_any_more() {
        type Touch = fn(&Path) -> io::Result<()>;
        let touches: [(Touch, &str); 5] = [
            (|path| fs::remove_file(path), "removed"),
            (|path| fs::rename(path, path.with_extension("away")), "removed"),
            (|path| fs::write(path, ""), "changed"),
            (|path| fs::write(path, "one\ntwo\nthree\n"), "changed"),
            (|path| fs::remove_file(path).and_then(|()| fs::write(path, "one\n")), "removed"),
        ];
        for (touch, told) in touches {
            for line in [&b"two"[..], &vec![b'x'; 2 * BUFFER], b""] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("x.jsonl");
                let mut sink = Sink::early("x.jsonl");
                sink.open(&path, |_| Ok(Vec::new()));
                sink.line(b"one");
                sink.flush();
                sink.verify_untouched();
                assert_eq!(sink.failure(), None);
                touch(&path).unwrap();
                let left = fs::read(&path).ok();
                if line.is_empty() {
                    sink.verify_untouched();
                } else {
                    sink.line(line);
                    sink.flush();
                }
                let (_, why) = sink.failure().expect(told);
                assert!(why.contains(told) && why.contains("other than ccc"), "{told}: {why}");
                assert_eq!(fs::read(&path).ok(), left, "it is left as it is");
            }
        }
    }

    #[test]
    fn memory_is_bounded_while_there_is_no_file() {
        let mut sink = Sink::early("x");
        for _ in 0..20 {
            sink.line(&vec![b'x'; 1 << 20]);
            assert!(sink.buffer.capacity() <= 3 * EARLY);
        }
        assert!(sink.failure().is_some());
    }
}
