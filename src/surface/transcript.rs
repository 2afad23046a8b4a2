//! The session as lines to read: what the agent and the supervisor print, made short. Decides
//! nothing about colours or where the lines go; what ccc itself says is in `notices.rs`.
//!
//! Where the screen has a place for what is going on right now (`Look::live`), a text that is being
//! written and tools that are running stand there, and go to the transcript when they are done.

mod margins;
mod outputs;
mod sub_agents;
mod todos;
mod tools;
mod whole;
mod writing;

use super::styled::{self, Glyphs, Style, Styled};
use super::theme::Theme;
use super::whereabouts::KnownPlace;
use crate::client::stream::{Block, Envelope, Line, Message, Part, TurnResult};
use crate::event::{Asker, Now};
use crate::review::verdict::{MARKER, Verdict};
pub use margins::LineKind;
pub(super) use margins::SPOKEN_NAME;
use margins::{TEXT_MARGIN, text_width};
use sub_agents::SubAgent;
use todos::Todos;
use tools::RunningTool;
pub use whole::{SessionLog, Whole};
use writing::{Retry, Writing};

/// How much of a line that stands for more is shown where nobody says how wide the screen is.
const WIDTH: usize = 120;
/// A client that prints so much plain text has no last words that could be told from the rest.
const PRINTED: usize = 16 * 1024;
/// A screen narrower than this is on its way to another size, or nobody reads it: what is kept is laid
/// out for this width and wrapped by the terminal, which makes it whole again when there is room.
const NARROWEST: usize = 20;
/// Decided once by whoever knows the terminal and the locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub glyphs: Glyphs,
    /// None are wanted, or cannot be shown.
    pub colour: Option<Theme>,
    /// Say what a person could type next.
    pub hints: bool,
    /// A line for each change of phase: for where no status line shows it.
    pub phases: bool,
    /// Render Markdown: for eyes. Programs get it as it was written.
    pub rich: bool,
    /// There is a place for what is going on right now.
    pub live: bool,
    /// Lines may be read aloud.
    pub spoken: bool,
    /// Columns of a terminal that shows a transcript nobody answers to: its last line tells that
    /// something is going on, and for how long.
    pub ticker: Option<usize>,
}

impl Look {
    /// What a script is compared with: all there is to say, the same on every machine.
    pub const SCRIPTED: Self = Self {
        glyphs: Glyphs::unicode(),
        colour: None,
        hints: true,
        phases: true,
        rich: false,
        live: false,
        spoken: false,
        ticker: None,
    };
}

/// Whose line it is, and whether a sub-agent of theirs wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author {
    who: Asker,
    own: bool,
}

impl Author {
    pub(super) const AGENT: Self = Self { who: Asker::Agent, own: true };
    pub(super) const SUPERVISOR: Self = Self { who: Asker::Supervisor, own: true };
}

#[derive(Debug)]
pub struct Transcript {
    pub(super) look: Look,
    pub(super) supervising: bool,
    /// The conversation that runs now.
    pub(super) session: Option<String>,
    width: usize,
    /// Where text is wrapped; `None` where the reader's program does that.
    pub(super) wrap: Option<usize>,
    now: Now,
    last: (LineKind, Author),
    running: Vec<RunningTool>,
    sub_agents: Vec<SubAgent>,
    todos: Todos,
    /// The list stands in the live area.
    pub(super) shows_todos: bool,
    /// The tool use on the last line, when that is what stands there.
    last_tool: Option<String>,
    writing: Option<Writing>,
    retry: Option<Retry>,
    /// The agent has said something in this turn, last of all this.
    spoke: Option<String>,
    /// Plain text that a client printed and that stands last.
    printed: String,
    /// Messages of the person that are shown when the agent takes them up, below what it was writing.
    pub(super) held: Vec<String>,
    /// Those that it has not taken up yet.
    queued: Vec<String>,
    /// The agent is at work: it takes a message up when it comes to it.
    pub(super) at_work: bool,
    /// The review that was last begun has been given up: what its process still says is of no use.
    pub(super) review_dropped: bool,
    /// When the person was asked something that is still open.
    asked_at: Option<Now>,
    /// Whole outputs and thoughts, for whoever wants to read them.
    pub(super) whole: Vec<Whole>,
    /// Messages that a compaction has kept, by id, while the client may say them again.
    kept: Vec<String>,
    /// What the running check has printed, for the same.
    pub(super) check_output: String,
    /// What the last review of the task found settled, by id.
    pub(super) settled: Vec<String>,
    pub(super) keeps_whole: bool,
    /// What the supervisor said last.
    pub(super) judgement: String,
    /// Told at the start, where somebody reads it.
    pub(super) place: Option<KnownPlace>,
    /// A permission mode has been told.
    pub(super) mode_known: bool,
    empty: bool,
}

impl Transcript {
    pub fn new(look: Look) -> Self {
        Self {
            look,
            supervising: true,
            session: None,
            width: WIDTH,
            wrap: None,
            now: Now::ZERO,
            last: (LineKind::Heading, Author::AGENT),
            running: Vec::new(),
            sub_agents: Vec::new(),
            todos: Todos::default(),
            shows_todos: false,
            last_tool: None,
            writing: None,
            retry: None,
            spoke: None,
            printed: String::new(),
            held: Vec::new(),
            queued: Vec::new(),
            at_work: false,
            review_dropped: false,
            asked_at: None,
            whole: Vec::new(),
            keeps_whole: false,
            kept: Vec::new(),
            check_output: String::new(),
            settled: Vec::new(),
            judgement: String::new(),
            place: None,
            mode_known: false,
            empty: true,
        }
    }

    /// The screen is this wide; from now on text is wrapped to fit it.
    pub fn set_width(&mut self, cells: usize) {
        self.width = cells;
        self.wrap = Some(cells.max(NARROWEST));
        if let Some(Writing::Text(markdown)) = &mut self.writing {
            markdown.set_width(text_width(self.wrap));
        }
    }

    pub fn set_now(&mut self, now: Now) {
        self.now = now;
    }

    pub fn agent(&mut self, line: &Line) -> Vec<Styled> {
        self.line(line, Asker::Agent)
    }

    pub fn supervisor(&mut self, line: &Line) -> Vec<Styled> {
        self.line(line, Asker::Supervisor)
    }

    fn line(&mut self, line: &Line, who: Asker) -> Vec<Styled> {
        let mut out = Vec::new();
        if who == Asker::Supervisor && self.review_dropped {
            return out;
        }
        for part in &line.parts {
            match part {
                Part::Message(envelope) => {
                    if self.keeps_whole {
                        self.keep_whole(envelope, &line.raw);
                    }
                    let lines = self.message(envelope, who, &line.raw);
                    if !lines.is_empty() {
                        self.printed.clear();
                    }
                    out.extend(lines);
                }
                Part::Text(text) => {
                    if self.printed.len() > PRINTED {
                        self.printed.clear();
                    }
                    self.printed.push_str(text.trim_end());
                    self.printed.push('\n');
                    let place = Author { who, own: true };
                    let lines = styled::lines(Style::Plain, text);
                    let lines = match text_width(self.wrap) {
                        Some(cells) => {
                            let cells = cells.saturating_sub(self.margin(place)).max(1);
                            let rows = |line: &Styled| line.wrap(cells, &Styled::default());
                            lines.iter().flat_map(rows).collect()
                        }
                        None => lines,
                    };
                    out.extend(self.text_lines(lines, place));
                }
                Part::Bad(_) => {}
            }
        }
        out
    }

    fn message(&mut self, envelope: &Envelope, who: Asker, raw: &[u8]) -> Vec<Styled> {
        let place = Author { who, own: envelope.parent.is_none() };
        if let Message::Partial(partial) = &envelope.message {
            return if place == Author::AGENT { self.partial(partial) } else { Vec::new() };
        }
        if let Message::ApiRetry { attempt, max, delay_ms, error } = &envelope.message {
            return self.retry((*attempt, *max), *delay_ms, error, place);
        }
        if who == Asker::Agent {
            self.follow_sub_agent(envelope.parent.as_deref(), &envelope.message);
            // The tree has it, and the whole of it is kept for the pager.
            if self.is_in_tree(envelope.parent.as_deref()) {
                return Vec::new();
            }
        }
        let mut lines = match &envelope.parent {
            Some(parent) => self.show_parent(parent),
            None => Vec::new(),
        };
        if place == Author::AGENT {
            lines.extend(self.client_told(&envelope.message));
        }
        match &envelope.message {
            Message::Init(_) if place == Author::AGENT => self.spoke = None,
            Message::Taken { .. } if place == Author::AGENT => lines.extend(self.taken_up(raw)),
            Message::Assistant { .. } if place.own && self.is_repeated(raw) => {}
            Message::Assistant { blocks, .. } => {
                self.retry = None;
                lines.extend(blocks.iter().flat_map(|block| self.block(block, place)));
            }
            Message::ToolResults(results) => {
                lines.extend(results.iter().flat_map(|result| self.tool_result(result, place)));
            }
            Message::Compacted(compaction) if place.own => {
                lines.extend(self.compacted(compaction));
            }
            Message::TaskEnded(note) if place == Author::AGENT => {
                lines.extend(self.background_ended(note));
            }
            Message::ContextUsage(usage) if place == Author::AGENT => {
                lines.extend(self.context_usage(usage));
            }
            Message::Result(result) if place.own => {
                self.kept.clear();
                lines.extend(self.break_off());
                if place == Author::AGENT {
                    lines.extend(self.leave_todos());
                    lines.extend(self.result(result));
                }
            }
            _ => {}
        }
        lines
    }

    fn block(&mut self, block: &Block, place: Author) -> Vec<Styled> {
        match block {
            Block::Text(text) => {
                let mut text = text.as_str();
                if place.who == Asker::Supervisor && place.own {
                    // The verdict has a notice of its own.
                    text = Verdict::words_before(text).unwrap_or(text).trim_end();
                    text = text.strip_suffix(MARKER).unwrap_or(text);
                    text.trim().clone_into(&mut self.judgement);
                    if text.trim().is_empty() {
                        return Vec::new();
                    }
                }
                if place == Author::AGENT && !text.trim().is_empty() {
                    self.spoke = Some(text.trim().to_owned());
                }
                self.written(text, place)
            }
            Block::Thinking(text) => {
                if place == Author::AGENT {
                    self.writing = None;
                }
                let (first, more) = styled::first_line(text);
                if first.is_empty() {
                    return Vec::new();
                }
                let line = self.short(&first, more, TEXT_MARGIN.len(), place);
                self.text_lines(vec![Styled::new(Style::Dim, &line)], place)
            }
            Block::ToolUse { id, name, input } => {
                let mut lines =
                    if place == Author::AGENT { self.stop_writing() } else { Vec::new() };
                lines.extend(self.tool_use(id, name, input, place));
                lines
            }
        }
    }

    /// What a turn came to was said already, except by a slash command that the client itself
    /// answers.
    fn result(&mut self, result: &TurnResult) -> Vec<Styled> {
        if self.spoke.is_some() || result.is_error || result.num_turns > 0 {
            return Vec::new();
        }
        let lines = self.rendered(&result.text, Author::AGENT);
        self.text_lines(lines, Author::AGENT)
    }

    /// What is going on right now will not go on: what can be seen of it stays.
    pub(super) fn break_off(&mut self) -> Vec<Styled> {
        self.retry = None;
        let mut lines = self.stop_writing();
        lines.extend(self.give_up_tools());
        lines
    }

    /// Whether the agent's last words were these: an error is said twice by the client.
    pub(super) fn has_just_said(&self, text: &str) -> bool {
        self.spoke.as_deref() == Some(text.trim())
    }

    /// Whether a client's last words stand there already.
    pub(super) fn has_just_printed(&self, words: &str) -> bool {
        let words = words.trim_end();
        !words.is_empty() && self.printed.trim_end().ends_with(words)
    }
}

#[cfg(test)]
pub mod tests;
