//! Keys reach a client through its environment, and are in no generated file: neither keys that
//! `ccc.json` only refers to (`${VAR}`), nor those that it contains.
//!
//! The client lays the `env` of every settings file over its environment, so a key of the same name
//! in one of those files would replace ours, and be sent to the provider's endpoint. If there is
//! such a file, the variable is blanked in the generated settings, which win over all files, and a
//! helper supplies the key; the client then sends it in both headers that it knows.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::Variables;
use super::generated::OtherSettings;
use crate::config::profile::{API_KEY, AUTH_TOKEN};
use crate::config::secret;

/// The variable in which the helper finds the key.
const HANDED_OVER: &str = "CCC_PROVIDER_KEY";
/// `printf` is built into every shell, so no other program of this name can be run instead.
const HELPER: &str = "printf %s \"$CCC_PROVIDER_KEY\"";

/// Moves the secrets out of the settings' `env`, to be set in the client's environment. `known` are
/// keys that may be in any setting.
pub fn take_out(
    settings: &mut Value,
    others: &[OtherSettings],
    known: &[String],
) -> Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    let mut helper = false;
    if let Some(env) = settings.get_mut("env").and_then(Value::as_object_mut) {
        let secrets: Vec<(String, String)> = env
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .filter(|(name, value)| {
                let holds_key =
                    || !is_endpoint(name) && known.iter().any(|key| value.contains(key));
                !value.is_empty() && (is_secret(name, value) || holds_key())
            })
            .collect();
        for (name, value) in secrets {
            let Some(other) = others.iter().find(|other| other.sets(&name)) else {
                env.shift_remove(&name);
                variables.push((name, value));
                continue;
            };
            if !is_secret(&name, &value) {
                continue;
            }
            if ![AUTH_TOKEN, API_KEY].contains(&name.as_str()) {
                bail!(
                    "{} also sets {name}, and the client would use that instead of the \
                     provider's; remove it there",
                    other.path.display()
                );
            }
            // The key is also passed under its own name, for a client that reads fewer files and
            // needs no helper.
            env.insert(name.clone(), json!(""));
            variables.extend([(name, value.clone()), (HANDED_OVER.to_owned(), value)]);
            helper = true;
        }
    }
    if helper {
        settings["apiKeyHelper"] = json!(HELPER);
    }
    Ok(variables)
}

/// The keys in the environment, to which settings of any name may refer (`Bearer ${MY_KEY}`).
pub fn known(env: &Variables) -> Vec<String> {
    /// A shorter value may be part of any text.
    const SHORTEST: usize = 8;
    let named = env.iter().filter(|(name, _)| name.to_str().is_some_and(secret::is_secret));
    let keys = named.filter_map(|(_, value)| value.to_str()).filter(|key| key.len() >= SHORTEST);
    keys.map(str::to_owned).collect()
}

/// Only settings can keep others from naming the endpoint, so its address stays there.
fn is_endpoint(name: &str) -> bool {
    name.ends_with("_BASE_URL")
}

/// Whether the name is one that keys have, or the value is an address with a login.
fn is_secret(name: &str, value: &str) -> bool {
    secret::is_secret(name) || secret::login(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(env: Value, others: &[OtherSettings]) -> (Value, Vec<(String, String)>) {
        let mut settings = json!({ "env": env });
        let variables = take_out(&mut settings, others, &[]).unwrap();
        (settings, variables)
    }

    fn other(env: &Value) -> OtherSettings {
        OtherSettings { path: "/h/settings.json".into(), settings: json!({ "env": env }) }
    }

    #[test]
    fn keys_leave_the_settings_and_the_rest_stays() {
        let (settings, variables) = taken(
            json!({"ANTHROPIC_BASE_URL": "https://h/x", "ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "",
                   "ANTHROPIC_CUSTOM_HEADERS": "X: y", "ANTHROPIC_MODEL": "m", "N": 1}),
            &[other(&json!({"ANTHROPIC_MODEL": "theirs"}))],
        );
        assert_eq!(
            settings,
            json!({"env": {"ANTHROPIC_BASE_URL": "https://h/x", "ANTHROPIC_API_KEY": "",
                           "ANTHROPIC_MODEL": "m", "N": 1}})
        );
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            variables,
            [pair("ANTHROPIC_AUTH_TOKEN", "t"), pair("ANTHROPIC_CUSTOM_HEADERS", "X: y")]
        );
        let (settings, variables) = taken(json!({"ANTHROPIC_BASE_URL": "https://me:pw@h/x"}), &[]);
        assert_eq!((settings, variables.len()), (json!({"env": {}}), 1));
    }

    #[test]
    fn a_key_in_a_setting_of_any_name_leaves_it_but_never_the_endpoint() {
        let own: Variables = vec![("K_KEY".into(), "0123456789".into()), ("N".into(), "m".into())];
        let mut settings = json!({"env": {"OTEL_HEADERS": "a=0123456789", "THEIRS": "0123456789",
            "ANTHROPIC_MODEL": "m", "ANTHROPIC_BASE_URL": "https://h/0123456789"}});
        let others = [other(&json!({"THEIRS": "x"}))];
        let variables = take_out(&mut settings, &others, &known(&own)).unwrap();
        assert_eq!(variables, [("OTEL_HEADERS".to_owned(), "a=0123456789".to_owned())]);
        assert_eq!(settings["env"].as_object().unwrap().len(), 3, "{settings}");
    }

    #[test]
    fn a_key_of_the_same_name_elsewhere_does_not_win() {
        let others = [other(&json!({"ANTHROPIC_AUTH_TOKEN": "theirs"}))];
        let (settings, variables) = taken(json!({"ANTHROPIC_AUTH_TOKEN": "ours"}), &others);
        assert_eq!(settings, json!({"env": {"ANTHROPIC_AUTH_TOKEN": ""}, "apiKeyHelper": HELPER}));
        let names: Vec<_> = variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ANTHROPIC_AUTH_TOKEN", HANDED_OVER]);
        assert!(variables.iter().all(|(_, value)| value == "ours"));
        let others = [other(&json!({"ANTHROPIC_CUSTOM_HEADERS": "theirs"}))];
        let mut settings = json!({"env": {"ANTHROPIC_CUSTOM_HEADERS": "X: y"}});
        let error = take_out(&mut settings, &others, &[]).unwrap_err().to_string();
        assert!(error.contains("/h/settings.json also sets ANTHROPIC_CUSTOM_HEADERS"), "{error}");
        assert!(!error.contains("X: y"));
    }
}
