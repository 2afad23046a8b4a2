//! The margins of lines and the gaps between them: they show whose line it is, and that a model wrote it.

use unicode_width::UnicodeWidthStr;

use super::{Author, NARROWEST, Transcript};
use crate::event::Asker;
use crate::surface::styled::{self, Style, Styled};

/// What a sub-agent does stands this far in.
const INDENT: &str = "  ";
/// In front of every line that a model wrote: the first column is ccc's own, so that no text can pass
/// for a verdict, a question or a notice.
pub(super) const TEXT_MARGIN: &str = "  ";
/// Where lines are read aloud, and a margin cannot be heard, ccc's verdicts begin with its name.
pub(in crate::surface) const SPOKEN_NAME: &str = "ccc: ";

/// What stands on the last line: things of two kinds are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Text,
    /// A text that is whole: the next one is another.
    Message,
    Tool,
    Notice,
    /// A heading for what follows, or nothing at all.
    Heading,
}

impl Transcript {
    pub(super) fn short(&self, text: &str, more: bool, used: usize, place: Author) -> String {
        let ellipsis = self.look.glyphs.ellipsis;
        let text = if more { format!("{text} {ellipsis}") } else { text.to_owned() };
        let width = self.width.max(NARROWEST);
        styled::cut(&text, width.saturating_sub(self.margin(place) + used), ellipsis)
    }

    /// The columns in front of a line.
    pub(super) fn margin(&self, place: Author) -> usize {
        let gutter = match place.who {
            Asker::Agent => 0,
            Asker::Supervisor => self.look.glyphs.gutter.width(),
        };
        gutter + if place.own { 0 } else { INDENT.width() }
    }

    pub(super) fn placed(&self, line: Styled, place: Author) -> Styled {
        let line = if place.own { line } else { line.with_prefix(Style::Plain, INDENT) };
        match place.who {
            Asker::Agent => line,
            Asker::Supervisor => line.with_prefix(Style::Supervisor, self.look.glyphs.gutter),
        }
    }

    pub(super) fn text_lines(&mut self, lines: Vec<Styled>, place: Author) -> Vec<Styled> {
        let lines = lines.into_iter().map(|line| self.quoted(line)).collect();
        self.lines(lines, LineKind::Text, place)
    }

    /// A line that a model wrote, marked as such.
    pub(in crate::surface) fn quoted(&self, line: Styled) -> Styled {
        let name = SPOKEN_NAME.trim_end();
        let starts = |text: &str| {
            text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let line = if self.look.spoken && starts(line.text().trim_start()) {
            line.with_prefix(Style::Plain, "quoted: ")
        } else {
            line
        };
        if line.is_empty() { line } else { line.with_prefix(Style::Plain, TEXT_MARGIN) }
    }

    /// What is written next is another text.
    pub(super) fn text_is_whole(&mut self) {
        if self.last.0 == LineKind::Text {
            self.last.0 = LineKind::Message;
        }
    }

    pub(super) fn tool_lines(&mut self, lines: Vec<Styled>, place: Author) -> Vec<Styled> {
        self.lines(lines, LineKind::Tool, place)
    }

    pub(in crate::surface) fn lines(
        &mut self,
        mut lines: Vec<Styled>,
        kind: LineKind,
        place: Author,
    ) -> Vec<Styled> {
        if lines.is_empty() {
            return lines;
        }
        if self.needs_gap(kind, place) {
            lines.insert(0, Styled::default());
        }
        let lines = lines.into_iter().map(|line| self.placed(line, place)).collect();
        let lines = self.shown(lines);
        self.last = (kind, place);
        lines
    }

    pub(super) fn needs_gap(&self, kind: LineKind, place: Author) -> bool {
        let (before, whose) = self.last;
        let tools = kind == LineKind::Tool && before == LineKind::Tool;
        before != LineKind::Heading && !tools && (before, whose) != (kind, place)
    }

    pub(in crate::surface) fn shown(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        if !lines.is_empty() {
            self.last_tool = None;
            self.empty = false;
            self.last = (LineKind::Notice, Author::AGENT);
        }
        lines
    }

    /// Like `shown`; what follows belongs right below it.
    pub(in crate::surface) fn heading(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        let lines = self.shown(lines);
        self.last = (LineKind::Heading, Author::AGENT);
        lines
    }

    /// With an empty line in front, unless there is nothing to keep apart.
    pub(in crate::surface) fn apart(&mut self, mut lines: Vec<Styled>) -> Vec<Styled> {
        if !self.empty {
            lines.insert(0, Styled::default());
        }
        self.shown(lines)
    }
}

/// The columns that are left for what a model wrote.
pub(super) fn text_width(wrap: Option<usize>) -> Option<usize> {
    wrap.map(|cells| cells.saturating_sub(TEXT_MARGIN.len()).max(1))
}
