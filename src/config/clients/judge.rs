//! The judge's settings. Its client reads no settings files, because the agent can write all of
//! them. The user's own settings are therefore included here, as they were when the session began.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::{Variables, global, object, section};
use crate::client::launch::MAX_ARGUMENT;
use crate::config::merge;
use crate::files;

/// The settings of one judge, as they were when supervision began. They contain no key.
#[derive(Debug, Clone)]
pub struct JudgeSettings {
    pub content: Value,
    /// The file that was generated from them. The agent can write it, so it is never read again.
    pub file: PathBuf,
}

impl JudgeSettings {
    pub fn argument(&self, env: &Variables) -> Result<OsString> {
        let text = global::settings_above(&self.content, env)?.to_string();
        let digest = files::hex_digest(text.as_bytes());
        let path = self.file.with_file_name(format!("judge-{}.json", &digest[..16]));
        as_argument(text, &path)
    }
}

/// Settings as one argument: the text itself, because a file could be changed while the client
/// runs, and older clients read it again. Only a text that is too long for an argument is put into
/// a file.
pub fn as_argument(text: String, file: &Path) -> Result<OsString> {
    if text.len() <= MAX_ARGUMENT {
        return Ok(text.into());
    }
    files::replace(file, text.as_bytes())?;
    Ok(file.into())
}

/// The parts of the user's own settings that do not apply to the judge, which has neither hooks nor
/// plugins.
const NOT_THE_JUDGES: [&str; 4] =
    ["hooks", "statusLine", "enabledPlugins", "extraKnownMarketplaces"];

pub fn settings(mut users: Value, settings: &Value) -> Result<Value> {
    if !users.is_object() {
        users = json!({});
    }
    let rules =
        |settings: &Value, kind: &str| settings.get("permissions")?.get(kind)?.as_array().cloned();
    // The client combines the rules of all files, and otherwise uses the last value.
    let both = ["allow", "ask", "deny", "additionalDirectories"].map(|kind| {
        let rules = [rules(&users, kind), rules(settings, kind)];
        (kind, rules.into_iter().flatten().flatten().collect::<Vec<_>>())
    });
    merge(&mut users, settings);
    let fields = object(&mut users)?;
    for name in NOT_THE_JUDGES {
        fields.remove(name);
    }
    // No hook may interfere with the judge, and nobody but ccc may send it anything.
    fields.insert("disableAllHooks".to_owned(), json!(true));
    fields.insert("autoMemoryEnabled".to_owned(), json!(false));
    fields.insert("crossSessionInbound".to_owned(), json!("refuse"));
    // Older clients load the CLAUDE.md of a directory with every file that the judge reads there.
    fields.insert("claudeMdExcludes".to_owned(), json!(["/**"]));
    // There is no rule against editing: it would also apply to commands, which may write anything
    // in their glass case. ccc itself is asked about every tool.
    let permissions = section(fields, "permissions")?;
    for (kind, rules) in both {
        if !rules.is_empty() {
            permissions.insert(kind.to_owned(), rules.into());
        }
    }
    Ok(users)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judge_has_the_users_settings_of_this_moment_and_none_of_their_hooks() {
        let users = json!({
            "env": {"A": "users", "B": "users"},
            "hooks": {"Stop": []},
            "enabledPlugins": {"p@m": true},
            "permissions": {"allow": ["Bash(ls:*)"], "deny": ["WebFetch"]},
        });
        let ours = json!({"env": {"B": "ours"}, "permissions": {"allow": ["Bash(git log:*)"]}});
        assert_eq!(
            settings(users, &ours).unwrap(),
            json!({
                "env": {"A": "users", "B": "ours"},
                "permissions": {
                    "allow": ["Bash(ls:*)", "Bash(git log:*)"],
                    "deny": ["WebFetch"],
                },
                "disableAllHooks": true,
                "autoMemoryEnabled": false,
                "crossSessionInbound": "refuse",
                "claudeMdExcludes": ["/**"],
            })
        );
        let settings_of = |size: usize| {
            let dir = tempfile::tempdir().unwrap();
            let content = json!({"x": "y".repeat(size)});
            let judge = JudgeSettings { content, file: dir.path().join("settings.json") };
            let given = judge.argument(&Variables::new()).unwrap();
            let read = std::fs::read_to_string(&given).unwrap_or_default();
            (given.into_string().unwrap(), read)
        };
        let (given, file) = settings_of(2);
        assert!(given.starts_with(r#"{"x":"yy","env":{"#) && file.is_empty(), "{given}");
        assert!(settings_of(MAX_ARGUMENT).1.starts_with(r#"{"x":"yy"#));
        let broken = settings(Value::Null, &json!({})).unwrap();
        assert_eq!(broken["permissions"], json!({}));
    }
}
