//! What ccc derives from `ccc.json` for the clients that it starts: generated settings, and an
//! environment with the keys of their own provider and of no other. The user's own `settings.json`
//! is never touched, and no generated file contains a key.

pub mod background;
mod environment;
mod generated;
mod global;
mod guard;
mod judge;
mod key;
mod launch;
mod permission_mode;
mod reachable;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

pub use environment::{confine, inherited, of_this_process};
pub use generated::{forget, settings_path};
pub use guard::why_hooks_are_off;
pub use judge::JudgeSettings;
pub use launch::Launch;
pub use permission_mode::modes;

use super::{Config, Judge, Supervisor, expand, merge, profile};
use crate::directories::{Directories, STATE_DIR};
use crate::executables;
use crate::files;
use crate::machine::Rules;
use crate::native::settings::{Reports, SECRET};

/// Added to the review's own deadline: the client drops a hook that takes longer, and the agent
/// would stop without a review.
const HOOK_MARGIN: Duration = Duration::from_secs(60);

pub type Variables = Vec<(OsString, OsString)>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Agent,
    Supervisor,
}

/// Who judges: ccc around the client, or the Stop hook inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JudgedBy {
    Session,
    Hook,
}

pub struct Surroundings {
    pub settings: PathBuf,
    pub content: Value,
    pub env: Variables,
}

/// The clients of the agent and of the judges, which may use other providers. There is at least one
/// judge.
pub struct Clients {
    pub agent: Surroundings,
    pub judges: Vec<Surroundings>,
}

/// The limits of the hook. The client must be told, because it has limits of its own.
pub struct Limits {
    pub max_iterations: u32,
    pub review_timeout: Duration,
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

/// The `--settings` that the user gave: a file, or JSON text. The text may contain keys, so an
/// error never quotes it.
pub fn user_settings(given: Option<&str>) -> Result<Option<Value>> {
    let Some(given) = given else { return Ok(None) };
    if given.trim_start().starts_with('{') {
        let parsed = serde_json::from_str(given);
        return parsed.map(Some).context("the text given with --settings is not JSON");
    }
    let text = files::read_text(Path::new(given))
        .with_context(|| format!("cannot read the settings {given}"))?;
    let parsed = serde_json::from_str(&text);
    parsed.map(Some).with_context(|| format!("the settings {given} are broken"))
}

impl Clients {
    /// `user` is what the user gave with `--settings`; it overrides everything else.
    pub fn prepare(
        directories: &Directories,
        config: &Config,
        provider: Option<&str>,
        user: Option<&Value>,
        limits: &Limits,
        judged_by: JudgedBy,
    ) -> Result<Self> {
        let own = of_this_process();
        let judges = judges(directories, config, provider, user, &own)?;

        let mut settings = resolved(config, provider, user, &own)?;
        add_hook(&mut settings, judges.iter().map(|judge| &*judge.settings), limits)?;
        guard::keep_hooks(directories, &mut settings, &own)?;
        // The hook is a child of the agent's client, and gets its keys from there.
        let all = config.supervisor()?.all_judges();
        let also_for = all.iter().filter_map(|judge| judge.provider.as_deref());
        let also_for = also_for.filter(|_| judged_by == JudgedBy::Hook).collect();
        let agent = Surroundings::prepare(
            directories,
            Whose { config, provider, role: Role::Agent, also_for },
            user,
            settings,
            &own,
        )?;
        Ok(Self { agent, judges })
    }
}

fn judges(
    directories: &Directories,
    config: &Config,
    provider: Option<&str>,
    user: Option<&Value>,
    own: &Variables,
) -> Result<Vec<Surroundings>> {
    let supervisor = config.supervisor()?;
    check_providers(config, &supervisor)?;
    let all = supervisor.all_judges().into_iter().map(|judge| {
        let second = judge.provider.as_deref();
        // A judge with a provider of its own uses that provider's endpoint, whatever the user set
        // for the agent.
        let shared = user.filter(|_| second.is_none());
        let judge = second.or(provider);
        let settings = resolved(config, judge, shared, own)?;
        let whose = Whose { config, provider: judge, role: Role::Supervisor, also_for: Vec::new() };
        Surroundings::prepare(directories, whose, shared, settings, own)
    });
    all.collect()
}

/// The judges for an agent that is not a client started by ccc.
pub fn judges_alone(
    directories: &Directories,
    config: &Config,
    provider: Option<&str>,
) -> Result<Vec<Surroundings>> {
    judges(directories, config, provider, None, &of_this_process())
}

/// What a client with its own screen is given: its settings as text, and its environment.
pub struct Reporting {
    pub settings: String,
    pub env: Variables,
    pub judges: Vec<Surroundings>,
}

impl Reporting {
    /// Like `Clients::prepare`, for a client whose hooks report to ccc. None of it is in a file
    /// that the agent could write.
    pub fn prepare(
        directories: &Directories,
        config: &Config,
        provider: Option<&str>,
        user: Option<&Value>,
        limits: &Limits,
        reports: &Reports<'_>,
    ) -> Result<Self> {
        let own = of_this_process();
        let judges = judges(directories, config, provider, user, &own)?;
        let mut settings = resolved(config, provider, user, &own)?;
        let users = generated::status_line(directories, &settings);
        let fields = object(&mut settings)?;
        let hooks = section(fields, "hooks")?;
        for (event, ours) in reports.hooks() {
            let list = hooks.entry(event).or_insert_with(|| json!([]));
            let list =
                list.as_array_mut().context("each entry of hooks in ccc.json must be a list")?;
            list.extend(ours.as_array().cloned().unwrap_or_default());
        }
        fields.insert("statusLine".to_owned(), reports.status_line(users.as_ref()));
        raise_cap(&mut settings, limits)?;
        guard::keep_hooks(directories, &mut settings, &own)?;
        let others = generated::other_settings(directories, Role::Agent);
        reachable::keep_open(&mut settings, &others, &own, reports.to, SECRET)?;
        let without_endpoint = has_endpoint(&settings);
        let keys = lay_over_others(directories, Role::Agent, &mut settings)?;
        let mut env = inherited(&own, without_endpoint, Role::Agent, &directories.state_dir);
        environment::drop_keys_of_others(&mut env, config, provider.as_slice());
        env.extend(keys.into_iter().map(|(name, value)| (name.into(), value.into())));
        let variables = section(object(&mut settings)?, "env")?;
        background::keep_endpoint(variables, &others, &env);
        Ok(Self { settings: settings.to_string(), env, judges })
    }
}

pub fn check_providers(config: &Config, supervisor: &Supervisor) -> Result<()> {
    for judge in supervisor.all_judges() {
        if let Some(name) = judge.provider.filter(|name| !config.has_provider(name)) {
            let key = if supervisor.judges.is_empty() { "provider" } else { "judges" };
            bail!("supervisor.{key} in ccc.json names {name:?}, but ccc.json has no such provider");
        }
    }
    Ok(())
}

/// The environment for a review inside the Stop hook. `env` is what the client was started with;
/// ccc has put the keys of the agent's provider there. If the files have `changed` since then, only
/// keys are taken from them: these cannot redirect anything, because the endpoint is in the judge's
/// settings.
pub fn judges_environment(
    directories: &Directories,
    config: &Config,
    judge: &Judge,
    provider: Option<&str>,
    env: &Variables,
    changed: bool,
) -> Result<Variables> {
    let second = judge.provider.as_deref();
    let judge = second.or(provider);
    let mut settings = resolved(config, judge, None, env)?;
    // The agent's key must not reach another provider, and neither must the key of a client that
    // ccc did not start.
    let foreign = second.is_some()
        || has_endpoint(&settings) && environment::text(env, "CCC_STATE_DIR").is_none();
    let keys = lay_over_others(directories, Role::Supervisor, &mut settings)?;
    let mut env = inherited(env, foreign, Role::Supervisor, &directories.state_dir);
    environment::drop_keys_of_others(&mut env, config, judge.as_slice());
    let is_key = |name: &str| [profile::AUTH_TOKEN, profile::API_KEY].contains(&name);
    for (name, value) in keys.into_iter().filter(|(name, _)| !changed || is_key(name)) {
        if environment::text(&env, &name).is_none() {
            env.push((name.into(), value.into()));
        }
    }
    Ok(env)
}

/// Completes settings with regard to the files that ccc does not write, and takes the keys out of
/// them.
fn lay_over_others(
    directories: &Directories,
    role: Role,
    settings: &mut Value,
) -> Result<Vec<(String, String)>> {
    let others = generated::other_settings(directories, role);
    if has_endpoint(settings) {
        generated::blank_other_endpoint(&others, settings);
    }
    let known = key::known(&of_this_process());
    if role == Role::Agent {
        return key::take_out(settings, &others, &known);
    }
    let mut users = json!({});
    let global = global::variables()?;
    if !global.is_empty() {
        object(&mut users)?.insert("env".to_owned(), global.into());
    }
    let own = generated::users_settings(directories);
    if own.is_object() {
        merge(&mut users, &own);
    }
    *settings = judge::settings(users, settings)?;
    key::take_out(settings, &[], &known)
}

struct Whose<'a> {
    config: &'a Config,
    provider: Option<&'a str>,
    role: Role,
    /// Other providers whose variables this client has to pass on.
    also_for: Vec<&'a str>,
}

impl Surroundings {
    fn prepare(
        directories: &Directories,
        whose: Whose<'_>,
        user: Option<&Value>,
        mut settings: Value,
        own: &Variables,
    ) -> Result<Self> {
        let without_endpoint = has_endpoint(&settings);
        let keys = lay_over_others(directories, whose.role, &mut settings)?;
        let settings_file =
            generated::write(&directories.config_dir, whose.provider, whose.role, user, &settings)?;
        let mut env = inherited(own, without_endpoint, whose.role, &directories.state_dir);
        let kept: Vec<_> = whose.provider.into_iter().chain(whose.also_for).collect();
        environment::drop_keys_of_others(&mut env, whose.config, &kept);
        env.extend(keys.into_iter().map(|(name, value)| (name.into(), value.into())));
        Ok(Self { settings: settings_file, content: settings, env })
    }
}

fn resolved(
    config: &Config,
    provider: Option<&str>,
    user: Option<&Value>,
    own: &Variables,
) -> Result<Value> {
    let mut settings = config.settings(provider);
    expand(&mut settings, &|name| environment::text(own, name))?;
    if let Some(user) = user {
        merge(&mut settings, user);
    }
    Ok(settings)
}

fn is_endpoint(name: &str) -> bool {
    name.starts_with("ANTHROPIC_")
}

fn has_endpoint(settings: &Value) -> bool {
    let env = settings.get("env").and_then(Value::as_object);
    env.is_some_and(|env| env.keys().any(|name| is_endpoint(name)))
}

fn add_hook<'a>(
    settings: &mut Value,
    judges: impl Iterator<Item = &'a Path>,
    limits: &Limits,
) -> Result<()> {
    let judges: Vec<_> = judges.map(|path| format!("--settings {}", quoted(path))).collect();
    let command = format!(
        "{} supervisor-hook {} --state-dir {STATE_DIR}",
        quoted(&executables::ccc()?),
        judges.join(" ")
    );
    let timeout = (limits.review_timeout + HOOK_MARGIN).as_secs();
    let hook = json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]});
    let stops = section(object(settings)?, "hooks")?.entry("Stop").or_insert_with(|| json!([]));
    stops.as_array_mut().context("hooks.Stop in ccc.json must be a list")?.push(hook);
    raise_cap(settings, limits)
}

fn raise_cap(settings: &mut Value, limits: &Limits) -> Result<()> {
    // The client overrides a hook that blocks too often in a row; its default limit is 8.
    let cap = limits.max_iterations.saturating_add(1).to_string();
    section(object(settings)?, "env")?
        .insert("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP".to_owned(), json!(cap));
    Ok(())
}

fn object(value: &mut Value) -> Result<&mut Map<String, Value>> {
    value
        .as_object_mut()
        .context("hooks, env, permissions and settings in ccc.json must be objects")
}

/// The object with this name, which is created if there is none.
fn section<'a>(
    fields: &'a mut Map<String, Value>,
    name: &str,
) -> Result<&'a mut Map<String, Value>> {
    object(fields.entry(name).or_insert_with(|| json!({})))
}

/// Quotes a path for the shell that runs hooks and slash commands.
pub fn quoted(path: &Path) -> String {
    shell_words::quote(&path.display().to_string()).into_owned()
}
