//! The only way to walk through a recording: its events in order, each client line where it was
//! read, each decision after what it is about. Everything that examines a recording is a `Visitor`
//! of its replay. Nothing is kept in memory once it has been visited.

use anyhow::Result;
use jiff::Timestamp;

use super::format::{Begun, ClientLines, Entry, EventLine};
use super::read::{AGENT, RecordedRun, Recording, SUPERVISOR, WholeLines};
use crate::client::stream::Envelope;
use crate::event::{Event, Now, Report};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSource {
    Agent,
    Supervisor { review: u32 },
}

impl LineSource {
    pub fn event(self, envelope: Envelope) -> Event {
        match self {
            Self::Agent => Event::Agent(envelope),
            Self::Supervisor { review } => Event::Supervisor { review, envelope },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The line of `events.jsonl`, counted from 1.
    pub entry: usize,
    /// The machine's time.
    pub at: Now,
    /// Wall-clock time, for people.
    pub time: Timestamp,
    /// Client lines that were read before this are missing, so the machine cannot be given
    /// everything any more.
    pub incomplete: bool,
}

/// Visits the contents of a recording in order.
pub trait Visitor {
    /// A run of ccc begins; `None` if its rules were not recorded.
    fn begins(
        &mut self,
        _begun: Option<&Begun>,
        _run: &RecordedRun,
        _moment: Moment,
    ) -> Result<()> {
        Ok(())
    }

    /// An event other than a client's line.
    fn event(&mut self, _event: Event, _moment: Moment) -> Result<()> {
        Ok(())
    }

    fn line(&mut self, _source: LineSource, _raw: &[u8], _moment: Moment) -> Result<()> {
        Ok(())
    }

    /// What the loop did about it or told the person.
    fn decided(&mut self, _decision: Entry, _moment: Moment) -> Result<()> {
        Ok(())
    }

    /// All decisions about the last event or lines have been visited. `last`: the recording stops
    /// here although the run has no end, so more may have been decided than was recorded.
    fn settled(&mut self, _last: bool) -> Result<()> {
        Ok(())
    }

    fn ends(&mut self, _end: RunEnd) -> Result<()> {
        Ok(())
    }

    /// Whether the clients' lines need to be read at all.
    fn wants_lines(&self) -> bool {
        true
    }

    /// Whether the rest of this run, including its end, can be skipped.
    fn has_enough(&self) -> bool {
        false
    }
}

#[derive(Debug, Default)]
pub struct RunEnd {
    /// `None` for a run that was killed.
    pub report: Option<(Moment, Report)>,
    /// The first entry that counts more lines than there are.
    pub incomplete: Option<usize>,
}

/// Walks through the runs of a recording, in order.
pub struct Replay<'a> {
    recording: &'a Recording,
    agent: WholeLines,
    supervisor: WholeLines,
    /// How many lines of `events.jsonl` this version could not read so far.
    pub unread: usize,
}

impl<'a> Replay<'a> {
    /// A file that cannot be read is treated like one that was never written.
    pub fn of(recording: &'a Recording) -> Self {
        let lines = |file: &str| {
            recording.lines(file).unwrap_or_else(|error| {
                log::warn!("{error:#}");
                WholeLines::none()
            })
        };
        Self { recording, agent: lines(AGENT), supervisor: lines(SUPERVISOR), unread: 0 }
    }

    pub fn run(&mut self, run: &RecordedRun, witness: &mut dyn Visitor) -> Result<()> {
        let mut lines = self.recording.lines_of(run)?;
        let mut end = RunEnd::default();
        let (mut pending, mut begun) = (false, false);
        for number in 1..=run.lines {
            let Some(line) = lines.next_line()? else { break };
            let Ok(line) = serde_json::from_slice::<EventLine>(line) else {
                self.unread += 1;
                continue;
            };
            if witness.has_enough() {
                return Ok(());
            }
            let moment = Moment {
                entry: run.lines_before + number,
                at: line.now(),
                time: line.time,
                incomplete: end.incomplete.is_some(),
            };
            if !begun {
                begun = true;
                if let Some(begun) = &run.begun {
                    self.agent.skip_to(begun.agent_lines)?;
                    self.supervisor.skip_to(begun.supervisor_lines)?;
                }
                witness.begins(run.begun.as_ref(), run, moment)?;
            }
            let happens = matches!(line.content, Entry::Event(_) | Entry::Lines(_));
            if happens && std::mem::replace(&mut pending, true) {
                witness.settled(false)?;
            }
            match line.content {
                Entry::Begun { .. } => {}
                Entry::Event(event) => witness.event(event, moment)?,
                Entry::Lines(counted) => {
                    if !self.lines(counted, moment, witness)? && end.incomplete.is_none() {
                        end.incomplete = Some(moment.entry);
                    }
                }
                decision @ (Entry::Did(_) | Entry::Notice(_)) => {
                    witness.decided(decision, moment)?;
                }
                Entry::Ended { ended, .. } => end.report = Some((moment, *ended)),
            }
        }
        if pending {
            witness.settled(end.report.is_none())?;
        }
        witness.ends(end)
    }

    /// Visits these lines. Returns whether there are as many as were counted.
    fn lines(
        &mut self,
        counted: ClientLines,
        moment: Moment,
        witness: &mut dyn Visitor,
    ) -> Result<bool> {
        if !witness.wants_lines() {
            return Ok(true);
        }
        let (file, source, lines) = match counted {
            ClientLines::Agent { lines } => (&mut self.agent, LineSource::Agent, lines),
            ClientLines::Supervisor { review, lines } => {
                (&mut self.supervisor, LineSource::Supervisor { review }, lines)
            }
        };
        for _ in 0..lines {
            let Some(raw) = file.next_line()? else { return Ok(false) };
            if witness.has_enough() {
                break;
            }
            witness.line(source, raw, moment)?;
        }
        Ok(true)
    }
}
