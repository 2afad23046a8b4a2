//! Sample data for the tests of the surfaces.

use std::io;

use super::{Report, Seconds};
use crate::client::stream::{Line, Usage};
use crate::event::{Now, Outcome, Phase, Round, Supervision};
use crate::machine::Status;
use crate::review::verdict::Verdict;

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
        model: String::new(),
        background: 0,
        cost_usd: 0.0,
        reviews_usd: 0.0,
        mode: None,
        limit: None,
        context: None,
        queued: Vec::new(),
        check: None,
        points: Vec::new(),
        met: None,
        questions: 0,
    }
}

pub fn usage() -> Usage {
    Usage { input_tokens: 500, cache_read_tokens: 49_500, output_tokens: 700, ..Usage::default() }
}

pub fn report(outcome: Outcome) -> Report {
    let verdict = Verdict::new(false, "add tests");
    Report {
        denials: Vec::new(),
        exit_code: outcome.exit_code(),
        outcome,
        session_id: Some("s-1".into()),
        rounds: vec![Round { round: 1, verdict, seconds: 3.0, cost_usd: 0.01, usage: usage() }],
        result: "done".into(),
        cost_usd: 0.0123,
        supervision: Supervision { reviews: 1, cost_usd: 0.01, usage: usage() },
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
