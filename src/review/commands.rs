//! What a client ran, and what that printed: the record that evidence is held against. Bounded, so
//! that a session of days costs no more than one of minutes.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use crate::client::stream::{Block, Line, Message, Part};

/// As much of an output as is kept from its beginning, and as much from its end.
const KEPT: usize = 64 << 10;
/// All outputs together; the oldest go first.
const MAX_KEPT: usize = 8 << 20;

#[derive(Debug, Default, PartialEq)]
pub struct Commands {
    ran: VecDeque<Ran>,
    kept: usize,
}

#[derive(Debug, PartialEq)]
pub struct Ran {
    id: String,
    /// A shell command; of another tool its name and its input.
    pub command: String,
    pub output: String,
}

impl Commands {
    pub fn iter(&self) -> impl Iterator<Item = &Ran> {
        self.ran.iter()
    }

    /// Takes up what a line tells about tools. A result is cut short in the message itself, so it is
    /// read again here.
    pub fn line(&mut self, line: &Line) {
        for part in &line.parts {
            let Part::Message(envelope) = part else { continue };
            match &envelope.message {
                Message::Assistant { blocks, .. } => {
                    for block in blocks {
                        if let Block::ToolUse { id, name, input } = block {
                            self.started(id, name, input);
                        }
                    }
                }
                Message::ToolResults(results) => {
                    let outputs = outputs(&line.raw);
                    for result in results {
                        let whole = outputs.iter().find(|(id, _)| *id == result.tool_use_id);
                        let output = whole.map_or(&result.preview, |(_, output)| output);
                        self.ended(&result.tool_use_id, output);
                    }
                }
                _ => {}
            }
        }
    }

    pub fn started(&mut self, id: &str, tool: &str, input: &str) {
        let shell = serde_json::from_str::<Value>(input)
            .ok()
            .and_then(|input| input.get("command")?.as_str().map(str::to_owned));
        let command = shell.unwrap_or_else(|| format!("{tool} {input}"));
        let command = shortened(&command);
        self.kept += command.len();
        self.ran.push_back(Ran { id: id.to_owned(), command, output: String::new() });
        self.forget();
    }

    pub fn ended(&mut self, id: &str, output: &str) {
        if let Some(ran) = self.ran.iter_mut().rev().find(|ran| ran.id == id) {
            ran.output = shortened(output);
            self.kept += ran.output.len();
            self.forget();
        }
    }

    /// Takes up the tools of a message in a transcript on disk.
    pub fn content(&mut self, content: &Value) {
        let text = |block: &Value, key: &str| block[key].as_str().unwrap_or_default().to_owned();
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let input = block["input"].to_string();
                    self.started(&text(block, "id"), &text(block, "name"), &input);
                }
                Some("tool_result") => {
                    self.ended(&text(block, "tool_use_id"), &output(&block["content"]));
                }
                _ => {}
            }
        }
    }

    fn forget(&mut self) {
        while self.kept > MAX_KEPT
            && let Some(oldest) = self.ran.pop_front()
        {
            self.kept -= oldest.command.len() + oldest.output.len();
        }
    }
}

/// The outputs of tools in a line, whole.
fn outputs(raw: &[u8]) -> Vec<(String, String)> {
    #[derive(Deserialize)]
    struct Whole {
        message: Content,
    }
    #[derive(Deserialize)]
    struct Content {
        content: Vec<Value>,
    }
    // A terminal's escapes may stand in front of the object.
    let Some(start) = memchr::memchr(b'{', raw) else { return Vec::new() };
    let Ok(line) = serde_json::from_slice::<Whole>(&raw[start..]) else { return Vec::new() };
    let blocks = line.message.content.into_iter();
    blocks
        .filter_map(|block| {
            let id = block.get("tool_use_id")?.as_str()?.to_owned();
            Some((id, output(block.get("content")?)))
        })
        .collect()
}

fn output(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= 2 * KEPT {
        return text.to_owned();
    }
    let head = (0..=KEPT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - KEPT..=text.len()).find(|at| text.is_char_boundary(*at));
    format!("{}\n…\n{}", &text[..head], &text[tail.unwrap_or(text.len())..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(lines: &[&str]) -> Vec<(String, String)> {
        let mut commands = Commands::default();
        for line in lines {
            commands.line(&Line::decode(line.as_bytes().to_vec()));
        }
        commands.iter().map(|ran| (ran.command.clone(), ran.output.clone())).collect()
    }

    #[test]
    fn tools_and_their_whole_output_are_on_record() {
        let long = "x".repeat(5_000) + " 3 passed";
        let result = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"{long}"}}]}}}}"#
        );
        let ran = fed(&[
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"pytest -q"}},{"type":"tool_use","id":"t2","name":"Grep","input":{"pattern":"x"}}]}}"#,
            &result,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"a.rs"},{"type":"text","text":"b.rs"}]}]}}"#,
        ]);
        assert_eq!(ran[0], ("pytest -q".to_owned(), long));
        assert_eq!(ran[1], (r#"Grep {"pattern":"x"}"#.to_owned(), "a.rs\nb.rs".to_owned()));
    }

    #[test]
    fn the_record_is_bounded() {
        let mut commands = Commands::default();
        for at in 0..2_000 {
            commands.started(&at.to_string(), "Bash", r#"{"command":"make"}"#);
            commands.ended(&at.to_string(), &format!("begin {}end {at}", "ä".repeat(100_000)));
        }
        let kept: usize = commands.iter().map(|ran| ran.command.len() + ran.output.len()).sum();
        assert_eq!(kept, commands.kept);
        assert!(kept <= MAX_KEPT, "{kept}");
        let last = commands.iter().last().unwrap();
        assert!(last.output.starts_with("begin ä") && last.output.ends_with("end 1999"));
    }
}
