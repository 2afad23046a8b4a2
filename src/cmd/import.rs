//! Offers to import an endpoint from the client's own `settings.json` as a provider: once, only to a
//! person, and as a copy. That file is never written.

use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value};
use url::{Host, Url};

use super::provider::{insert, name, presets};
use super::questions::{self, Questions};
use crate::config::{self, profile, secret};
use crate::directories::Directories;
use crate::files;

/// Does nothing unless there is an endpoint to import, no `ccc.json` yet, and a person to ask.
pub fn offer_once(place: &Directories) -> Result<()> {
    if !questions::is_possible() {
        return Ok(());
    }
    offer(&place.config_dir, &place.users_settings(), &mut Questions::terminal())
}

fn offer<R: BufRead, W: Write>(
    config_dir: &Path,
    path: &Path,
    questions: &mut Questions<R, W>,
) -> Result<()> {
    if config_dir.join(config::FILE).symlink_metadata().is_ok() {
        return Ok(());
    }
    let Some(env) = endpoint_in(path) else { return Ok(()) };
    let url = env[profile::BASE_URL].as_str().unwrap_or_default().to_owned();
    questions.say(&format!("{} sends claude to {}.", path.display(), secret::mask_url(&url)))?;
    if !questions
        .confirm("Copy that to a provider in ccc.json? The file itself stays unchanged.", true)?
    {
        // Creates the file, so that the question is not asked again.
        return config::edit(config_dir, |_| Ok(()));
    }
    let default = name_for(&url);
    let name = loop {
        let name = questions.ask("Name", &default)?;
        match name::check(&name) {
            Ok(()) => break name,
            Err(problem) => questions.say(&problem.0)?,
        }
    };
    config::edit(config_dir, |root| insert(root, &name, env, false, true))?;
    questions.say(&format!(
        "Added {name}. `ccc {name}` runs claude on it; `ccc provider add` adds another provider."
    ))
}

/// The variables that define the endpoint; `None` if the file has none or cannot be read.
fn endpoint_in(path: &Path) -> Option<Map<String, Value>> {
    let settings: Value = serde_json::from_str(&files::read_text(path).ok()?).ok()?;
    profile::env(&settings, profile::BASE_URL)?;
    profile::env(&settings, profile::AUTH_TOKEN)
        .or_else(|| profile::env(&settings, profile::API_KEY))?;
    let env = settings.get("env")?.as_object()?;
    let ours = env.iter().filter(|(name, _)| name.starts_with("ANTHROPIC_"));
    Some(ours.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The preset's name if the endpoint belongs to one, otherwise the part of the host name that
/// identifies its owner.
fn name_for(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if let Some(preset) = presets::PRESETS.iter().find(|preset| preset.base_url == url) {
        return preset.name.to_owned();
    }
    let parsed = Url::parse(url).ok();
    let host = match parsed.as_ref().and_then(Url::host) {
        Some(Host::Domain("localhost") | Host::Ipv4(_) | Host::Ipv6(_)) => {
            return "local".to_owned();
        }
        Some(Host::Domain(host)) => host,
        None => "",
    };
    let labels: Vec<&str> = host.split('.').filter(|label| !label.is_empty()).collect();
    let name = match labels.as_slice() {
        [.., owner, "co" | "com" | "net" | "org", _] | [.., owner, _] | [owner] => owner,
        [] => "",
    };
    if name::check(name).is_ok() { name.to_owned() } else { "imported".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    const SETTINGS: &str = r#"{"model": "x", "env": {"ANTHROPIC_BASE_URL": "https://api.example.com/v",
        "ANTHROPIC_AUTH_TOKEN": "sk-0123456789abcdef", "OTHER": "1", "ANTHROPIC_MODEL": "m"}}"#;

    /// Gives these answers; returns what was shown and what is in the file afterwards.
    fn offered(dir: &Path, answers: &str) -> (String, Option<Value>) {
        let mut questions = Questions { input: answers.as_bytes(), output: Vec::new() };
        let _ = offer(dir, &dir.join("settings.json"), &mut questions);
        let file = fs::read_to_string(dir.join(config::FILE)).ok();
        let file = file.map(|text| serde_json::from_str(&text).unwrap());
        (String::from_utf8(questions.output).unwrap(), file)
    }

    fn with_settings(text: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("settings.json"), text).unwrap();
        dir
    }

    #[test]
    fn a_yes_copies_the_endpoint() {
        let dir = with_settings(SETTINGS);
        let (shown, file) = offered(dir.path(), "\nbad name\n\n");
        assert!(shown.contains("https://api.example.com") && !shown.contains("0123"), "{shown}");
        assert!(shown.contains("cannot be a provider's name"), "{shown}");
        let file = file.unwrap();
        assert_eq!(
            file["providers"],
            json!({"example": {"env": {"ANTHROPIC_BASE_URL": "https://api.example.com/v",
                   "ANTHROPIC_AUTH_TOKEN": "sk-0123456789abcdef", "ANTHROPIC_MODEL": "m"}}})
        );
        assert_eq!(file["current_provider"], "example");
        assert_eq!(fs::read_to_string(dir.path().join("settings.json")).unwrap(), SETTINGS);
        assert_eq!(offered(dir.path(), "").0, "", "asked once");
    }

    #[test]
    fn a_no_is_remembered_and_no_answer_is_not() {
        let dir = with_settings(SETTINGS);
        assert_eq!(offered(dir.path(), "").1, None);
        assert_eq!(offered(dir.path(), "n\n").1, Some(json!({})));
        assert_eq!(offered(dir.path(), "y\n\n").0, "");
    }

    #[test]
    fn nothing_to_import_asks_nothing() {
        for settings in [
            "{}",
            "broken",
            r#"{"env": {"ANTHROPIC_AUTH_TOKEN": "t"}}"#,
            r#"{"env": {"ANTHROPIC_BASE_URL": "https://x"}}"#,
            r#"{"env": {"ANTHROPIC_BASE_URL": "https://x", "ANTHROPIC_API_KEY": ""}}"#,
        ] {
            let dir = with_settings(settings);
            assert_eq!(offered(dir.path(), "y\n\n"), (String::new(), None), "{settings}");
        }
    }

    #[test]
    fn names_come_from_the_host() {
        for (url, name) in [
            ("https://api.moonshot.ai/anthropic/", "kimi"),
            ("https://api.example.com/x", "example"),
            ("https://llm.corp.co.uk", "corp"),
            ("https://gateway", "gateway"),
            ("http://127.0.0.1:4000", "local"),
            ("http://localhost:4000/x", "local"),
            ("https://user:pw@one.two.ai", "two"),
            ("https://provider.dev", "imported"),
            ("https://[::1]:80", "local"),
        ] {
            assert_eq!(name_for(url), name, "{url}");
        }
    }
}
