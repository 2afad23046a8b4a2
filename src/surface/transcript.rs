//! The session as lines to read: what the agent and the supervisor print, made short. Decides
//! nothing about colours, width or where the lines go; what ccc itself says is in `notices.rs`.

use std::collections::HashMap;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::styled::{self, Glyphs, Style, Styled};
use crate::event::Asker;
use crate::stream::{Block, Envelope, Line, Message, Part, ToolResult, TurnResult};

/// How much of a line that stands for more is shown where nobody says how wide the screen is.
const WIDTH: usize = 120;
/// What a sub-agent does stands this far in.
const INDENT: &str = "  ";
/// Where previews of a tool's output end.
const PREVIEW: usize = 2000;
/// The supervisor's way to give its verdict, which has a notice of its own.
const VERDICT_TOOL: &str = "StructuredOutput";
/// The fields of a tool's input that say most about it, best first.
const TELLING: [&str; 12] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "path",
    "description",
    "skill",
    "subject",
    "prompt",
    "task_id",
];

/// Decided once by whoever knows the terminal and the locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub glyphs: Glyphs,
    pub colour: bool,
    /// Say what a person could type next.
    pub hints: bool,
    /// A line for each change of phase: for where no status line shows it.
    pub phases: bool,
    /// Columns of a terminal that shows a transcript nobody answers to: its last line tells that
    /// something is going on, and for how long.
    pub ticker: Option<usize>,
}

#[derive(Debug)]
pub struct Transcript {
    pub(super) look: Look,
    pub(super) supervising: bool,
    width: usize,
    /// How far in the message stands that is being shown.
    margin: usize,
    /// Tools that have not answered yet, by the id of their use; `None` for one that is not shown.
    tools: HashMap<String, Option<String>>,
    /// The tool use on the last line, when that is what stands there.
    last_tool: Option<String>,
    /// The agent has said something in this turn.
    spoke: bool,
    /// What the supervisor said last.
    pub(super) judgement: String,
    empty: bool,
}

impl Transcript {
    pub fn new(look: Look) -> Self {
        Self {
            look,
            supervising: true,
            width: WIDTH,
            margin: 0,
            tools: HashMap::new(),
            last_tool: None,
            spoke: false,
            judgement: String::new(),
            empty: true,
        }
    }

    pub fn set_width(&mut self, cells: usize) {
        self.width = cells;
    }

    pub fn agent(&mut self, line: &Line) -> Vec<Styled> {
        self.line(line, Asker::Agent)
    }

    pub fn supervisor(&mut self, line: &Line) -> Vec<Styled> {
        let gutter = self.look.glyphs.gutter;
        let lines = self.line(line, Asker::Supervisor);
        lines.into_iter().map(|line| line.behind(Style::Supervisor, gutter)).collect()
    }

    fn line(&mut self, line: &Line, who: Asker) -> Vec<Styled> {
        let mut out = Vec::new();
        for part in &line.parts {
            match part {
                Part::Message(envelope) => out.extend(self.message(envelope, who)),
                Part::Text(text) => {
                    let lines = styled::lines(Style::Plain, text);
                    out.extend(self.shown(lines));
                }
                Part::Bad(_) => {}
            }
        }
        out
    }

    fn message(&mut self, envelope: &Envelope, who: Asker) -> Vec<Styled> {
        let own = envelope.parent.is_none();
        let gutter = if who == Asker::Supervisor { self.look.glyphs.gutter.width() } else { 0 };
        self.margin = gutter + if own { 0 } else { INDENT.width() };
        let lines = match &envelope.message {
            Message::Init(_) if own => {
                self.spoke = false;
                Vec::new()
            }
            Message::Assistant { blocks, .. } => {
                blocks.iter().flat_map(|block| self.block(block, who, own)).collect()
            }
            Message::ToolResults(results) => {
                results.iter().filter_map(|result| self.outcome(result)).collect()
            }
            Message::Result(result) if own && who == Asker::Agent => self.result(result),
            Message::ApiRetry { attempt, max, delay_ms, error } => {
                let seconds = delay_ms.div_ceil(1000);
                let text = format!("retry {attempt}/{max} in {seconds} s: {error}");
                self.shown(vec![Styled::new(Style::Dim, &text)])
            }
            _ => Vec::new(),
        };
        if own {
            return lines;
        }
        lines.into_iter().map(|line| line.behind(Style::Plain, INDENT)).collect()
    }

    fn block(&mut self, block: &Block, who: Asker, own: bool) -> Vec<Styled> {
        match block {
            Block::Text(text) => {
                if who == Asker::Supervisor && own {
                    text.trim().clone_into(&mut self.judgement);
                    if is_verdict(text) {
                        return Vec::new();
                    }
                }
                let lines = styled::lines(Style::Plain, text);
                self.spoke |= own && !lines.is_empty();
                self.shown(lines)
            }
            Block::Thinking(text) => {
                let (first, more) = styled::first_line(text);
                if first.is_empty() {
                    return Vec::new();
                }
                let line = self.short(&first, more, 0);
                self.shown(vec![Styled::new(Style::Dim, &line)])
            }
            Block::ToolUse { id, name, .. } if name == VERDICT_TOOL => {
                self.tools.insert(id.clone(), None);
                Vec::new()
            }
            Block::ToolUse { id, name, input } => {
                let telling = telling(input);
                let (first, more) = styled::first_line(&telling);
                let head = format!("{} ", self.look.glyphs.tool);
                let used = head.width() + name.width() + 1;
                let mut line = Styled::new(Style::Tool, &head).with(Style::Bold, name);
                if !first.is_empty() {
                    let text = format!(" {}", self.short(&first, more, used));
                    line = line.with(Style::Plain, &text);
                }
                let lines = self.shown(vec![line]);
                self.tools.insert(id.clone(), Some(name.clone()));
                self.last_tool = Some(id.clone());
                lines
            }
        }
    }

    fn outcome(&mut self, result: &ToolResult) -> Option<Styled> {
        let name = match self.tools.remove(&result.tool_use_id) {
            Some(None) => return None,
            // Right below its own line a result needs no name.
            Some(Some(_)) if self.last_tool.as_ref() == Some(&result.tool_use_id) => String::new(),
            Some(Some(name)) => format!("{name}: "),
            None => String::new(),
        };
        let (first, more) = styled::first_line(&result.preview);
        let lines = result.preview.lines().count();
        let cut_off = result.preview.chars().count() >= PREVIEW;
        let (style, text) = if result.is_error {
            let prefix = if first.to_lowercase().starts_with("error") { "" } else { "error: " };
            (Style::Bad, format!("{prefix}{first}"))
        } else if first.is_empty() {
            (Style::Dim, "no output".to_owned())
        } else if more {
            (Style::Dim, format!("{lines}{} lines", if cut_off { "+" } else { "" }))
        } else {
            (Style::Dim, first.into_owned())
        };
        let head = format!("  {} ", self.look.glyphs.branch);
        let text = self.short(&format!("{name}{text}"), false, head.width());
        self.shown(vec![Styled::new(Style::Dim, &head).with(style, &text)]).pop()
    }

    /// What a turn came to was said already, except by a slash command that the client itself
    /// answers.
    fn result(&mut self, result: &TurnResult) -> Vec<Styled> {
        let spoke = std::mem::take(&mut self.spoke);
        self.tools.clear();
        if spoke || result.is_error || result.num_turns > 0 {
            return Vec::new();
        }
        let lines = styled::lines(Style::Plain, &result.text);
        self.shown(lines)
    }

    fn short(&self, text: &str, more: bool, used: usize) -> String {
        let ellipsis = self.look.glyphs.ellipsis;
        let text = if more { format!("{text} {ellipsis}") } else { text.to_owned() };
        styled::cut(&text, self.width.saturating_sub(self.margin + used), ellipsis)
    }

    pub(super) fn shown(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        if !lines.is_empty() {
            self.last_tool = None;
            self.empty = false;
        }
        lines
    }

    /// With an empty line in front, unless there is nothing to keep apart.
    pub(super) fn apart(&mut self, mut lines: Vec<Styled>) -> Vec<Styled> {
        if !self.empty {
            lines.insert(0, Styled::default());
        }
        self.shown(lines)
    }
}

fn telling(input: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(input) else {
        return String::new();
    };
    let named = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
    named.or_else(|| fields.values().find_map(Value::as_str)).unwrap_or_default().to_owned()
}

/// A text that is a verdict and nothing else: its notice says it better.
fn is_verdict(text: &str) -> bool {
    let text = text.trim().trim_start_matches("```json").trim_matches('`');
    serde_json::from_str::<Value>(text).is_ok_and(|value| {
        ["completed", "allow_stop"].iter().any(|key| value.get(key).is_some_and(Value::is_boolean))
    })
}

#[cfg(test)]
pub mod tests;
