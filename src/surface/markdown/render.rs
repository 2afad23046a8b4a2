//! A piece of Markdown that is parsed at once: its blocks as lines not yet fitted to the screen.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::super::highlight::{Budget, Code};
use super::super::styled::{Fill, Glyphs, Style, Styled};
use super::inline::Inline;
use super::line::{Line, spaces};
use super::table::{Columns, Table};

/// How much code is coloured in a block inside a list or a quote: it is drawn anew in each frame.
const INNER: usize = 2 * 1024;
/// Code stands this far in.
pub const CODE: usize = 2;
const RULE: usize = 40;
/// How far in things go, where nobody says how wide the screen is.
const DEEP: usize = 60;

/// Where a piece of Markdown stands.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    pub width: Option<usize>,
    pub glyphs: Glyphs,
    /// The number of the first item, if it goes on with a list.
    pub number: Option<u64>,
    /// More of an item that has begun, which stands this far in.
    pub inside: Option<usize>,
    /// More rows of a table that has begun.
    pub columns: Option<&'a Columns>,
}

#[derive(Debug)]
pub struct Rendered {
    pub lines: Vec<Line>,
    /// The head of the table that the piece ends with, and its columns.
    pub table: Option<(String, Columns)>,
}

pub fn render(source: &str, setting: Setting<'_>, budget: &mut Budget) -> Rendered {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer::new(source, setting, budget);
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        renderer.event(event, range);
    }
    renderer.finish()
}

struct Container {
    /// What it begins with, until a line has taken it.
    first: Option<Styled>,
    rest: Styled,
    item: bool,
}

pub(super) struct Renderer<'a> {
    source: &'a str,
    setting: Setting<'a>,
    budget: &'a mut Budget,
    lines: Vec<Line>,
    containers: Vec<Container>,
    /// The numbers of the next items of the open lists.
    lists: Vec<Option<u64>>,
    inline: Inline,
    code: Option<(Code, String)>,
    table: Option<Table>,
    /// Where the block ended that the next one has to keep a distance from.
    last: Option<usize>,
    /// All before it has been shown.
    seen: usize,
    ends_with: Option<(String, Columns)>,
}

impl<'a> Renderer<'a> {
    fn new(source: &'a str, setting: Setting<'a>, budget: &'a mut Budget) -> Self {
        let inside =
            setting.inside.map(|cells| Container { first: None, rest: spaces(cells), item: true });
        Self {
            source,
            setting,
            budget,
            lines: Vec::new(),
            containers: inside.into_iter().collect(),
            lists: Vec::new(),
            inline: Inline::default(),
            code: None,
            table: None,
            last: None,
            seen: 0,
            ends_with: None,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if let Event::Start(tag) = event {
            self.start(tag, &range);
            return;
        }
        self.within(event, &range);
        self.seen = self.seen.max(range.end);
    }

    fn within(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(_) => {}
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(None, &text, range),
            },
            Event::Html(text) => {
                for line in text.lines() {
                    self.inline.line.push(Style::Plain, line);
                    self.end_line();
                }
            }
            Event::InlineHtml(text) if is_break(&text) => self.break_line(),
            Event::Code(text) => self.text(Some(Style::Code), &text, range),
            Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(None, &text, range),
            Event::SoftBreak | Event::HardBreak => {
                // More often it is a command that goes on than a break somebody asked for.
                if self.source[range.clone()].starts_with('\\') {
                    self.inline.push(None, "\\");
                }
                self.break_line();
            }
            Event::Rule => {
                self.open(range.start);
                let room = self.room().unwrap_or(RULE).min(RULE);
                let rule = Styled::new(Style::Dim, &self.setting.glyphs.line.repeat(room.max(1)));
                self.push(rule, None);
                self.close(range);
            }
            Event::TaskListMarker(done) => {
                self.text(Some(Style::Plain), if done { "[x] " } else { "[ ] " }, range);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Emphasis => self.inline.enter(Style::Italic),
            Tag::Strong | Tag::Strikethrough => match literal(&self.source[range.clone()]) {
                Some(marks) => self.text(None, marks, range),
                None if tag == Tag::Strong => self.inline.enter(Style::Bold),
                None => self.inline.enter(Style::Strike),
            },
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.indent(range.start);
                self.inline.enter_link(&dest_url);
            }
            Tag::TableHead => {
                self.inline.enter(Style::Bold);
                self.new_row();
            }
            Tag::TableRow => self.new_row(),
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(Vec::new());
                }
            }
            block => {
                self.open(range.start);
                self.start_block(block, range);
            }
        }
    }

    fn start_block(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.inline.enter(match level {
                HeadingLevel::H1 | HeadingLevel::H2 => Style::Heading,
                _ => Style::Bold,
            }),
            Tag::BlockQuote(_) => {
                let bar = Styled::new(Style::Dim, self.setting.glyphs.quote);
                let bar = if self.is_deep(bar.width()) { Styled::default() } else { bar };
                self.containers.push(Container { first: None, rest: bar, item: false });
            }
            Tag::List(number) => {
                let number = number.map(|number| self.setting.number.take().unwrap_or(number));
                self.lists.push(number);
            }
            Tag::Item => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", *number - 1)
                    }
                    _ => self.setting.glyphs.bullet.to_owned(),
                };
                let deep = self.is_deep(marker.width());
                let rest = if deep { Styled::default() } else { spaces(marker.width()) };
                let first = Some(Styled::new(Style::Plain, &marker));
                self.containers.push(Container { first, rest, item: true });
                let rest = &self.source[range.start..];
                let digits =
                    rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                self.seen = self.seen.max(range.start + digits + 1);
            }
            Tag::CodeBlock(kind) => {
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((Code::new(info, INNER), String::new()));
            }
            Tag::Table(alignments) => {
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            _ => {}
        }
        if self.containers.is_empty() {
            self.inline.begin(Some(0));
        } else {
            self.inline.begin(None);
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Emphasis => self.inline.leave(),
            TagEnd::Strong | TagEnd::Strikethrough => match literal(&self.source[range.clone()]) {
                Some(marks) => self.inline.push(None, marks),
                None => self.inline.leave(),
            },
            TagEnd::Link | TagEnd::Image => self.inline.leave_link(),
            TagEnd::TableHead => self.inline.leave(),
            TagEnd::TableRow => {}
            TagEnd::TableCell => self.break_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.inline.leave();
                self.close(range);
            }
            TagEnd::CodeBlock => {
                self.code_block();
                self.close(range);
            }
            TagEnd::Table => {
                self.draw_table(range);
                self.close(range);
            }
            TagEnd::Item => {
                self.end_text();
                self.definitions(range.end);
                if self.containers.last().is_some_and(|item| item.first.is_some()) {
                    self.end_line();
                }
                self.containers.pop();
                self.close(range);
            }
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.definitions(range.end);
                self.containers.pop();
                self.close(range);
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.close(range);
            }
            _ => {
                self.end_text();
                self.close(range);
            }
        }
    }

    fn finish(mut self) -> Rendered {
        self.end_text();
        self.definitions(self.source.len());
        Rendered { lines: self.lines, table: self.ends_with }
    }

    /// A block begins: what is written so far is a line, and there may be a blank one after it.
    fn open(&mut self, at: usize) {
        self.end_text();
        self.definitions(at);
        self.separate(at);
        self.seen = self.seen.max(at);
        self.ends_with = None;
    }

    fn close(&mut self, range: &Range<usize>) {
        let end = range.start + self.source[range.clone()].trim_end().len();
        self.last = Some(end);
    }

    /// In lists the text says where blank lines are, everywhere else they are between all blocks.
    fn separate(&mut self, at: usize) {
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
            self.lines.push(Line { text: bars, ..Line::default() });
        }
    }

    /// Definitions of links are no block to the parser. Nothing here looks up links of other
    /// pieces, so they are shown.
    fn definitions(&mut self, upto: usize) {
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

    fn text(&mut self, style: Option<Style>, text: &str, range: &Range<usize>) {
        self.indent(range.start);
        self.inline.push(style, text);
    }

    fn indent(&mut self, at: usize) {
        if self.table.is_none() {
            self.inline.indent(self.source, at);
        }
    }

    fn break_line(&mut self) {
        let cell = self.table.as_mut().and_then(|table| table.rows.last_mut()?.last_mut());
        match cell {
            Some(cell) => cell.push(self.inline.take()),
            None => self.end_line(),
        }
    }

    fn end_text(&mut self) {
        if !self.inline.line.is_empty() {
            self.end_line();
            self.last = Some(self.seen);
        }
    }

    fn end_line(&mut self) {
        let text = self.inline.take();
        self.push(text, Some(Fill::Words));
    }

    fn push(&mut self, text: Styled, fill: Option<Fill>) {
        let mut line = Line { text, fill, ..Line::default() };
        for container in &mut self.containers {
            line.first.append(container.first.take().unwrap_or_else(|| container.rest.clone()));
            line.hanging.append(container.rest.clone());
        }
        self.lines.push(line);
    }

    fn code_block(&mut self) {
        let Some((mut code, text)) = self.code.take() else {
            return;
        };
        for line in text.lines() {
            let mut styled = Styled::default();
            if !line.is_empty() {
                styled = spaces(CODE);
                styled.append(code.line(line, self.budget));
            }
            self.push(styled, Some(Fill::Cells));
        }
    }

    fn new_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn draw_table(&mut self, range: &Range<usize>) {
        let Some(table) = self.table.take() else {
            return;
        };
        let room = self.room();
        let begun = self.setting.columns.take().filter(|_| range.start == 0);
        let columns = begun.cloned().unwrap_or_else(|| table.columns(room));
        for row in table.draw(&columns, begun.is_none(), room, self.setting.glyphs) {
            self.push(row, None);
        }
        let source = &self.source[range.start..];
        if self.containers.is_empty() && self.source[range.end..].trim().is_empty() {
            let head = source.split_inclusive('\n').take(2).collect();
            self.ends_with = Some((head, columns));
        }
    }

    fn prefix(&self) -> usize {
        self.containers.iter().map(|container| container.rest.width()).sum()
    }

    fn room(&self) -> Option<usize> {
        self.setting.width.map(|cells| cells.saturating_sub(self.prefix()).max(1))
    }

    /// From some depth on, what is deeper stands no further in.
    fn is_deep(&self, more: usize) -> bool {
        self.prefix() + more > self.setting.width.map_or(DEEP, |cells| cells / 2)
    }
}

fn is_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

/// The marks around what only looks as if it were marked: `__init__`, and single tildes, which
/// stand for a home directory or for "about".
fn literal(marked: &str) -> Option<&'static str> {
    if marked.starts_with('~') {
        return (!marked.starts_with("~~")).then_some("~");
    }
    let name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    (marked.starts_with("__") && marked.bytes().all(name)).then_some("__")
}
