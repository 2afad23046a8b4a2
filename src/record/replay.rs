//! The one way through a recording: what happened in its order, each line of a client where it was
//! read, each decision behind what it is about. Whoever wants to know something of a recording is a
//! `Witness` of its replay; nobody else walks through one. Nothing is kept of what has gone by.

use anyhow::Result;
use jiff::Timestamp;

use super::format::{Begun, ClientLines, Content, EventLine};
use super::read::{AGENT, RecordedRun, Recording, SUPERVISOR, WholeLines};
use crate::client::stream::Envelope;
use crate::event::{Event, Now, Report};

/// Whose line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSource {
    Agent,
    Supervisor { review: u32 },
}

impl LineSource {
    /// What the machine is told of a message in one of its lines.
    pub fn event(self, envelope: Envelope) -> Event {
        match self {
            Self::Agent => Event::Agent(envelope),
            Self::Supervisor { review } => Event::Supervisor { review, envelope },
        }
    }
}

/// Where in a recording something stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Which line of `events.jsonl`, from 1.
    pub entry: usize,
    /// The machine's time.
    pub at: Now,
    /// The moment, for people.
    pub time: Timestamp,
    /// Lines of a client are gone that were read before: the machine can no longer be told all of it.
    pub incomplete: bool,
}

/// Sees a recording go by.
pub trait Witness {
    /// A run of ccc begins; `None` if it is not on record by which rules it went.
    fn begins(
        &mut self,
        _begun: Option<&Begun>,
        _run: &RecordedRun,
        _moment: Moment,
    ) -> Result<()> {
        Ok(())
    }

    /// Something happened, beside the clients' lines.
    fn event(&mut self, event: Event, moment: Moment) -> Result<()>;

    /// A client printed a line.
    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()>;

    /// What the loop did or told the person about it.
    fn decided(&mut self, decision: Content, moment: Moment) -> Result<()>;

    /// Every decision about the last event, or the last lines, has gone by. `last`: nothing follows in
    /// a run that has no end, so that more may have been decided than was written down.
    fn settled(&mut self, _last: bool) -> Result<()> {
        Ok(())
    }

    /// The run is over, or was killed.
    fn ends(&mut self, _end: RunEnd) -> Result<()> {
        Ok(())
    }

    /// Whether the clients' lines are read at all.
    fn wants_lines(&self) -> bool {
        true
    }

    /// Nothing more of this run is wanted, not even its end.
    fn has_enough(&self) -> bool {
        false
    }
}

#[derive(Debug, Default)]
pub struct RunEnd {
    /// `None` for a run that was killed.
    pub report: Option<(Moment, Report)>,
    /// The first entry that counts lines which are not there.
    pub incomplete: Option<usize>,
}

/// Goes through the runs of a recording, in order.
pub struct Replay<'a> {
    recording: &'a Recording,
    agent: WholeLines,
    supervisor: WholeLines,
    /// Lines of `events.jsonl` that this version cannot read, so far.
    pub unread: usize,
}

impl<'a> Replay<'a> {
    /// A file that cannot be read costs what is in it, as one that was never written.
    pub fn of(recording: &'a Recording) -> Self {
        let lines = |file: &str| {
            recording.lines(file).unwrap_or_else(|error| {
                log::warn!("{error:#}");
                WholeLines::none()
            })
        };
        Self { recording, agent: lines(AGENT), supervisor: lines(SUPERVISOR), unread: 0 }
    }

    pub fn run(&mut self, run: &RecordedRun, witness: &mut dyn Witness) -> Result<()> {
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
            let happens = matches!(line.content, Content::Event(_) | Content::Lines(_));
            if happens && std::mem::replace(&mut pending, true) {
                witness.settled(false)?;
            }
            match line.content {
                Content::Begun { .. } => {}
                Content::Event(event) => witness.event(event, moment)?,
                Content::Lines(counted) => {
                    if !self.lines(counted, moment, witness)? && end.incomplete.is_none() {
                        end.incomplete = Some(moment.entry);
                    }
                }
                decision @ (Content::Did(_) | Content::Notice(_)) => {
                    witness.decided(decision, moment)?;
                }
                Content::Ended { ended, .. } => end.report = Some((moment, *ended)),
            }
        }
        if pending {
            witness.settled(end.report.is_none())?;
        }
        witness.ends(end)
    }

    /// Whether there are as many as were counted.
    fn lines(
        &mut self,
        counted: ClientLines,
        moment: Moment,
        witness: &mut dyn Witness,
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
