//! Everything about a provider that a client process needs: generated settings and a clean
//! environment. The user's own `settings.json` is never touched.

use std::env;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::place::Place;
use crate::config::{self, Config};
use crate::files;
use crate::launch::belongs_to_a_session;
use crate::machine::Rules;

/// Above the review's own deadline: a hook that takes longer is dropped, and the agent stops unjudged.
const HOOK_MARGIN: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Agent,
    Supervisor,
}

pub struct Client {
    pub settings: PathBuf,
    pub env: Vec<(OsString, OsString)>,
}

/// The agent's client and the supervisor's, which may use another provider.
pub struct Clients {
    pub agent: Client,
    pub supervisor: Client,
}

/// How far the hook goes; the client has to be told, because it has limits of its own.
pub struct Limits {
    pub max_iterations: u32,
    pub review_timeout: Duration,
}

/// The `--settings` that the user gave: a file, or JSON text.
pub fn user_settings(given: Option<&str>) -> Result<Option<Value>> {
    let Some(given) = given else { return Ok(None) };
    let text = if given.trim_start().starts_with('{') {
        given.to_owned()
    } else {
        std::fs::read_to_string(given)
            .with_context(|| format!("cannot read the settings {given}"))?
    };
    let value: Value =
        serde_json::from_str(&text).with_context(|| format!("the settings {given} are broken"))?;
    Ok(Some(value))
}

impl Limits {
    pub fn of(config: &Config, max_iterations: Option<u32>) -> Result<Self> {
        let (supervisor, defaults) = (config.supervisor()?, Rules::default());
        let max_iterations =
            max_iterations.or(supervisor.max_iterations).unwrap_or(defaults.max_iterations);
        let review_timeout = supervisor.timeout()?.unwrap_or(defaults.review_timeout);
        Ok(Self { max_iterations, review_timeout })
    }
}

impl Clients {
    /// `user` is what the user gave with `--settings`: it comes last.
    pub fn prepare(
        place: &Place,
        config: &Config,
        provider: Option<&str>,
        user: Option<&Value>,
        limits: &Limits,
    ) -> Result<Self> {
        let second = config.supervisor()?.provider;
        if let Some(name) = second.as_deref().filter(|name| !config.has_provider(name)) {
            bail!("supervisor.provider in ccc.json names {name:?}, and there is no such provider");
        }
        // A second opinion comes from its own endpoint, whatever the user set for the agent's.
        let shared = user.filter(|_| second.is_none());
        let judge = second.as_deref().or(provider);
        let settings = without_hooks(resolved(place, config, judge, shared)?);
        let supervisor = generate(place, judge, Role::Supervisor, shared, &settings)?;

        let mut settings = resolved(place, config, provider, user)?;
        add_hook(&mut settings, &supervisor.settings, limits)?;
        let agent = generate(place, provider, Role::Agent, user, &settings)?;
        Ok(Self { agent, supervisor })
    }
}

fn resolved(
    place: &Place,
    config: &Config,
    provider: Option<&str>,
    user: Option<&Value>,
) -> Result<Value> {
    let mut settings = config.settings(provider);
    config::expand(&mut settings, &|name| env::var(name).ok())?;
    if let Some(user) = user {
        config::merge(&mut settings, user);
    }
    blank_other_endpoint(place, &mut settings);
    Ok(settings)
}

/// Settings are laid over the user's own variable by variable. What theirs says of another endpoint
/// would mix with the provider's: a key of theirs would be sent there. Empty means not set.
fn blank_other_endpoint(place: &Place, settings: &mut Value) {
    let theirs = users_settings(place);
    let theirs = theirs.get("env").and_then(Value::as_object);
    if let Some(own) =
        settings.get_mut("env").and_then(Value::as_object_mut).filter(|env| has_endpoint(env))
    {
        for name in theirs.into_iter().flat_map(Map::keys).filter(|name| is_endpoint(name)) {
            own.entry(name.clone()).or_insert_with(|| json!(""));
        }
    }
}

/// The user's own `settings.json`, which is only ever read.
pub fn users_settings(place: &Place) -> Value {
    let text = std::fs::read_to_string(place.config_dir.join("settings.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn is_endpoint(name: &str) -> bool {
    name.starts_with("ANTHROPIC_")
}

fn has_endpoint(env: &Map<String, Value>) -> bool {
    env.keys().any(|name| is_endpoint(name))
}

/// Nothing may judge the judge.
fn without_hooks(mut settings: Value) -> Value {
    if let Some(fields) = settings.as_object_mut() {
        fields.remove("hooks");
        fields.insert("disableAllHooks".to_owned(), json!(true));
    }
    settings
}

/// The Stop hook, beside the user's own.
fn add_hook(settings: &mut Value, supervisor: &Path, limits: &Limits) -> Result<()> {
    let ccc = env::current_exe().context("ccc cannot find its own executable")?;
    let command = format!(
        "{} supervisor-hook --settings {} --state-dir .claude/ccc",
        quoted(&ccc),
        quoted(supervisor)
    );
    let timeout = (limits.review_timeout + HOOK_MARGIN).as_secs();
    let hook = json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]});
    let stops = object(object(settings)?.entry("hooks").or_insert_with(|| json!({})))?
        .entry("Stop")
        .or_insert_with(|| json!([]));
    stops.as_array_mut().context("hooks.Stop in ccc.json is no list")?.push(hook);
    // The client overrides a hook that blocks too often in a row, at 8 if it is not told otherwise.
    let cap = limits.max_iterations.saturating_add(1).to_string();
    object(object(settings)?.entry("env").or_insert_with(|| json!({})))?
        .insert("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP".to_owned(), json!(cap));
    Ok(())
}

fn object(value: &mut Value) -> Result<&mut Map<String, Value>> {
    value.as_object_mut().context("hooks, env and settings in ccc.json are objects")
}

/// For the shell that runs hooks.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn generate(
    place: &Place,
    provider: Option<&str>,
    role: Role,
    user: Option<&Value>,
    settings: &Value,
) -> Result<Client> {
    let role_name = if role == Role::Supervisor { "-supervisor" } else { "" };
    // Settings that are one session's own must not become those of the provider's next one.
    let own = user.map(|user| format!("-{:016x}", fingerprint(user))).unwrap_or_default();
    let path = config::settings_path(&place.config_dir, provider, &format!("{own}{role_name}"));
    let text = serde_json::to_string_pretty(settings)?;
    // Unchanged settings need no write, and no other session sees a change.
    if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
        files::replace(&path, text.as_bytes())?;
    }
    Ok(Client { settings: path, env: environment(settings, role, &place.state_dir) })
}

/// The same settings have the same file, so that files do not pile up.
fn fingerprint(settings: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    settings.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The environment for a client that runs with these settings.
pub fn environment(settings: &Value, role: Role, state_dir: &Path) -> Vec<(OsString, OsString)> {
    let own = settings.get("env").and_then(Value::as_object);
    // Settings beat the environment variable by variable; an inherited key of another name would
    // still be sent to the provider's endpoint.
    inherited(own.is_some_and(has_endpoint), role, state_dir)
}

/// What a client inherits of ours, with or without the endpoint that is set there.
pub fn inherited(
    without_endpoint: bool,
    role: Role,
    state_dir: &Path,
) -> Vec<(OsString, OsString)> {
    let fights = |name: &str| without_endpoint && is_endpoint(name);
    let mut env: Vec<_> = env::vars_os()
        .filter(|(name, _)| !belongs_to_a_session(name) && !fights(&name.to_string_lossy()))
        .filter(|(name, _)| name != "CCC_SUPERVISOR_PTY" && name != "CCC_SUPERVISOR_HOOK")
        .collect();
    env.push(("CCC_STATE_DIR".into(), state_dir.into()));
    if role == Role::Supervisor {
        env.push(("CCC_SUPERVISOR_HOOK".into(), "1".into()));
    }
    env
}
