//! Runs a recording again: today's machine is given the recorded events, and its decisions are
//! compared with the recorded ones.

use std::fmt;

use anyhow::{Result, bail};
use serde_json::Value;

use super::by_hook::is_by_hook;
use super::format::{Begun, Did, Entry};
use super::read::{RecordedRun, Recording};
use super::replay::{LineSource, Moment, Replay, RunEnd, Visitor};
use crate::client::stream::Line;
use crate::event::{Action, Carried, Event, Now, Outcome, Report};
use crate::machine::{Machine, Rules};

/// How much of a decision a difference shows, in characters.
const SHOWN: usize = 400;
/// How many differences are kept; the rest are only counted.
const KEPT: usize = 1000;

/// A recorded decision and today's; `None` where only one of the two machines decided anything.
#[derive(Debug)]
pub struct Difference {
    pub entry: usize,
    pub recorded: Option<Entry>,
    pub now: Option<Entry>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, recorded, now } = self;
        let (recorded, now) = (described(recorded.as_ref()), described(now.as_ref()));
        write!(f, "entry {entry}: the recorded decision is {recorded}, but now it is {now}")
    }
}

fn described(decision: Option<&Entry>) -> String {
    let Some(value) = decision.map(value) else { return "nothing more".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The decision as it is written to the file; what is not written is not compared.
fn value(decision: &Entry) -> Value {
    serde_json::to_value(decision).unwrap_or_default()
}

/// One run, repeated on today's machine.
#[derive(Debug)]
pub struct Rerun {
    pub machine: Machine,
    /// The last event, what was decided about it then, and what is decided now.
    moment: Option<Moment>,
    recorded: Vec<Entry>,
    now: Vec<Entry>,
    /// Every outcome that the loop decided on then.
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

    pub fn tell(&mut self, event: Event, moment: Moment) -> Vec<Action> {
        if moment.incomplete {
            return Vec::new();
        }
        self.moment = Some(moment);
        let actions = self.machine.step(event, moment.at);
        self.now.extend(actions.iter().map(Entry::from));
        for action in &actions {
            if let Action::Finish(outcome) = action {
                self.outcome = Some(outcome.clone());
            }
        }
        actions
    }

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
        // A killed ccc may not have recorded its last decisions.
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
            // Decisions are recorded right after what they are about.
            let entry = moment.entry + 1 + at.min(recorded.len());
            let (recorded, now) = (then.cloned(), today.cloned());
            self.differences.push(Difference { entry, recorded, now });
        }
    }

    pub fn differences(&self) -> (usize, Option<&Difference>) {
        (self.differences.len() + self.more_differences, self.differences.first())
    }

    fn last(&self) -> Now {
        self.moment.map_or(Now::ZERO, |moment| moment.at)
    }

    /// The closing report of today's machine. A killed session has none of its own.
    pub fn report(&self) -> Report {
        let outcome = self.ended_from_outside().or_else(|| self.outcome.clone());
        let outcome = outcome.unwrap_or_else(|| {
            Outcome::Failed("the recording stops here, before the session ended".to_owned())
        });
        self.machine.report(outcome, self.last())
    }

    /// An outcome that the loop did not decide on, for example because nothing could be shown to
    /// the person any more.
    fn ended_from_outside(&self) -> Option<Outcome> {
        let (_, report) = self.end.report.as_ref()?;
        let outside = self.finished.iter().all(|outcome| *outcome != report.outcome);
        outside.then(|| report.outcome.clone())
    }

    /// How the two reports differ, apart from the outcome, which is a decision, and the duration.
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

impl Visitor for Rerun {
    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        self.tell(event, moment);
        Ok(())
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        self.tell_line(source, Line::decode(raw.to_vec()), moment);
        Ok(())
    }

    fn decided(&mut self, decision: Entry, moment: Moment) -> Result<()> {
        if moment.incomplete {
            return Ok(());
        }
        if self.moment.is_none() {
            bail!("entry {} does not refer to anything", moment.entry);
        }
        if let Entry::Did(Did::Finish { outcome }) = &decision {
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
        // Only a killed ccc may leave events that refer to more lines than were written.
        if let (Some(entry), Some(_)) = (end.incomplete, &end.report) {
            bail!("entry {entry} refers to more lines than the recording has");
        }
        self.end = end;
        Ok(())
    }
}

#[derive(Debug)]
pub struct RerunResult {
    pub decisions: usize,
    pub outcome: Outcome,
    pub killed: bool,
    pub differences: Vec<String>,
}

/// The runs that can be run again.
pub fn runs(recording: &Recording) -> Result<Vec<RecordedRun>> {
    let mut runs = recording.runs()?;
    runs.retain(|run| run.begun.is_some());
    if runs.is_empty() && is_by_hook(&recording.dir) {
        let id = recording.dir.file_name().unwrap_or_default().display();
        bail!(
            "the Stop hook records only its reviews, which cannot be run again; `ccc sessions show {id}` shows them"
        );
    }
    if runs.is_empty() {
        bail!("{} contains no recording that ccc could run again", recording.dir.display());
    }
    Ok(runs)
}

/// Runs the whole recording again, without showing anything.
pub fn check(recording: &Recording) -> Result<RerunResult> {
    let mut checked = RerunResult {
        decisions: 0,
        outcome: Outcome::Ended,
        killed: false,
        differences: Vec::new(),
    };
    let all = recording.runs()?;
    let several = runs(recording)?.len() > 1;
    let mut replay = Replay::of(recording);
    let mut number = 0;
    for run in &all {
        let Some(Begun { rules, .. }) = &run.begun else {
            replay.run(run, &mut IgnoreAll)?;
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

/// Ignores everything; the replay still counts what it cannot read.
struct IgnoreAll;

impl Visitor for IgnoreAll {
    fn wants_lines(&self) -> bool {
        false
    }
}

/// What this run hands on to the next; `None` if neither that nor the run's rules were recorded.
pub fn carried(recording: &Recording, run: &RecordedRun) -> Result<Option<Carried>> {
    if let Some(carried) = &run.carried {
        return Ok(Some(carried.clone()));
    }
    let Some(begun) = &run.begun else { return Ok(None) };
    let mut told = ReplayedMachine::new(begun.rules.clone());
    Replay::of(recording).run(run, &mut told)?;
    Ok(Some(told.machine.carried()))
}

/// A machine that is given everything recorded, whatever was decided then: its final state is known
/// even if ccc was killed before it could record that.
pub struct ReplayedMachine {
    pub machine: Machine,
    pub last: Now,
}

impl ReplayedMachine {
    pub fn new(rules: Rules) -> Self {
        Self { machine: Machine::new(rules), last: Now::ZERO }
    }
}

impl Visitor for ReplayedMachine {
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

    fn decided(&mut self, _: Entry, moment: Moment) -> Result<()> {
        self.last = moment.at;
        Ok(())
    }
}
