//! The session as lines to read: what the agent and the supervisor print, shortened. Colours and
//! where the lines go are decided elsewhere; ccc's own messages are in `notices.rs`.
//!
//! If the screen has a live area (`Look::live`), text being written and running tools are shown
//! there, and move to the transcript when they are done.

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
pub use whole::{FullText, SessionLog};
use writing::{Retry, Writing};

/// The width of a shortened line if the width of the screen is unknown.
const WIDTH: usize = 120;
/// How much plain text of a client is remembered to recognise its last words.
const PRINTED: usize = 16 * 1024;
/// A narrower screen is in the middle of a resize, or nobody reads it: the transcript is laid out
/// for this width and wrapped by the terminal, so that it is right again when there is room.
const NARROWEST: usize = 20;
/// How the session is displayed; decided once, from the terminal and the locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub glyphs: Glyphs,
    /// `None` if colours are not wanted or cannot be shown.
    pub colour: Option<Theme>,
    /// Show what a person could type next.
    pub hints: bool,
    /// Print a line for each change of phase, for where no status line shows it.
    pub phases: bool,
    /// Render Markdown, for people. Programs get it unrendered.
    pub rich: bool,
    /// There is a live area.
    pub live: bool,
    /// Lines may be read aloud.
    pub spoken: bool,
    /// The columns of a terminal that shows a transcript without input; its last line shows that
    /// something is going on, and for how long.
    pub ticker: Option<usize>,
}

impl Look {
    /// For fixtures: everything is shown, the same on every machine.
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

/// Who wrote a line, and whether it was a sub-agent of theirs.
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
    /// The current conversation.
    pub(super) session: Option<String>,
    width: usize,
    /// The width at which text is wrapped; `None` if the reader's program does that.
    pub(super) wrap: Option<usize>,
    now: Now,
    last: (LineKind, Author),
    running: Vec<RunningTool>,
    sub_agents: Vec<SubAgent>,
    todos: Todos,
    /// Whether the todo list is in the live area.
    pub(super) shows_todos: bool,
    /// The tool use on the last line, if there is one.
    last_tool: Option<String>,
    writing: Option<Writing>,
    retry: Option<Retry>,
    /// The agent's last text in this turn.
    spoke: Option<String>,
    /// Plain text printed last by a client.
    printed: String,
    /// Messages of the person, shown when the agent takes them up, below what it was writing.
    pub(super) held: Vec<String>,
    /// What became of messages, shown below what the agent is writing.
    pub(super) told_later: Vec<String>,
    /// Messages that the agent has not taken up yet.
    queued: Vec<String>,
    /// The agent is working, so it takes up a message later.
    pub(super) at_work: bool,
    /// The last review was abandoned: its process may still print, which is ignored.
    pub(super) review_dropped: bool,
    /// Something of the running review has been shown.
    pub(super) review_shown: bool,
    /// When the person was asked a question that is still open.
    asked_at: Option<Now>,
    /// Full outputs and thoughts, for the pager.
    pub(super) whole: Vec<FullText>,
    /// The ids of messages that a compaction kept, which the client may repeat.
    kept: Vec<String>,
    /// The output of the running check, for the pager.
    pub(super) check_output: String,
    /// The requirements that the last review found settled, by id.
    pub(super) settled: Vec<String>,
    pub(super) keeps_whole: bool,
    /// The supervisor's last text.
    pub(super) judgement: String,
    /// Shown at the start, if a person reads it.
    pub(super) place: Option<KnownPlace>,
    /// Whether a permission mode has been shown.
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
            told_later: Vec::new(),
            queued: Vec::new(),
            at_work: false,
            review_dropped: false,
            review_shown: false,
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

    /// Sets the width of the screen, to which text is wrapped from now on.
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
                    let author = Author { who, own: true };
                    let lines = styled::lines(Style::Plain, text);
                    let lines = match text_width(self.wrap) {
                        Some(cells) => {
                            let cells = cells.saturating_sub(self.margin(author)).max(1);
                            let rows = |line: &Styled| line.wrap(cells, &Styled::default());
                            lines.iter().flat_map(rows).collect()
                        }
                        None => lines,
                    };
                    out.extend(self.text_lines(lines, author));
                }
                Part::Bad(_) => {}
            }
        }
        out
    }

    fn message(&mut self, envelope: &Envelope, who: Asker, raw: &[u8]) -> Vec<Styled> {
        let author = Author { who, own: envelope.parent.is_none() };
        if let Message::Partial(partial) = &envelope.message {
            return if author == Author::AGENT { self.partial(partial) } else { Vec::new() };
        }
        if let Message::ApiRetry { attempt, max, delay_ms, error } = &envelope.message {
            return self.retry((*attempt, *max), *delay_ms, error, author);
        }
        if who == Asker::Agent {
            self.follow_sub_agent(envelope.parent.as_deref(), &envelope.message);
            // The tree shows it, and its full text is kept for the pager.
            if self.is_in_tree(envelope.parent.as_deref()) {
                return Vec::new();
            }
        }
        let mut lines = match &envelope.parent {
            Some(parent) => self.show_parent(parent),
            None => Vec::new(),
        };
        if author == Author::AGENT {
            lines.extend(self.client_told(&envelope.message));
        }
        match &envelope.message {
            Message::Init(_) if author == Author::AGENT => self.spoke = None,
            Message::Taken { .. } if author == Author::AGENT => lines.extend(self.taken_up(raw)),
            Message::Assistant { .. } if author.own && self.is_repeated(raw) => {}
            Message::Assistant { blocks, .. } => {
                self.retry = None;
                lines.extend(blocks.iter().flat_map(|block| self.block(block, author)));
            }
            Message::ToolResults(results) => {
                lines.extend(results.iter().flat_map(|result| self.tool_result(result, author)));
            }
            Message::Compacted(compaction) if author.own => {
                lines.extend(self.compacted(compaction, author));
            }
            Message::TaskEnded(note) if author == Author::AGENT => {
                lines.extend(self.background_ended(note));
            }
            Message::ContextUsage(usage) if author == Author::AGENT => {
                lines.extend(self.context_usage(usage));
            }
            Message::Result(result) if author.own => {
                self.kept.clear();
                lines.extend(self.end_activity());
                if author == Author::AGENT {
                    lines.extend(self.leave_todos());
                    lines.extend(self.result(result));
                }
            }
            _ => {}
        }
        lines
    }

    fn block(&mut self, block: &Block, author: Author) -> Vec<Styled> {
        match block {
            Block::Text(text) => {
                let mut text = text.as_str();
                if author.who == Asker::Supervisor && author.own {
                    // The verdict is shown as a notice.
                    text = Verdict::words_before(text).unwrap_or(text).trim_end();
                    text = text.strip_suffix(MARKER).unwrap_or(text);
                    text.trim().clone_into(&mut self.judgement);
                    if text.trim().is_empty() {
                        return Vec::new();
                    }
                }
                if author == Author::AGENT && !text.trim().is_empty() {
                    self.spoke = Some(text.trim().to_owned());
                }
                self.written(text, author)
            }
            Block::Thinking(text) => {
                if author == Author::AGENT {
                    self.writing = None;
                }
                let (first, more) = styled::first_line(text);
                if first.is_empty() {
                    return Vec::new();
                }
                let line = self.short(&first, more, TEXT_MARGIN.len(), author);
                self.text_lines(vec![Styled::new(Style::Dim, &line)], author)
            }
            Block::ToolUse { id, name, input } => {
                let mut lines =
                    if author == Author::AGENT { self.stop_writing() } else { Vec::new() };
                lines.extend(self.tool_use(id, name, input, author));
                lines
            }
        }
    }

    /// The result of a turn was already shown as text, except for a slash command that the client
    /// answers itself.
    fn result(&mut self, result: &TurnResult) -> Vec<Styled> {
        if self.spoke.is_some() || result.is_error || result.num_turns > 0 {
            return Vec::new();
        }
        let lines = self.rendered(&result.text, Author::AGENT);
        self.text_lines(lines, Author::AGENT)
    }

    /// Ends what is going on: what is visible of it stays.
    pub(super) fn end_activity(&mut self) -> Vec<Styled> {
        self.retry = None;
        let mut lines = self.stop_writing();
        lines.extend(self.give_up_tools());
        lines
    }

    /// Whether this was the agent's last text: the client reports an error twice.
    pub(super) fn has_just_said(&self, text: &str) -> bool {
        self.spoke.as_deref() == Some(text.trim())
    }

    /// Whether a client's last words are already on the screen.
    pub(super) fn has_just_printed(&self, words: &str) -> bool {
        let words = words.trim_end();
        !words.is_empty() && self.printed.trim_end().ends_with(words)
    }
}

#[cfg(test)]
pub mod tests;
