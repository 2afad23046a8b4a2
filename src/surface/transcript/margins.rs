//! The margins of lines and the gaps between them: they show whose line it is, and that a model wrote it.

use unicode_width::UnicodeWidthStr;

use super::{Author, NARROWEST, Transcript};
use crate::event::Asker;
use crate::surface::styled::{self, Style, Styled};

/// The indentation of a sub-agent's lines.
const INDENT: &str = "  ";
/// Precedes every line that a model wrote: the first column belongs to ccc, so that no text can
/// imitate a verdict, a question or a notice.
pub(super) const TEXT_MARGIN: &str = "  ";
/// Where lines are read aloud and a margin cannot be heard, ccc's verdicts begin with its name.
pub(in crate::surface) const SPOKEN_NAME: &str = "ccc: ";

/// The kind of a line: different kinds are separated by a blank line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Text,
    /// A complete text; the next text is another message.
    Message,
    Tool,
    Notice,
    /// A heading of what follows, or nothing yet.
    Heading,
}

impl Transcript {
    pub(super) fn short(&self, text: &str, more: bool, used: usize, author: Author) -> String {
        let ellipsis = self.look.glyphs.ellipsis;
        let text = if more { format!("{text} {ellipsis}") } else { text.to_owned() };
        let width = self.width.max(NARROWEST);
        styled::cut(&text, width.saturating_sub(self.margin(author) + used), ellipsis)
    }

    /// The columns before a line.
    pub(super) fn margin(&self, author: Author) -> usize {
        let gutter = match author.who {
            Asker::Agent => 0,
            Asker::Supervisor => self.look.glyphs.gutter.width(),
        };
        gutter + if author.own { 0 } else { INDENT.width() }
    }

    pub(super) fn placed(&self, line: Styled, author: Author) -> Styled {
        let line = if author.own { line } else { line.with_prefix(Style::Plain, INDENT) };
        match author.who {
            Asker::Agent => line,
            Asker::Supervisor => line.with_prefix(Style::Supervisor, self.look.glyphs.gutter),
        }
    }

    pub(super) fn text_lines(&mut self, lines: Vec<Styled>, author: Author) -> Vec<Styled> {
        let lines = lines.into_iter().map(|line| self.quoted(line)).collect();
        self.lines(lines, LineKind::Text, author)
    }

    /// Marks a line that a model wrote.
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

    /// The next text is another message.
    pub(super) fn text_is_complete(&mut self) {
        if self.last.0 == LineKind::Text {
            self.last.0 = LineKind::Message;
        }
    }

    pub(super) fn tool_lines(&mut self, lines: Vec<Styled>, author: Author) -> Vec<Styled> {
        self.lines(lines, LineKind::Tool, author)
    }

    pub(in crate::surface) fn lines(
        &mut self,
        mut lines: Vec<Styled>,
        kind: LineKind,
        author: Author,
    ) -> Vec<Styled> {
        if lines.is_empty() {
            return lines;
        }
        if self.needs_gap(kind, author) {
            lines.insert(0, Styled::default());
        }
        let lines = lines.into_iter().map(|line| self.placed(line, author)).collect();
        let lines = self.shown(lines);
        self.last = (kind, author);
        lines
    }

    pub(super) fn needs_gap(&self, kind: LineKind, author: Author) -> bool {
        let (before, whose) = self.last;
        let tools = kind == LineKind::Tool && before == LineKind::Tool;
        before != LineKind::Heading && !tools && (before, whose) != (kind, author)
    }

    pub(in crate::surface) fn shown(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        if !lines.is_empty() {
            self.last_tool = None;
            self.empty = false;
            self.last = (LineKind::Notice, Author::AGENT);
        }
        lines
    }

    /// A remark of ccc's own: apart from what the agent wrote and did, but not from another remark.
    pub(in crate::surface) fn remarked(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        let (before, whose) = self.last;
        let follows = matches!(before, LineKind::Text | LineKind::Message | LineKind::Tool);
        if follows && whose.who == Asker::Agent { self.apart(lines) } else { self.shown(lines) }
    }

    /// A line in the block of a review, which it begins if nothing of the review has been shown.
    pub(in crate::surface) fn in_review(&mut self, line: Styled) -> Vec<Styled> {
        if self.review_shown || self.last.0 == LineKind::Heading {
            return self.lines(vec![line], LineKind::Notice, Author::SUPERVISOR);
        }
        let line = self.placed(line, Author::SUPERVISOR);
        self.apart(vec![line])
    }

    /// Lines about checks: a review may begin with them.
    pub(in crate::surface) fn checks_in_review(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        let begun = std::mem::replace(&mut self.review_shown, true);
        let begun = begun || self.last.0 == LineKind::Heading;
        let lines = if begun { self.shown(lines) } else { self.apart(lines) };
        self.last = (LineKind::Notice, Author::SUPERVISOR);
        lines
    }

    /// Like `shown`, for a heading: no gap follows it.
    pub(in crate::surface) fn heading(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        let lines = self.shown(lines);
        self.last = (LineKind::Heading, Author::AGENT);
        lines
    }

    /// With a blank line before it, unless it is the first thing shown.
    pub(in crate::surface) fn apart(&mut self, mut lines: Vec<Styled>) -> Vec<Styled> {
        if !self.empty {
            lines.insert(0, Styled::default());
        }
        self.shown(lines)
    }
}

/// The columns available for what a model wrote.
pub(super) fn text_width(wrap: Option<usize>) -> Option<usize> {
    wrap.map(|cells| cells.saturating_sub(TEXT_MARGIN.len()).max(1))
}
