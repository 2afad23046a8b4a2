//! The runs of a recording, and a run on the machine again: what it knew at its end, also when nobody
//! was left to write that down.

use super::entry::{Begun, Entry, Saw, What};
use super::read::{AGENT, Recording, SUPERVISOR};
use crate::event::{Event, Now, Outcome, Report};
use crate::machine::Machine;
use crate::stream::Line;

/// From one `begun` to the next.
#[derive(Debug)]
pub struct Run<'a> {
    /// `None` for lines of a version that did not write it.
    pub begun: Option<&'a Begun>,
    pub entries: &'a [Entry],
}

pub fn runs(entries: &[Entry]) -> Vec<Run<'_>> {
    let begins = |entry: &Entry| matches!(entry.what, What::Begun { .. });
    let mut starts: Vec<usize> =
        (0..entries.len()).filter(|at| *at == 0 || begins(&entries[*at])).collect();
    starts.push(entries.len());
    let run = |bounds: &[usize]| {
        let entries = &entries[bounds[0]..bounds[1]];
        let begun = entries.first().and_then(|entry| match &entry.what {
            What::Begun { begun } => Some(&**begun),
            _ => None,
        });
        Run { begun, entries }
    };
    starts.windows(2).map(run).collect()
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

    fn last(&self) -> Now {
        self.entries.last().map_or(Now::ZERO, Entry::now)
    }

    pub fn lines(&self, recording: &Recording) -> RawLines {
        let lines = |file: &str, older: u64| {
            // A file that cannot be read costs what is in it, as one that was never written.
            recording.lines(file).unwrap_or_default().into_iter().skip(size(older))
        };
        RawLines {
            agent: lines(AGENT, self.begun.map_or(0, |begun| begun.agent_lines)),
            supervisor: lines(SUPERVISOR, self.begun.map_or(0, |begun| begun.supervisor_lines)),
        }
    }

    /// `None` for a run whose rules are not on record.
    pub fn machine(&self, recording: &Recording) -> Option<Machine> {
        let mut machine = Machine::new(self.begun?.rules.clone());
        let mut lines = self.lines(recording);
        for entry in self.entries {
            let now = entry.now();
            let What::Saw(saw) = &entry.what else { continue };
            match saw {
                Saw::Agent { lines: count } => {
                    for envelope in lines.agent(*count).flat_map(Line::into_messages) {
                        machine.step(Event::Agent(envelope), now);
                    }
                }
                Saw::Supervisor { review, lines: count } => {
                    for envelope in lines.supervisor(*count).flat_map(Line::into_messages) {
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
        Some(machine.report(Outcome::Ended, self.last()))
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

fn size(lines: u64) -> usize {
    usize::try_from(lines).unwrap_or(usize::MAX)
}
