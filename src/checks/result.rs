//! The result of a check, and the end of its output.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Check;
use crate::client::stream::strip_escapes;

/// How much of a check's output is kept in memory; the recording has all of it.
const TAIL_BYTES: usize = 8 << 10;
const TAIL_LINES: usize = 60;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub run: String,
    #[serde(flatten)]
    pub outcome: CheckOutcome,
    #[serde(default)]
    pub seconds: f64,
    /// The end of its output, without escapes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum CheckOutcome {
    Green,
    /// "exited with code 1", "was ended by SIGSEGV"
    Red {
        how: String,
        code: Option<i32>,
    },
    TimedOut {
        after: f64,
    },
    /// The check did not run, which says nothing about the work.
    Skipped {
        why: Skipped,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skipped {
    /// No file that its globs match has changed.
    NothingChanged,
    /// Nobody has allowed the commands of this project's SUPERVISOR.md.
    NotTrusted,
    /// The check had not started or not ended when the time for checks was over.
    NoTime,
}

impl CheckResult {
    pub fn not_trusted(check: &Check) -> Self {
        Self::skipped(check, Skipped::NotTrusted)
    }

    pub fn skipped(check: &Check, why: Skipped) -> Self {
        Self {
            name: check.name.clone(),
            run: check.run.clone(),
            outcome: CheckOutcome::Skipped { why },
            seconds: 0.0,
            tail: String::new(),
        }
    }

    pub fn is_red(&self) -> bool {
        matches!(self.outcome, CheckOutcome::Red { .. } | CheckOutcome::TimedOut { .. })
    }

    pub fn is_green(&self) -> bool {
        self.outcome == CheckOutcome::Green
    }

    /// "passed", "exited with code 1"
    pub fn told(&self) -> String {
        match &self.outcome {
            CheckOutcome::Green => "passed".to_owned(),
            CheckOutcome::Red { how, .. } => how.clone(),
            CheckOutcome::TimedOut { after } => format!("did not end within {after} s"),
            CheckOutcome::Skipped { why: Skipped::NothingChanged } => {
                "skipped: no file it applies to has changed".to_owned()
            }
            CheckOutcome::Skipped { why: Skipped::NotTrusted } => {
                "skipped: nobody has allowed this project's checks".to_owned()
            }
            CheckOutcome::Skipped { why: Skipped::NoTime } => {
                "skipped: the Stop hook had no time left for it".to_owned()
            }
        }
    }
}

/// The last lines of an output, however long it is.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    lines: VecDeque<String>,
    open: String,
    bytes: usize,
}

impl Tail {
    pub fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.open.push_str(piece);
            if self.open.ends_with('\n') {
                let line = finished(&std::mem::take(&mut self.open));
                self.bytes += line.len();
                self.lines.push_back(line);
            } else if self.open.len() > TAIL_BYTES {
                cut_front(&mut self.open, TAIL_BYTES / 2);
            }
            while self.lines.len() > TAIL_LINES || (self.bytes > TAIL_BYTES && self.lines.len() > 1)
            {
                self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            }
        }
    }

    /// The last lines that are not blank.
    pub fn last_lines(&self, most: usize) -> Vec<String> {
        let open = finished(&self.open);
        let all = std::iter::once(&open).chain(self.lines.iter().rev());
        let said = all.filter(|line| !line.trim().is_empty());
        let mut last: Vec<_> = said.take(most).cloned().collect();
        last.reverse();
        last
    }

    pub fn text(&self) -> String {
        let mut lines: Vec<_> = self.lines.iter().cloned().collect();
        lines.push(finished(&self.open));
        let mut text = lines.join("\n").trim_matches('\n').trim_end().to_owned();
        if text.len() > TAIL_BYTES {
            cut_front(&mut text, TAIL_BYTES);
        }
        text
    }
}

/// A line as a terminal shows it in the end: after a carriage return, a progress bar is
/// overwritten.
fn finished(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    let last = line.rsplit('\r').next().unwrap_or_default();
    strip_escapes(last).into_owned()
}

/// Keeps the last `size` bytes, or a little less so as not to split a character.
pub fn cut_front(text: &mut String, size: usize) {
    let mut from = text.len().saturating_sub(size);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.drain(..from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_keeps_the_end_and_stays_small() {
        let mut tail = Tail::default();
        for at in 0..100_000 {
            tail.push(&format!("line {at}\n"));
        }
        tail.push("no new");
        tail.push("line");
        let text = tail.text();
        assert!(text.ends_with("line 99999\nno newline"), "{text}");
        assert!(text.lines().count() <= TAIL_LINES + 1 && text.len() <= TAIL_BYTES);
        assert_eq!(tail.last_lines(2), ["line 99999", "no newline"]);
        let mut long = Tail::default();
        long.push(&"é".repeat(10 * TAIL_BYTES));
        long.push("\n\n");
        assert!(long.text().len() <= TAIL_BYTES && long.last_lines(1)[0].ends_with('é'));
    }

    #[test]
    fn progress_bars_and_colours_are_resolved() {
        let mut tail = Tail::default();
        tail.push("\x1b[31m 1%\r 50%\r100%\r\nnext\n\n");
        assert_eq!(tail.text(), "100%\nnext");
        assert_eq!(tail.last_lines(5), ["100%", "next"]);
    }

    #[test]
    fn a_result_survives_serialisation() {
        for outcome in [
            CheckOutcome::Green,
            CheckOutcome::Red { how: "exited with code 1".into(), code: Some(1) },
            CheckOutcome::TimedOut { after: 1.5 },
            CheckOutcome::Skipped { why: Skipped::NotTrusted },
        ] {
            let result = CheckResult {
                name: "x".into(),
                run: "make x".into(),
                outcome,
                seconds: 0.5,
                tail: "end".into(),
            };
            let text = serde_json::to_string(&result).unwrap();
            assert_eq!(serde_json::from_str::<CheckResult>(&text).unwrap(), result, "{text}");
        }
    }
}
