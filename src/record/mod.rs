//! What a session leaves on disk, in the project's `.claude/ccc/`: the two clients' lines as they
//! came, what the loop saw and decided, and what was on the screen. If a file cannot be written,
//! only that file is lost; the session continues.

pub mod by_hook;
mod cast;
mod drawn;
mod events;
pub mod find;
mod format;
mod keys;
pub mod label;
pub mod read;
pub mod replay;
pub mod rerun;
#[cfg(test)]
pub mod sample;
mod sink;
pub mod story;
mod supervisor_log;
mod turn;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::client::session_id;
use crate::client::stream::{Line, Message};
use crate::clock::Clock;
use crate::console;
use crate::event::{Action, Carried, Event, Notice, Now, Report};
use crate::files;
pub use cast::{Cast, CastHeader, whole_characters};
pub use drawn::{Backlog, Drawn};
use events::{Events, count_lines};
pub use format::{Begun, ClientLines, Did, Entry, EventLine, VERSION};
use read::{AGENT, CAST, EVENTS, SUPERVISOR};
use replay::LineSource;
use sink::Sink;
pub use supervisor_log::SupervisorLog;

/// Records a session. Until the session has an id, everything stays in memory.
pub struct Recorder {
    state_dir: PathBuf,
    begun: Begun,
    clock: Clock,
    session: Option<String>,
    agent: Sink,
    supervisor: Sink,
    events: Events,
    reviews: SupervisorLog,
    cast: Cast,
    /// Whether keys are recorded.
    keys: bool,
    /// The recording's directory, locked: two processes writing to it would falsify each other's
    /// line counts.
    lock: Option<File>,
    failure: Option<Notice>,
}

impl Recorder {
    pub fn new(state_dir: PathBuf, begun: Begun, surroundings: CastHeader) -> Self {
        let clock = Clock::start();
        Self {
            state_dir,
            begun,
            clock: clock.clone(),
            session: None,
            agent: Sink::early(AGENT),
            supervisor: Sink::early(SUPERVISOR),
            events: Events::new(),
            reviews: SupervisorLog::default(),
            cast: Cast::new(surroundings, clock),
            keys: true,
            lock: None,
            failure: None,
        }
    }

    /// Keys are not recorded; messages that are sent still are.
    #[must_use]
    pub fn without_keys(self) -> Self {
        Self { keys: false, ..self }
    }

    /// For every part of ccc that writes to the screen.
    pub fn cast(&self) -> Cast {
        self.cast.clone()
    }

    /// The recording's clock, for the code that passes the time to it.
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Records a line of the agent that the machine is about to see. `timed`: see
    /// `Machine::is_timing`.
    pub fn agent(&mut self, line: &Line, now: Now, timed: bool) {
        self.agent.line(&line.raw);
        self.count(line, LineSource::Agent, now, timed);
    }

    /// Records a line of a supervisor; see `agent`.
    pub fn supervisor(&mut self, review: u32, line: &Line, now: Now, timed: bool) {
        self.reviews.line(line);
        self.supervisor.line(&line.raw);
        self.count(line, LineSource::Supervisor { review }, now, timed);
    }

    /// An empty line is in its file too, but means nothing, and readers do not count it.
    fn count(&mut self, line: &Line, source: LineSource, now: Now, timed: bool) {
        if !line.raw.is_empty() {
            self.events.count(source, now, timed);
        }
    }

    /// Records an event that the machine is about to see.
    pub fn saw(&mut self, event: &Event, now: Now) {
        match event {
            // The line itself is already counted. The first `init` with an id names the session.
            Event::Agent(envelope) => {
                if let (Message::Init(_), Some(id)) = (&envelope.message, &envelope.session_id) {
                    self.named(id);
                }
            }
            Event::Supervisor { .. } => {}
            event => self.tell(now, Entry::Event(event.clone())),
        }
    }

    /// Records what the machine decided to do.
    pub fn did(&mut self, action: &Action, now: Now) {
        self.tell(now, action.into());
        if let Action::Say(notice) = action {
            self.cast.mark(notice);
        }
    }

    /// Records what the person did at the terminal.
    pub fn input(&mut self, input: &crossterm::event::Event) {
        if let crossterm::event::Event::Resize(columns, rows) = input {
            self.cast.resized(*columns, *rows);
        } else if let Some(keys) = keys::typed(input) {
            self.typed(&keys);
        }
    }

    pub fn typed(&mut self, keys: &str) {
        if self.keys {
            self.cast.typed(keys);
        }
    }

    /// Records the end of the session. `carried`: what the next run of the session needs.
    pub fn ended(&mut self, report: &Report, carried: Carried, now: Now) {
        let (ended, carried) = (Box::new(report.clone()), Some(Box::new(carried)));
        self.tell(now, Entry::Ended { ended, carried });
        for sink in [&mut self.agent, &mut self.supervisor, &mut self.events.sink] {
            sink.verify_untouched();
        }
        self.cast.verify_untouched();
    }

    fn tell(&mut self, now: Now, content: Entry) {
        self.events.tell(now, content);
        if self.events.sink.is_full() {
            self.write();
        }
    }

    /// Enough is buffered that it is time for a `flush`.
    pub fn is_full(&self) -> bool {
        let sinks = [&self.agent, &self.supervisor, &self.events.sink];
        sinks.into_iter().any(Sink::is_full) || self.cast.is_full()
    }

    /// Hands everything so far to the operating system, so that a killed ccc loses none of it.
    /// Returns the first failure, once, to tell the user.
    pub fn flush(&mut self) -> Option<Notice> {
        self.write();
        self.reviews.flush();
        self.cast.flush();
        let failures = [
            self.agent.failure(),
            self.supervisor.failure(),
            self.reviews.failure(),
            self.events.sink.failure(),
            self.cast.failure(),
        ];
        let (names, reasons): (Vec<_>, Vec<_>) = failures.into_iter().flatten().unzip();
        if let Some(why) = reasons.into_iter().next() {
            self.fail(names.join(", "), why);
        }
        self.failure.take()
    }

    /// Writes the lines before the events that count them, so that being killed in between is
    /// harmless.
    fn write(&mut self) {
        self.agent.flush();
        self.supervisor.flush();
        self.events.sink.flush();
    }

    /// The session has its first id, or a new one, after which its files are named. The recording
    /// stays in its first directory.
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
        if !first {
            self.reviews = SupervisorLog::open(&self.state_dir, id);
            return;
        }
        let dir = self.state_dir.join("sessions").join(id);
        if let Err(error) = self.open(&dir) {
            return self.give_up(&dir, &error);
        }
        self.reviews = SupervisorLog::beside(&self.state_dir, id, &dir.join(SUPERVISOR));
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
            // A file that cannot be read could not be opened either, which the sink has reported.
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
        let why = console::without_numbers(&why);
        self.failure = Some(Notice::NotRecorded { what, why });
    }
}

fn lock(dir: &Path) -> io::Result<File> {
    let file = File::open(dir)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::other("another ccc is recording this session"))
        }
        // On a file system without locks, nobody can be locked out.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

#[cfg(test)]
mod tests;
