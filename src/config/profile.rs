//! What a provider's settings say about its endpoint: address, key and model.

use serde_json::Value;

use super::secret;
use super::settings::variables;

pub const BASE_URL: &str = "ANTHROPIC_BASE_URL";
pub const AUTH_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
pub const API_KEY: &str = "ANTHROPIC_API_KEY";
pub const CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
pub const MODEL: &str = "ANTHROPIC_MODEL";
pub const OPUS: &str = "ANTHROPIC_DEFAULT_OPUS_MODEL";
pub const SONNET: &str = "ANTHROPIC_DEFAULT_SONNET_MODEL";
pub const HAIKU: &str = "ANTHROPIC_DEFAULT_HAIKU_MODEL";

/// A variable in the settings' `env`; an empty one counts as not set.
pub fn env<'a>(settings: &'a Value, name: &str) -> Option<&'a str> {
    settings.get("env")?.get(name)?.as_str().filter(|text| !text.is_empty())
}

#[derive(Debug, PartialEq, Eq)]
pub enum Key<'a> {
    Missing,
    /// A command that prints the key.
    Helper,
    Literal(&'a str),
    /// A text that refers to these environment variables.
    Variables(&'a str, Vec<String>),
}

pub fn key(settings: &Value) -> Key<'_> {
    match env(settings, AUTH_TOKEN).or_else(|| env(settings, API_KEY)) {
        Some(text) => match variables(text) {
            names if names.is_empty() => Key::Literal(text),
            names => Key::Variables(text, names),
        },
        None if settings.get("apiKeyHelper").is_some_and(Value::is_string) => Key::Helper,
        None => Key::Missing,
    }
}

impl Key<'_> {
    /// Whether the key is available. `lookup` says whether an environment variable is set.
    pub fn is_there(&self, lookup: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Missing => false,
            Self::Helper | Self::Literal(_) => true,
            Self::Variables(_, names) => names.iter().all(|name| lookup(name)),
        }
    }

    pub fn describe(&self, lookup: &impl Fn(&str) -> bool) -> String {
        match self {
            Self::Missing => "none".to_owned(),
            Self::Helper => "apiKeyHelper".to_owned(),
            Self::Literal(text) => secret::mask(text),
            Self::Variables(text, _) => {
                let state = if self.is_there(lookup) { "set" } else { "missing" };
                format!("{} {state}", secret::mask(text))
            }
        }
    }
}

/// The model as it was chosen: a model name of the endpoint, or one of the client's short names.
pub fn chosen_model(settings: &Value) -> Option<&str> {
    env(settings, MODEL).or_else(|| settings.get("model")?.as_str().filter(|name| !name.is_empty()))
}

/// Whether this is one of the client's own short names, which it maps to a model itself.
pub fn is_short_name(model: &str) -> bool {
    ["default", "opus", "sonnet", "haiku", "opusplan"].contains(&model)
}

/// The model name that the client would send to the endpoint, as far as the settings tell.
pub fn model(settings: &Value) -> Option<&str> {
    let chosen = chosen_model(settings).map(|name| name.strip_suffix("[1m]").unwrap_or(name));
    let name = match chosen {
        Some("opus" | "opusplan") => env(settings, OPUS),
        Some("haiku") => env(settings, HAIKU),
        None | Some("sonnet" | "default") => env(settings, SONNET),
        named => named,
    };
    name.map(|name| name.strip_suffix("[1m]").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_key_and_whether_it_is_there() {
        let set = |name: &str| name == "SET";
        for (env, shown, there) in [
            (json!({}), "none", false),
            (json!({"ANTHROPIC_API_KEY": ""}), "none", false),
            (json!({"ANTHROPIC_API_KEY": "0123456789abcdef"}), "…cdef", true),
            (json!({"ANTHROPIC_AUTH_TOKEN": "${SET}"}), "${SET} set", true),
            (json!({"ANTHROPIC_AUTH_TOKEN": "${GONE}"}), "${GONE} missing", false),
            (json!({"ANTHROPIC_AUTH_TOKEN": 7}), "none", false),
        ] {
            let settings = json!({ "env": env });
            let key = key(&settings);
            assert_eq!((key.describe(&set).as_str(), key.is_there(&set)), (shown, there), "{env}");
        }
        assert_eq!(key(&json!({"apiKeyHelper": "cat x"})), Key::Helper);
    }

    #[test]
    fn the_model_the_client_would_ask_for() {
        let map = json!({"ANTHROPIC_DEFAULT_OPUS_MODEL": "big", "ANTHROPIC_DEFAULT_SONNET_MODEL": "mid",
                         "ANTHROPIC_DEFAULT_HAIKU_MODEL": "small[1m]"});
        for (chosen, asked) in [
            (json!("named"), Some("named")),
            (json!("named[1m]"), Some("named")),
            (json!("opus"), Some("big")),
            (json!("opus[1m]"), Some("big")),
            (json!("haiku"), Some("small")),
            (json!(null), Some("mid")),
        ] {
            assert_eq!(model(&json!({"model": chosen, "env": map})), asked, "{chosen}");
        }
        assert_eq!(model(&json!({"env": {"ANTHROPIC_MODEL": "a"}, "model": "b"})), Some("a"));
        assert_eq!(model(&json!({"model": "sonnet"})), None);
    }
}
