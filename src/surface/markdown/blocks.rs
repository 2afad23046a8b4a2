//! A text that is still being written, cut into pieces that can no longer change.
//!
//! The cuts depend on the text alone, never on how it arrives: lines are looked at one by one,
//! and what has grown too long is cut at a fixed size. So the whole at once and any sequence of
//! pieces give the same rows.

use super::super::highlight::{self, Budget, Code};
use super::super::styled::{Fill, Glyphs, Style, Styled};
use super::line::{Line, spaces};
use super::render::{CODE, Rendered, Setting, render};
use super::scan::{self, Fence, Marker};
use super::table::Columns;
use crate::stream::strip_escapes;

/// What is held back is never longer, whatever the text: lines, and pieces of several lines.
const LIMIT: usize = 16 * 1024;
/// How far before that a space is looked for.
const SPACE: usize = 1024;
/// Makes a paragraph of what would begin something else, when it is the middle of a line.
const GUARD: &str = ".";

#[derive(Debug, Clone)]
pub struct Blocks {
    pub width: Option<usize>,
    /// Code lines stay whole.
    pub whole: bool,
    pub rows: Vec<Styled>,
    glyphs: Glyphs,
    open: Open,
    /// The list of the item that was shown last, if it can go on, with the item's number.
    list: Option<(u8, u64)>,
    /// A blank line came last.
    blank: bool,
    begun: bool,
    budget: Budget,
}

/// What the next line may belong to.
#[derive(Debug, Clone)]
enum Open {
    Nothing,
    Piece(Piece),
    Block(Block),
    /// A line without an end; what stands in it so far, and what it belongs to.
    Long(Line, Box<Open>),
}

/// Some lines that are parsed together: an item of a list, or what stands between blank lines.
#[derive(Debug, Clone, Default)]
struct Piece {
    text: String,
    /// A blank row comes before it.
    apart: bool,
    item: Option<Item>,
    /// The code that its last line stands in: how to open it again.
    fence: Option<(String, Fence)>,
    /// It goes on with a table.
    columns: Option<Columns>,
}

#[derive(Debug, Clone)]
struct Item {
    marker: Marker,
    number: u64,
    /// The beginning has been shown already.
    rest: bool,
    blank: bool,
}

/// Code that stands in nothing else: its lines are shown one by one.
#[derive(Debug, Clone)]
struct Block {
    /// `None`: it is code because it is indented.
    fence: Option<Fence>,
    code: Code,
    /// Blank lines that are part of it if it goes on.
    blanks: usize,
    apart: bool,
}

impl Blocks {
    pub fn new(width: Option<usize>, glyphs: Glyphs) -> Self {
        Self {
            width,
            whole: true,
            rows: Vec::new(),
            glyphs,
            open: Open::Nothing,
            list: None,
            blank: false,
            begun: false,
            budget: Budget::default(),
        }
    }

    pub fn glyphs(&self) -> Glyphs {
        self.glyphs
    }

    /// Takes what it can of `text`: complete lines, and pieces of those that are too long.
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

    /// The text is over, with this behind its last newline.
    pub fn close(&mut self, rest: &str) {
        if !rest.is_empty() || matches!(self.open, Open::Long(..)) {
            self.end_of_line(rest);
        }
        self.flush();
    }

    fn end_of_line(&mut self, line: &str) {
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
    }

    fn middle_of_line(&mut self, text: &str) {
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
            other => (Line::default(), other),
        };
        let fill = Some(line.fill.unwrap_or(Fill::Words));
        self.open = Open::Long(Line { fill, ..line }, Box::new(back));
        self.more("");
    }

    /// More of a line that is too long to be looked at as a whole.
    fn more(&mut self, text: &str) {
        let Open::Long(mut line, back) = std::mem::replace(&mut self.open, Open::Nothing) else {
            return;
        };
        if line.fill == Some(Fill::Cells) {
            line.text.push(Style::Plain, text);
        } else if !text.is_empty() {
            let rendered =
                render(&format!("{GUARD}{text}"), self.setting(None, None), &mut self.budget);
            for (at, more) in rendered.lines.into_iter().enumerate() {
                if at == 0 {
                    line.text.append(more.text.without_first(GUARD.len()));
                } else {
                    let next =
                        Line { text: more.text, first: line.hanging.clone(), ..line.clone() };
                    self.show(std::mem::replace(&mut line, next));
                }
            }
        }
        let rows = line.take_rows(self.width);
        self.begun |= !rows.is_empty();
        self.rows.extend(rows);
        self.open = Open::Long(line, back);
    }

    fn line(&mut self, line: &str) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Block(block) => self.line_of_block(block, line),
            Open::Piece(piece) if piece.item.is_some() => self.line_in_item(piece, line),
            Open::Piece(piece) => self.line_in_text(piece, line),
            Open::Nothing | Open::Long(..) => self.first_line(line),
        }
    }

    fn first_line(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.blank = true;
            return;
        }
        let blank = std::mem::take(&mut self.blank);
        if let Some(fence) = Fence::opened(line) {
            let code = Code::new(&fence.info, highlight::BLOCK);
            self.list = None;
            self.open = Open::Block(Block { fence: Some(fence), code, blanks: 0, apart: true });
        } else if scan::indent(line).0 > 3 {
            let code = Code::new("", 0);
            self.list = None;
            self.line_of_block(Block { fence: None, code, blanks: 0, apart: true }, line);
        } else if let Some(marker) = Marker::of(line) {
            self.first_of_item(marker, blank, line);
        } else {
            self.list = None;
            let alone = scan::is_heading(line) || scan::is_rule(line);
            self.add(Piece { apart: true, ..Piece::default() }, line);
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
        self.add(Piece { apart, item: Some(item), ..Piece::default() }, line);
    }

    fn line_in_text(&mut self, piece: Piece, line: &str) {
        let blank = line.trim().is_empty();
        let interrupted = || {
            Fence::opened(line).is_some()
                || scan::is_heading(line)
                || Marker::of(line).is_some_and(|marker| marker.interrupts())
        };
        if blank || interrupted() {
            self.open = Open::Piece(piece);
            self.flush();
            self.first_line(line);
        } else {
            self.add(piece, line);
        }
    }

    fn line_in_item(&mut self, mut piece: Piece, line: &str) {
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
        self.open = Open::Piece(piece);
        self.flush();
        self.first_line(line);
    }

    fn line_of_block(&mut self, mut block: Block, line: &str) {
        if block.goes_on(line) {
            if let Some(line) = self.code_line(&mut block, line) {
                self.show(line);
            }
            self.open = Open::Block(block);
        } else if block.fence.is_none() {
            self.first_line(line);
        }
    }

    /// A line of code; the blank ones before it are shown here, itself is `None` if it is one.
    fn code_line(&mut self, block: &mut Block, line: &str) -> Option<Line> {
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
            self.show(Line::default());
        }
        let text = block.code.line(inner, &mut self.budget);
        let first = if inner.is_empty() { Styled::default() } else { spaces(CODE) };
        Some(Line { first, text, fill: Some(Fill::Cells), ..Line::default() })
    }

    /// Adds a line to a piece; what was there before is shown if it becomes too much.
    fn add(&mut self, mut piece: Piece, line: &str) {
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
        self.open = Open::Piece(piece);
    }

    /// The lines of a piece, and what more of the same would go on with.
    fn rendered(&mut self, mut piece: Piece) -> (Vec<Line>, Piece) {
        if std::mem::take(&mut piece.apart) {
            self.separate();
        }
        let setting = self.setting(piece.item.as_ref(), piece.columns.as_ref());
        let Rendered { lines, table } = render(&piece.text, setting, &mut self.budget);
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
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Piece(piece) => {
                self.list = piece.item.as_ref().map(|item| (item.marker.mark, item.number));
                let (lines, _) = self.rendered(piece);
                lines.into_iter().for_each(|line| self.show(line));
            }
            Open::Block(_) | Open::Nothing | Open::Long(..) => {}
        }
    }

    fn setting<'a>(&self, item: Option<&Item>, columns: Option<&'a Columns>) -> Setting<'a> {
        let rest = item.filter(|item| item.rest);
        let hanging = |item: &Item| match item.marker.number {
            Some(_) => item.number.to_string().len() + 2,
            None => self.glyphs.bullet.chars().count(),
        };
        Setting {
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

    fn show(&mut self, line: Line) {
        self.begun = true;
        self.rows.extend(line.rows(self.width, self.whole));
    }
}

impl Piece {
    fn follow_fence(&mut self, line: &str) {
        if self.item.is_none() && !scan::is_quote(line) {
            return;
        }
        let (lead, text) = scan::inner(line);
        match &self.fence {
            Some((_, fence)) if fence.is_closed_by(text) => self.fence = None,
            Some(_) => {}
            None => self.fence = Fence::opened(text).map(|fence| (lead, fence)),
        }
    }
}

impl Block {
    fn goes_on(&self, line: &str) -> bool {
        match &self.fence {
            Some(fence) => !fence.is_closed_by(line),
            None => line.trim().is_empty() || scan::indent(line).0 > 3,
        }
    }
}

/// Where a line that is too long is cut: at a space, or else before its last character that
/// can be told from the next one.
fn cut(text: &str) -> usize {
    use unicode_segmentation::UnicodeSegmentation;

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
