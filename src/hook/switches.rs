//! Who switched supervision: what the person typed (`/supervisor`, `/supervisoroff`) stands in the
//! session's transcript as a message of theirs; what the agent runs as a tool does not.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    pub at: Timestamp,
    pub on: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    r#type: String,
    timestamp: Timestamp,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_sidechain: bool,
    /// Newer clients say where a message came from, if it was not typed.
    #[serde(default)]
    origin: Option<Value>,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Value,
}

impl Switch {
    /// The switch that a line of a transcript shows, if it shows one.
    pub fn read(line: &str) -> Option<Self> {
        if !line.contains("<command-name>/supervisor") {
            return None;
        }
        let entry: Entry = serde_json::from_str(line).ok()?;
        let typed = entry.origin.is_none_or(|origin| origin["kind"] == "human");
        // A tool's result is a list; so is everything that comes with one.
        let text = entry.message.content.as_str()?;
        if entry.r#type != "user" || entry.is_meta || entry.is_sidechain || !typed {
            return None;
        }
        // The client writes these parts in front of whatever else there is.
        let (before, rest) = text.split_once("<command-name>/")?;
        if !before.trim().is_empty() && !before.trim_start().starts_with("<command-message>") {
            return None;
        }
        let on = match rest.split_once("</command-name>")?.0 {
            "supervisor" => true,
            "supervisoroff" => false,
            _ => return None,
        };
        Some(Self { at: entry.timestamp, on })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(extra: &Value, content: &Value) -> String {
        let mut line = json!({"type": "user", "timestamp": "2026-01-15T10:30:00.5Z",
                              "message": {"role": "user", "content": content}});
        for (name, value) in extra.as_object().unwrap() {
            line[name] = value.clone();
        }
        line.to_string()
    }

    #[test]
    fn only_what_the_person_typed_counts() {
        let command = |name: &str| {
            format!(
                "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args></command-args>"
            )
        };
        let off = command("supervisoroff");
        let read =
            |extra: Value, content: Value| Switch::read(&line(&extra, &content)).map(|s| s.on);
        assert_eq!(read(json!({}), json!(off)), Some(false));
        assert_eq!(read(json!({}), json!(command("supervisor"))), Some(true));
        assert_eq!(read(json!({"origin": {"kind": "human"}}), json!(off)), Some(false));
        for (extra, content) in [
            (json!({"isMeta": true}), json!(off)),
            (json!({"isSidechain": true}), json!(off)),
            (json!({"type": "assistant"}), json!(off)),
            (json!({"origin": {"kind": "peer"}}), json!(off)),
            (json!({}), json!([{"type": "tool_result", "content": off}])),
            (json!({}), json!(format!("look at this: {off}"))),
            (json!({}), json!(command("supervisors"))),
        ] {
            assert_eq!(read(extra.clone(), content.clone()), None, "{extra} {content}");
        }
    }
}
