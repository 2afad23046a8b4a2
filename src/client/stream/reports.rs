//! What the client reports about itself: its version and offers, what fills the model's context
//! window, how much of a subscription is used up, and the progress of sub-agents.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::control::WireAnswer;
use super::lenient::{Count, List, Number, Text, object};
use super::message::SlashCommand;
use crate::client::mode::PermissionMode;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Introduction {
    pub commands: Vec<SlashCommand>,
    pub models: Vec<Model>,
    /// Only newer clients report it here; all report it with the first turn.
    pub version: Option<String>,
    pub mode: Option<PermissionMode>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// The value with which the client is asked for it.
    pub value: String,
    pub name: String,
    pub description: String,
    /// The provider's name for it.
    pub resolved: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextUsage {
    pub categories: Vec<ContextCategory>,
    /// The size of the model's context window, in tokens.
    pub window: u64,
    /// The number of tokens at which the client compacts the conversation by itself.
    pub compacts_at: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextCategory {
    pub name: String,
    pub tokens: u64,
    /// Not in use: free, or reserved for compaction.
    pub free: bool,
}

/// A limit of a subscription.
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

/// The conversation was compacted, by the person or by the client itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compaction {
    pub automatic: bool,
    /// Tokens in the conversation.
    pub before: Option<u64>,
    pub after: Option<u64>,
    /// The ids of messages that stay unchanged; the client repeats some of them.
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
    pub fn into_compaction(self) -> Compaction {
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
        "aliases" => aliases: List<Text<'a>>,
    }
}

impl WireCommand<'_> {
    pub fn into_command(self) -> SlashCommand {
        SlashCommand {
            name: self.name.owned(),
            description: self.description.owned(),
            aliases: self.aliases.0.into_iter().filter_map(Text::known).collect(),
        }
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
    pub fn into_rate_limit(self) -> RateLimit {
        RateLimit {
            kind: self.kind.owned(),
            status: self.status.owned(),
            used: self.used.0,
            resets_at: self.resets_at.0,
        }
    }
}

/// `None` if it is not a list, or if something in it cannot be read.
fn list<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<Vec<T>> {
    serde_json::from_str(raw?.get()).ok()
}

pub fn introduction(answer: &WireAnswer<'_>) -> Option<Introduction> {
    let commands = list::<WireCommand<'_>>(answer.commands)?;
    if commands.iter().any(|command| command.name.as_str().is_empty()) {
        return None;
    }
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
        commands: commands.into_iter().map(WireCommand::into_command).collect(),
        models: models.collect(),
        version: some(&answer.version),
        mode: some(&answer.mode).map(PermissionMode::from),
    })
}

pub fn context_usage(answer: &WireAnswer<'_>) -> Option<ContextUsage> {
    let categories = list::<WireCategory<'_>>(answer.categories)?;
    let category = |category: WireCategory<'_>| {
        let name = category.name.owned();
        // Older clients do not report the kind.
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
