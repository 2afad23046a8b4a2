//! The recording, given to the machine again: it must decide what is on record, and nothing else.

use std::collections::VecDeque;

use anyhow::Result;
use ccc::client::stream::Line;
use ccc::event::Event;
use ccc::machine::Machine;
use ccc::record::Entry;
use ccc::record::read::Recording;
use ccc::record::replay::{LineSource, Moment, Replay, RunEnd, Visitor};
use serde::Serialize;
use serde_json::Value;

/// Complains about everything that `ccc replay --check` would forgive, too.
struct Strict {
    machine: Machine,
    /// Decided, and not yet found on record.
    decided: VecDeque<Entry>,
    checked: usize,
}

/// How many decisions are as recorded. A run that was killed may have decided more than it came to
/// write down.
#[track_caller]
pub fn rerun(recording: &Recording) -> usize {
    let mut checked = 0;
    let mut replay = Replay::of(recording);
    for run in recording.runs().expect("runs") {
        let begun = run.begun.as_ref().expect("a recording begins with its rules");
        let machine = Machine::new(begun.rules.clone());
        let mut strict = Strict { machine, decided: VecDeque::new(), checked: 0 };
        replay.run(&run, &mut strict).expect("a recording");
        checked += strict.checked;
    }
    assert_eq!(replay.unread, 0);
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

impl Visitor for Strict {
    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        self.decided.extend(self.machine.step(event, moment.at).iter().map(Entry::from));
        Ok(())
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        assert_eq!(self.decided, [], "only the last line that was counted may cause anything");
        for envelope in Line::decode(raw.to_vec()).into_messages() {
            self.event(source.event(envelope), moment)?;
        }
        Ok(())
    }

    fn decided(&mut self, decision: Entry, _: Moment) -> Result<()> {
        assert_eq!(self.decided.pop_front().map(written), Some(json(decision)), "on record only");
        self.checked += 1;
        Ok(())
    }

    fn settled(&mut self, last: bool) -> Result<()> {
        assert!(last || self.decided.is_empty(), "not on record: {:?}", self.decided);
        Ok(())
    }

    fn ends(&mut self, end: RunEnd) -> Result<()> {
        assert_eq!(end.incomplete, None, "more lines are counted than there are");
        let Some((moment, report)) = end.report else { return Ok(()) };
        let now = self.machine.report(report.outcome.clone(), moment.at);
        assert_eq!(written(now), json(report), "the closing report");
        Ok(())
    }
}
