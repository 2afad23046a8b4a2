//! The full text of what the transcript shortens: outputs, thoughts, diffs. Kept for the pager, as
//! far back as there is room.

use std::collections::VecDeque;

use serde_json::Value;

use super::Transcript;
use crate::client::stream::{Block, Envelope, Message, strip_escapes};
use crate::surface::styled::Styled;

/// Bytes of a session that can be read again.
const ROOM: usize = 4 << 20;
/// Precedes each line that is only in the pager.
const INDENT: &str = "      ";

/// The full text of something that the transcript has shortened.
#[derive(Debug)]
pub struct FullText {
    pub(in crate::surface) what: &'static str,
    pub(in crate::surface) text: String,
}

impl Transcript {
    pub(super) fn keep_whole(&mut self, envelope: &Envelope, raw: &[u8]) {
        match &envelope.message {
            Message::Assistant { blocks, .. } => {
                for block in blocks {
                    let (what, text) = match block {
                        Block::Thinking(text) => ("thought", text.clone()),
                        Block::ToolUse { name, input, .. } if name != "StructuredOutput" => {
                            ("input", indented_json(input))
                        }
                        _ => continue,
                    };
                    self.whole.push(FullText { what, text });
                }
            }
            Message::ToolResults(_) => {
                let text = outputs(raw).unwrap_or_default();
                self.whole.push(FullText { what: "output", text });
            }
            _ => {}
        }
    }

    pub fn take_whole(&mut self) -> Vec<FullText> {
        std::mem::take(&mut self.whole)
    }
}

fn indented_json(input: &str) -> String {
    let value = serde_json::from_str::<Value>(input).ok();
    match value {
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name}: {text}"),
                None => format!("{name}: {value}"),
            })
            .collect::<Vec<_>>()
            .join("\n"),
        _ => input.to_owned(),
    }
}

/// The outputs of tools, from the client's raw line.
fn outputs(raw: &[u8]) -> Option<String> {
    let from = raw.iter().position(|byte| *byte == b'{')?;
    let line: Value = serde_json::from_slice(&raw[from..]).ok()?;
    let blocks = line["message"]["content"].as_array()?;
    let mut texts: Vec<String> = Vec::new();
    for content in blocks.iter().map(|block| &block["content"]) {
        match content {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(parts) => {
                texts.extend(
                    parts.iter().filter_map(|part| Some(part["text"].as_str()?.to_owned())),
                );
            }
            _ => {}
        }
    }
    Some(texts.join("\n"))
}

/// What was on the screen, with the full texts in between; the oldest is dropped.
#[derive(Debug, Default)]
pub struct SessionLog {
    lines: VecDeque<String>,
    bytes: usize,
}

impl SessionLog {
    pub fn add(&mut self, shown: &[Styled], whole: Vec<FullText>) {
        for line in shown {
            self.push(line.text());
        }
        for FullText { what, text } in whole {
            // A single line is not shortened on the screen.
            if text.lines().count() < 2 {
                continue;
            }
            self.push(format!("{INDENT}-- {what} --"));
            for line in strip_escapes(&text).lines() {
                self.push(format!("{INDENT}{line}"));
            }
            self.push(format!("{INDENT}--"));
        }
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.bytes > ROOM {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.len() + 1;
        }
    }

    pub fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}
