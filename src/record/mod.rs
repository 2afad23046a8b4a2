//! What a session leaves on disk, in the project's `.claude/ccc/`: the agent's and the supervisor's
//! lines as they came, and what the loop decided. A file that cannot be written costs that file, not
//! the session.

mod entry;
pub mod read;
mod rerun;
pub mod story;
#[cfg(test)]
pub mod tape;
mod turn;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::event::Notice;
use crate::files;
use crate::session_id;
use crate::stream::{Line, Part};
pub use entry::{Begun, Did, Entry, Saw, VERSION, What};

pub struct Recorder {
    state_dir: PathBuf,
    session: Option<String>,
    agent: Sink,
    events: Sink,
    supervisor: SupervisorLog,
    /// What happened before the session had an id.
    early: Vec<(Stream, Vec<u8>)>,
    /// The recording's directory, locked while the session runs.
    lock: Option<File>,
}

#[derive(Clone, Copy)]
enum Stream {
    Agent,
    Events,
}

/// Enough for everything a client says before its first `init`.
const EARLY: usize = 1000;

impl Recorder {
    pub fn new(state_dir: PathBuf) -> Self {
        Self {
            state_dir,
            session: None,
            agent: Sink::default(),
            events: Sink::default(),
            supervisor: SupervisorLog::default(),
            early: Vec::new(),
            lock: None,
        }
    }

    /// The session has an id, or a new one: its files are named after it.
    pub fn session(&mut self, id: &str) {
        if self.session.as_deref() == Some(id) || !session_id::is_safe(id) {
            return;
        }
        let first = self.session.is_none();
        self.session = Some(id.to_owned());
        if let Err(error) = files::prepare_state_dir(&self.state_dir) {
            log::warn!("nothing is recorded: {}: {error}", self.state_dir.display());
            return;
        }
        self.supervisor = SupervisorLog::open(&self.state_dir, id);
        if first {
            let dir = self.state_dir.join("sessions").join(id);
            self.agent.open(&dir.join("agent.jsonl"));
            self.events.open(&dir.join("events.jsonl"));
            self.lock = File::open(&dir).ok().filter(|dir| dir.try_lock().is_ok());
            for (stream, line) in std::mem::take(&mut self.early) {
                self.sink(stream).line(&line);
            }
        }
    }

    pub fn agent(&mut self, line: &Line) {
        if self.session.is_some() {
            self.agent.line(&line.raw);
        } else {
            self.keep(Stream::Agent, line.raw.clone());
        }
    }

    pub fn supervisor(&mut self, line: &Line) {
        self.supervisor.line(line);
    }

    pub fn notice(&mut self, notice: &Notice) {
        #[derive(Serialize)]
        struct Entry<'a> {
            v: u32,
            time: String,
            #[serde(flatten)]
            notice: &'a Notice,
        }
        let entry = Entry { v: VERSION, time: jiff::Timestamp::now().to_string(), notice };
        let Ok(line) = serde_json::to_vec(&entry) else { return };
        if self.session.is_some() {
            self.events.line(&line);
        } else {
            self.keep(Stream::Events, line);
        }
    }

    /// Everything so far is with the system: a killed ccc loses nothing of it.
    pub fn flush(&mut self) {
        self.agent.flush();
        self.events.flush();
        self.supervisor.flush();
    }

    fn keep(&mut self, stream: Stream, line: Vec<u8>) {
        if self.early.len() < EARLY {
            self.early.push((stream, line));
        }
    }

    fn sink(&mut self, stream: Stream) -> &mut Sink {
        match stream {
            Stream::Agent => &mut self.agent,
            Stream::Events => &mut self.events,
        }
    }
}

/// `supervisor-{id}-output.jsonl`: the reviews of one session, appended to by both ways of supervising.
#[derive(Default)]
pub struct SupervisorLog {
    sink: Sink,
}

impl SupervisorLog {
    /// `id` is the agent's session.
    pub fn open(state_dir: &Path, id: &str) -> Self {
        let mut sink = Sink::default();
        sink.open(&state_dir.join(format!("supervisor-{id}-output.jsonl")));
        Self { sink }
    }

    /// One JSON value per line, whatever the supervisor's process printed.
    pub fn line(&mut self, line: &Line) {
        match line.parts.as_slice() {
            [Part::Message(_)] if line.raw.starts_with(b"{") => self.sink.line(&line.raw),
            [] => {}
            _ => {
                let text = String::from_utf8_lossy(&line.raw);
                self.sink.line(json!({"type": "text", "content": text}).to_string().as_bytes());
            }
        }
    }

    pub fn flush(&mut self) {
        self.sink.flush();
    }
}

#[derive(Default)]
struct Sink {
    file: Option<(PathBuf, BufWriter<File>)>,
}

impl Sink {
    fn open(&mut self, path: &Path) {
        let opened =
            path.parent().map_or(Ok(()), files::create_dir).and_then(|()| files::append(path));
        match opened {
            Ok(file) => {
                self.file = Some((path.to_owned(), BufWriter::with_capacity(64 << 10, file)));
            }
            Err(error) => log::warn!("not recorded: {}: {error}", path.display()),
        }
    }

    fn line(&mut self, line: &[u8]) {
        self.attempt(|file| {
            file.write_all(line)?;
            file.write_all(b"\n")
        });
    }

    fn flush(&mut self) {
        self.attempt(BufWriter::flush);
    }

    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) {
        let Some((path, file)) = &mut self.file else { return };
        if let Err(error) = write(file) {
            log::warn!("no more is recorded: {}: {error}", path.display());
            self.file = None;
        }
    }
}
