//! A recording as a story: what was asked for, and what came of it. A recording may be cut off
//! anywhere, and hold lines of other versions.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;

use super::format::{Begun, Content};
use super::read::{RecordedRun, Recording, sessions};
use super::replay::{LineSource, Moment, Replay, RunEnd, Witness};
use super::rerun::ToldMachine;
use super::turn::{Turn, Turns};
use crate::client::session_id;
use crate::client::stream::{Line, Usage};
use crate::event::{Event, Notice, Outcome, Round, Seconds, Supervision};

/// A session in short, for a list.
#[derive(Debug)]
pub struct Story {
    /// The name of its directory: the conversation it began with.
    pub id: String,
    pub dir: PathBuf,
    /// The conversation it ended in: `/clear` begins another.
    pub session_id: String,
    pub began: Option<Timestamp>,
    pub last: Option<Timestamp>,
    pub project: Option<String>,
    pub provider: Option<String>,
    /// Version of ccc.
    pub ccc: Option<String>,
    pub runs: usize,
    /// What the person said first.
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

/// Something in a story that is worth telling.
#[derive(Debug)]
pub struct Happening {
    pub time: Timestamp,
    pub what: Happened,
}

#[derive(Debug)]
pub enum Happened {
    /// A run of ccc began, by its number.
    RunBegan(usize),
    Told(Notice),
    /// A turn of the agent.
    Turn(Turn),
    /// A line of the supervisor's.
    Reviewed(Line),
    /// A part of what a check printed.
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
        let commands = |text: &&String| !text.trim_start().starts_with('/');
        story.task = story.messages.iter().find(commands).or(story.messages.first()).cloned();
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

/// Goes through a run for what a list shows of it.
struct Summary<'a> {
    story: &'a mut Story,
    /// Only for recordings that cannot be run again: those know nothing of the costs.
    rounds: Vec<Round>,
    last: f64,
    /// For a run without an end: what it would have reported.
    machine: Option<ToldMachine>,
}

impl Summary<'_> {
    fn seen(&mut self, moment: Moment) {
        self.last = moment.at.as_secs_f64();
        self.story.began.get_or_insert(moment.time);
        self.story.last = Some(moment.time);
    }
}

impl Witness for Summary<'_> {
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
        // After a `/clear` the next run has a recording of its own, and these stand in no line of it.
        if let Some(carried) = begun.rules.carried.as_ref().filter(|_| story.runs == 1) {
            story.messages.extend(carried.said.iter().map(|said| said.text.clone()));
        }
        self.machine = run.ended.is_none().then(|| ToldMachine::new(begun.rules.clone()));
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

    fn decided(&mut self, decision: Content, moment: Moment) -> Result<()> {
        self.seen(moment);
        let Content::Notice(notice) = decision else { return Ok(()) };
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
                // What earlier runs cost is in it.
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

/// Everything in a recording that is worth telling, in order, as it is read.
pub fn tell(dir: &Path, each: &mut dyn FnMut(Happening) -> Result<()>) -> Result<()> {
    let recording = Recording::open(dir)?;
    let mut replay = Replay::of(&recording);
    for run in &recording.runs()? {
        replay.run(run, &mut Teller { turns: Turns::default(), each })?;
    }
    Ok(())
}

struct Teller<'a> {
    turns: Turns,
    each: &'a mut dyn FnMut(Happening) -> Result<()>,
}

impl Teller<'_> {
    fn tell(&mut self, what: Happened, moment: Moment) -> Result<()> {
        (self.each)(Happening { time: moment.time, what })
    }
}

impl Witness for Teller<'_> {
    fn begins(&mut self, begun: Option<&Begun>, run: &RecordedRun, moment: Moment) -> Result<()> {
        let Some(_) = begun else { return Ok(()) };
        self.tell(Happened::RunBegan(run.number), moment)
    }

    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        match event {
            Event::CheckPrinted { text, .. } => self.tell(Happened::CheckPrinted(text), moment),
            _ => Ok(()),
        }
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        let line = Line::decode(raw.to_vec());
        match source {
            LineSource::Supervisor { .. } => self.tell(Happened::Reviewed(line), moment),
            LineSource::Agent => match self.turns.line(&line, moment.at.as_secs_f64()) {
                Some(turn) => self.tell(Happened::Turn(turn), moment),
                None => Ok(()),
            },
        }
    }

    fn decided(&mut self, decision: Content, moment: Moment) -> Result<()> {
        match decision {
            Content::Notice(notice) => self.tell(Happened::Told(notice), moment),
            _ => Ok(()),
        }
    }
}

/// All stories of a project, the newest first. A directory with an odd name is none of ours.
pub fn all(state_dir: &Path) -> Vec<Story> {
    let read = |dir: PathBuf| {
        Story::read(&dir).inspect_err(|error| log::warn!("{}: {error:#}", dir.display())).ok()
    };
    let ours = |dir: &PathBuf| {
        dir.file_name().is_some_and(|name| session_id::is_safe(&name.to_string_lossy()))
    };
    let mut all: Vec<Story> =
        sessions(state_dir).into_iter().filter(ours).filter_map(read).collect();
    all.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.id.cmp(&other.id)));
    all
}

/// A running ccc holds a lock on the directory that it writes to.
pub fn is_running(dir: &Path) -> bool {
    let locked = |dir: File| matches!(dir.try_lock_shared(), Err(TryLockError::WouldBlock));
    File::open(dir).is_ok_and(locked)
}

#[cfg(test)]
mod tests;
