//! What the client tells of itself: what it is and has, what fills the model's window, how much of a
//! subscription is used up, how far a sub-agent has come.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::control::WireAnswer;
use super::lenient::{Count, List, Number, Text, object};
use super::message::Command;
use crate::client::mode::PermissionMode;

/// The answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Introduction {
    pub commands: Vec<Command>,
    pub models: Vec<Model>,
    /// Only newer clients say it here; all say it with the first turn.
    pub version: Option<String>,
    pub mode: Option<PermissionMode>,
}

/// A model to choose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// What the client wants to be told.
    pub value: String,
    pub name: String,
    pub description: String,
    /// The name that the provider knows it by.
    pub resolved: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextUsage {
    pub categories: Vec<ContextCategory>,
    /// Tokens that the model holds.
    pub window: u64,
    /// Tokens at which the client makes the conversation shorter by itself.
    pub compacts_at: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextCategory {
    pub name: String,
    pub tokens: u64,
    /// What is not taken up: free, or kept free for compaction.
    pub free: bool,
}

/// Of a subscription.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RateLimit {
    /// `five_hour`, `seven_day`, …
    pub kind: String,
    /// `allowed`, `allowed_warning`, `rejected`
    pub status: String,
    /// Between 0 and 1.
    pub used: Option<f64>,
    /// Seconds since 1970.
    pub resets_at: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskProgress {
    /// The tool use that started the sub-agent.
    pub tool_use_id: String,
    /// How many tools it has used.
    pub tools: u64,
    pub doing: String,
}

/// The conversation was made shorter, by the person or by the client itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compaction {
    pub automatic: bool,
    /// Tokens of the conversation.
    pub before: Option<u64>,
    pub after: Option<u64>,
    /// The ids of messages that stay as they are; the client says some of them again.
    pub kept: Vec<String>,
}

object! {
    pub struct WireCompaction<'a> {
        "trigger" => trigger: Text<'a>,
        "pre_tokens" => before: Count,
        "post_tokens" => after: Count,
        "preserved_messages" => kept: WireKept<'a>,
    }
}

object! {
    pub struct WireKept<'a> {
        "uuids" => uuids: List<Text<'a>>,
    }
}

impl WireCompaction<'_> {
    pub fn told(self) -> Compaction {
        Compaction {
            automatic: self.trigger.as_str() == "auto",
            before: self.before.0,
            after: self.after.0,
            kept: self.kept.uuids.0.into_iter().filter_map(Text::known).collect(),
        }
    }
}

object! {
    pub struct WireCommand<'a> {
        "name" => name: Text<'a>,
        "description" => description: Text<'a>,
    }
}

object! {
    pub struct WireOffer<'a> {
        "value" => value: Text<'a>,
        "displayName" => name: Text<'a>,
        "description" => description: Text<'a>,
        "resolvedModel" => resolved: Text<'a>,
    }
}

object! {
    pub struct WireApplied<'a> {
        "model" => model: Text<'a>,
    }
}

object! {
    pub struct WireCategory<'a> {
        "name" => name: Text<'a>,
        "tokens" => tokens: Count,
        "kind" => kind: Text<'a>,
    }
}

object! {
    pub struct WireLimit<'a> {
        "rateLimitType" => kind: Text<'a>,
        "status" => status: Text<'a>,
        "utilization" => used: Number,
        "resetsAt" => resets_at: Count,
    }
}

impl WireLimit<'_> {
    pub fn told(self) -> RateLimit {
        RateLimit {
            kind: self.kind.owned(),
            status: self.status.owned(),
            used: self.used.0,
            resets_at: self.resets_at.0,
        }
    }
}

/// `None` where there is not a list, or where something in it cannot be read.
fn list<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<Vec<T>> {
    serde_json::from_str(raw?.get()).ok()
}

pub fn introduction(answer: &WireAnswer<'_>) -> Option<Introduction> {
    let commands = list::<WireCommand<'_>>(answer.commands)?;
    if commands.iter().any(|command| command.name.as_str().is_empty()) {
        return None;
    }
    let command = |command: WireCommand<'_>| Command {
        name: command.name.owned(),
        description: command.description.owned(),
    };
    let model = |model: WireOffer<'_>| Model {
        value: model.value.owned(),
        name: model.name.owned(),
        description: model.description.owned(),
        resolved: model.resolved.owned(),
    };
    let models = list::<WireOffer<'_>>(answer.models).unwrap_or_default();
    let models = models.into_iter().map(model).filter(|model| !model.value.is_empty());
    let some = |text: &Text<'_>| Some(text.as_str().to_owned()).filter(|text| !text.is_empty());
    Some(Introduction {
        commands: commands.into_iter().map(command).collect(),
        models: models.collect(),
        version: some(&answer.version),
        mode: some(&answer.mode).map(PermissionMode::from),
    })
}

pub fn context_usage(answer: &WireAnswer<'_>) -> Option<ContextUsage> {
    let categories = list::<WireCategory<'_>>(answer.categories)?;
    let category = |category: WireCategory<'_>| {
        let name = category.name.owned();
        // Older clients do not say which kind it is.
        let free = match category.kind.as_str() {
            "" => name == "Free space" || name == "Autocompact buffer",
            kind => kind != "used",
        };
        ContextCategory { name, tokens: category.tokens.0.unwrap_or(0), free }
    };
    Some(ContextUsage {
        categories: categories.into_iter().map(category).collect(),
        window: answer.max_tokens.0.unwrap_or(0),
        compacts_at: answer.compacts_at.0,
    })
}
