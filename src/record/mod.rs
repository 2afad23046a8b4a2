//! What a session leaves on disk, in the project's `.claude/ccc/`: the two clients' lines as they
//! came, what the loop saw and decided, and what was on the screen. A file that cannot be written
//! costs that file, not the session.

mod cast;
mod entry;
mod events;
mod keys;
pub mod read;
mod rerun;
mod sink;
pub mod story;
mod supervisor_log;
#[cfg(test)]
pub mod tape;
mod turn;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::event::{Action, Event, Notice, Now, Report};
use crate::stream::{Line, Message};
use crate::{files, session_id};
pub use cast::{Cast, Scene};
pub use entry::{Begun, Did, Entry, Saw, VERSION, What};
use events::{Events, Source, count_lines};
use read::{AGENT, CAST, EVENTS, SUPERVISOR};
use sink::Sink;
pub use supervisor_log::SupervisorLog;

/// Writes a session down. Until the session has a name, everything stays in memory.
pub struct Recorder {
    state_dir: PathBuf,
    begun: Begun,
    began: Instant,
    session: Option<String>,
    agent: Sink,
    supervisor: Sink,
    events: Events,
    reviews: SupervisorLog,
    cast: Cast,
    /// The recording's directory, locked: two processes would spoil each other's counting.
    lock: Option<File>,
    failure: Option<Notice>,
    told: bool,
}

impl Recorder {
    pub fn new(state_dir: PathBuf, begun: Begun, scene: Scene) -> Self {
        let began = Instant::now();
        Self {
            state_dir,
            begun,
            began,
            session: None,
            agent: Sink::early(AGENT),
            supervisor: Sink::early(SUPERVISOR),
            events: Events::new(),
            reviews: SupervisorLog::default(),
            cast: Cast::new(scene, began),
            lock: None,
            failure: None,
            told: false,
        }
    }

    /// For whoever shows something.
    pub fn cast(&self) -> Cast {
        self.cast.clone()
    }

    /// When the recording's clock stood at zero.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// A line of the agent that the machine is about to see. `timed`: see `Machine::is_timing`.
    pub fn agent(&mut self, line: &Line, now: Now, timed: bool) {
        self.agent.line(&line.raw);
        self.count(line, Source::Agent, now, timed);
    }

    /// The same for one of a supervisor.
    pub fn supervisor(&mut self, review: u32, line: &Line, now: Now, timed: bool) {
        self.reviews.line(line);
        self.supervisor.line(&line.raw);
        self.count(line, Source::Supervisor { review }, now, timed);
    }

    /// An empty line is in its file, but means nothing, and no reader counts it.
    fn count(&mut self, line: &Line, source: Source, now: Now, timed: bool) {
        if !line.raw.is_empty() {
            self.events.count(source, now, timed);
        }
    }

    /// What the machine is about to be told.
    pub fn saw(&mut self, event: &Event, now: Now) {
        match event {
            // The lines themselves are counted. The first of them that has one names the session.
            Event::Agent(envelope) => {
                if let (Message::Init(_), Some(id)) = (&envelope.message, &envelope.session_id) {
                    self.named(id);
                }
            }
            Event::Supervisor { .. } => {}
            event => {
                if let Some(saw) = Saw::of(event) {
                    self.tell(now, What::Saw(saw));
                }
            }
        }
    }

    /// What it wants done about it.
    pub fn did(&mut self, action: &Action, now: Now) {
        self.tell(now, action.into());
        if let Action::Say(notice) = action {
            self.cast.mark(notice);
        }
    }

    /// Something that the person did at the terminal.
    pub fn input(&mut self, input: &crossterm::event::Event) {
        if let crossterm::event::Event::Resize(columns, rows) = input {
            self.cast.resized(*columns, *rows);
        } else if let Some(keys) = keys::typed(input) {
            self.typed(&keys);
        }
    }

    pub fn typed(&mut self, keys: &str) {
        self.cast.typed(keys);
    }

    pub fn ended(&mut self, report: &Report, now: Now) {
        self.tell(now, What::Ended { ended: Box::new(report.clone()) });
    }

    fn tell(&mut self, now: Now, what: What) {
        self.events.tell(now, what);
        if self.events.sink.is_full() {
            self.write();
        }
    }

    /// So much waits in memory that it is time for a `flush`.
    pub fn is_full(&self) -> bool {
        let sinks = [&self.agent, &self.supervisor, &self.events.sink];
        sinks.into_iter().any(Sink::is_full) || self.cast.is_full()
    }

    /// Everything so far is with the system: a killed ccc loses nothing of it. The first failure is
    /// something to tell the user.
    pub fn flush(&mut self) -> Option<Notice> {
        self.write();
        self.reviews.flush();
        self.cast.flush();
        let failures = [
            self.agent.failure(),
            self.supervisor.failure(),
            self.events.sink.failure(),
            self.cast.failure(),
        ];
        for (what, why) in failures.into_iter().flatten() {
            self.fail(what.to_owned(), why);
        }
        self.failure.take()
    }

    /// The lines before the events that count them, whenever somebody kills us.
    fn write(&mut self) {
        self.agent.flush();
        self.supervisor.flush();
        self.events.sink.flush();
    }

    /// The session has an id, or a new one: its files are named after it. The recording stays where
    /// it began.
    fn named(&mut self, id: &str) {
        if self.session.as_deref() == Some(id) || !session_id::is_safe(id) {
            return;
        }
        let first = self.session.is_none();
        self.session = Some(id.to_owned());
        if let Err(error) = files::prepare_state_dir(&self.state_dir) {
            let dir = self.state_dir.clone();
            return self.give_up(&dir, &error);
        }
        self.reviews = SupervisorLog::open(&self.state_dir, id);
        if first {
            let dir = self.state_dir.join("sessions").join(id);
            if let Err(error) = self.open(&dir) {
                self.give_up(&dir, &error);
            }
        }
    }

    fn open(&mut self, dir: &Path) -> io::Result<()> {
        files::create_dir(dir)?;
        self.lock = Some(lock(dir)?);
        let nothing = |_: &File| Ok(Vec::new());
        let mut begun = self.begun.clone();
        for (sink, name, lines) in [
            (&mut self.agent, AGENT, &mut begun.agent_lines),
            (&mut self.supervisor, SUPERVISOR, &mut begun.supervisor_lines),
        ] {
            sink.open(&dir.join(name), nothing);
            // One that cannot be read could not be opened either, and says so itself.
            *lines = count_lines(&dir.join(name)).unwrap_or_default();
        }
        self.events.open(&dir.join(EVENTS), begun);
        self.cast.open(&dir.join(CAST));
        Ok(())
    }

    fn give_up(&mut self, what: &Path, error: &io::Error) {
        let what = what.display().to_string();
        log::warn!("nothing is recorded: {what}: {error}");
        self.agent.switch_off();
        self.supervisor.switch_off();
        self.events.sink.switch_off();
        self.cast.switch_off();
        self.fail(what, error.to_string());
    }

    fn fail(&mut self, what: String, why: String) {
        if !std::mem::replace(&mut self.told, true) {
            self.failure = Some(Notice::NotRecorded { what, why });
        }
    }
}

fn lock(dir: &Path) -> io::Result<File> {
    let file = File::open(dir)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::other("another ccc is recording this session"))
        }
        // A file system without locks has nobody to lock out.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

#[cfg(test)]
mod tests;
