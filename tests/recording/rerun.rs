//! The recording, given to the machine again: it must decide what is on record, and nothing else.

use std::collections::VecDeque;
use std::time::Duration;

use ccc::event::Event;
use ccc::machine::Machine;
use ccc::record::read::{AGENT, Recording, SUPERVISOR};
use ccc::record::{Begun, Saw, What};
use ccc::stream::{Envelope, Line, Part};
use serde::Serialize;
use serde_json::Value;

struct Run {
    machine: Machine,
    agent: Raw,
    supervisor: Raw,
    /// Decided, and not yet found on record.
    decided: VecDeque<What>,
}

/// The lines of a client, and how many of them were read.
struct Raw {
    lines: Vec<Vec<u8>>,
    read: usize,
}

/// How many decisions are as recorded. A run that was killed may have decided more than it came to
/// write down.
#[track_caller]
pub fn rerun(recording: &Recording) -> usize {
    let (mut run, mut ended, mut checked) = (None::<Run>, true, 0);
    for entry in &recording.entries {
        let at = Duration::from_secs_f64(entry.at);
        match (&entry.what, &mut run) {
            (What::Begun { begun }, _) => {
                run = Some(Run::new(recording, begun));
                ended = false;
            }
            (_, None) => panic!("a recording does not begin with {entry:?}"),
            (_, Some(_)) if ended => panic!("after the end of a run comes {entry:?}"),
            (What::Saw(saw), Some(run)) => {
                assert_eq!(run.decided, [], "not on record before {entry:?}");
                run.see(saw, at);
            }
            (What::Ended { ended: report }, Some(run)) => {
                assert_eq!(run.decided, [], "not on record before the end");
                assert_eq!(
                    written(run.machine.report(report.outcome.clone(), at)),
                    json(report),
                    "the closing report"
                );
                ended = true;
            }
            (what @ (What::Did(_) | What::Said(_)), Some(run)) => {
                assert_eq!(
                    run.decided.pop_front().map(written),
                    Some(json(what)),
                    "on record only"
                );
                checked += 1;
            }
        }
    }
    checked
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("JSON")
}

/// As it is read from the file: not everything about a verdict is there, and the last digit of a
/// number may be another one.
fn written(value: impl Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(&value).expect("JSON")).expect("JSON")
}

impl Run {
    fn new(recording: &Recording, begun: &Begun) -> Self {
        let raw = |file, read: u64| Raw {
            lines: recording.lines(file).expect(file),
            read: usize::try_from(read).expect("a number of lines"),
        };
        Self {
            machine: Machine::new(begun.rules.clone()),
            agent: raw(AGENT, begun.agent_lines),
            supervisor: raw(SUPERVISOR, begun.supervisor_lines),
            decided: VecDeque::new(),
        }
    }

    fn see(&mut self, saw: &Saw, at: Duration) {
        match saw {
            Saw::Agent { lines } => {
                let lines = self.agent.next(*lines);
                self.feed(lines, at, Event::Agent);
            }
            Saw::Supervisor { review, lines } => {
                let lines = self.supervisor.next(*lines);
                self.feed(lines, at, |envelope| Event::Supervisor { review: *review, envelope });
            }
            saw => self.step(saw.event().expect("an event"), at),
        }
    }

    fn feed(&mut self, lines: Vec<Vec<u8>>, at: Duration, event: impl Fn(Envelope) -> Event) {
        for raw in lines {
            assert_eq!(self.decided, [], "only the last line that was counted may cause anything");
            for part in Line::decode(raw).parts {
                if let Part::Message(envelope) = part {
                    self.step(event(*envelope), at);
                }
            }
        }
    }

    fn step(&mut self, event: Event, at: Duration) {
        self.decided.extend(self.machine.step(event, at).iter().map(What::from));
    }
}

impl Raw {
    #[track_caller]
    fn next(&mut self, lines: u64) -> Vec<Vec<u8>> {
        let from = self.read;
        self.read += usize::try_from(lines).expect("a number of lines");
        assert!(self.read <= self.lines.len(), "{} of {}", self.read, self.lines.len());
        self.lines[from..self.read].to_vec()
    }
}
