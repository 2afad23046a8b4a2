//! What came of a check, in the transcript.

use super::super::Transcript;
use super::super::styled::{Style, Styled};
use super::super::transcript::FullText;
use super::duration;
use crate::checks::result::{CheckOutcome, CheckResult};

/// Lines of a red check's output; the agent gets more of them, and all is on record.
const TAIL: usize = 12;

/// As much of a check's output as can be read again on the screen. The end is what counts.
const KEPT: usize = 1 << 20;

impl Transcript {
    /// Where there is a place for what is going on right now, it stands there.
    pub(super) fn check_started(&mut self, name: &str, timeout: Option<f64>) -> Vec<Styled> {
        self.check_output.clear();
        if self.look.live {
            return Vec::new();
        }
        let most = timeout.map(|seconds| format!(" (at most {})", duration(seconds)));
        let text = format!("check {name}{}", most.unwrap_or_default());
        let line = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
        self.checks_in_review(vec![line.with(Style::Dim, &text)])
    }

    /// For whoever wants to read all of it.
    pub fn check_printed(&mut self, text: &str) {
        if self.keeps_whole {
            self.check_output.push_str(text);
            if self.check_output.len() > 2 * KEPT {
                let from = self.check_output.len() - KEPT;
                let length = self.check_output.len();
                let from = (from..length).find(|at| self.check_output.is_char_boundary(*at));
                self.check_output.drain(..from.unwrap_or(length));
            }
        }
    }

    pub(super) fn check_ended(&mut self, result: &CheckResult) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let text = std::mem::take(&mut self.check_output);
        if self.keeps_whole && !text.is_empty() {
            self.whole.push(FullText { what: "output", text });
        }
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
        self.checks_in_review(lines)
    }

    pub(super) fn checks_changed_files(&mut self) -> Vec<Styled> {
        let text = "The checks changed files of the project.";
        let gutter = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
        self.checks_in_review(vec![gutter.with(Style::Dim, text)])
    }
}
