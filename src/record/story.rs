//! A recording as a story: what was asked for, what came of it, and what a session that is taken up
//! again goes on with. A recording may be cut off anywhere, and hold lines of other versions.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use jiff::Timestamp;

use super::entry::{Saw, What};
use super::read::{Recording, sessions};
use super::rerun::{Run, runs};
use super::turn::{Turn, Turns};
use crate::event::{Carried, Notice, Outcome, Round, Seconds};
use crate::session_id;
use crate::stream::Line;

#[derive(Debug)]
pub struct Story {
    /// The name of its directory.
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
    pub state: State,
    pub seconds: Seconds,
    pub cost_usd: f64,
    /// Empty unless asked for.
    pub scenes: Vec<Scene>,
    /// Lines that this version cannot read.
    pub unread: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Running,
    /// ccc was killed, or the machine stopped.
    BrokenOff,
    Over(Outcome),
}

#[derive(Debug)]
pub struct Scene {
    pub time: Timestamp,
    pub part: Part,
}

#[derive(Debug)]
pub enum Part {
    /// A run of ccc, by its number.
    Began(usize),
    Told(Notice),
    /// A turn of the agent.
    Turn(Turn),
    /// A line of the supervisor's.
    Reviewed(Line),
}

impl Story {
    /// In short, for a list.
    pub fn read(dir: &Path) -> Result<Self> {
        Ok(Self::of(&Recording::open(dir)?, false))
    }

    /// With every scene.
    pub fn whole(dir: &Path) -> Result<Self> {
        Ok(Self::of(&Recording::open(dir)?, true))
    }

    fn of(recording: &Recording, scenes: bool) -> Self {
        let mut story = Self::empty(recording);
        for (number, run) in runs(&recording.entries).iter().enumerate() {
            story.run(run, recording);
            if scenes {
                story.scenes(number + 1, run, recording);
            }
        }
        let commands = |text: &&String| !text.trim_start().starts_with('/');
        story.task = story.messages.iter().find(commands).or(story.messages.first()).cloned();
        if story.state == State::BrokenOff && is_running(&recording.dir) {
            story.state = State::Running;
        }
        story
    }

    fn empty(recording: &Recording) -> Self {
        let id = name_of(&recording.dir);
        Self {
            session_id: session_id(recording),
            id,
            dir: recording.dir.clone(),
            began: recording.entries.first().map(|entry| entry.time),
            last: recording.entries.last().map(|entry| entry.time),
            project: None,
            provider: None,
            ccc: None,
            runs: 0,
            task: None,
            messages: Vec::new(),
            rounds: Vec::new(),
            state: State::BrokenOff,
            seconds: Seconds::default(),
            cost_usd: 0.0,
            scenes: Vec::new(),
            unread: recording.unread,
        }
    }

    fn run(&mut self, run: &Run<'_>, recording: &Recording) {
        self.runs += 1;
        if let Some(begun) = run.begun {
            self.project = Some(begun.project.clone());
            self.provider.clone_from(&begun.provider);
            self.ccc = Some(begun.ccc.clone());
            // After a `/clear` the next run has a recording of its own, and these stand in no line of it.
            if let Some(carried) = begun.rules.carried.as_ref().filter(|_| self.runs == 1) {
                self.messages.extend(carried.said.iter().map(|said| said.text.clone()));
            }
        }
        let mut rounds = Vec::new();
        for entry in run.entries {
            if let What::Said(notice) = &entry.what {
                self.notice(notice, &mut rounds);
            }
        }
        self.state = match run.ended() {
            Some(ended) => State::Over(ended.outcome.clone()),
            None => State::BrokenOff,
        };
        match run.report(recording) {
            Some(report) => {
                self.rounds.extend(report.rounds);
                self.seconds.total += report.seconds.total;
                self.seconds.working += report.seconds.working;
                self.seconds.reviewing += report.seconds.reviewing;
                // What earlier runs cost is in it.
                self.cost_usd = report.cost_usd.max(self.cost_usd);
            }
            None => {
                self.rounds.extend(rounds);
                self.seconds.total += run.seconds();
            }
        }
    }

    fn notice(&mut self, notice: &Notice, rounds: &mut Vec<Round>) {
        match notice {
            Notice::UserMessage { text } => self.messages.push(text.clone()),
            Notice::TakenBack { text, too_late: false } => {
                if let Some(at) = self.messages.iter().rposition(|said| said == text) {
                    self.messages.remove(at);
                }
            }
            // Only for recordings that cannot be run again: those know nothing of the costs.
            Notice::Verdict { round, verdict, .. } => rounds.push(Round {
                round: *round,
                verdict: verdict.clone(),
                seconds: 0.0,
                cost_usd: 0.0,
            }),
            _ => {}
        }
    }

    fn scenes(&mut self, number: usize, run: &Run<'_>, recording: &Recording) {
        let mut lines = run.lines(recording);
        let mut turns = Turns::default();
        for entry in run.entries {
            let time = entry.time;
            let mut scene = |part| self.scenes.push(Scene { time, part });
            match &entry.what {
                What::Begun { .. } => scene(Part::Began(number)),
                What::Saw(Saw::Agent { lines: count }) => {
                    for line in lines.agent(*count) {
                        turns
                            .line(&line, entry.at)
                            .into_iter()
                            .for_each(|turn| scene(Part::Turn(turn)));
                    }
                }
                What::Saw(Saw::Supervisor { lines: count, .. }) => {
                    lines.supervisor(*count).for_each(|line| scene(Part::Reviewed(line)));
                }
                What::Said(notice) => scene(Part::Told(notice.clone())),
                What::Saw(_) | What::Did(_) | What::Ended { .. } => {}
            }
        }
    }
}

/// All stories of a project, the newest first. A directory with an odd name is none of ours.
pub fn all(state_dir: &Path) -> Vec<Story> {
    let read = |dir: PathBuf| {
        Story::read(&dir).inspect_err(|error| log::warn!("{}: {error:#}", dir.display())).ok()
    };
    let ours = |dir: &PathBuf| session_id::is_safe(&name_of(dir));
    let mut all: Vec<Story> =
        sessions(state_dir).into_iter().filter(ours).filter_map(read).collect();
    all.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.id.cmp(&other.id)));
    all
}

/// What the newest recording of a conversation leaves for another run of it. That run may be on record
/// already; it is known by the seed of its rules.
pub fn earlier(state_dir: &Path, id: &str, seed: u64) -> Option<Carried> {
    let recordings = sessions(state_dir).into_iter().filter_map(|dir| Recording::open(&dir).ok());
    let of_it = recordings.filter(|recording| session_id(recording) == id);
    let newest = of_it.max_by_key(|recording| recording.entries.last().map(|entry| entry.time))?;
    let runs = runs(&newest.entries);
    let is_it = |run: &Run<'_>| run.begun.is_some_and(|begun| begun.rules.seed == seed);
    Some(runs.iter().rfind(|run| !is_it(run))?.machine(&newest)?.carried())
}

/// The newest recording that a name means: the id of its last conversation or of its directory, or the
/// beginning of one. `None` if no recording is called that.
pub fn named(state_dir: &Path, name: &str) -> Result<Option<Recording>> {
    let open = |dir: PathBuf| Recording::open(&dir).ok();
    let mut all: Vec<_> = sessions(state_dir).into_iter().filter_map(open).collect();
    all.sort_by_key(|recording| Reverse(recording.entries.last().map(|entry| entry.time)));
    let exact = |id: &str| id == name;
    let begins = |id: &str| !name.is_empty() && id.starts_with(name);
    let at = all.iter().position(|recording| exact(&session_id(recording)));
    let at = at.or_else(|| all.iter().position(|recording| exact(&name_of(&recording.dir))));
    if let Some(at) = at {
        return Ok(Some(all.swap_remove(at)));
    }
    all.retain(|recording| begins(&session_id(recording)) || begins(&name_of(&recording.dir)));
    let conversations: BTreeSet<_> = all.iter().map(session_id).collect();
    ensure!(
        conversations.len() <= 1,
        "{name:?} is the beginning of {} recorded sessions",
        conversations.len()
    );
    Ok(all.into_iter().next())
}

/// `None` for a recording that does not say by which rules it went.
pub fn carried(recording: &Recording) -> Option<Carried> {
    Some(runs(&recording.entries).last()?.machine(recording)?.carried())
}

/// A running ccc holds a lock on the directory that it writes to.
pub fn is_running(dir: &Path) -> bool {
    let locked = |dir: File| matches!(dir.try_lock_shared(), Err(TryLockError::WouldBlock));
    File::open(dir).is_ok_and(locked)
}

/// The conversation it ended in.
pub fn session_id(recording: &Recording) -> String {
    let named = recording.entries.iter().rev().find_map(|entry| match &entry.what {
        What::Said(Notice::Session { session_id }) => Some(session_id.clone()),
        What::Ended { ended } => ended.session_id.clone(),
        What::Begun { begun } => begun.rules.resume.clone(),
        _ => None,
    });
    named.unwrap_or_else(|| name_of(&recording.dir))
}

fn name_of(dir: &Path) -> String {
    dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
