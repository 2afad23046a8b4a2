//! The generated settings: a private file for each provider and role, always replaced as a whole
//! and without keys. Also the settings files of others, over which the client lays the generated
//! ones.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::{Role, is_endpoint};
use crate::directories::Directories;
use crate::files;

/// A settings file that ccc does not write, but that the client reads as well.
pub struct OtherSettings {
    pub path: PathBuf,
    pub settings: Value,
}

impl OtherSettings {
    fn read(path: PathBuf) -> Option<Self> {
        let settings = serde_json::from_str(&files::read_text(&path).ok()?).ok()?;
        Some(Self { path, settings })
    }

    fn env(&self) -> Option<&Map<String, Value>> {
        self.settings.get("env")?.as_object()
    }

    pub fn sets(&self, variable: &str) -> bool {
        self.env().is_some_and(|env| env.contains_key(variable))
    }
}

/// The user's own file, and for the agent the project's two. (The supervisor's client reads none of
/// these files; the user's settings are merged into its own.)
pub fn other_settings(directories: &Directories, role: Role) -> Vec<OtherSettings> {
    let project = directories.project.join(".claude");
    let mut paths = vec![directories.users_settings()];
    if role == Role::Agent {
        paths.extend(["settings.json", "settings.local.json"].map(|name| project.join(name)));
    }
    paths.into_iter().filter_map(OtherSettings::read).collect()
}

pub fn users_settings(directories: &Directories) -> Value {
    let read = OtherSettings::read(directories.users_settings());
    read.map(|other| other.settings).unwrap_or_default()
}

/// The status line that the client would show: that of these settings, or else of the project's or
/// the user's.
pub fn status_line(directories: &Directories, settings: &Value) -> Option<Value> {
    let others = other_settings(directories, Role::Agent);
    let others = others.iter().rev().map(|other| &other.settings);
    std::iter::once(settings).chain(others).find_map(|settings| settings.get("statusLine")).cloned()
}

/// Blanks the variables of another endpoint that other settings files set. The client merges
/// settings one variable at a time, so a key from another file would otherwise be sent to the
/// provider's endpoint. An empty value means not set.
pub fn blank_other_endpoint(others: &[OtherSettings], settings: &mut Value) {
    let Some(own) = settings.get_mut("env").and_then(Value::as_object_mut) else { return };
    for name in others.iter().filter_map(OtherSettings::env).flat_map(Map::keys) {
        if is_endpoint(name) {
            own.entry(name.clone()).or_insert_with(|| json!(""));
        }
    }
}

/// Writes the file of a provider and role. Settings of a single session (`user`) get a file of
/// their own, so that they do not apply to the provider's next session.
pub fn write(
    config_dir: &Path,
    provider: Option<&str>,
    role: Role,
    user: Option<&Value>,
    settings: &Value,
) -> Result<PathBuf> {
    let own = user.map(|_| format!("+{}", fingerprint(settings))).unwrap_or_default();
    let role_name = if role == Role::Supervisor { SUPERVISOR } else { "" };
    let path = settings_path(config_dir, provider, &format!("{own}{role_name}"));
    let text = serde_json::to_string_pretty(settings)?;
    // Unchanged settings are not written again, so that no other session notices a change.
    if files::read_text(&path).ok().as_deref() != Some(&text) || !files::is_private(&path) {
        files::replace(&path, text.as_bytes())?;
    }
    Ok(path)
}

const SUPERVISOR: &str = "-supervisor";

/// A name for the settings: equal settings share a file, so that files do not pile up.
fn fingerprint(settings: &Value) -> String {
    files::hex_digest(settings.to_string().as_bytes())[..16].to_owned()
}

/// The path of a provider's generated settings. A provider's name may contain characters that a
/// file name may not; these are written as `%` and their number, so that two names never share a
/// file.
pub fn settings_path(config_dir: &Path, provider: Option<&str>, role: &str) -> PathBuf {
    config_dir.join(format!("{}{role}.json", stem(provider)))
}

fn stem(provider: Option<&str>) -> String {
    let Some(name) = provider else { return "settings-default".to_owned() };
    let mut stem = "settings-".to_owned();
    // The client's own login and the judges use these names, so a provider's last letter is escaped.
    let marked = name == "default" || name.ends_with(SUPERVISOR);
    for (at, c) in name.char_indices() {
        let last = at + c.len_utf8() == name.len();
        if (c.is_alphanumeric() || "-_.".contains(c)) && !(marked && last) {
            stem.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(stem, "%{byte:02X}");
            }
        }
    }
    stem
}

/// Removes everything that was generated for a provider that was removed or renamed.
pub fn forget(config_dir: &Path, provider: &str) {
    let stem = stem(Some(provider));
    remove_matching(config_dir, |name| {
        let rest = name.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(".json"));
        rest.is_some_and(|rest| rest.is_empty() || rest == SUPERVISOR || rest.starts_with('+'))
    });
}

fn remove_matching(dir: &Path, matches: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&matches)
            && let Err(error) = fs::remove_file(entry.path())
        {
            log::warn!("{} was not removed: {error}", entry.path().display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_providers_share_a_file() {
        let name = |provider| {
            let path = settings_path(Path::new("/c"), provider, "");
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let providers = ["a/b", "a_b", "a b", "default", "kimi", "x", "x-supervisor", "a%2Fb", "ü"];
        let mut names: Vec<_> = providers.map(|provider| name(Some(provider))).to_vec();
        names.push(name(None));
        names.push("settings-x-supervisor.json".to_owned());
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
        assert_eq!(name(Some("../../etc/x")), "settings-..%2F..%2Fetc%2Fx.json");
        assert_eq!(name(Some("GLM-4.6")), "settings-GLM-4.6.json");
    }

    #[test]
    fn everything_of_a_provider_is_forgotten_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(dir.path().join(name), "{}").unwrap();
        let gone = [
            "settings-kimi.json",
            "settings-kimi-supervisor.json",
            "settings-kimi+0011223344556677.json",
            "settings-kimi+0011223344556677-supervisor.json",
        ];
        let stay = ["settings.json", "settings-kimi2.json", "settings-kimi-2.json", "ccc.json"];
        gone.iter().chain(&stay).for_each(|name| put(name));
        forget(dir.path(), "kimi");
        for name in gone {
            assert!(!dir.path().join(name).exists(), "{name}");
        }
        for name in stay {
            assert!(dir.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_file_does_not_depend_on_the_compiler() {
        assert_eq!(fingerprint(&json!({"a": 1})), "015abd7f5cc57a2d");
    }
}
