//! Lines too long to wait for their end: they are shown row by row.

use unicode_segmentation::UnicodeSegmentation;

use super::super::styled::{Fill, Style};
use super::blocks::{Blocks, LIMIT, Open};
use super::line::TextLine;
use super::render::render;
use crate::client::stream::strip_escapes;

/// How far before the limit a space is looked for.
const SPACE: usize = 1024;
/// Makes a paragraph of what would begin something else, when it is the middle of a line.
const GUARD: &str = ".";

impl Blocks {
    pub(super) fn end_of_line(&mut self, line: &str) {
        let line = strip_escapes(line);
        let Open::Long(..) = self.open else {
            self.line(&line);
            return;
        };
        self.more(&line);
        if let Open::Long(line, back) = std::mem::replace(&mut self.open, Open::Nothing) {
            self.show(line);
            self.open = *back;
        }
        if let Open::Block(block) = &mut self.open {
            block.code.end_line();
        }
    }

    pub(super) fn middle_of_line(&mut self, text: &str) {
        let text = strip_escapes(text);
        if matches!(self.open, Open::Long(..)) {
            self.more(&text);
            return;
        }
        let code = matches!(&self.open, Open::Block(block) if block.goes_on(&text));
        if !code {
            self.line(&text);
        }
        let back = std::mem::replace(&mut self.open, Open::Nothing);
        let (line, back) = match back {
            Open::Block(mut block) if code => {
                let line = self.code_line(&mut block, &text);
                (line.unwrap_or_default(), Open::Block(block))
            }
            Open::Piece(piece) => {
                let (mut lines, piece) = self.rendered(piece);
                let words = lines.last().is_some_and(|line| line.fill.is_some());
                let last = if words { lines.pop() } else { None };
                lines.into_iter().for_each(|line| self.show(line));
                (last.unwrap_or_default(), Open::Piece(piece))
            }
            other => (TextLine::default(), other),
        };
        let fill = Some(line.fill.unwrap_or(Fill::Words));
        self.open = Open::Long(TextLine { fill, ..line }, Box::new(back));
        self.more("");
    }

    /// More of a line that is too long to be looked at as a whole.
    pub(super) fn more(&mut self, text: &str) {
        let Open::Long(mut line, mut back) = std::mem::replace(&mut self.open, Open::Nothing)
        else {
            return;
        };
        if line.fill == Some(Fill::Cells) {
            match &mut *back {
                Open::Block(block) => line.text.append(block.code.part(text)),
                _ => line.text.push(Style::Plain, text),
            }
        } else if !text.is_empty() {
            let rendered = render(&format!("{GUARD}{text}"), &self.setting(None, None));
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
        self.open = Open::Long(line, back);
    }
}

/// Where a line that is too long is cut: at a space, or else before its last character that
/// can be told from the next one.
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
