//! Summarises and retells a recording: what was asked for, and what came of it. A recording may end
//! anywhere, and contain lines of other versions.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;

use super::find::last_time;
use super::format::{Begun, Entry};
use super::read::{RecordedRun, Recording, sessions};
use super::replay::{LineSource, Moment, Replay, RunEnd, Visitor};
use super::rerun::ReplayedMachine;
use super::turn::{TurnSummary, Turns};
use crate::client::session_id;
use crate::client::stream::{Line, Usage};
use crate::event::{Event, Notice, Outcome, Round, Seconds, Supervision};

/// The summary of a session, for a list.
#[derive(Debug)]
pub struct Story {
    /// The name of its directory: the id of the conversation it began with.
    pub id: String,
    pub dir: PathBuf,
    /// The conversation it ended in: `/clear` begins a new one.
    pub session_id: String,
    pub began: Option<Timestamp>,
    pub last: Option<Timestamp>,
    pub project: Option<String>,
    pub provider: Option<String>,
    pub ccc: Option<String>,
    pub runs: usize,
    /// The person's first message that is not a command.
    pub task: Option<String>,
    pub messages: Vec<String>,
    pub rounds: Vec<Round>,
    pub state: SessionState,
    pub seconds: Seconds,
    pub cost_usd: f64,
    pub supervision: Supervision,
    /// Lines that this version cannot read.
    pub unread: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SessionState {
    Running,
    /// ccc was killed, or the machine stopped.
    BrokenOff,
    Over(Outcome),
}

/// Something in a session that is worth telling.
#[derive(Debug)]
pub struct StoryEntry {
    pub time: Timestamp,
    pub what: StoryEvent,
}

#[derive(Debug)]
pub enum StoryEvent {
    RunBegan(usize),
    Told(Notice),
    Turn(TurnSummary),
    Reviewed(Line),
    CheckPrinted(String),
}

impl Story {
    pub fn read(dir: &Path) -> Result<Self> {
        let recording = Recording::open(dir)?;
        let mut story = Self::empty(&recording);
        let mut replay = Replay::of(&recording);
        for run in &recording.runs()? {
            let mut summary =
                Summary { story: &mut story, rounds: Vec::new(), last: 0.0, machine: None };
            replay.run(run, &mut summary)?;
        }
        story.unread = replay.unread;
        let is_message = |text: &&String| !text.trim_start().starts_with('/');
        story.task = story.messages.iter().find(is_message).or(story.messages.first()).cloned();
        if story.state == SessionState::BrokenOff && is_running(&recording.dir) {
            story.state = SessionState::Running;
        }
        Ok(story)
    }

    fn empty(recording: &Recording) -> Self {
        Self {
            session_id: recording.id(),
            id: recording.id(),
            dir: recording.dir.clone(),
            began: None,
            last: None,
            project: None,
            provider: None,
            ccc: None,
            runs: 0,
            task: None,
            messages: Vec::new(),
            rounds: Vec::new(),
            state: SessionState::BrokenOff,
            seconds: Seconds::default(),
            cost_usd: 0.0,
            supervision: Supervision::default(),
            unread: 0,
        }
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::UserMessage { text } => self.messages.push(text),
            Notice::TakenBack { text, too_late: false } => {
                if let Some(at) = self.messages.iter().rposition(|said| *said == text) {
                    self.messages.remove(at);
                }
            }
            Notice::Session { session_id } => self.session_id = session_id,
            _ => {}
        }
    }
}

/// Collects from a run what a list shows.
struct Summary<'a> {
    story: &'a mut Story,
    /// Only for recordings that cannot be run again, which do not contain the costs.
    rounds: Vec<Round>,
    last: f64,
    /// Only for a run without an end: computes what it would have reported.
    machine: Option<ReplayedMachine>,
}

impl Summary<'_> {
    fn seen(&mut self, moment: Moment) {
        self.last = moment.at.as_secs_f64();
        self.story.began.get_or_insert(moment.time);
        self.story.last = Some(moment.time);
    }
}

impl Visitor for Summary<'_> {
    fn begins(&mut self, begun: Option<&Begun>, run: &RecordedRun, moment: Moment) -> Result<()> {
        self.seen(moment);
        let story = &mut *self.story;
        story.runs += 1;
        let Some(begun) = begun else { return Ok(()) };
        story.project = Some(begun.project.clone());
        story.provider.clone_from(&begun.provider);
        story.ccc = Some(begun.ccc.clone());
        if let Some(id) = &begun.rules.resume {
            story.session_id.clone_from(id);
        }
        // After `/clear` the next run has its own recording, in which these messages do not appear.
        if let Some(carried) = begun.rules.carried.as_ref().filter(|_| story.runs == 1) {
            story.messages.extend(carried.said.iter().map(|said| said.text.clone()));
        }
        self.machine = run.ended.is_none().then(|| ReplayedMachine::new(begun.rules.clone()));
        Ok(())
    }

    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        self.seen(moment);
        self.machine.as_mut().map_or(Ok(()), |machine| machine.event(event, moment))
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        self.seen(moment);
        self.machine.as_mut().map_or(Ok(()), |machine| machine.line(source, raw, moment))
    }

    fn decided(&mut self, decision: Entry, moment: Moment) -> Result<()> {
        self.seen(moment);
        let Entry::Notice(notice) = decision else { return Ok(()) };
        if let Notice::Verdict { round, verdict, .. } = &notice {
            let (round, verdict) = (*round, verdict.clone());
            self.rounds.push(Round {
                round,
                verdict,
                seconds: 0.0,
                cost_usd: 0.0,
                usage: Usage::default(),
            });
        }
        self.story.notice(notice);
        Ok(())
    }

    fn ends(&mut self, end: RunEnd) -> Result<()> {
        let story = &mut *self.story;
        story.state = SessionState::BrokenOff;
        let mut report = None;
        if let Some((moment, ended)) = end.report {
            story.last = Some(moment.time);
            story.state = SessionState::Over(ended.outcome.clone());
            if let Some(id) = &ended.session_id {
                story.session_id.clone_from(id);
            }
            report = Some(ended);
        } else if let Some(told) = &self.machine {
            report = Some(told.machine.report(Outcome::Ended, told.last));
        }
        match report {
            Some(report) => {
                story.rounds.extend(report.rounds);
                story.seconds.total += report.seconds.total;
                story.seconds.working += report.seconds.working;
                story.seconds.reviewing += report.seconds.reviewing;
                // The report includes what earlier runs cost.
                story.cost_usd = report.cost_usd.max(story.cost_usd);
                story.supervision += report.supervision;
            }
            None => {
                story.rounds.append(&mut self.rounds);
                story.seconds.total += self.last;
            }
        }
        Ok(())
    }

    fn wants_lines(&self) -> bool {
        self.machine.is_some()
    }
}

/// Calls `each` with everything in a recording that is worth telling, in order.
pub fn tell(dir: &Path, each: &mut dyn FnMut(StoryEntry) -> Result<()>) -> Result<()> {
    let recording = Recording::open(dir)?;
    let mut replay = Replay::of(&recording);
    for run in &recording.runs()? {
        replay.run(run, &mut StoryTeller { turns: Turns::default(), each })?;
    }
    Ok(())
}

struct StoryTeller<'a> {
    turns: Turns,
    each: &'a mut dyn FnMut(StoryEntry) -> Result<()>,
}

impl StoryTeller<'_> {
    fn tell(&mut self, what: StoryEvent, moment: Moment) -> Result<()> {
        (self.each)(StoryEntry { time: moment.time, what })
    }
}

impl Visitor for StoryTeller<'_> {
    fn begins(&mut self, begun: Option<&Begun>, run: &RecordedRun, moment: Moment) -> Result<()> {
        let Some(_) = begun else { return Ok(()) };
        self.tell(StoryEvent::RunBegan(run.number), moment)
    }

    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        match event {
            Event::CheckPrinted { text, .. } => self.tell(StoryEvent::CheckPrinted(text), moment),
            _ => Ok(()),
        }
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        let line = Line::decode(raw.to_vec());
        match source {
            LineSource::Supervisor { .. } => self.tell(StoryEvent::Reviewed(line), moment),
            LineSource::Agent => match self.turns.line(&line, moment.at.as_secs_f64()) {
                Some(turn) => self.tell(StoryEvent::Turn(turn), moment),
                None => Ok(()),
            },
        }
    }

    fn decided(&mut self, decision: Entry, moment: Moment) -> Result<()> {
        match decision {
            Entry::Notice(notice) => self.tell(StoryEvent::Told(notice), moment),
            _ => Ok(()),
        }
    }
}

/// A recording, and when the last of it was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedRecording {
    pub dir: PathBuf,
    pub id: String,
    pub last: Option<Timestamp>,
}

/// A project's recordings, newest first, of which only the ends are read. Directories with other names
/// are not ours.
pub fn dated(state_dir: &Path) -> Vec<DatedRecording> {
    let dated = |dir: PathBuf| {
        let id = dir.file_name().map(|name| name.to_string_lossy().into_owned())?;
        let last = last_time(&dir);
        session_id::is_safe(&id).then_some(DatedRecording { dir, id, last })
    };
    let mut all: Vec<_> = sessions(state_dir).into_iter().filter_map(dated).collect();
    all.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.id.cmp(&other.id)));
    all
}

/// The summaries of these recordings, each read when it is asked for. One that cannot be read is left out.
pub fn summaries(dated: &[DatedRecording]) -> impl Iterator<Item = Story> {
    dated.iter().filter_map(|DatedRecording { dir, .. }| {
        Story::read(dir).inspect_err(|error| log::warn!("{}: {error:#}", dir.display())).ok()
    })
}

/// The summaries of a project's sessions, newest first.
pub fn all(state_dir: &Path) -> Vec<Story> {
    summaries(&dated(state_dir)).collect()
}

/// A running ccc holds a lock on the directory of its recording.
pub fn is_running(dir: &Path) -> bool {
    let locked = |dir: File| matches!(dir.try_lock_shared(), Err(TryLockError::WouldBlock));
    File::open(dir).is_ok_and(locked)
}

#[cfg(test)]
mod tests;
