//! What the surfaces' tests show.

use std::io;

use super::{Report, Seconds};
use crate::event::{Now, Outcome, Phase, Round};
use crate::machine::Status;
use crate::stream::Line;
use crate::verdict::Verdict;

pub fn line(raw: &str) -> Line {
    Line::decode(raw.as_bytes().to_vec())
}

pub fn status() -> Status {
    Status {
        phase: Phase::Waiting,
        since: Now::ZERO,
        round: 0,
        max: 10,
        supervising: true,
        model: "claude-test".into(),
        background: 0,
        cost_usd: 0.0,
        context: None,
        queued: Vec::new(),
        questions: 0,
    }
}

pub fn report(outcome: Outcome) -> Report {
    let verdict = Verdict { completed: false, feedback: "add tests".into(), explicit: true };
    Report {
        exit_code: outcome.exit_code(),
        outcome,
        session_id: Some("s-1".into()),
        rounds: vec![Round { round: 1, verdict, seconds: 3.0, cost_usd: 0.01 }],
        result: "done".into(),
        cost_usd: 0.0123,
        seconds: Seconds { total: 123.4, working: 100.0, reviewing: 20.0 },
    }
}

pub struct ClosedPipe;

impl io::Write for ClosedPipe {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}
