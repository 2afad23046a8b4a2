//! Cuts a text that is still being written into pieces that can no longer change.
//!
//! The cuts depend only on the text, never on how it arrives: lines are examined one by one, and
//! whatever grows too long is cut at a fixed size. So the whole text at once and any sequence of
//! pieces give the same rows.

use super::super::highlight::Code;
use super::super::styled::{Fill, Glyphs, Styled};
use super::line::{TextLine, spaces};
use super::long::cut;
use super::piece::{CodeBlock, Item, TextPiece};
use super::plain::plain;
use super::render::{CODE, RenderContext, Rendered, render};
use super::scan::{self, Fence, Marker};
use super::table::Columns;

/// Nothing longer than this is held back, neither a line nor several lines.
pub const LIMIT: usize = 16 * 1024;

#[derive(Debug, Clone)]
pub struct Blocks {
    pub width: Option<usize>,
    /// Whether lines of code stay unbroken.
    whole: bool,
    pub rows: Vec<Styled>,
    pub(super) glyphs: Glyphs,
    pub(super) open: OpenBlock,
    /// The list mark and number of the last item shown, if its list may continue.
    list: Option<(u8, u64)>,
    /// Whether the last line was blank.
    blank: bool,
    pub(super) begun: bool,
}

/// What the next line may belong to.
#[derive(Debug, Clone)]
pub(super) enum OpenBlock {
    Nothing,
    TextPiece(TextPiece),
    Block(CodeBlock),
    /// A line that has not ended: its text so far, and what it belongs to.
    Long(TextLine, Box<OpenBlock>),
}

impl Blocks {
    pub fn new(width: Option<usize>, glyphs: Glyphs) -> Self {
        Self {
            width,
            whole: true,
            rows: Vec::new(),
            glyphs,
            open: OpenBlock::Nothing,
            list: None,
            blank: false,
            begun: false,
        }
    }

    /// From now on the rows are for one frame of a screen, so code is broken to its width.
    pub fn for_one_frame(&mut self) {
        self.whole = false;
    }

    /// Consumes complete lines of `text`, and pieces of lines that are too long. Returns how much.
    pub fn feed(&mut self, text: &str) -> usize {
        let mut at = 0;
        loop {
            let rest = &text[at..];
            let window = &rest.as_bytes()[..rest.len().min(LIMIT)];
            match memchr::memchr(b'\n', window) {
                Some(end) => {
                    self.end_of_line(&rest[..end]);
                    at += end + 1;
                }
                None if rest.len() >= LIMIT => {
                    let end = cut(rest);
                    self.middle_of_line(&rest[..end]);
                    at += end;
                }
                None => return at,
            }
        }
    }

    /// Ends the text, with `rest` after its last newline.
    pub fn close(&mut self, rest: &str) {
        if !rest.is_empty() || matches!(self.open, OpenBlock::Long(..)) {
            self.end_of_line(rest);
        }
        self.flush();
    }

    pub(super) fn line(&mut self, line: &str) {
        match std::mem::replace(&mut self.open, OpenBlock::Nothing) {
            OpenBlock::Block(block) => self.line_of_block(block, line),
            OpenBlock::TextPiece(piece) if piece.item.is_some() => self.line_in_item(piece, line),
            OpenBlock::TextPiece(piece) => self.line_in_text(piece, line),
            OpenBlock::Nothing | OpenBlock::Long(..) => self.first_line(line),
        }
    }

    fn first_line(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.blank = true;
            return;
        }
        let blank = std::mem::take(&mut self.blank);
        if let Some(fence) = Fence::opened(line) {
            let code = Code::new(&fence.info);
            self.list = None;
            self.open =
                OpenBlock::Block(CodeBlock { fence: Some(fence), code, blanks: 0, apart: true });
        } else if scan::indent(line).0 > 3 {
            let code = Code::new("");
            self.list = None;
            self.line_of_block(CodeBlock { fence: None, code, blanks: 0, apart: true }, line);
        } else if let Some(marker) = Marker::of(line) {
            self.first_of_item(marker, blank, line);
        } else {
            self.list = None;
            let alone = scan::is_heading(line) || scan::is_rule(line);
            self.add(TextPiece { apart: true, ..TextPiece::default() }, line);
            if alone {
                self.flush();
            }
        }
    }

    fn first_of_item(&mut self, marker: Marker, blank: bool, line: &str) {
        let before = self.list.take().filter(|(mark, _)| *mark == marker.mark);
        let number = match before {
            Some((_, number)) => number.saturating_add(1),
            None => marker.number.unwrap_or_default(),
        };
        let item = Item { marker, number, rest: false, blank: false };
        let apart = before.is_none() || blank;
        self.add(TextPiece { apart, item: Some(item), ..TextPiece::default() }, line);
    }

    fn line_in_text(&mut self, piece: TextPiece, line: &str) {
        let blank = line.trim().is_empty();
        let interrupted = || {
            Fence::opened(line).is_some()
                || scan::is_heading(line)
                || Marker::of(line).is_some_and(|marker| marker.interrupts())
        };
        if blank || interrupted() {
            self.open = OpenBlock::TextPiece(piece);
            self.flush();
            self.first_line(line);
        } else {
            self.add(piece, line);
        }
    }

    fn line_in_item(&mut self, mut piece: TextPiece, line: &str) {
        let Some(item) = &mut piece.item else {
            return;
        };
        if line.trim().is_empty() {
            item.blank = true;
            self.add(piece, "");
            return;
        }
        let inside = scan::indent(line).0 >= item.marker.column;
        let lazy = !item.blank
            && piece.fence.is_none()
            && Marker::of(line).is_none()
            && Fence::opened(line).is_none()
            && !(scan::is_heading(line) || scan::is_quote(line) || scan::is_rule(line));
        if inside || lazy {
            item.blank = false;
            self.add(piece, line);
            return;
        }
        self.blank = item.blank;
        self.open = OpenBlock::TextPiece(piece);
        self.flush();
        self.first_line(line);
    }

    fn line_of_block(&mut self, mut block: CodeBlock, line: &str) {
        if block.goes_on(line) {
            if let Some(line) = self.code_line(&mut block, line) {
                self.show(line);
            }
            block.code.end_line();
            self.open = OpenBlock::Block(block);
        } else if block.fence.is_none() {
            self.first_line(line);
        }
    }

    /// A line of code or its beginning; blank lines before it are shown first. `None` if the line
    /// itself is blank.
    pub(super) fn code_line(&mut self, block: &mut CodeBlock, line: &str) -> Option<TextLine> {
        let inner = match &block.fence {
            Some(fence) => scan::unindented(line, fence.indent),
            None if line.trim().is_empty() => {
                block.blanks += 1;
                return None;
            }
            None => scan::unindented(line, 4),
        };
        if std::mem::take(&mut block.apart) {
            self.separate();
        }
        for _ in 0..std::mem::take(&mut block.blanks) {
            self.show(TextLine::default());
        }
        let text = block.code.part(inner);
        let first = if inner.is_empty() { Styled::default() } else { spaces(CODE) };
        Some(TextLine { first, text, fill: Some(Fill::Cells), ..TextLine::default() })
    }

    /// Adds a line to a piece. If it becomes too long, what was there before is shown.
    fn add(&mut self, mut piece: TextPiece, line: &str) {
        if piece.text.len() + line.len() > LIMIT && !piece.text.is_empty() {
            let (lines, rest) = self.rendered(piece);
            lines.into_iter().for_each(|line| self.show(line));
            piece = rest;
        }
        let rest = piece.item.as_ref().filter(|item| item.rest);
        let line = rest.map_or(line, |item| scan::unindented(line, item.marker.column));
        piece.text.push_str(line);
        piece.text.push('\n');
        piece.follow_fence(line);
        self.open = OpenBlock::TextPiece(piece);
    }

    /// The lines of a piece, and an empty piece with which its continuation begins.
    pub(super) fn rendered(&mut self, mut piece: TextPiece) -> (Vec<TextLine>, TextPiece) {
        if std::mem::take(&mut piece.apart) {
            self.separate();
        }
        let context = self.context(piece.item.as_ref(), piece.columns.as_ref());
        let marker = piece.item.as_ref().map(|item| item.marker);
        let Rendered { lines, table } = match plain(&piece.text, marker, &context) {
            Some(line) => Rendered { lines: vec![line], table: None },
            None => render(&piece.text, &context),
        };
        piece.text.clear();
        piece.columns = None;
        if let Some(item) = &mut piece.item {
            item.rest = true;
        } else if let Some((head, columns)) = table {
            piece.text = head;
            piece.columns = Some(columns);
        }
        if let Some((lead, fence)) = &piece.fence {
            let opener = fence.again(lead);
            let rest = piece.item.as_ref().map_or(0, |item| item.marker.column);
            piece.text.push_str(scan::unindented(&opener, rest));
        }
        (lines, piece)
    }

    fn flush(&mut self) {
        match std::mem::replace(&mut self.open, OpenBlock::Nothing) {
            OpenBlock::TextPiece(piece) => {
                self.list = piece.item.as_ref().map(|item| (item.marker.mark, item.number));
                let (lines, _) = self.rendered(piece);
                lines.into_iter().for_each(|line| self.show(line));
            }
            OpenBlock::Block(_) | OpenBlock::Nothing | OpenBlock::Long(..) => {}
        }
    }

    pub(super) fn context<'a>(
        &self,
        item: Option<&Item>,
        columns: Option<&'a Columns>,
    ) -> RenderContext<'a> {
        let rest = item.filter(|item| item.rest);
        let hanging = |item: &Item| match item.marker.number {
            Some(_) => item.number.to_string().len() + 2,
            None => self.glyphs.bullet.chars().count(),
        };
        RenderContext {
            width: self.width,
            glyphs: self.glyphs,
            number: item.filter(|item| !item.rest).map(|item| item.number),
            inside: rest.map(hanging),
            columns,
        }
    }

    fn separate(&mut self) {
        if self.begun {
            self.rows.push(Styled::default());
        }
    }

    pub(super) fn show(&mut self, line: TextLine) {
        self.begun = true;
        self.rows.extend(line.rows(self.width, self.whole));
    }
}
