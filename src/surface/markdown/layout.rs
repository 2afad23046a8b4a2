//! Arranges the blocks of a piece: their lines, what precedes each line, and the blank lines
//! between.

use std::ops::Range;

use super::super::styled::{Fill, Style, Styled};
use super::line::{TextLine, spaces};
use super::render::{CODE, Container, Renderer};

/// The deepest indentation if the width of the screen is unknown.
const DEEP: usize = 60;

impl Renderer<'_> {
    /// Begins a block: ends the line written so far, and separates the block from the one before.
    pub(super) fn open(&mut self, at: usize) {
        self.end_text();
        self.definitions(at);
        self.separate(at);
        self.seen = self.seen.max(at);
        self.ends_with = None;
    }

    pub(super) fn close(&mut self, range: &Range<usize>) {
        let end = range.start + self.source[range.clone()].trim_end().len();
        self.last = Some(end);
    }

    /// In lists, blank lines are those of the text; everywhere else there is one between all
    /// blocks.
    pub(super) fn separate(&mut self, at: usize) {
        let Some(last) = self.last.take() else {
            return;
        };
        let listed = !self.lists.is_empty() || self.containers.iter().any(|one| one.item);
        let between = self.source.get(last..at).unwrap_or_default();
        if !listed || between.matches('\n').count() > 1 {
            let mut bars = Styled::default();
            let quotes = self.containers.iter().rposition(|one| !one.item).map_or(0, |at| at + 1);
            for container in &self.containers[..quotes] {
                bars.append(container.rest.clone());
            }
            self.lines.push(TextLine { text: bars, ..TextLine::default() });
        }
    }

    /// The parser does not report definitions of links. They may be used by other pieces, which
    /// cannot look them up, so they are shown.
    pub(super) fn definitions(&mut self, upto: usize) {
        let from = self.seen;
        let Some(skipped) = self.source.get(from..upto) else {
            return;
        };
        self.seen = upto;
        let mut any = false;
        for line in skipped.lines() {
            let text = line.trim_matches([' ', '\t', '>']);
            if text.is_empty() {
                continue;
            }
            if !std::mem::replace(&mut any, true) {
                self.separate(from);
            }
            self.inline.line.push(Style::Plain, text);
            self.end_line();
        }
        if any {
            self.last = Some(from + skipped.trim_end().len());
        }
    }

    pub(super) fn text(&mut self, style: Option<Style>, text: &str, range: &Range<usize>) {
        self.indent(range.start);
        self.inline.push(style, text);
    }

    pub(super) fn indent(&mut self, at: usize) {
        if self.table.is_none() {
            self.inline.indent(self.source, at);
        }
    }

    pub(super) fn break_line(&mut self) {
        let cell = self.table.as_mut().and_then(|table| table.rows.last_mut()?.last_mut());
        match cell {
            Some(cell) => cell.push(self.inline.take()),
            None => self.end_line(),
        }
    }

    pub(super) fn end_text(&mut self) {
        if !self.inline.line.is_empty() {
            self.end_line();
            self.last = Some(self.seen);
        }
    }

    pub(super) fn end_line(&mut self) {
        let text = self.inline.take();
        self.push(text, Some(Fill::Words));
    }

    pub(super) fn push(&mut self, text: Styled, fill: Option<Fill>) {
        let mut line = TextLine { text, fill, ..TextLine::default() };
        for container in &mut self.containers {
            line.first.append(container.first.take().unwrap_or_else(|| container.rest.clone()));
            line.hanging.append(container.rest.clone());
        }
        self.lines.push(line);
    }

    pub(super) fn code_block(&mut self) {
        let Some((mut code, text)) = self.code.take() else {
            return;
        };
        for line in text.lines() {
            let mut styled = Styled::default();
            if !line.is_empty() {
                styled = spaces(CODE);
                styled.append(code.line(line));
            }
            self.push(styled, Some(Fill::Cells));
        }
    }

    pub(super) fn new_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    pub(super) fn draw_table(&mut self, range: &Range<usize>) {
        let Some(table) = self.table.take() else {
            return;
        };
        let room = self.room();
        let begun = self.context.columns.take().filter(|_| range.start == 0);
        let columns = begun.cloned().unwrap_or_else(|| table.columns(room));
        for row in table.draw(&columns, begun.is_none(), room, self.context.glyphs) {
            self.push(row, None);
        }
        let source = &self.source[range.start..];
        if self.containers.is_empty() && self.source[range.end..].trim().is_empty() {
            let head = source.split_inclusive('\n').take(2).collect();
            self.ends_with = Some((head, columns));
        }
    }

    pub(super) fn enter(&mut self, first: Option<Styled>, rest: Styled, item: bool) {
        let prefix = self.prefix() + rest.width();
        self.containers.push(Container { first, rest, item, prefix });
    }

    pub(super) fn prefix(&self) -> usize {
        self.containers.last().map_or(0, |container| container.prefix)
    }

    pub(super) fn room(&self) -> Option<usize> {
        self.context.width.map(|cells| cells.saturating_sub(self.prefix()).max(1))
    }

    /// Beyond some depth, nothing is indented further.
    pub(super) fn is_deep(&self, more: usize) -> bool {
        self.prefix() + more > self.context.width.map_or(DEEP, |cells| cells / 2)
    }
}
