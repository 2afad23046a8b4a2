//! Parses a piece of Markdown into lines that are not yet fitted to the screen.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::super::highlight::Code;
use super::super::styled::{Glyphs, Style, Styled};
use super::inline::Inline;
use super::line::{TextLine, spaces};
use super::table::{Columns, Table};

/// The indentation of code.
pub const CODE: usize = 2;
const RULE: usize = 40;

/// The context of a piece of Markdown.
#[derive(Debug, Clone, Copy)]
pub struct RenderContext<'a> {
    pub width: Option<usize>,
    pub glyphs: Glyphs,
    /// The number of the first item, if the piece continues a list.
    pub number: Option<u64>,
    /// The indentation, if the piece continues an item.
    pub inside: Option<usize>,
    /// The columns, if the piece continues a table.
    pub columns: Option<&'a Columns>,
}

#[derive(Debug)]
pub struct Rendered {
    pub lines: Vec<TextLine>,
    /// The head of the table that the piece ends with, and its columns.
    pub table: Option<(String, Columns)>,
}

pub fn render(source: &str, context: &RenderContext<'_>) -> Rendered {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer::new(source, context);
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        renderer.event(event, range);
    }
    renderer.finish()
}

pub(super) struct Container {
    /// The prefix of its first line, until a line has used it.
    pub(super) first: Option<Styled>,
    pub(super) rest: Styled,
    pub(super) item: bool,
    /// The width of its prefix and of those around it.
    pub(super) prefix: usize,
}

pub(super) struct Renderer<'a> {
    pub(super) source: &'a str,
    pub(super) context: RenderContext<'a>,
    pub(super) lines: Vec<TextLine>,
    pub(super) containers: Vec<Container>,
    /// The numbers of the next items of the open lists.
    pub(super) lists: Vec<Option<u64>>,
    pub(super) inline: Inline,
    pub(super) code: Option<(Code, String)>,
    pub(super) table: Option<Table>,
    /// The end of the block that the next one is separated from.
    pub(super) last: Option<usize>,
    /// Everything before this has been shown.
    pub(super) seen: usize,
    pub(super) ends_with: Option<(String, Columns)>,
}

impl<'a> Renderer<'a> {
    fn new(source: &'a str, context: &RenderContext<'a>) -> Self {
        let mut renderer = Self {
            source,
            context: *context,
            lines: Vec::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            inline: Inline::default(),
            code: None,
            table: None,
            last: None,
            seen: 0,
            ends_with: None,
        };
        if let Some(cells) = context.inside {
            renderer.enter(None, spaces(cells), true);
        }
        renderer
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
                // A backslash at the end of a line is more often a continued command than a
                // requested break.
                if self.source[range.clone()].starts_with('\\') {
                    self.inline.push(None, "\\");
                }
                self.break_line();
            }
            Event::Rule => {
                self.open(range.start);
                let room = self.room().unwrap_or(RULE).min(RULE);
                let rule =
                    Styled::new(Style::Dim, &self.context.glyphs.lines.line.repeat(room.max(1)));
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
                let bar = Styled::new(Style::Dim, self.context.glyphs.quote);
                let bar = if self.is_deep(bar.width()) { Styled::default() } else { bar };
                self.enter(None, bar, false);
            }
            Tag::List(number) => {
                // Only for the outermost list: a nested list has its own numbers.
                let goes_on = self.context.number.take();
                let number = number.map(|number| goes_on.unwrap_or(number));
                self.lists.push(number);
            }
            Tag::Item => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", *number - 1)
                    }
                    _ => self.context.glyphs.bullet.to_owned(),
                };
                let deep = self.is_deep(marker.width());
                let rest = if deep { Styled::default() } else { spaces(marker.width()) };
                let first = Some(Styled::new(Style::Plain, &marker));
                self.enter(first, rest, true);
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
                self.code = Some((Code::new(info), String::new()));
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
            TagEnd::Emphasis | TagEnd::TableHead => self.inline.leave(),
            TagEnd::Strong | TagEnd::Strikethrough => match literal(&self.source[range.clone()]) {
                Some(marks) => self.inline.push(None, marks),
                None => self.inline.leave(),
            },
            TagEnd::Link | TagEnd::Image => self.inline.leave_link(),
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
}

fn is_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

/// The marks that are literal although the parser takes them for markup: `__init__`, and single
/// tildes, which mean a home directory or "about".
fn literal(marked: &str) -> Option<&'static str> {
    if marked.starts_with('~') {
        return (!marked.starts_with("~~")).then_some("~");
    }
    let name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    (marked.starts_with("__") && marked.bytes().all(name)).then_some("__")
}
