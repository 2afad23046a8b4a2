//! One recorded `/v1/messages` request, and the questions tests ask about it.

use std::time::Instant;

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Request {
    pub body: Value,
    /// When it came.
    pub at: Instant,
    headers: Vec<(String, String)>,
}

impl Request {
    pub(super) fn new(headers: Vec<(String, String)>, body: Value) -> Self {
        Self { body, at: Instant::now(), headers }
    }

    /// An HTTP header; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        list(&self.body["tools"]).iter().filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// All text of the system prompt.
    #[must_use]
    pub fn system_text(&self) -> String {
        joined([&self.body["system"]])
    }

    /// All text of the conversation: prompts, answers, what tools were given and what they gave back.
    #[must_use]
    pub fn messages_text(&self) -> String {
        joined(self.messages().iter().map(|message| &message["content"]))
    }

    /// The text of what came after the last assistant message: what the model is asked to answer.
    #[must_use]
    pub fn recent_text(&self) -> String {
        let messages = self.messages();
        let last_assistant = messages.iter().rposition(|message| message["role"] == "assistant");
        let recent = &messages[last_assistant.map_or(0, |index| index + 1)..];
        joined(recent.iter().map(|message| &message["content"]))
    }

    /// Every text block of the user's role in order, the client's own reminders included. A message
    /// sent during a turn is not here: the client hands it on in the system's role (`recent_text`).
    #[must_use]
    pub fn user_texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for message in self.messages().iter().filter(|message| message["role"] == "user") {
            match &message["content"] {
                Value::String(text) => texts.push(text.clone()),
                content => texts.extend(
                    list(content)
                        .iter()
                        .filter(|block| block["type"] == "text")
                        .filter_map(|block| block["text"].as_str().map(str::to_owned)),
                ),
            }
        }
        texts
    }

    /// The user's texts without the client's reminders: what was typed or sent.
    #[must_use]
    pub fn prompts(&self) -> Vec<String> {
        let mut texts = self.user_texts();
        texts.retain(|text| !text.trim_start().starts_with("<system-reminder>"));
        texts
    }

    pub(super) fn summary(&self) -> String {
        let recent = self.recent_text();
        // The end is where the prompt is; reminders come first.
        let skipped = recent.chars().count().saturating_sub(600);
        let end: String = recent.chars().skip(skipped).collect();
        format!(
            "{}, {} messages, {} tools, recent text{}:\n{end}",
            self.model(),
            self.messages().len(),
            self.tool_names().len(),
            if skipped > 0 { " (its end)" } else { "" },
        )
    }

    fn messages(&self) -> &[Value] {
        list(&self.body["messages"])
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn joined<'a>(contents: impl IntoIterator<Item = &'a Value>) -> String {
    let mut texts = Vec::new();
    for content in contents {
        collect(content, &mut texts);
    }
    texts.join("\n")
}

/// The text in a message's content. Names of types, ids and the like are no text: a rule on «text»
/// or «user» would otherwise fit everything.
fn collect<'a>(content: &'a Value, texts: &mut Vec<&'a str>) {
    match content {
        Value::String(text) => texts.push(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, texts)),
        Value::Object(block) => match content["type"].as_str() {
            Some("text") => collect(&content["text"], texts),
            Some("thinking") => collect(&content["thinking"], texts),
            Some("tool_result") => collect(&content["content"], texts),
            Some("tool_use") => {
                collect(&content["name"], texts);
                strings(&content["input"], texts);
            }
            Some("image" | "document") => {}
            _ => block.values().for_each(|value| strings(value, texts)),
        },
        _ => {}
    }
}

fn strings<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, texts)),
        _ => {}
    }
}
