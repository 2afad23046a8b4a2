//! Shows checks on the screen: a line that is redrawn while one runs, and a permanent line when it has ended.

use std::path::Path;

use unicode_width::UnicodeWidthStr;

use crate::checks::result::{CheckOutcome, CheckResult};
use crate::checks::running::CheckProgress;
use crate::checks::suite::Suite;
use crate::console;
use crate::event::Now;
use crate::surface::look;
use crate::surface::{Look, Style, Styled, duration};

const TAIL: usize = 20;

pub struct Show {
    silent: bool,
    width: usize,
    look: Look,
    frame: usize,
    drawn: bool,
}

impl Show {
    pub fn new(silent: bool, names: &[String]) -> Self {
        let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
        Self { silent, width, look: look::plain(), frame: 0, drawn: false }
    }

    pub fn note(
        &mut self,
        suite: &Suite,
        now: Now,
        seen: &CheckProgress<'_>,
        whole: Option<&Path>,
    ) {
        if self.silent {
            return;
        }
        match seen {
            CheckProgress::Started(_) | CheckProgress::Waiting => self.draw(suite, now),
            CheckProgress::Printed(_) => {}
            CheckProgress::Ended(result) => {
                let lines = self.ended(result, whole);
                self.write(&lines);
            }
        }
    }

    /// Draws the line that is overwritten later.
    fn draw(&mut self, suite: &Suite, now: Now) {
        let Some(columns) = self.look.ticker else { return };
        let Some(check) = suite.current() else { return };
        let glyphs = self.look.glyphs;
        self.frame += 1;
        let spinner = glyphs.spinner[self.frame % glyphs.spinner.len()];
        let took = duration(now.saturating_sub(check.since).as_secs_f64());
        let line = Styled::new(Style::Tool, spinner)
            .with(Style::Bold, &format!(" {}", check.name))
            .with(
                Style::Dim,
                &format!(
                    "  {took}  {}",
                    check.tail.last().map(|line| line.trim()).unwrap_or_default()
                ),
            )
            .cut(columns.saturating_sub(1), glyphs.ellipsis);
        let mut out = b"\r\x1b[K".to_vec();
        line.write(self.look.colour, &mut out);
        self.drawn = true;
        put(&out);
    }

    fn ended(&self, result: &CheckResult, whole: Option<&Path>) -> Vec<Styled> {
        let mut lines = vec![self.row(result)];
        if result.is_red() {
            let all: Vec<_> = result.tail.lines().collect();
            let tail = &all[all.len().saturating_sub(TAIL)..];
            lines.extend(tail.iter().map(|line| Styled::new(Style::Dim, &format!("    {line}"))));
            if let Some(path) = whole.filter(|_| !all.is_empty()) {
                let text = format!("    The whole output: {}", path.display());
                lines.push(Styled::new(Style::Plain, &text));
            }
        }
        lines
    }

    fn row(&self, result: &CheckResult) -> Styled {
        let glyphs = self.look.glyphs;
        let (style, mark) = match result.outcome {
            CheckOutcome::Green => (Style::Good, glyphs.good),
            CheckOutcome::Skipped { .. } => (Style::Dim, glyphs.dash),
            _ => (Style::Bad, glyphs.bad),
        };
        let space = " ".repeat(self.width.saturating_sub(result.name.width()));
        let row = Styled::new(style, mark).with(Style::Plain, &format!(" {}{space}", result.name));
        match result.outcome {
            CheckOutcome::Skipped { .. } => row.with(Style::Dim, &format!("  {}", result.told())),
            _ => {
                row.with(Style::Dim, &format!("  {}  {}", result.told(), duration(result.seconds)))
            }
        }
    }

    fn write(&mut self, lines: &[Styled]) {
        let mut out = Vec::new();
        self.erase(&mut out);
        for line in lines {
            line.write(self.look.colour, &mut out);
            out.push(b'\n');
        }
        put(&out);
    }

    fn erase(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.drawn) {
            out.extend_from_slice(b"\r\x1b[K");
        }
    }

    /// Clears the redrawn line: nothing is running any more.
    pub fn end(&mut self) {
        let mut out = Vec::new();
        self.erase(&mut out);
        put(&out);
    }

    /// The checks that did not run, and the overall result.
    pub fn summary(&self, results: &[CheckResult]) -> Vec<u8> {
        let mut out = Vec::new();
        let skipped = results.iter().filter(|result| !result.is_green() && !result.is_red());
        for result in skipped {
            self.row(result).write(self.look.colour, &mut out);
            out.push(b'\n');
        }
        let red = results.iter().filter(|result| result.is_red()).count();
        let green = results.iter().filter(|result| result.is_green()).count();
        let skipped = results.len() - red - green;
        let mut words = vec![format!("{green} passed")];
        words.extend((red > 0).then(|| format!("{red} failed")));
        words.extend((skipped > 0).then(|| format!("{skipped} skipped")));
        let dot = format!(" {} ", self.look.glyphs.dot);
        out.extend_from_slice(words.join(&dot).as_bytes());
        out.push(b'\n');
        out
    }
}

/// A reader that closes the pipe early does not stop the checks.
fn put(bytes: &[u8]) {
    let _ = console::print_styled(bytes);
}
