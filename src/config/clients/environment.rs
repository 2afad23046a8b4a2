//! The environment of a client: that of ccc, without what belongs to another session, another
//! endpoint or another provider.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use super::{Role, Variables, global, is_endpoint};
use crate::client::launch::belongs_to_a_session;
use crate::config::{Config, variables};
use crate::review::permission;
use crate::tree::git_programs::{nowhere_to_push, overruled};

pub fn of_this_process() -> Variables {
    env::vars_os().collect()
}

pub fn text(env: &Variables, name: &str) -> Option<String> {
    let (_, value) = env.iter().find(|(known, _)| known == OsStr::new(name))?;
    value.to_str().map(str::to_owned)
}

/// What a client inherits, with or without the endpoint in the environment. Settings override the
/// environment one variable at a time, so an inherited key under another name would still be sent
/// to the provider's endpoint.
pub fn inherited(
    env: &Variables,
    without_endpoint: bool,
    role: Role,
    state_dir: &Path,
) -> Variables {
    let fights = |name: &str| without_endpoint && is_endpoint(name);
    let ours = |name: &OsStr| {
        ["CCC_SUPERVISOR_PTY", "CCC_SUPERVISOR_HOOK", "CCC_STATE_DIR"]
            .iter()
            .any(|ours| name == OsStr::new(ours))
    };
    let mut env: Variables = env
        .iter()
        .filter(|(name, _)| !belongs_to_a_session(name) && !fights(&name.to_string_lossy()))
        .filter(|(name, _)| !ours(name))
        .cloned()
        .collect();
    env.push(("CCC_STATE_DIR".into(), state_dir.into()));
    if role == Role::Supervisor {
        env.push(("CCC_SUPERVISOR_HOOK".into(), "1".into()));
    }
    env
}

/// Adds settings for every git that the judge runs; they override all configuration files.
fn set_git(env: &mut Variables, settings: &[(String, String)]) {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    // A repository can replace its objects by others, and the agent can set that up.
    const NO_REPLACEMENTS: &str = "GIT_NO_REPLACE_OBJECTS";
    let given: usize = text(env, COUNT).and_then(|count| count.parse().ok()).unwrap_or(0);
    env.retain(|(name, _)| name != OsStr::new(COUNT) && name != OsStr::new(NO_REPLACEMENTS));
    env.push((NO_REPLACEMENTS.into(), "1".into()));
    for (at, (name, value)) in settings.iter().enumerate() {
        let at = given + at;
        env.push((format!("GIT_CONFIG_KEY_{at}").into(), name.into()));
        env.push((format!("GIT_CONFIG_VALUE_{at}").into(), value.into()));
    }
    env.push((COUNT.into(), (given + settings.len()).to_string().into()));
}

/// What every judge and its commands are started with, besides what it inherits: git runs no program of
/// the repository's, and pushes nowhere unless a rule allows it.
pub fn confine(env: &mut Variables, git: Option<&Path>, project: &Path, allowed_tools: &[String]) {
    if let Some(git) = git {
        set_git(env, &overruled(git, project));
    }
    if !permission::allows_pushing(allowed_tools) {
        set_git(env, &nowhere_to_push(git, project));
    }
    keep_off_schedule(env, project);
    global::login_as_header(env);
}

/// Keeps a client from running scheduled tasks that became due while no client ran, because the
/// agent can write the list of tasks. This is set only if there is such a list: the switch also
/// removes tools, and some releases then lose the prompt cache.
fn keep_off_schedule(env: &mut Variables, project: &Path) {
    const SWITCH: &str = "CLAUDE_CODE_DISABLE_CRON";
    if project.join(".claude/scheduled_tasks.json").symlink_metadata().is_ok() {
        env.retain(|(name, _)| name != OsStr::new(SWITCH));
        env.push((SWITCH.into(), "1".into()));
    }
}

/// Removes the variables to which only other providers refer: they hold keys that this client must
/// not get.
pub fn drop_keys_of_others(env: &mut Variables, config: &Config, kept: &[&str]) {
    let mut needed = BTreeSet::new();
    referred(&config.settings(None), &mut needed);
    let mut of_others = BTreeSet::new();
    for name in config.provider_names() {
        let set = if kept.contains(&name) { &mut needed } else { &mut of_others };
        referred(&config.settings(Some(name)), set);
    }
    env.retain(|(name, _)| {
        name.to_str().is_none_or(|name| needed.contains(name) || !of_others.contains(name))
    });
}

fn referred(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => names.extend(variables(text)),
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        Value::Object(fields) => fields.values().for_each(|field| referred(field, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_for_git_are_added_to_those_that_were_given() {
        let given = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "a.b")];
        let mut env = given.map(|(name, value)| (name.into(), value.into())).to_vec();
        set_git(&mut env, &[("core.fsmonitor".into(), "false".into())]);
        let value = |name: &str| text(&env, name);
        assert_eq!(value("GIT_CONFIG_COUNT").as_deref(), Some("2"));
        assert_eq!(value("GIT_CONFIG_KEY_0").as_deref(), Some("a.b"));
        assert_eq!(value("GIT_CONFIG_KEY_1").as_deref(), Some("core.fsmonitor"));
        assert_eq!(value("GIT_CONFIG_VALUE_1").as_deref(), Some("false"));
        assert_eq!(value("GIT_NO_REPLACE_OBJECTS").as_deref(), Some("1"));
    }

    #[test]
    fn the_keys_of_other_providers_are_dropped() {
        let config = Config::parse(
            r#"{"settings": {"env": {"SHARED": "${SHARED_KEY}"}},
                "providers": {"a": {"env": {"ANTHROPIC_AUTH_TOKEN": "${A_KEY}"}},
                              "b": {"env": {"ANTHROPIC_AUTH_TOKEN": "${B_KEY}", "X": "${A_KEY}"}},
                              "c": {"headers": ["x-${C_KEY}"]}}}"#,
        )
        .unwrap();
        for (kept, expected) in [
            (&["a"][..], "A_KEY PATH SHARED_KEY"),
            (&["b"], "A_KEY B_KEY PATH SHARED_KEY"),
            (&["a", "c"], "A_KEY C_KEY PATH SHARED_KEY"),
            (&[], "PATH SHARED_KEY"),
        ] {
            let names = ["A_KEY", "B_KEY", "C_KEY", "PATH", "SHARED_KEY"];
            let mut env = names.map(|name| (name.into(), "x".into())).to_vec();
            drop_keys_of_others(&mut env, &config, kept);
            let left: Vec<_> = env.iter().map(|(name, _)| name.to_string_lossy()).collect();
            assert_eq!(left.join(" "), expected, "{kept:?}");
        }
    }
}
