//! Sessions as JSON. The names stay as they are: programs read them.

use serde_json::{Value, json};

use crate::record::story::{Part, Scene, State, Story};
use crate::stream::{Block, Line, Message, Part as LinePart};

pub fn summary(story: &Story) -> Value {
    let (outcome, detail, exit_code) = match &story.state {
        State::Running => ("running", Value::Null, Value::Null),
        State::BrokenOff => ("broken_off", Value::Null, Value::Null),
        State::Over(outcome) => {
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
        "unread_lines": story.unread,
    })
}

pub fn whole(story: &Story) -> Value {
    let mut value = summary(story);
    value["scenes"] = story.scenes.iter().flat_map(scene).collect();
    value
}

fn scene(scene: &Scene) -> Vec<Value> {
    let stamped = |mut value: Value| {
        value["time"] = scene.time.to_string().into();
        value
    };
    match &scene.part {
        Part::Began(run) => vec![stamped(json!({"what": "run", "run": run}))],
        Part::Told(notice) => {
            let mut value = serde_json::to_value(notice).unwrap_or_default();
            value["what"] = "notice".into();
            vec![stamped(value)]
        }
        Part::Turn(turn) => {
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
        Part::Reviewed(line) => checks(line).into_iter().map(stamped).collect(),
    }
}

/// What the supervisor did and said, in a line of its.
fn checks(line: &Line) -> Vec<Value> {
    let mut values = Vec::new();
    for part in &line.parts {
        let LinePart::Message(envelope) = part else { continue };
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
