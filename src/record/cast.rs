//! `session.cast`: what was on the screen, what was typed, and where the session stood, as an
//! asciicast of version 2 (<https://docs.asciinema.org/manual/asciicast/v2/>).

use std::cell::{RefCell, RefMut};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::json;

use super::drawn::{Drawn, Pieces};
use super::read::CAST;
use super::sink::Sink;
use crate::clock::Clock;
use crate::event::{Notice, Phase};
use crate::files;

/// Length of a message in a title or marker, in characters.
const TITLE: usize = 80;
/// Bytes kept in memory before the session has an id.
const EARLY: usize = 4 << 20;

/// What the header of a cast says about the surroundings.
#[derive(Debug, Clone, Default)]
pub struct CastHeader {
    pub size: (u16, u16),
    /// `SHELL` and `TERM`, as far as they are set.
    pub env: Vec<(&'static str, String)>,
}

/// A handle for every part of ccc that writes to the screen; all clones share one file.
/// Single-threaded.
#[derive(Clone)]
pub struct Cast(Rc<RefCell<CastFile>>);

struct CastFile {
    surroundings: CastHeader,
    clock: Clock,
    title: Option<String>,
    sink: Sink,
    /// Events before the file was opened; their times depend on what the file already holds.
    early: Option<Early>,
    /// The time in the file at which this run begins.
    offset: Duration,
    /// The first bytes of a character whose remaining bytes have not arrived yet.
    tail: Vec<u8>,
    returned: bool,
    /// Output from another thread, and the buffer it was last taken into.
    drawn: Drawn,
    taken: Pieces,
    last: Duration,
}

#[derive(Default)]
struct Early {
    events: Vec<(Duration, char, String)>,
    size: usize,
}

impl Cast {
    pub fn new(surroundings: CastHeader, clock: Clock) -> Self {
        Self(Rc::new(RefCell::new(CastFile {
            surroundings,
            clock,
            title: None,
            sink: Sink::early(CAST),
            early: Some(Early::default()),
            offset: Duration::ZERO,
            tail: Vec::new(),
            returned: false,
            drawn: Drawn::default(),
            taken: Pieces::default(),
            last: Duration::ZERO,
        })))
    }

    /// For a thread that writes to the screen. Its output is in the file after the next `flush`,
    /// before anything that happens later.
    pub fn drawn(&self) -> Drawn {
        self.file().drawn.clone()
    }

    /// Bytes for a terminal in raw mode; they may end in the middle of a character.
    pub fn output(&self, bytes: &[u8]) {
        let mut file = self.file();
        let now = file.now();
        file.output(now, bytes);
    }

    /// Lines of text, whose line feeds the terminal driver would expand with carriage returns.
    pub fn printed(&self, bytes: &[u8]) {
        let mut returned = self.file().returned;
        let mut out = Vec::with_capacity(bytes.len() + 64);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(text) if !text.last().map_or(returned, |last| *last == b'\r') => {
                    out.extend_from_slice(text);
                    out.extend_from_slice(b"\r\n");
                }
                _ => out.extend_from_slice(line),
            }
            returned = line.last() == Some(&b'\r');
        }
        self.file().returned = returned;
        self.output(&out);
    }

    pub(super) fn typed(&self, keys: &str) {
        self.file().event('i', keys);
    }

    pub(super) fn resized(&self, columns: u16, rows: u16) {
        let mut file = self.file();
        file.surroundings.size = (columns, rows);
        file.event('r', &format!("{columns}x{rows}"));
    }

    /// Adds a marker for an event worth jumping to.
    pub(super) fn mark(&self, notice: &Notice) {
        let text = match notice {
            Notice::Phase { phase: Phase::Working, round, max } => {
                format!("working {}/{max}", (round + 1).min(*max))
            }
            Notice::Phase { phase: Phase::Reviewing, round, max } => {
                format!("reviewing {round}/{max}")
            }
            Notice::Verdict { verdict, .. } if verdict.completed => "completed".to_owned(),
            Notice::Verdict { verdict, .. } => {
                format!("not completed: {}", first_line(&verdict.feedback))
            }
            Notice::Interrupted => "interrupted".to_owned(),
            Notice::UserMessage { text } => {
                self.file().title.get_or_insert_with(|| first_line(text));
                format!("user: {}", first_line(text))
            }
            _ => return,
        };
        self.file().event('m', &text);
    }

    pub(super) fn open(&self, path: &Path) {
        let mut file = self.file();
        file.take_drawn();
        let Some(early) = file.early.take() else { return };
        let file = &mut *file;
        file.sink.open(path, |opened| {
            if let Some(last) = last_time(opened)? {
                file.offset = last;
                let (columns, rows) = file.surroundings.size;
                Ok(line(last, 'r', &format!("{columns}x{rows}")))
            } else {
                Ok(header(&file.surroundings, file.title.as_deref()))
            }
        });
        for (at, code, data) in early.events {
            file.sink.add(|buffer| write(buffer, at + file.offset, code, &data));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.file().sink.is_full()
    }

    pub(super) fn flush(&self) {
        let mut file = self.file();
        file.take_drawn();
        file.sink.flush();
    }

    /// See `Sink::verify_untouched`.
    pub(super) fn verify_untouched(&self) {
        self.file().sink.verify_untouched();
    }

    pub(super) fn switch_off(&self) {
        let mut file = self.file();
        file.early = None;
        file.sink.switch_off();
        file.drawn.switch_off();
    }

    pub(super) fn failure(&self) -> Option<(&'static str, String)> {
        self.file().sink.failure()
    }

    fn file(&self) -> RefMut<'_, CastFile> {
        self.0.borrow_mut()
    }
}

impl CastFile {
    /// The current time, after everything drawn until now is in the file, so that nothing later
    /// precedes it.
    fn now(&mut self) -> Duration {
        self.take_drawn();
        self.clock.now()
    }

    fn take_drawn(&mut self) {
        let mut taken = std::mem::take(&mut self.taken);
        self.drawn.take(&mut taken);
        if !taken.is_empty() {
            let (now, instant) = (self.clock.now(), Instant::now());
            for (when, bytes) in taken.iter() {
                self.output(now.saturating_sub(instant.saturating_duration_since(when)), bytes);
            }
        }
        self.taken = taken;
    }

    fn output(&mut self, at: Duration, bytes: &[u8]) {
        if self.tail.is_empty()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return self.event_at(at, 'o', text);
        }
        let mut bytes = [&self.tail, bytes].concat();
        self.tail = bytes.split_off(whole_characters(&bytes));
        self.event_at(at, 'o', &String::from_utf8_lossy(&bytes));
    }

    fn event(&mut self, code: char, data: &str) {
        let now = self.now();
        self.event_at(now, code, data);
    }

    fn event_at(&mut self, at: Duration, code: char, data: &str) {
        if data.is_empty() {
            return;
        }
        // While ccc is stopped its clock stands still, but the drawing thread's clock does not.
        self.last = self.last.max(at);
        let Some(early) = &mut self.early else {
            return self.sink.add(|buffer| write(buffer, self.last + self.offset, code, data));
        };
        early.size += data.len();
        early.events.push((self.last, code, data.to_owned()));
        if early.size > EARLY {
            self.early = None;
            self.sink.fail(CAST, "too much output before the session had an id");
        }
    }
}

fn header(surroundings: &CastHeader, title: Option<&str>) -> Vec<u8> {
    let (width, height) = surroundings.size;
    let mut header = json!({
        "version": 2, "width": width, "height": height,
        "timestamp": jiff::Timestamp::now().as_second(),
    });
    if let Some(title) = title {
        header["title"] = title.into();
    }
    for (name, value) in &surroundings.env {
        header["env"][*name] = value.as_str().into();
    }
    format!("{header}\n").into_bytes()
}

fn write(to: &mut Vec<u8>, at: Duration, code: char, data: &str) {
    use std::io::Write;
    // Writing to memory does not fail.
    let _ = write!(to, "[{}.{:06},\"{code}\",", at.as_secs(), at.subsec_micros());
    json_escape_simd::escape_into(data, to);
    to.extend_from_slice(b"]\n");
}

fn line(at: Duration, code: char, data: &str) -> Vec<u8> {
    let mut line = Vec::new();
    write(&mut line, at, code, data);
    line
}

/// The time of the last event in an existing cast; `None` for an empty file.
fn last_time(mut file: &File) -> io::Result<Option<Duration>> {
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(None);
    }
    let start = files::line_start(file, len - 1)?;
    file.seek(SeekFrom::Start(start))?;
    let mut last = Vec::new();
    file.read_to_end(&mut last)?;
    if start == 0 && serde_json::from_slice::<serde_json::Map<_, _>>(&last).is_ok() {
        return Ok(Some(Duration::ZERO));
    }
    let unreadable =
        |_| io::Error::new(io::ErrorKind::InvalidData, "its last line is not an event");
    let (at, _, _): (f64, IgnoredAny, IgnoredAny) =
        serde_json::from_slice(&last).map_err(unreadable)?;
    Ok(Some(Duration::try_from_secs_f64(at).unwrap_or_default()))
}

/// How many leading bytes are complete characters, or bytes that can never become one.
pub fn whole_characters(bytes: &[u8]) -> usize {
    let mut from = 0;
    loop {
        match std::str::from_utf8(&bytes[from..]) {
            Ok(_) => return bytes.len(),
            Err(error) => match error.error_len() {
                Some(bad) => from += error.valid_up_to() + bad,
                None => return from + error.valid_up_to(),
            },
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
