//! `ccc validate`: checks that the endpoint answers, the key is accepted and the model is known, with
//! one tiny request to each provider, all at once. No key is ever printed, even if the other side quotes it.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::login;
use super::output::{print, print_json, table};
use super::provider::unknown_provider;
use crate::cli::provider::ValidateArgs;
use crate::config::profile::{self, API_KEY, AUTH_TOKEN, BASE_URL, CUSTOM_HEADERS};
use crate::config::{self, Config, secret};
use crate::directories::Directories;
use crate::endpoint::{self, Endpoint, Findings};
use crate::surface::cut;

/// The model to ask for if none is set: the client then chooses a Claude model.
const ANY_CLAUDE: &str = "claude-haiku-4-5";
/// Longer explanations are truncated in the table.
const DETAIL: usize = 160;

struct Row {
    provider: String,
    endpoint: Option<String>,
    model: Option<String>,
    found: Findings,
    took: Option<Duration>,
}

pub fn run(args: &ValidateArgs) -> Result<i32> {
    let place = Directories::find()?;
    let config = Config::load(&place.config_dir)?;
    let names: Vec<String> = match &args.provider {
        Some(name) if config.has_provider(name) => vec![name.clone()],
        Some(name) => return Err(unknown_provider(config.provider_names(), name)),
        None if args.all => config.provider_names().map(str::to_owned).collect(),
        None => config.default_provider().into_iter().collect(),
    };
    if names.is_empty() {
        return own_login(&place, args.json);
    }
    let rows: Vec<Row> = thread::scope(|scope| {
        let tries: Vec<_> =
            names.iter().map(|name| scope.spawn(|| examine(&config, name, args.timeout))).collect();
        let lost = |name: &String| Row::broken(name, "the check failed to run");
        let row = |(one, name): (thread::ScopedJoinHandle<'_, Row>, &String)| {
            one.join().unwrap_or_else(|_| lost(name))
        };
        tries.into_iter().zip(&names).map(row).collect()
    });
    if args.json {
        print_json(&rows.iter().map(Row::json).collect())?;
    } else {
        print(&shown(&rows))?;
    }
    Ok(i32::from(!rows.iter().all(|row| row.found.is_good())))
}

/// Without a provider there is no endpoint to test, but the client can say whether it has a key or a login.
fn own_login(place: &Directories, as_json: bool) -> Result<i32> {
    let (there, detail) = match login::ask(place)? {
        Some(account) => (true, format!("claude has {account}; ccc made no request")),
        None => (false, format!("claude has neither a login nor a key: {}", login::HOW)),
    };
    if as_json {
        print_json(&json!([{"provider": null, "ok": there, "detail": detail}]))?;
    } else {
        print(&format!(
            "No provider is set: claude uses its own key or login.\n{}.\n",
            capital(&detail)
        ))?;
    }
    Ok(i32::from(!there))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn examine(config: &Config, name: &str, timeout: Duration) -> Row {
    let mut settings = config.settings(Some(name));
    if let Err(error) = config::expand(&mut settings, &|variable| std::env::var(variable).ok()) {
        return Row::broken(name, error.to_string());
    }
    let Some(base_url) = profile::env(&settings, BASE_URL) else {
        return Row::broken(name, format!("its {BASE_URL} is not set"));
    };
    let model = profile::model(&settings);
    let own = |variable| profile::env(&settings, variable).map(str::to_owned);
    let target = Endpoint {
        base_url: base_url.to_owned(),
        auth_token: own(AUTH_TOKEN),
        api_key: own(API_KEY),
        headers: profile::env(&settings, CUSTOM_HEADERS).map(headers).unwrap_or_default(),
        model: model.unwrap_or(ANY_CLAUDE).to_owned(),
    };
    let (answer, took) = endpoint::ask(&target, timeout);
    let mut found = endpoint::read(&answer, &target.model);
    if let Some(hint) = hint(&target, &settings, &found) {
        found.detail = format!("{hint}; {}", found.detail);
    }
    found.detail = secret::scrub(&found.detail, &target.secrets());
    Row {
        provider: name.to_owned(),
        endpoint: Some(secret::mask_url(base_url)),
        model: model.map(|model| secret::scrub(model, &target.secrets())),
        found,
        took: Some(took),
    }
}

/// A hint about a failure that follows from the settings rather than from the answer.
fn hint(target: &Endpoint, settings: &Value, found: &Findings) -> Option<String> {
    let no_key = target.auth_token.is_none() && target.api_key.is_none();
    let helper = settings.get("apiKeyHelper").is_some();
    let ends_in_v1 = target.base_url.trim_end_matches('/').ends_with("/v1");
    if found.reachable != Some(true) {
        None
    } else if no_key && helper && found.key != Some(true) {
        Some("the key comes from apiKeyHelper, which ccc does not run".to_owned())
    } else if no_key && found.key != Some(true) {
        Some("no key is set".to_owned())
    } else if ends_in_v1 && found.key.is_none() {
        Some("the base URL ends in /v1; remove that, because claude adds it itself".to_owned())
    } else if profile::model(settings).is_none() && found.model == Some(false) {
        Some("no model is set (ANTHROPIC_MODEL)".to_owned())
    } else {
        None
    }
}

/// `Name: value`, one per line, as the client reads them.
fn headers(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

impl Row {
    fn broken(provider: &str, why: impl Into<String>) -> Self {
        let found = Findings::broken(why);
        Self { provider: provider.to_owned(), endpoint: None, model: None, found, took: None }
    }

    fn milliseconds(&self) -> Option<u64> {
        self.took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
    }

    fn json(&self) -> Value {
        json!({
            "provider": self.provider,
            "ok": self.found.is_good(),
            "endpoint": self.endpoint,
            "model": self.model,
            "reachable": self.found.reachable,
            "key_accepted": self.found.key,
            "model_known": self.found.model,
            "ms": self.milliseconds(),
            "detail": self.found.detail,
        })
    }
}

fn shown(rows: &[Row]) -> String {
    let word = |fact: Option<bool>| match fact {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    let mut lines =
        vec![["PROVIDER", "REACHABLE", "KEY", "MODEL", "MS", "DETAIL"].map(str::to_owned)];
    for row in rows {
        let detail = match row.model.as_deref() {
            Some(model) if row.found.detail.is_empty() => model,
            _ => &row.found.detail,
        };
        lines.push([
            row.provider.clone(),
            word(row.found.reachable).to_owned(),
            word(row.found.key).to_owned(),
            word(row.found.model).to_owned(),
            row.milliseconds().map_or_else(|| "-".to_owned(), |ms| ms.to_string()),
            cut(detail, DETAIL, "…"),
        ]);
    }
    table(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_headers_are_lines() {
        let read = headers("X-One: 1\n bad line\nX-Two:two: three\n: x");
        assert_eq!(read, [("X-One".into(), "1".into()), ("X-Two".into(), "two: three".to_owned())]);
    }
}
