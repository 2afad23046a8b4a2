//! A provider as it will be written to the file.

use serde_json::{Map, Value, json};

use super::presets::Preset;
use crate::config;
use crate::config::profile::{
    API_KEY, AUTH_TOKEN, BASE_URL, HAIKU, MODEL, OPUS, SONNET, is_short_name,
};
use crate::endpoint;

#[derive(Default)]
pub struct Draft {
    pub preset: Option<&'static Preset>,
    pub base_url: String,
    pub token: String,
    /// The key is sent as `x-api-key`, even if the preset says otherwise.
    pub api_key: bool,
    pub model: Option<String>,
    pub small_model: Option<String>,
}

impl Draft {
    pub fn env(&self) -> Map<String, Value> {
        let key = match self.preset {
            _ if self.api_key => API_KEY,
            Some(preset) => preset.key,
            None => AUTH_TOKEN,
        };
        let mut env = Map::new();
        let mut put = |name: &str, value: &str| env.insert(name.to_owned(), json!(value));
        put(BASE_URL, &self.base_url);
        for (name, value) in self.preset.map_or(&[][..], |preset| preset.extra) {
            put(name, value);
        }
        put(key, &self.token);
        if let Some(model) = &self.model {
            put(MODEL, model);
        }
        // If the endpoint knows only its own model names, the client's aliases and its background work
        // must be mapped to them too.
        if let Some(model) = self.model.as_deref().filter(|model| !self.knows_claude(model)) {
            put(OPUS, model);
            put(SONNET, model);
            put(HAIKU, self.small_model.as_deref().unwrap_or(model));
        } else if let Some(small) = &self.small_model {
            put(HAIKU, small);
        }
        env
    }

    fn knows_claude(&self, model: &str) -> bool {
        self.preset.is_some_and(|preset| preset.claude_names)
            || model.contains("claude")
            || is_short_name(model.strip_suffix("[1m]").unwrap_or(model))
    }
}

/// The endpoint in the form the client expects, which appends `/v1/messages` itself.
pub fn check_url(url: &str) -> Result<String, String> {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix("/v1/messages").unwrap_or(url);
    let url = url.strip_suffix("/v1").unwrap_or(url);
    // The value of a variable is not known here.
    if config::variables(url).is_empty() {
        endpoint::messages_url(url)?;
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::provider::presets;

    fn draft(preset: Option<&str>, model: Option<&str>, small: Option<&str>) -> Value {
        let draft = Draft {
            preset: preset.and_then(presets::find),
            base_url: "https://x".into(),
            token: "${K}".into(),
            api_key: false,
            model: model.map(str::to_owned),
            small_model: small.map(str::to_owned),
        };
        Value::Object(draft.env())
    }

    #[test]
    fn models_of_others_stand_in_for_the_clients_own_names() {
        assert_eq!(
            draft(None, Some("big"), Some("small")),
            json!({"ANTHROPIC_BASE_URL": "https://x", "ANTHROPIC_AUTH_TOKEN": "${K}",
                   "ANTHROPIC_MODEL": "big", "ANTHROPIC_DEFAULT_OPUS_MODEL": "big",
                   "ANTHROPIC_DEFAULT_SONNET_MODEL": "big", "ANTHROPIC_DEFAULT_HAIKU_MODEL": "small"})
        );
        assert_eq!(draft(None, Some("big"), None)["ANTHROPIC_DEFAULT_HAIKU_MODEL"], "big");
        assert_eq!(
            draft(Some("anthropic"), Some("opus"), None),
            json!({"ANTHROPIC_BASE_URL": "https://x", "ANTHROPIC_API_KEY": "${K}",
                   "ANTHROPIC_MODEL": "opus"})
        );
        assert_eq!(
            draft(None, Some("claude-x"), None)["ANTHROPIC_DEFAULT_OPUS_MODEL"],
            json!(null)
        );
        assert_eq!(draft(None, None, Some("tiny"))["ANTHROPIC_DEFAULT_HAIKU_MODEL"], "tiny");
        assert_eq!(draft(Some("openrouter"), None, None)["ANTHROPIC_API_KEY"], "");
    }

    #[test]
    fn what_the_client_adds_itself_is_taken_off() {
        for url in ["https://h/a", "https://h/a/", "https://h/a/v1/", "https://h/a/v1/messages"] {
            assert_eq!(check_url(url).as_deref(), Ok("https://h/a"), "{url}");
        }
        assert_eq!(check_url("${GATEWAY}/x/").as_deref(), Ok("${GATEWAY}/x"));
        for bad in
            ["", "h/a", "ftp://h", "https://", "https:///x", "https://h h", "https://h/a?b=c"]
        {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
