//! Lines that are too long to wait for their end are shown row by row.

use unicode_segmentation::UnicodeSegmentation;

use super::super::styled::{Fill, Style};
use super::blocks::{Blocks, LIMIT, OpenBlock};
use super::line::TextLine;
use super::render::render;
use crate::client::stream::strip_escapes;

/// How far before the limit a space is searched.
const SPACE: usize = 1024;
/// Put before text from the middle of a line, so that it is parsed as a paragraph and nothing else.
const GUARD: &str = ".";

impl Blocks {
    pub(super) fn end_of_line(&mut self, line: &str) {
        let line = strip_escapes(line);
        let OpenBlock::Long(..) = self.open else {
            self.line(&line);
            return;
        };
        self.more(&line);
        if let OpenBlock::Long(line, back) = std::mem::replace(&mut self.open, OpenBlock::Nothing) {
            self.show(line);
            self.open = *back;
        }
        if let OpenBlock::Block(block) = &mut self.open {
            block.code.end_line();
        }
    }

    pub(super) fn middle_of_line(&mut self, text: &str) {
        let text = strip_escapes(text);
        if matches!(self.open, OpenBlock::Long(..)) {
            self.more(&text);
            return;
        }
        let code = matches!(&self.open, OpenBlock::Block(block) if block.goes_on(&text));
        if !code {
            self.line(&text);
        }
        let back = std::mem::replace(&mut self.open, OpenBlock::Nothing);
        let (line, back) = match back {
            OpenBlock::Block(mut block) if code => {
                let line = self.code_line(&mut block, &text);
                (line.unwrap_or_default(), OpenBlock::Block(block))
            }
            OpenBlock::TextPiece(piece) => {
                let (mut lines, piece) = self.rendered(piece);
                let words = lines.last().is_some_and(|line| line.fill.is_some());
                let last = if words { lines.pop() } else { None };
                lines.into_iter().for_each(|line| self.show(line));
                (last.unwrap_or_default(), OpenBlock::TextPiece(piece))
            }
            other => (TextLine::default(), other),
        };
        let fill = Some(line.fill.unwrap_or(Fill::Words));
        self.open = OpenBlock::Long(TextLine { fill, ..line }, Box::new(back));
        self.more("");
    }

    /// Adds to a line that is too long to be examined as a whole.
    pub(super) fn more(&mut self, text: &str) {
        let OpenBlock::Long(mut line, mut back) =
            std::mem::replace(&mut self.open, OpenBlock::Nothing)
        else {
            return;
        };
        if line.fill == Some(Fill::Cells) {
            match &mut *back {
                OpenBlock::Block(block) => line.text.append(block.code.part(text)),
                _ => line.text.push(Style::Plain, text),
            }
        } else if !text.is_empty() {
            let rendered = render(&format!("{GUARD}{text}"), &self.context(None, None));
            for (at, more) in rendered.lines.into_iter().enumerate() {
                if at == 0 {
                    line.text.append(more.text.without_first(GUARD.len()));
                } else {
                    let next =
                        TextLine { text: more.text, first: line.hanging.clone(), ..line.clone() };
                    self.show(std::mem::replace(&mut line, next));
                }
            }
        }
        let rows = line.take_rows(self.width);
        self.begun |= !rows.is_empty();
        self.rows.extend(rows);
        self.open = OpenBlock::Long(line, back);
    }
}

/// Where a line that is too long is cut: at a space, or else before its last grapheme cluster,
/// which may be incomplete.
pub fn cut(text: &str) -> usize {
    let mut end = LIMIT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut from = end - SPACE;
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let window = &text[from..end];
    let space = memchr::memrchr(b' ', window.as_bytes()).map(|at| from + at);
    let cluster = || window.grapheme_indices(true).next_back().map(|(at, _)| from + at);
    space.or_else(cluster).filter(|at| *at > from).unwrap_or(end)
}
