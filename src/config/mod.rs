//! `ccc.json`: shared client settings, providers, and how to supervise. Read tolerantly: what this
//! version does not know is kept and ignored. No file at all is fine.

mod edit;
pub mod profile;
pub mod secret;
mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

pub use edit::edit;
pub use settings::{expand, merge, variables};

pub const FILE: &str = "ccc.json";

const KNOWN: [&str; 5] = ["settings", "claude_args", "current_provider", "providers", "supervisor"];
const KNOWN_OF_SUPERVISOR: [&str; 8] = [
    "provider",
    "max_iterations",
    "timeout_seconds",
    "background_wait_seconds",
    "model",
    "allowed_tools",
    "notify",
    "plain",
];

#[derive(Debug, Clone, Default)]
pub struct Config {
    root: Map<String, Value>,
}

/// The `supervisor` section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Supervisor {
    /// Another provider than the agent's, for a second opinion.
    pub provider: Option<String>,
    pub max_iterations: Option<u32>,
    pub timeout_seconds: Option<f64>,
    pub background_wait_seconds: Option<f64>,
    pub model: Option<String>,
    pub allowed_tools: Vec<String>,
    /// How a person is told that the session waits for them: auto, bell, desktop, off.
    pub notify: Option<String>,
    /// Lines instead of a screen that is drawn: as `--plain`.
    pub plain: bool,
}

impl Supervisor {
    pub fn timeout(&self) -> Result<Option<Duration>> {
        seconds("supervisor.timeout_seconds", self.timeout_seconds)
    }

    pub fn background_wait(&self) -> Result<Option<Duration>> {
        seconds("supervisor.background_wait_seconds", self.background_wait_seconds)
    }
}

fn seconds(name: &str, value: Option<f64>) -> Result<Option<Duration>> {
    value
        .map(|value| match Duration::try_from_secs_f64(value) {
            Ok(duration) if !duration.is_zero() => Ok(duration),
            _ => bail!("{name} must be a number of seconds above 0, not {value}"),
        })
        .transpose()
}

impl Config {
    pub fn load(config_dir: &Path) -> Result<Self> {
        Ok(Self { root: Self::read(&config_dir.join(FILE))? })
    }

    fn read(path: &Path) -> Result<Map<String, Value>> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .map(|config| config.root)
                .with_context(|| format!("{} is broken", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Map::new()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// The error of the JSON parser names line and column.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self { root: serde_json::from_str(text)? })
    }

    pub fn supervisor(&self) -> Result<Supervisor> {
        match self.root.get("supervisor") {
            None | Some(Value::Null) => Ok(Supervisor::default()),
            Some(Value::Object(fields)) => {
                // One by one first: the error of the whole would not say which.
                for (name, value) in fields {
                    let field = Map::from_iter([(name.clone(), value.clone())]);
                    serde_json::from_value::<Supervisor>(field.into())
                        .with_context(|| format!("supervisor.{name} in ccc.json"))?;
                }
                Ok(serde_json::from_value(fields.clone().into())?)
            }
            Some(_) => bail!("supervisor in ccc.json must be an object"),
        }
    }

    /// Names in the file that mean nothing to this version: misspelt, or of a later one.
    pub fn unknown(&self) -> Vec<String> {
        let top = self.root.keys().filter(|name| !KNOWN.contains(&name.as_str())).cloned();
        let section = self.root.get("supervisor").and_then(Value::as_object);
        let section = section.into_iter().flat_map(Map::keys);
        let section = section.filter(|name| !KNOWN_OF_SUPERVISOR.contains(&name.as_str()));
        top.chain(section.map(|name| format!("supervisor.{name}"))).collect()
    }

    pub fn claude_args(&self) -> Vec<String> {
        let args = self.root.get("claude_args").and_then(Value::as_array);
        args.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn providers(&self) -> Option<&Map<String, Value>> {
        self.root.get("providers").and_then(Value::as_object)
    }

    pub fn has_provider(&self, name: &str) -> bool {
        self.providers().is_some_and(|providers| providers.contains_key(name))
    }

    pub fn provider(&self, name: &str) -> Option<&Value> {
        self.providers()?.get(name)
    }

    /// In the order of the file.
    pub fn provider_names(&self) -> impl Iterator<Item = &str> {
        self.providers().into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// The current provider, else the first in the file, else none: the client's own login.
    pub fn default_provider(&self) -> Option<String> {
        let providers = self.providers()?;
        let current = self.root.get("current_provider").and_then(Value::as_str);
        let current = current.filter(|name| providers.contains_key(*name));
        current.or_else(|| providers.keys().next().map(String::as_str)).map(str::to_owned)
    }

    /// The shared settings with the provider's on top.
    pub fn settings(&self, provider: Option<&str>) -> Value {
        let mut settings = Value::Object(Map::new());
        if let Some(shared) = self.root.get("settings") {
            merge(&mut settings, shared);
        }
        let own = provider.and_then(|name| self.provider(name));
        if let Some(own) = own {
            merge(&mut settings, own);
        }
        settings
    }
}

/// Where a provider's generated settings live. A provider's name may hold anything; a file name may not.
pub fn settings_path(config_dir: &Path, provider: Option<&str>, role: &str) -> PathBuf {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = provider.unwrap_or("default").chars().map(safe).collect();
    config_dir.join(format!("settings-{name}{role}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config() -> Config {
        Config::parse(
            r#"{"settings": {"env": {"A": "shared", "B": "shared"}, "x": [1]},
                "claude_args": ["--verbose"],
                "providers": {"kimi": {"env": {"A": "kimi"}}, "glm": {"x": [2]}},
                "supervisor": {"max_iterations": 3, "timeout_seconds": 1.5, "unknown": {}}}"#,
        )
        .unwrap()
    }

    #[test]
    fn the_provider_is_laid_over_the_shared_settings() {
        let settings = config().settings(Some("kimi"));
        assert_eq!(settings, json!({"env": {"A": "kimi", "B": "shared"}, "x": [1]}));
        assert_eq!(config().settings(Some("glm"))["x"], json!([2]));
        assert_eq!(Config::default().settings(None), json!({}));
    }

    #[test]
    fn the_current_provider_else_the_first() {
        assert_eq!(config().default_provider().as_deref(), Some("kimi"));
        let current =
            Config::parse(r#"{"current_provider":"b","providers":{"a":{},"b":{}}}"#).unwrap();
        assert_eq!(current.default_provider().as_deref(), Some("b"));
        let gone =
            Config::parse(r#"{"current_provider":"z","providers":{"a":{},"b":{}}}"#).unwrap();
        assert_eq!(gone.default_provider().as_deref(), Some("a"));
        assert_eq!(Config::default().default_provider(), None);
    }

    #[test]
    fn numbers_are_checked() {
        let supervisor = config().supervisor().unwrap();
        assert_eq!(supervisor.timeout().unwrap(), Some(Duration::from_millis(1500)));
        for bad in ["-1", "0", "1e300"] {
            let config =
                Config::parse(&format!(r#"{{"supervisor":{{"timeout_seconds":{bad}}}}}"#)).unwrap();
            assert!(config.supervisor().unwrap().timeout().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_field_that_is_wrong_or_unknown_is_named() {
        for (text, expected) in [
            (
                r#"{"supervisor":{"plain":true,"max_iterations":"ten"}}"#,
                "supervisor.max_iterations",
            ),
            (r#"{"supervisor":{"allowed_tools":"Bash"}}"#, "supervisor.allowed_tools"),
            (r#"{"supervisor":[]}"#, "must be an object"),
        ] {
            let error = Config::parse(text).unwrap().supervisor().unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
        assert_eq!(config().unknown(), ["supervisor.unknown"]);
        let odd = Config::parse(r#"{"supervisr":{},"supervisor":{"max_iteration":3}}"#).unwrap();
        assert_eq!(odd.unknown(), ["supervisr", "supervisor.max_iteration"]);
        // Every field that is known is known here.
        let all = format!("{:?}", Supervisor::default());
        assert!(KNOWN_OF_SUPERVISOR.iter().all(|name| all.contains(&format!("{name}: "))), "{all}");
        assert_eq!(all.matches(": ").count(), KNOWN_OF_SUPERVISOR.len());
        assert_eq!(Config::default().unknown(), [""; 0]);
    }

    #[test]
    fn a_broken_file_is_reported_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "{\n  \"a\": ,\n}").unwrap();
        let error = format!("{:#}", Config::load(dir.path()).unwrap_err());
        assert!(error.contains("ccc.json") && error.contains("line 2 column"), "{error}");
        assert!(Config::load(&dir.path().join("nowhere")).is_ok());
    }

    #[test]
    fn a_providers_name_cannot_leave_the_config_dir() {
        let path = settings_path(Path::new("/c"), Some("../../etc/x"), "-supervisor");
        assert_eq!(path, Path::new("/c/settings-.._.._etc_x-supervisor.json"));
    }
}
