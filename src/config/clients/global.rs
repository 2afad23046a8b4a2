//! The client's own `.claude.json`. It is no settings file, and no option keeps the client from reading it;
//! but it may have an `env` as well, which beats the process environment, and the agent can write it. Only
//! settings that are given on the command line stand above it.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::{Variables, environment, object};
use crate::config::secret::is_secret;
use crate::files;

/// Where it may be: the client takes the first that is there, and the agent can make one.
fn places() -> Vec<PathBuf> {
    let dir =
        std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let home = dirs::home_dir();
    let beside = dir.clone().or_else(|| home.clone());
    let inside = dir.or_else(|| home.map(|home| home.join(".claude")));
    let inside = inside.map(|dir| dir.join(".config.json"));
    inside.into_iter().chain(beside.map(|dir| dir.join(".claude.json"))).collect()
}

/// The variables that it sets now.
pub fn variables() -> Map<String, Value> {
    let read = |path: PathBuf| -> Option<Map<String, Value>> {
        let config: Value = serde_json::from_str(&files::read_text(&path).ok()?).ok()?;
        config.get("env")?.as_object().cloned()
    };
    places().into_iter().filter_map(read).flatten().collect()
}

/// The judge's settings, in which every variable that has come to that file since the session began
/// has the value that the judge's environment has for it, or none. A key is not among them: one that
/// was planted makes the provider refuse the judge, and that is an error.
pub fn settings_above(settings: &Value, env: &Variables) -> Result<Value> {
    let mut settings = settings.clone();
    let said = object(object(&mut settings)?.entry("env").or_insert_with(|| json!({})))?;
    for name in variables().keys().filter(|name| !name.is_empty()) {
        let given = environment::text(env, name);
        if said.contains_key(name) || (is_secret(name) && given.is_some()) {
            continue;
        }
        said.insert(name.clone(), json!(given.unwrap_or_default()));
    }
    Ok(settings)
}
