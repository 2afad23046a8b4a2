//! `ccc.json`: shared client settings, providers, and how to supervise. Keys that this version does
//! not know are kept and ignored, and the file may be missing.

pub mod clients;
mod edit;
mod json;
mod judges;
pub mod managed;
pub mod profile;
mod screen;
pub mod secret;
mod settings;
mod supervisor;

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};

pub use edit::edit;
pub use judges::{Judge, MOST_JUDGES};
pub use screen::{EditorMode, Notify, Theme};
pub use settings::{expand, merge, variables};
pub use supervisor::Supervisor;

use crate::files;

pub const FILE: &str = "ccc.json";

const KNOWN: [&str; 5] = ["settings", "claude_args", "current_provider", "providers", "supervisor"];
/// The value of `current_provider` that stands for the client's own login instead of a provider.
pub const OWN_LOGIN: &str = "none";
/// How similar two names must be for one to be a misspelling of the other.
const ALIKE: f64 = 0.84;

/// The known name that an unknown one in the file was probably meant to be.
fn meant(unknown: &str) -> Option<String> {
    let inner = Supervisor::keys().into_iter().map(|name| format!("supervisor.{name}"));
    let known = KNOWN.iter().map(|name| (*name).to_owned()).chain(inner);
    // A name from the `supervisor` section may also have been put outside of it.
    let alike = |known: &str| {
        let bare = known.strip_prefix("supervisor.").unwrap_or(known);
        strsim::jaro_winkler(unknown, known).max(strsim::jaro_winkler(unknown, bare))
    };
    nearest(known, alike)
}

/// The name that is similar enough to be what was meant.
pub fn nearest(known: impl Iterator<Item = String>, alike: impl Fn(&str) -> f64) -> Option<String> {
    let known = known.map(|name| (alike(&name), name)).filter(|(alike, _)| *alike > ALIKE);
    known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[derive(Debug, Clone, Default)]
pub struct Config {
    root: Map<String, Value>,
}

/// The parts of the client's settings that ccc adds to.
fn check_settings(name: &str, settings: &Value) -> Result<()> {
    let must = |is_right: bool, name: &str| {
        if is_right { Ok(()) } else { Err(anyhow!("{name} must be an object")) }
    };
    must(settings.is_object() || name == "settings", name)?;
    ["env", "hooks", "permissions"].iter().try_for_each(|part| match settings.get(part) {
        Some(value) => must(value.is_object(), &format!("{name}.{part}")),
        None => Ok(()),
    })
}

impl Config {
    pub fn load(config_dir: &Path) -> Result<Self> {
        Ok(Self { root: Self::read(&config_dir.join(FILE))? })
    }

    fn read(path: &Path) -> Result<Map<String, Value>> {
        let Some(text) = files::if_there(files::read_text(path), path)? else {
            return Ok(Map::new());
        };
        let config = Self::parse(&text)
            .map_err(|error| anyhow!("{error}; fix the file, or move it out of the way"))
            .with_context(|| format!("{} is broken", path.display()))?;
        Ok(config.root)
    }

    /// Errors of the JSON parser name the line and column.
    pub fn parse(text: &str) -> Result<Self> {
        // Some editors put a byte order mark in front of everything.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            bail!("it is empty; it must contain at least {{}}");
        }
        match json::parse(text)? {
            Value::Object(root) => {
                let config = Self { root };
                config.check_types()?;
                Ok(config)
            }
            _ => bail!("line 1 must begin a JSON object"),
        }
    }

    /// Without this check, a value of the wrong type would be ignored silently. (`supervisor` is
    /// read later.)
    fn check_types(&self) -> Result<()> {
        let is_list =
            |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
        for (name, value) in self.root.iter().filter(|(_, value)| !value.is_null()) {
            let (is_right, expected) = match name.as_str() {
                "settings" | "providers" => (value.is_object(), "an object"),
                "claude_args" => (is_list(value), "a list of strings"),
                "current_provider" => (value.is_string(), "a string"),
                _ => continue,
            };
            if !is_right {
                bail!("{name} must be {expected}");
            }
        }
        let providers = self.providers().into_iter().flatten();
        let providers = providers.map(|(name, value)| (format!("providers.{name}"), value));
        let shared = self.root.get("settings").map(|value| ("settings".to_owned(), value));
        providers.chain(shared).try_for_each(|(name, value)| check_settings(&name, value))
    }

    pub fn supervisor(&self) -> Result<Supervisor> {
        match self.root.get("supervisor") {
            None | Some(Value::Null) => Ok(Supervisor::default()),
            Some(Value::Object(fields)) => Supervisor::read(fields),
            Some(_) => bail!("supervisor in ccc.json must be an object"),
        }
    }

    /// The `supervisor` section as it is in the file.
    pub fn supervisor_section(&self) -> Value {
        self.root.get("supervisor").cloned().unwrap_or_default()
    }

    /// The same configuration with the `supervisor` section that applied when supervision began.
    #[must_use]
    pub fn with_supervisor(mut self, section: Value) -> Self {
        self.root.insert("supervisor".to_owned(), section);
        self
    }

    /// Names in the file that this version does not know: misspelt, or from a later version.
    pub fn unknown(&self) -> Vec<String> {
        let top = self.root.keys().filter(|name| !KNOWN.contains(&name.as_str())).cloned();
        let section = self.root.get("supervisor").and_then(Value::as_object);
        let section = section.into_iter().flat_map(Map::keys);
        let known = Supervisor::keys();
        let section = section.filter(|name| !known.contains(name));
        top.chain(section.map(|name| format!("supervisor.{name}"))).collect()
    }

    /// The unknown names as a message for a person, with what was probably meant.
    pub fn unknown_told(&self) -> Option<String> {
        let unknown = self.unknown();
        let told = unknown.iter().map(|name| match meant(name) {
            Some(meant) => format!("{name} (did you mean {meant}?)"),
            None => name.clone(),
        });
        let told = told.collect::<Vec<_>>().join(", ");
        let what = if unknown.len() == 1 { "an unknown setting" } else { "unknown settings" };
        (!unknown.is_empty()).then(|| format!("{what}: {told}"))
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

    pub fn provider_names(&self) -> impl Iterator<Item = &str> {
        self.providers().into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// The current provider, or else the first in the file. `None` means the client's own login.
    pub fn default_provider(&self) -> Option<String> {
        let providers = self.providers()?;
        let current = self.root.get("current_provider").and_then(Value::as_str);
        if current == Some(OWN_LOGIN) && !providers.contains_key(OWN_LOGIN) {
            return None;
        }
        let current = current.filter(|name| providers.contains_key(*name));
        current.or_else(|| providers.keys().next().map(String::as_str)).map(str::to_owned)
    }

    /// A message if the current provider does not exist, with what is used instead.
    pub fn missing_provider(&self) -> Option<String> {
        let current = self.root.get("current_provider")?.as_str()?;
        if current == OWN_LOGIN || self.has_provider(current) {
            return None;
        }
        let used = match self.default_provider() {
            Some(first) => format!("the first provider, {first}"),
            None => "claude's own login".to_owned(),
        };
        Some(format!("current_provider {current:?} does not exist; ccc uses {used}"))
    }

    /// A warning if others can read the file and it contains keys.
    pub fn readable_keys(&self, config_dir: &Path) -> Option<String> {
        let path = config_dir.join(FILE);
        let keys =
            |name| matches!(profile::key(&self.settings(Some(name))), profile::Key::Literal(_));
        let told = self.provider_names().any(keys) && !files::is_private(&path);
        told.then(|| {
            format!("{} contains keys, and other users of this machine can read it", path.display())
        })
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
    fn a_value_of_the_wrong_type_is_named() {
        for (text, problem) in [
            (r#"{"claude_args": "--verbose"}"#, "claude_args must be a list of strings"),
            (r#"{"claude_args": [1]}"#, "claude_args must be a list of strings"),
            (r#"{"settings": []}"#, "settings must be an object"),
            (r#"{"current_provider": {}}"#, "current_provider must be a string"),
            (r#"{"providers": []}"#, "providers must be an object"),
            (r#"{"providers": {"kimi": 3}}"#, "providers.kimi must be an object"),
            (r#"{"providers": {"a": {"env": []}}}"#, "providers.a.env must be an object"),
            (r#"{"settings": {"hooks": "x"}}"#, "settings.hooks must be an object"),
            (" ", "it is empty; it must contain at least {}"),
        ] {
            assert_eq!(Config::parse(text).unwrap_err().to_string(), problem);
        }
        for text in [r#"{"claude_args": null, "providers": {}}"#, "\u{feff}{}"] {
            assert!(Config::parse(text).is_ok(), "{text}");
        }
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
        let told = gone.missing_provider().unwrap();
        assert_eq!(told, "current_provider \"z\" does not exist; ccc uses the first provider, a");
        assert_eq!(current.missing_provider(), None);
        assert_eq!(Config::default().default_provider(), None);
        let own = Config::parse(r#"{"current_provider":"none","providers":{"a":{}}}"#).unwrap();
        assert_eq!(own.default_provider(), None);
    }

    #[test]
    fn an_unknown_name_is_told_with_what_was_meant() {
        assert_eq!(config().unknown(), ["supervisor.unknown"]);
        let odd = Config::parse(r#"{"supervisr":{},"supervisor":{"max_iteration":3}}"#).unwrap();
        assert_eq!(odd.unknown(), ["supervisr", "supervisor.max_iteration"]);
        for (unknown, expected) in [
            ("supervisr", Some("supervisor")),
            ("supervisor.max_iteration", Some("supervisor.max_iterations")),
            ("max_iterations", Some("supervisor.max_iterations")),
            ("curent_provider", Some("current_provider")),
            ("zzz", None),
        ] {
            assert_eq!(meant(unknown).as_deref(), expected, "{unknown}");
        }
    }

    #[test]
    fn a_broken_file_is_reported_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "{\n  \"a\": ,\n}").unwrap();
        let error = format!("{:#}", Config::load(dir.path()).unwrap_err());
        assert!(error.contains("ccc.json") && error.contains("line 2 column"), "{error}");
        assert!(Config::load(&dir.path().join("nowhere")).is_ok());
    }
}
