//! What keeps ccc's hooks running in a client whose settings others can write. The generated settings win over
//! the project's, which the agent can write in the middle of a session: whatever switches hooks off, or decides
//! what is run in their place, stands there as it was in the beginning.

use std::ffi::OsString;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Variables, environment, generated, object};
use crate::config::managed;
use crate::directories::Directories;

/// What decides which code runs when a program starts; it could be set before the hook is asked.
const LOADER: [&str; 8] = [
    "BASH_ENV",
    // The client puts it in front of every command, a hook's too.
    "CLAUDE_CODE_SHELL_PREFIX",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// With one of these the client runs no hook of anybody's, from the moment in which it reads the variable.
const WITHOUT_HOOKS: [&str; 2] = ["CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"];
/// The same as options of the client.
const OPTIONS_WITHOUT_HOOKS: [&str; 2] = ["--safe-mode", "--bare"];

/// Says that hooks run, unless the user's own settings say otherwise, and that nothing is loaded into the hook
/// that was not loaded into ccc. (The rest of its environment the hook takes from the client's beginning.)
pub fn keep_hooks(directories: &Directories, settings: &mut Value, own: &Variables) -> Result<()> {
    let users = generated::users_settings(directories);
    let hooks_run = why_hooks_are_off(directories, &[]).is_none();
    let fields = object(settings)?;
    if hooks_run {
        fields.entry("disableAllHooks").or_insert_with(|| json!(false));
    }
    let env = object(fields.entry("env").or_insert_with(|| json!({})))?;
    for name in LOADER {
        let users = users["env"].get(name).cloned();
        let value = users.or_else(|| environment::text(own, name).map(Value::from));
        env.entry(name).or_insert_with(|| value.unwrap_or_else(|| json!("")));
    }
    for name in WITHOUT_HOOKS.iter().filter(|_| hooks_run) {
        env.entry(*name).or_insert_with(|| json!(""));
    }
    Ok(())
}

/// What switches every hook off, ccc's among them: the client's arguments, the user's own `settings.json`, or
/// the settings of whoever administers the machine.
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

/// As the client reads a switch.
fn is_truthy(value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    ["1", "true", "yes", "on"].contains(&text.trim().to_lowercase().as_str())
}
