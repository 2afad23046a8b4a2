//! A rule: which requests it fits, and the answer it gives as the Messages API would.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{Gate, Request};

type Condition = Arc<dyn Fn(&Request) -> bool + Send + Sync>;
type Answer = Arc<dyn Fn(&Request, Rule) -> Rule + Send + Sync>;

/// Built by chaining: conditions (all must hold), then the answer. Without an answer it is "ok.".
#[derive(Clone, Default)]
#[must_use]
pub struct Rule {
    conditions: Vec<Condition>,
    left: Option<usize>,
    gate: Option<Gate>,
    midway: Option<Gate>,
    blocks: Vec<Value>,
    answer: Option<Answer>,
    failure: Option<(u16, Value)>,
    usage: Option<Value>,
    chunk: Option<usize>,
}

impl Rule {
    /// Fits every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Fits when `text` is in the messages since the last assistant message. The client's reminders
    /// and lists of skills are there too, so it should be a word that they do not use.
    pub fn on(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::any().when(move |request| request.recent_text().contains(&text))
    }

    /// … and `text` is in the system prompt.
    pub fn system(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.when(move |request| request.system_text().contains(&text))
    }

    /// … and the tool is on offer.
    pub fn with_tool(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.when(move |request| request.tool_names().contains(&name.as_str()))
    }

    /// … and `condition` holds.
    pub fn when(mut self, condition: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        self.conditions.push(Arc::new(condition));
        self
    }

    /// Fits `count` times at most.
    pub fn times(mut self, count: usize) -> Self {
        self.left = Some(count);
        self
    }

    /// Answers only once the gate is open. The request is recorded before.
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Stops after the first piece of the answer until the gate is open. Without `chunks` the first
    /// piece is half of the first block.
    pub fn gate_midway(mut self, gate: &Gate) -> Self {
        self.midway = Some(gate.clone());
        self
    }

    /// Streams the answer in pieces of so many characters.
    pub fn chunks(mut self, characters: usize) -> Self {
        self.chunk = Some(characters.max(1));
        self
    }

    /// Answers with text; after other blocks, adds a block.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(json!({"type": "text", "text": text.into()}));
        self
    }

    /// Answers with a tool use; after other blocks, adds a block.
    pub fn tool(mut self, name: &str, input: Value) -> Self {
        let mut block = json!({"type": "tool_use", "name": name});
        block["input"] = input;
        self.blocks.push(block);
        self
    }

    /// Answers with what `answer` makes of this rule once it has seen the request.
    pub fn answer(
        mut self,
        answer: impl Fn(&Request, Self) -> Self + Send + Sync + 'static,
    ) -> Self {
        self.answer = Some(Arc::new(answer));
        self
    }

    /// Tells so many tokens of plain input, written to the cache and read from it.
    pub fn usage(mut self, input: u64, written: u64, read: u64) -> Self {
        self.usage = Some(usage(input, written, read));
        self
    }

    /// Answers with an HTTP error.
    pub fn status(mut self, status: u16, kind: &str, message: &str) -> Self {
        self.failure = Some((status, error(kind, message)));
        self
    }

    /// The rule to answer with, if it fits; counts as one of its times.
    pub(super) fn claim(&mut self, request: &Request) -> Option<Self> {
        if self.left == Some(0) || !self.conditions.iter().all(|holds| holds(request)) {
            return None;
        }
        self.left = self.left.map(|left| left - 1);
        let rule = self.clone();
        Some(match self.answer.clone() {
            Some(answer) => answer(request, rule),
            None => rule,
        })
    }

    pub(super) fn wait_at_gate(&self) {
        self.gate.iter().for_each(Gate::pass);
    }

    pub(super) fn wait_midway(&self) {
        self.midway.iter().for_each(Gate::pass);
    }

    pub(super) fn open_gates(&self) {
        self.gate.iter().chain(&self.midway).for_each(Gate::open);
    }

    pub(super) fn failure(&self) -> Option<(u16, Value)> {
        self.failure.clone()
    }

    /// The whole answer, as without streaming.
    pub(super) fn message(&self, model: &str) -> Value {
        let mut content = self.blocks.clone();
        if content.is_empty() {
            content.push(json!({"type": "text", "text": "ok."}));
        }
        let mut stop_reason = "end_turn";
        for block in content.iter_mut().filter(|block| block["type"] == "tool_use") {
            block["id"] = fresh_id("toolu").into();
            stop_reason = "tool_use";
        }
        json!({
            "id": fresh_id("msg"), "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": self.usage.clone().unwrap_or_else(|| usage(12, 0, 0)),
        })
    }

    /// The same answer as a stream of events.
    pub(super) fn stream(
        &self,
        model: &str,
        mut send: impl FnMut(&Value) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut message = self.message(model);
        let content = message["content"].take();
        let stop_reason = message["stop_reason"].take();
        message["content"] = json!([]);
        send(&json!({"type": "message_start", "message": message}))?;
        let mut midway = self.midway.as_ref();
        for (index, block) in content.as_array().into_iter().flatten().enumerate() {
            let mut empty = block.clone();
            let (kind, field, whole) = if let Some(text) = block["text"].as_str() {
                empty["text"] = "".into();
                ("text_delta", "text", text.to_owned())
            } else {
                empty["input"] = json!({});
                ("input_json_delta", "partial_json", block["input"].to_string())
            };
            send(&json!({"type": "content_block_start", "index": index, "content_block": empty}))?;
            for piece in self.pieces(&whole) {
                let delta = json!({"type": kind, field: piece});
                send(&json!({"type": "content_block_delta", "index": index, "delta": delta}))?;
                if let Some(gate) = midway.take() {
                    gate.pass();
                }
            }
            send(&json!({"type": "content_block_stop", "index": index}))?;
        }
        send(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": 7},
        }))?;
        send(&json!({"type": "message_stop"}))
    }

    fn pieces(&self, whole: &str) -> Vec<String> {
        let characters: Vec<char> = whole.chars().collect();
        let undivided = if self.midway.is_some() { characters.len().div_ceil(2) } else { 4096 };
        let size = self.chunk.unwrap_or(undivided).max(1);
        characters.chunks(size).map(|piece| piece.iter().collect()).collect()
    }
}

fn usage(input: u64, written: u64, read: u64) -> Value {
    json!({
        "input_tokens": input, "output_tokens": 7,
        "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
    })
}

pub fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// Unique across processes too: transcripts of one test binary may be resumed by another.
fn fresh_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}_{:08x}{number:016x}", std::process::id())
}
