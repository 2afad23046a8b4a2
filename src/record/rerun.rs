//! The runs of a recording, and a run on the machine again: what it knew at its end, also when nobody
//! was left to write that down.

use std::time::Duration;

use super::entry::{Begun, Entry, Saw, What};
use super::read::{AGENT, Recording, SUPERVISOR};
use crate::event::{Event, Report};
use crate::machine::Machine;
use crate::stream::{Line, Part};

/// From one `begun` to the next.
#[derive(Debug)]
pub struct Run<'a> {
    pub begun: Option<&'a Begun>,
    pub entries: &'a [Entry],
    /// Lines of the clients that belong to earlier runs.
    agent_before: usize,
    supervisor_before: usize,
    last: bool,
}

pub fn runs(entries: &[Entry]) -> Vec<Run<'_>> {
    let begins = |entry: &Entry| matches!(entry.what, What::Begun { .. });
    let mut starts: Vec<usize> =
        (0..entries.len()).filter(|at| *at == 0 || begins(&entries[*at])).collect();
    starts.push(entries.len());
    let mut runs: Vec<Run<'_>> = Vec::new();
    for bounds in starts.windows(2) {
        let (agent_before, supervisor_before) = runs.last().map_or((0, 0), |run| {
            let (agent, supervisor) = run.counted();
            (run.agent_before + agent, run.supervisor_before + supervisor)
        });
        let entries = &entries[bounds[0]..bounds[1]];
        let begun = match entries.first().map(|entry| &entry.what) {
            Some(What::Begun { begun }) => Some(&**begun),
            _ => None,
        };
        runs.push(Run { begun, entries, agent_before, supervisor_before, last: false });
    }
    if let Some(run) = runs.last_mut() {
        run.last = true;
    }
    runs
}

impl Run<'_> {
    pub fn ended(&self) -> Option<&Report> {
        self.entries.iter().rev().find_map(|entry| match &entry.what {
            What::Ended { ended } => Some(&**ended),
            _ => None,
        })
    }

    pub fn seconds(&self) -> f64 {
        self.entries.last().map_or(0.0, |entry| entry.at)
    }

    pub fn lines(&self, recording: &Recording) -> RawLines {
        // A run that was killed may leave lines that it never counted: what came to its end is better
        // counted from there.
        let from_the_end = self.last && self.ended().is_some();
        let skip = |file: &str, before: usize, own: usize| {
            // A file that cannot be read costs what is in it, as one that was never written.
            let lines = recording.lines(file).unwrap_or_default();
            let before = if from_the_end { lines.len().saturating_sub(own) } else { before };
            lines.into_iter().skip(before)
        };
        let (agent, supervisor) = self.counted();
        RawLines {
            agent: skip(AGENT, self.agent_before, agent),
            supervisor: skip(SUPERVISOR, self.supervisor_before, supervisor),
        }
    }

    /// `None` for a run whose rules are not on record.
    pub fn machine(&self, recording: &Recording) -> Option<Machine> {
        let mut machine = Machine::new(self.begun?.rules.clone());
        let mut lines = self.lines(recording);
        for entry in self.entries {
            let now = moment(entry.at);
            let What::Saw(saw) = &entry.what else { continue };
            match saw {
                Saw::Agent { lines: count } => {
                    for envelope in lines.agent(*count).flat_map(envelopes) {
                        machine.step(Event::Agent(envelope), now);
                    }
                }
                Saw::Supervisor { review, lines: count } => {
                    for envelope in lines.supervisor(*count).flat_map(envelopes) {
                        machine.step(Event::Supervisor { review: *review, envelope }, now);
                    }
                }
                saw => {
                    if let Some(event) = saw.event() {
                        machine.step(event, now);
                    }
                }
            }
        }
        Some(machine)
    }

    /// As it ended, or would have if it had come to its end.
    pub fn report(&self, recording: &Recording) -> Option<Report> {
        if let Some(report) = self.ended() {
            return Some(report.clone());
        }
        let machine = self.machine(recording)?;
        Some(machine.report(crate::event::Outcome::Ended, moment(self.seconds())))
    }

    fn counted(&self) -> (usize, usize) {
        let (mut agent, mut supervisor) = (0, 0);
        for entry in self.entries {
            match entry.what {
                What::Saw(Saw::Agent { lines }) => agent += size(lines),
                What::Saw(Saw::Supervisor { lines, .. }) => supervisor += size(lines),
                _ => {}
            }
        }
        (agent, supervisor)
    }
}

/// What the two clients printed, in order.
pub struct RawLines {
    agent: std::iter::Skip<std::vec::IntoIter<Vec<u8>>>,
    supervisor: std::iter::Skip<std::vec::IntoIter<Vec<u8>>>,
}

impl RawLines {
    pub fn agent(&mut self, count: u64) -> impl Iterator<Item = Line> {
        self.agent.by_ref().take(size(count)).map(Line::decode)
    }

    pub fn supervisor(&mut self, count: u64) -> impl Iterator<Item = Line> {
        self.supervisor.by_ref().take(size(count)).map(Line::decode)
    }
}

fn envelopes(line: Line) -> impl Iterator<Item = crate::stream::Envelope> {
    line.parts.into_iter().filter_map(|part| match part {
        Part::Message(envelope) => Some(*envelope),
        Part::Text(_) | Part::Bad(_) => None,
    })
}

fn moment(at: f64) -> Duration {
    Duration::try_from_secs_f64(at).unwrap_or_default()
}

fn size(lines: u64) -> usize {
    usize::try_from(lines).unwrap_or(usize::MAX)
}
