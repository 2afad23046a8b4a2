//! What is being written: the text of a message as it arrives, and the wait for a retry.

use std::time::Duration;

use serde_json::Value;

use super::{Author, LineKind, NARROWEST, TEXT_MARGIN, Transcript, text_width};
use crate::client::stream::{Compaction, Partial, why_retried};
use crate::event::{Asker, Now};
use crate::surface::markdown::{self, Markdown};
use crate::surface::styled::{self, Style, Styled};

/// How much of an unfinished thought is kept to be shown.
const THOUGHT: usize = 4000;
const THOUGHT_ROWS: usize = 3;
const BROKEN_OFF: &str = "Cut off; the answer starts over.";

#[derive(Debug)]
pub enum Writing {
    Text(Box<Markdown>),
    Thought(String),
}

/// The client waits before it asks the model again.
#[derive(Debug)]
pub struct Retry {
    text: String,
    until: Now,
    /// Follows the time.
    hint: &'static str,
    author: Author,
}

impl Transcript {
    /// Complete messages follow, so nothing is lost if partial ones are not shown.
    pub(super) fn partial(&mut self, partial: &Partial) -> Vec<Styled> {
        if !self.look.live {
            return Vec::new();
        }
        match partial {
            Partial::Message => {
                self.retry = None;
                let unfinished = matches!(self.writing, Some(Writing::Text(_)));
                let mut lines = self.stop_writing();
                if unfinished {
                    // The connection was lost, and the client has asked again.
                    lines.extend(self.shown(vec![Styled::new(Style::Dim, BROKEN_OFF)]));
                }
                return lines;
            }
            Partial::TextBlock => {
                let lines = self.stop_writing();
                self.writing = Some(Writing::Text(self.markdown()));
                return lines;
            }
            Partial::ThinkingBlock => {
                let lines = self.stop_writing();
                self.writing = Some(Writing::Thought(String::new()));
                return lines;
            }
            Partial::Text(text) => {
                if !matches!(self.writing, Some(Writing::Text(_))) {
                    self.writing = Some(Writing::Text(self.markdown()));
                }
                if let Some(Writing::Text(markdown)) = &mut self.writing {
                    markdown.push(text);
                }
            }
            Partial::Thinking(text) => {
                if !matches!(self.writing, Some(Writing::Thought(_))) {
                    self.writing = Some(Writing::Thought(String::new()));
                }
                if let Some(Writing::Thought(thought)) = &mut self.writing {
                    thought.push_str(text);
                    if thought.len() > 2 * THOUGHT {
                        let mut cut = thought.len() - THOUGHT;
                        while !thought.is_char_boundary(cut) {
                            cut += 1;
                        }
                        thought.drain(..cut);
                    }
                }
            }
        }
        Vec::new()
    }

    fn markdown(&self) -> Box<Markdown> {
        Box::new(Markdown::new(text_width(self.wrap), self.look.glyphs))
    }

    /// Lines of the unfinished text that cannot change any more.
    pub fn settle(&mut self) -> Vec<Styled> {
        let Some(Writing::Text(markdown)) = &mut self.writing else { return Vec::new() };
        let lines = markdown.settled();
        self.text_lines(lines, Author::AGENT)
    }

    /// The message is complete: returns what is not in the transcript yet.
    pub(super) fn written(&mut self, whole: &str, author: Author) -> Vec<Styled> {
        let lines = match self.writing.take() {
            Some(Writing::Text(markdown)) if author == Author::AGENT => markdown.finish(whole),
            other => {
                self.writing = other.filter(|_| author != Author::AGENT);
                self.rendered(whole, author)
            }
        };
        let mut lines = self.text_lines(lines, author);
        self.text_is_complete();
        if author == Author::AGENT {
            lines.extend(self.release());
        }
        lines
    }

    /// The person's messages that the agent has taken up in the meantime.
    fn release(&mut self) -> Vec<Styled> {
        let mut queued = self.queued.clone();
        // The last ones are still waiting.
        let (mut waiting, mut taken) = (Vec::new(), Vec::new());
        for text in std::mem::take(&mut self.held).into_iter().rev() {
            match queued.iter().position(|queued| *queued == text) {
                Some(at) => {
                    queued.remove(at);
                    waiting.insert(0, text);
                }
                None => taken.insert(0, text),
            }
        }
        self.held = waiting;
        let told = std::mem::take(&mut self.told_later).into_iter();
        let mut lines: Vec<_> = told.flat_map(|told| self.of_a_message(told)).collect();
        lines.extend(taken.iter().flat_map(|text| self.said(text)));
        lines
    }

    /// The agent has taken up a message: what it writes next comes after it.
    pub(super) fn taken_up(&mut self, raw: &[u8]) -> Vec<Styled> {
        let from = raw.iter().position(|byte| *byte == b'{').unwrap_or_default();
        let line: Value = serde_json::from_slice(&raw[from..]).unwrap_or_default();
        let content = &line["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        if let Some(at) = self.queued.iter().position(|queued| Some(queued.as_str()) == text) {
            self.queued.remove(at);
        }
        if self.is_writing() { Vec::new() } else { self.release() }
    }

    /// Sets the messages that wait for the agent; shows the others.
    pub fn set_queued(&mut self, at_work: bool, queued: &[String]) -> Vec<Styled> {
        self.at_work = self.look.live && at_work;
        self.queued = queued.to_vec();
        if self.held.is_empty() || self.is_writing() { Vec::new() } else { self.release() }
    }

    /// While a text is being written, the person's messages are held to be shown below it.
    pub(in crate::surface) fn is_writing(&self) -> bool {
        self.look.live && matches!(self.writing, Some(Writing::Text(_)))
    }

    /// Ends the text that is being written, as after an interrupt.
    pub(super) fn stop_writing(&mut self) -> Vec<Styled> {
        match self.writing.take() {
            Some(Writing::Text(markdown)) => {
                let lines = markdown.end();
                let mut lines = self.text_lines(lines, Author::AGENT);
                self.text_is_complete();
                lines.extend(self.release());
                lines
            }
            _ => Vec::new(),
        }
    }

    /// A text as it is displayed.
    pub(in crate::surface) fn rendered(&self, text: &str, author: Author) -> Vec<Styled> {
        if self.look.rich {
            let width = self.wrap.map(|cells| cells.saturating_sub(self.margin(author)));
            markdown::render(text, text_width(width), self.look.glyphs)
        } else {
            styled::lines(Style::Plain, text)
        }
    }

    pub(super) fn retry(
        &mut self,
        (attempt, max): (u64, u64),
        delay_ms: u64,
        error: &str,
        author: Author,
    ) -> Vec<Styled> {
        let reason = why_retried(error);
        // Retrying does not help against a wrong key.
        let hint = if error == "authentication_failed" { ": check the key" } else { "" };
        let delay = Duration::from_millis(delay_ms);
        let text = format!("{reason}, retry {attempt}/{max}");
        if self.look.live {
            self.retry = Some(Retry { text, until: self.now + delay, hint, author });
            return Vec::new();
        }
        let line = Styled::new(Style::Dim, &format!("{text} in {} s{hint}", seconds(delay)));
        let line = self.placed(line, author);
        self.shown(vec![line])
    }

    pub(super) fn compacted(&mut self, compaction: &Compaction, author: Author) -> Vec<Styled> {
        let tokens =
            |tokens: Option<u64>| tokens.map(|tokens| format!("{}k", tokens.div_ceil(1000)));
        let how = if compaction.automatic { " automatically" } else { "" };
        let size = match (tokens(compaction.before), tokens(compaction.after)) {
            (Some(before), Some(after)) => {
                format!(": {before} {} {after} tokens", self.look.glyphs.arrow)
            }
            (Some(before), None) => format!(" from {before} tokens"),
            _ => String::new(),
        };
        self.kept.clone_from(&compaction.kept);
        if author.who == Asker::Supervisor {
            let text = format!("  The review's copy of the conversation was compacted{how}{size}");
            return self.in_review(Styled::new(Style::Dim, &text));
        }
        let mut lines = self.stop_writing();
        let line = Styled::new(Style::Dim, &format!("Conversation compacted{how}{size}"));
        lines.extend(self.apart(vec![line]));
        lines
    }

    /// Whether the client only repeats a kept message that is already shown.
    pub(super) fn is_repeated(&self, raw: &[u8]) -> bool {
        if self.kept.is_empty() {
            return false;
        }
        let line: Value = serde_json::from_slice(raw).unwrap_or_default();
        line["uuid"].as_str().is_some_and(|uuid| self.kept.iter().any(|kept| kept == uuid))
    }

    /// What is being written, run and waited for: at most the last `rows` rows.
    pub fn live(&self, rows: usize) -> Vec<Styled> {
        let mut below = self.running_rows();
        if self.shows_todos {
            let gap = usize::from(!below.is_empty());
            let todos = self.live_todos(rows.saturating_sub(below.len() + gap));
            if !todos.is_empty() {
                below.extend(vec![Styled::default(); gap]);
                below.extend(todos);
            }
        }
        if let Some(retry) = &self.retry {
            let when = match seconds(retry.until.saturating_sub(self.now)) {
                0 => "now".to_owned(),
                left => format!("in {left} s"),
            };
            let text = format!("{} {when}{}", retry.text, retry.hint);
            below.push(self.placed(Styled::new(Style::Question, &text), retry.author));
        }
        let room = rows.saturating_sub(below.len());
        let mut lines = match &self.writing {
            Some(Writing::Text(markdown)) if self.width < NARROWEST => {
                let lines = markdown.tail(room);
                let cells = self.width.saturating_sub(TEXT_MARGIN.len()).max(1);
                last(lines.iter().flat_map(|line| line.wrap(cells, &Styled::default())), room)
            }
            Some(Writing::Text(markdown)) => markdown.tail(room),
            Some(Writing::Thought(thought)) => self.thought_rows(thought, room.min(THOUGHT_ROWS)),
            None => Vec::new(),
        };
        lines = lines.into_iter().map(|line| self.quoted(line)).collect();
        let kind = if lines.is_empty() { LineKind::Tool } else { LineKind::Text };
        if self.needs_gap(kind, Author::AGENT) && lines.len() + below.len() > 0 {
            lines.insert(0, Styled::default());
        }
        if !lines.is_empty() && !below.is_empty() && kind == LineKind::Text {
            lines.push(Styled::default());
        }
        lines.append(&mut below);
        let skip = lines.len().saturating_sub(rows);
        lines
            .into_iter()
            .skip(skip)
            .map(|line| line.cut(self.width, self.look.glyphs.ellipsis))
            .collect()
    }

    fn thought_rows(&self, thought: &str, rows: usize) -> Vec<Styled> {
        let lines = styled::lines(Style::Dim, thought);
        let hanging = Styled::default();
        let cells = self.width.saturating_sub(TEXT_MARGIN.len()).max(1);
        last(lines.iter().flat_map(|line| line.wrap(cells, &hanging)), rows)
    }
}

fn last(lines: impl Iterator<Item = Styled>, rows: usize) -> Vec<Styled> {
    let mut lines: Vec<_> = lines.collect();
    lines.split_off(lines.len().saturating_sub(rows))
}

fn seconds(duration: Duration) -> u128 {
    duration.as_millis().div_ceil(1000)
}
