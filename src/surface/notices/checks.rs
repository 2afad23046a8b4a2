//! What came of a check, in the transcript.

use super::super::Transcript;
use super::super::styled::{Style, Styled};
use super::duration;
use crate::checks::result::{CheckOutcome, CheckResult};

/// Lines of a red check's output; the agent gets more of them, and all is on record.
const TAIL: usize = 12;

impl Transcript {
    pub(super) fn check_ended(&mut self, result: &CheckResult) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let gutter = || Styled::new(Style::Supervisor, glyphs.gutter);
        let (style, mark) = match result.outcome {
            CheckOutcome::Green => (Style::Good, glyphs.good),
            CheckOutcome::Skipped { .. } => (Style::Dim, glyphs.dash),
            CheckOutcome::Red { .. } | CheckOutcome::TimedOut { .. } => (Style::Bad, glyphs.bad),
        };
        let facts = match result.outcome {
            CheckOutcome::Skipped { .. } => result.told(),
            _ => format!("{} {} {}", result.told(), glyphs.dot, duration(result.seconds)),
        };
        let head = gutter()
            .with(style, mark)
            .with(Style::Plain, &format!(" check {}", result.name))
            .with(Style::Dim, &format!("  {facts}"));
        let mut lines = vec![head];
        if result.is_red() {
            let all: Vec<_> = result.tail.lines().collect();
            let tail = &all[all.len().saturating_sub(TAIL)..];
            lines.extend(tail.iter().map(|line| gutter().with(Style::Dim, &format!("  {line}"))));
        }
        self.shown(lines)
    }

    pub(super) fn checks_changed_files(&mut self) -> Vec<Styled> {
        let text = "The checks have changed files of the project.";
        self.shown(vec![Styled::new(Style::Dim, text)])
    }
}
