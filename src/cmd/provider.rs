//! `ccc provider`: the endpoints in `ccc.json`. Keys are masked in everything it prints.

mod add;
mod change;
pub mod draft;
pub mod name;
pub mod presets;

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

pub use change::{add as insert, unknown_provider};

use super::output::{print, print_json, table};
use crate::cli::provider::ProviderCommand;
use crate::config::{self, Config, profile, secret};
use crate::directories::Directories;

pub fn run(command: Option<ProviderCommand>) -> Result<i32> {
    let dir = Directories::find()?.config_dir;
    let Some(command) = command else {
        used(&Config::load(&dir)?)?;
        return Ok(0);
    };
    match command {
        ProviderCommand::List { json } => list(&Config::load(&dir)?, json),
        ProviderCommand::Show { name, json } => show(&Config::load(&dir)?, &name, json),
        ProviderCommand::Add(args) => add::run(&dir, &args),
        ProviderCommand::Remove { name } => remove(&dir, &name),
        ProviderCommand::Use { name } => make_current(&dir, &name),
        ProviderCommand::Rename { old, new } => {
            name::check(&new)?;
            config::edit(&dir, |root| change::rename(root, &old, &new))?;
            if old != new {
                config::clients::forget(&dir, &old);
            }
            print(&format!("Renamed {old} to {new}.\n"))
        }
    }?;
    Ok(0)
}

pub fn is_set(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| !value.is_empty())
}

fn used(config: &Config) -> Result<()> {
    let text = match config.default_provider() {
        Some(name) => {
            let settings = config.settings(Some(&name));
            let endpoint = profile::env(&settings, profile::BASE_URL).map(secret::mask_url);
            let model = profile::chosen_model(&settings).map(|model| format!(", model {model}"));
            let key = profile::key(&settings).describe(&is_set);
            format!(
                "{name} is the current provider: {}{}, key {key}\n\
                 `ccc provider use NAME` chooses another; `ccc provider use none` goes back to claude's own login.\n",
                endpoint.unwrap_or_else(|| "no endpoint".to_owned()),
                model.unwrap_or_default()
            )
        }
        None if config.provider_names().next().is_some() => {
            "Using claude's own key or login. `ccc provider use NAME` chooses a provider.\n".to_owned()
        }
        None => "Using claude's own key or login; there are no providers. `ccc provider add` adds one.\n"
            .to_owned(),
    };
    let more = "`ccc provider list` shows all providers; `ccc provider --help` lists the \
        commands.\n";
    print(&format!("{text}{more}"))
}

fn make_current(dir: &Path, name: &str) -> Result<()> {
    config::edit(dir, |root| change::make_current(root, name))?;
    let config = Config::load(dir)?;
    let Some(current) = config.default_provider() else {
        return print("Using claude's own key or login.\n");
    };
    print(&format!("{current} is the current provider.\n"))?;
    let settings = config.settings(Some(&current));
    match missing_key(&profile::key(&settings)) {
        Some(missing) => print(&format!("It cannot be used yet: {missing}.\n")),
        None => Ok(()),
    }
}

/// What has to be done before this key can be used.
fn missing_key(key: &profile::Key<'_>) -> Option<String> {
    if key.is_there(&is_set) {
        return None;
    }
    Some(match key {
        profile::Key::Variables(_, names) => {
            let unset = names.iter().filter(|name| !is_set(name)).cloned().collect::<Vec<_>>();
            format!("{} is not set in the environment", unset.join(" and "))
        }
        _ => "it has no key".to_owned(),
    })
}

fn list(config: &Config, as_json: bool) -> Result<()> {
    let current = config.default_provider();
    let is_current = |name: &str| current.as_deref() == Some(name);
    if as_json {
        let all = config.provider_names().map(|name| summary(config, name, is_current(name)));
        return print_json(&all.collect());
    }
    let mut rows = vec![["", "NAME", "ENDPOINT", "MODEL", "KEY"].map(str::to_owned)];
    for name in config.provider_names() {
        let settings = config.settings(Some(name));
        let shown = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        rows.push([
            if is_current(name) { "*" } else { "" }.to_owned(),
            name.to_owned(),
            shown(profile::env(&settings, profile::BASE_URL).map(secret::mask_url)),
            shown(profile::chosen_model(&settings).map(str::to_owned)),
            profile::key(&settings).describe(&is_set),
        ]);
    }
    if rows.len() == 1 {
        return print("No providers yet. `ccc provider add` adds one.\n");
    }
    print(&table(&rows))
}

fn summary(config: &Config, name: &str, current: bool) -> Value {
    let settings = config.settings(Some(name));
    let key = profile::key(&settings);
    json!({
        "name": name,
        "current": current,
        "endpoint": profile::env(&settings, profile::BASE_URL).map(secret::mask_url),
        "model": profile::chosen_model(&settings),
        "key": key.describe(&is_set),
        "key_present": key.is_there(&is_set),
    })
}

fn show(config: &Config, name: &str, as_json: bool) -> Result<()> {
    let Some(own) = config.provider(name) else {
        return Err(unknown_provider(config.provider_names(), name));
    };
    let current = config.default_provider().as_deref() == Some(name);
    if as_json {
        let mut shown = summary(config, name, current);
        shown["settings"] = secret::masked(own);
        return print_json(&shown);
    }
    let settings = config.settings(Some(name));
    let row = |title: &str, text: String| [String::new(), title.to_owned(), text];
    let text = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), str::to_owned);
    let url = profile::env(&settings, profile::BASE_URL).map(secret::mask_url);
    let head = [
        row("endpoint", text(url.as_deref())),
        row("model", text(profile::chosen_model(&settings))),
        row("key", profile::key(&settings).describe(&is_set)),
    ];
    let own = serde_json::to_string_pretty(&secret::masked(own))?;
    let mark = if current { " (current)" } else { "" };
    print(&format!("{name}{mark}\n{}{own}\n", table(&head)))
}

fn remove(dir: &Path, name: &str) -> Result<()> {
    let removed = config::edit(dir, |root| change::remove(root, name))?;
    config::clients::forget(dir, name);
    print(&format!("Removed {name}.\n"))?;
    if removed.was_current {
        let next = match Config::load(dir)?.default_provider() {
            Some(first) => format!("ccc now uses the first one in the list, {first}"),
            None => "no provider is left, so claude uses its own login".to_owned(),
        };
        print(&format!("It was the current provider; {next}.\n"))?;
    }
    if removed.was_supervisors {
        print("The supervisor used it; it now uses the agent's provider.\n")?;
    }
    Ok(())
}
