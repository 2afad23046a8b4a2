//! Sessions as JSON. Field names must not change: programs read them.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::client::stream::{Block, Line, Message};
use crate::console;
use crate::record::story::{self, SessionState, Story, StoryEntry, StoryEvent};

pub fn summary(story: &Story) -> Value {
    let (outcome, detail, exit_code) = match &story.state {
        SessionState::Running => ("running", Value::Null, Value::Null),
        SessionState::BrokenOff => ("broken_off", Value::Null, Value::Null),
        SessionState::Over(outcome) => {
            let detail = serde_json::to_value(outcome).unwrap_or_default();
            let detail = detail.get("detail").cloned().unwrap_or_default();
            (outcome.name(), detail, outcome.exit_code().into())
        }
    };
    json!({
        "id": story.id,
        "session_id": story.session_id,
        "path": story.dir,
        "project": story.project,
        "provider": story.provider,
        "ccc": story.ccc,
        "began": story.began.map(|time| time.to_string()),
        "last": story.last.map(|time| time.to_string()),
        "runs": story.runs,
        "task": story.task,
        "messages": story.messages,
        "outcome": outcome,
        "detail": detail,
        "exit_code": exit_code,
        "rounds": story.rounds,
        "seconds": story.seconds,
        "cost_usd": story.cost_usd,
        "supervision": story.supervision,
        "unread_lines": story.unread,
    })
}

/// The summary and every event, written while the recording is read.
pub fn write_whole(story: &Story, checks: bool, out: &mut dyn Write) -> Result<()> {
    let summary = summary(story);
    let mut json = serde_json::Serializer::pretty(CleanJson(out));
    let mut fields = json.serialize_map(None)?;
    for (name, value) in summary.as_object().into_iter().flatten() {
        fields.serialize_entry(name, value)?;
    }
    fields.serialize_entry("scenes", &Happenings { dir: &story.dir, checks })?;
    SerializeMap::end(fields)?;
    Ok(())
}

/// Escapes control characters, so that text written by others cannot control the terminal.
struct CleanJson<W>(W);

impl<W: Write> Write for CleanJson<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A serializer never splits a character.
        self.0.write_all(console::clean_json(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

struct Happenings<'a> {
    dir: &'a Path,
    /// Whether to include everything that checks printed.
    checks: bool,
}

impl Serialize for Happenings<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        let mut failed = None;
        let told = story::tell(self.dir, &mut |entry| {
            for value in values(&entry, self.checks) {
                if let Err(error) = list.serialize_element(&value) {
                    failed = Some(error);
                    bail!("nothing more can be written");
                }
            }
            Ok(())
        });
        if let Some(error) = failed {
            return Err(error);
        }
        told.map_err(S::Error::custom)?;
        list.end()
    }
}

fn values(entry: &StoryEntry, checks: bool) -> Vec<Value> {
    let stamped = |mut value: Value| {
        value["time"] = entry.time.to_string().into();
        value
    };
    match &entry.what {
        StoryEvent::RunBegan(run) => vec![stamped(json!({"what": "run", "run": run}))],
        StoryEvent::Told(notice) => {
            let mut value = serde_json::to_value(notice).unwrap_or_default();
            value["what"] = "notice".into();
            vec![stamped(value)]
        }
        StoryEvent::Turn(turn) => {
            let tools: Vec<_> = turn
                .tools
                .iter()
                .map(|(name, times)| json!({"tool": name, "times": times}))
                .collect();
            vec![stamped(json!({
                "what": "turn", "answer": turn.answer, "tools": tools, "failed": turn.failed,
                "seconds": turn.seconds, "cost_usd": turn.cost_usd,
            }))]
        }
        StoryEvent::CheckPrinted(text) if checks => {
            vec![stamped(json!({"what": "check_printed", "text": text}))]
        }
        StoryEvent::CheckPrinted(_) => Vec::new(),
        StoryEvent::Reviewed(line) => reviewed(line).into_iter().map(stamped).collect(),
    }
}

/// What the supervisor did and said in one of its lines.
fn reviewed(line: &Line) -> Vec<Value> {
    let mut values = Vec::new();
    for envelope in line.messages() {
        match &envelope.message {
            Message::Assistant { blocks, .. } => values.extend(blocks.iter().filter_map(check)),
            Message::ToolResults(results) => {
                for result in results {
                    values.push(json!({
                        "what": "check_result", "tool_use_id": result.tool_use_id,
                        "failed": result.is_error, "output": result.preview,
                    }));
                }
            }
            _ => {}
        }
    }
    values
}

fn check(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({"what": "supervisor_said", "text": text})),
        Block::Thinking(_) => None,
        Block::ToolUse { id, name, input } => {
            let input: Value = serde_json::from_str(input).unwrap_or_default();
            Some(json!({"what": "check", "tool_use_id": id, "tool": name, "input": input}))
        }
    }
}
