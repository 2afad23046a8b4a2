//! A recording, run again: the machine of today is told what the machine of then was told, and
//! what it decides is held against what was decided then.

use std::fmt;

use anyhow::{Result, bail};
use serde_json::Value;

use super::format::{Begun, Content, Did};
use super::read::{RecordedRun, Recording};
use super::replay::{LineSource, Moment, Replay, RunEnd, Witness};
use crate::client::stream::Line;
use crate::event::{Action, Carried, Event, Now, Outcome, Report};
use crate::machine::{Machine, Rules};

/// As much of a decision as is shown of it.
const SHOWN: usize = 400;
/// Beyond so many differences the rest is only counted.
const KEPT: usize = 1000;

/// What was decided then and what is decided now; `None` where only one of them decided anything.
#[derive(Debug)]
pub struct Difference {
    pub entry: usize,
    pub recorded: Option<Content>,
    pub now: Option<Content>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, recorded, now } = self;
        let (recorded, now) = (described(recorded.as_ref()), described(now.as_ref()));
        write!(f, "entry {entry}: the recorded decision is {recorded}, but now it is {now}")
    }
}

fn described(decision: Option<&Content>) -> String {
    let Some(value) = decision.map(value) else { return "nothing more".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// As it stands in the file: what is not written down is no difference.
fn value(decision: &Content) -> Value {
    serde_json::to_value(decision).unwrap_or_default()
}

/// One run on the machine of today.
#[derive(Debug)]
pub struct Rerun {
    pub machine: Machine,
    /// The last thing that happened, what was decided about it then, and what is decided now.
    moment: Option<Moment>,
    recorded: Vec<Content>,
    now: Vec<Content>,
    /// Every end that the loop decided on then.
    finished: Vec<Outcome>,
    outcome: Option<Outcome>,
    end: RunEnd,
    pub decisions: usize,
    differences: Vec<Difference>,
    more_differences: usize,
}

impl Rerun {
    pub fn new(rules: Rules) -> Self {
        Self {
            machine: Machine::new(rules),
            moment: None,
            recorded: Vec::new(),
            now: Vec::new(),
            finished: Vec::new(),
            outcome: None,
            end: RunEnd::default(),
            decisions: 0,
            differences: Vec::new(),
            more_differences: 0,
        }
    }

    /// Lets it happen again.
    pub fn tell(&mut self, event: Event, moment: Moment) -> Vec<Action> {
        if moment.incomplete {
            return Vec::new();
        }
        self.moment = Some(moment);
        let actions = self.machine.step(event, moment.at);
        self.now.extend(actions.iter().map(Content::from));
        for action in &actions {
            if let Action::Finish(outcome) = action {
                self.outcome = Some(outcome.clone());
            }
        }
        actions
    }

    /// The same with a line of a client.
    pub fn tell_line(&mut self, source: LineSource, line: Line, moment: Moment) -> Vec<Action> {
        if !moment.incomplete {
            self.moment = Some(moment);
        }
        let mut actions = Vec::new();
        for envelope in line.into_messages() {
            actions.extend(self.tell(source.event(envelope), moment));
        }
        actions
    }

    fn compare(&mut self, last: bool) {
        let (recorded, now) = (std::mem::take(&mut self.recorded), std::mem::take(&mut self.now));
        let Some(moment) = self.moment else { return };
        self.decisions += recorded.len();
        // What a killed ccc decided last need not be written down.
        let count = if last { recorded.len() } else { now.len().max(recorded.len()) };
        for at in 0..count {
            let (then, today) = (recorded.get(at), now.get(at));
            if then.map(value) == today.map(value) {
                continue;
            }
            if self.differences.len() == KEPT {
                self.more_differences += 1;
                continue;
            }
            // The decisions stand right behind what they are about.
            let entry = moment.entry + 1 + at.min(recorded.len());
            let (recorded, now) = (then.cloned(), today.cloned());
            self.differences.push(Difference { entry, recorded, now });
        }
    }

    /// How many there are, and the first of them.
    pub fn differences(&self) -> (usize, Option<&Difference>) {
        (self.differences.len() + self.more_differences, self.differences.first())
    }

    fn last(&self) -> Now {
        self.moment.map_or(Now::ZERO, |moment| moment.at)
    }

    /// The closing report, of today's machine. A session that was killed has none of its own.
    pub fn report(&self) -> Report {
        let outcome = self.ended_from_outside().or_else(|| self.outcome.clone());
        let outcome = outcome.unwrap_or_else(|| {
            Outcome::Failed("the recording stops here, before the session ended".to_owned())
        });
        self.machine.report(outcome, self.last())
    }

    /// An end that the loop did not decide on: nobody could be shown anything any more.
    fn ended_from_outside(&self) -> Option<Outcome> {
        let (_, report) = self.end.report.as_ref()?;
        let outside = self.finished.iter().all(|outcome| *outcome != report.outcome);
        outside.then(|| report.outcome.clone())
    }

    /// What the two reports tell differently, beside their outcome, which is a decision, and the
    /// time it took.
    fn report_difference(&self) -> Option<String> {
        let (Moment { entry, .. }, recorded) = self.end.report.as_ref()?;
        let told = |report: &Report| {
            let verdicts = report.rounds.iter();
            let verdicts: Vec<_> =
                verdicts.map(|round| (round.round, round.verdict.completed)).collect();
            (report.session_id.clone(), report.result.clone(), verdicts)
        };
        let (then, now) = (told(recorded), told(&self.report()));
        (then != now)
            .then(|| format!("entry {entry}: the report was {then:?}, but now it is {now:?}"))
    }
}

impl Witness for Rerun {
    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        self.tell(event, moment);
        Ok(())
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        self.tell_line(source, Line::decode(raw.to_vec()), moment);
        Ok(())
    }

    fn decided(&mut self, decision: Content, moment: Moment) -> Result<()> {
        if moment.incomplete {
            return Ok(());
        }
        if self.moment.is_none() {
            bail!("entry {} does not refer to anything", moment.entry);
        }
        if let Content::Did(Did::Finish { outcome }) = &decision {
            self.finished.push(outcome.clone());
        }
        self.recorded.push(decision);
        Ok(())
    }

    fn settled(&mut self, last: bool) -> Result<()> {
        self.compare(last);
        Ok(())
    }

    fn ends(&mut self, end: RunEnd) -> Result<()> {
        // Only a killed ccc may have left a story that goes further than the lines.
        if let (Some(entry), Some(_)) = (end.incomplete, &end.report) {
            bail!("entry {entry} refers to more lines than the recording has");
        }
        self.end = end;
        Ok(())
    }
}

/// How a recording went on the machine of today.
#[derive(Debug)]
pub struct Checked {
    pub decisions: usize,
    /// Of the last run.
    pub outcome: Outcome,
    pub killed: bool,
    pub differences: Vec<String>,
}

/// The runs that can be run again.
pub fn runs(recording: &Recording) -> Result<Vec<RecordedRun>> {
    let mut runs = recording.runs()?;
    runs.retain(|run| run.begun.is_some());
    if runs.is_empty() {
        bail!("{} contains no recording that ccc could run again", recording.dir.display());
    }
    Ok(runs)
}

/// Runs everything that is recorded, and shows nothing.
pub fn check(recording: &Recording) -> Result<Checked> {
    let mut checked =
        Checked { decisions: 0, outcome: Outcome::Ended, killed: false, differences: Vec::new() };
    let all = recording.runs()?;
    let several = runs(recording)?.len() > 1;
    let mut replay = Replay::of(recording);
    let mut number = 0;
    for run in &all {
        let Some(Begun { rules, .. }) = &run.begun else {
            replay.run(run, &mut Nobody)?;
            continue;
        };
        number += 1;
        let mut rerun = Rerun::new(rules.clone());
        replay.run(run, &mut rerun)?;
        let which = if several { format!("run {number}, ") } else { String::new() };
        let differences = rerun.differences.iter().map(ToString::to_string);
        let more = rerun.more_differences;
        let more = (more > 0).then(|| format!("and {more} more differences"));
        let differences = differences.chain(more).chain(rerun.report_difference());
        checked.differences.extend(differences.map(|difference| format!("{which}{difference}")));
        checked.decisions += rerun.decisions;
        checked.outcome = rerun.report().outcome;
        checked.killed = run.ended.is_none();
    }
    if replay.unread > 0 {
        let unread = replay.unread;
        checked.differences.push(format!("this version of ccc cannot read {unread} of its lines"));
    }
    Ok(checked)
}

/// Counts what cannot be read, and looks at nothing.
struct Nobody;

impl Witness for Nobody {
    fn event(&mut self, _: Event, _: Moment) -> Result<()> {
        Ok(())
    }

    fn line(&mut self, _: LineSource, _: &[u8], _: Moment) -> Result<()> {
        Ok(())
    }

    fn decided(&mut self, _: Content, _: Moment) -> Result<()> {
        Ok(())
    }

    fn wants_lines(&self) -> bool {
        false
    }
}

/// What another run of the session goes on with, after this one; `None` if that is not on record, and
/// neither are the rules by which a machine could find out.
pub fn carried(recording: &Recording, run: &RecordedRun) -> Result<Option<Carried>> {
    if let Some(carried) = &run.carried {
        return Ok(Some(carried.clone()));
    }
    let Some(begun) = &run.begun else { return Ok(None) };
    let mut told = ToldMachine::new(begun.rules.clone());
    Replay::of(recording).run(run, &mut told)?;
    Ok(Some(told.machine.carried()))
}

/// A machine that is told everything that is left, whatever was decided about it: what it knows in the
/// end, also when nobody was left to write that down.
pub struct ToldMachine {
    pub machine: Machine,
    pub last: Now,
}

impl ToldMachine {
    pub fn new(rules: Rules) -> Self {
        Self { machine: Machine::new(rules), last: Now::ZERO }
    }
}

impl Witness for ToldMachine {
    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        self.last = moment.at;
        self.machine.step(event, moment.at);
        Ok(())
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        for envelope in Line::decode(raw.to_vec()).into_messages() {
            self.event(source.event(envelope), moment)?;
        }
        Ok(())
    }

    fn decided(&mut self, _: Content, moment: Moment) -> Result<()> {
        self.last = moment.at;
        Ok(())
    }
}
