//! Keeps ccc's hooks running in a client whose settings others can write. The generated settings
//! win over the project's, which the agent can write during a session. So everything that switches
//! hooks off, or decides what runs in their place, is set there to its initial value.

use std::ffi::OsString;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Variables, environment, generated, object, section};
use crate::config::managed;
use crate::directories::Directories;

/// Variables that decide which code is loaded when a program starts, and so before the hook itself
/// runs.
const LOADER: [&str; 8] = [
    "BASH_ENV",
    // The client puts this before every command, including hooks.
    "CLAUDE_CODE_SHELL_PREFIX",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// With this variable the client keeps no transcript, and a conversation without one has no fork to judge it.
const WITHOUT_TRANSCRIPT: [&str; 1] = ["CLAUDE_CODE_SKIP_PROMPT_HISTORY"];

/// With one of these variables the client runs no hooks at all, from the moment it reads the
/// variable.
const WITHOUT_HOOKS: [&str; 2] = ["CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"];
/// The client's options with the same effect.
const OPTIONS_WITHOUT_HOOKS: [&str; 2] = ["--safe-mode", "--bare"];

/// Sets that hooks run and that a transcript is kept, unless the user's own settings say otherwise, and
/// that nothing is loaded into the hook that was not loaded into ccc. (The rest of the hook's environment is that with
/// which the client was started.)
pub fn keep_hooks(directories: &Directories, settings: &mut Value, own: &Variables) -> Result<()> {
    let users = generated::users_settings(directories);
    let hooks_run = why_hooks_are_off(directories, &[]).is_none();
    let fields = object(settings)?;
    if hooks_run {
        fields.entry("disableAllHooks").or_insert_with(|| json!(false));
    }
    let env = section(fields, "env")?;
    for name in LOADER.into_iter().chain(WITHOUT_TRANSCRIPT) {
        let users = users["env"].get(name).cloned();
        let value = users.or_else(|| environment::text(own, name).map(Value::from));
        env.entry(name).or_insert_with(|| value.unwrap_or_else(|| json!("")));
    }
    for name in WITHOUT_HOOKS.iter().filter(|_| hooks_run) {
        env.entry(*name).or_insert_with(|| json!(""));
    }
    Ok(())
}

/// What switches off all hooks, including ccc's: the client's arguments, the user's own
/// `settings.json`, or the settings of the machine's administrator.
pub fn why_hooks_are_off(directories: &Directories, args: &[OsString]) -> Option<String> {
    if let Some((name, path)) = managed::forbids_hooks() {
        return Some(format!("{name} in {}, which you may not be able to change,", path.display()));
    }
    let options = args.iter().take_while(|arg| *arg != "--");
    let mut options = options.filter_map(|arg| arg.to_str());
    if let Some(option) = options.find(|arg| OPTIONS_WITHOUT_HOOKS.contains(arg)) {
        return Some(option.to_owned());
    }
    let users = generated::users_settings(directories);
    let is_set = |name: &&&str| users["env"].get(**name).is_some_and(is_truthy);
    let variable = WITHOUT_HOOKS.iter().find(is_set).map(|name| format!("{name} under env"));
    let setting =
        (users.get("disableAllHooks") == Some(&json!(true))).then(|| "disableAllHooks".to_owned());
    setting.or(variable).map(|what| format!("{what} in your settings.json"))
}

/// Whether the client reads this value as true.
fn is_truthy(value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    ["1", "true", "yes", "on"].contains(&text.trim().to_lowercase().as_str())
}
