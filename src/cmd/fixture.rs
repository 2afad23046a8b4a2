//! `ccc fixture`: a recorded session as one file that can be shown to others, and played.

use std::env;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Usage;
use super::place::Place;
use super::replay::targets;
use crate::cli::replay::FixtureArgs;
use crate::config::secret::is_secret;
use crate::config::{Config, variables};
use crate::files;
use crate::fixture::scrub::Whereabouts;
use crate::fixture::{convert, recorded};
use crate::record::read::Recording;

/// A value under a name that does not say by itself that it is a secret.
const TELLING: usize = 6;

pub fn run(args: &FixtureArgs) -> Result<i32> {
    let place = Place::find()?;
    let recording = Recording::open(&targets::session(&args.session)?)?;
    let runs = recorded::runs(&recording)?;
    let number = args.run.unwrap_or(runs.len());
    let Some(run) = number.checked_sub(1).and_then(|at| runs.get(at)) else {
        return Err(
            Usage(format!("the session has {} runs, and no run {number}", runs.len())).into()
        );
    };
    let title = match &args.title {
        Some(title) => title.clone(),
        None => format!("A session recorded with ccc {}", run.begun.ccc),
    };
    let secrets = secrets(&place.config_dir)?;
    let converted = convert(run, &title, &secrets, &whereabouts(&run.begun.project))?;
    if runs.len() > 1 {
        eprintln!("ccc: run {number} of {}", runs.len());
    }
    eprintln!("ccc: replaced: {}", converted.replaced);
    if let Some(problem) = &converted.problem {
        eprintln!("ccc: the fixture is not the recorded session: {problem}");
        if !args.force {
            eprintln!("ccc: nothing was written; --force writes it all the same");
            return Ok(1);
        }
    }
    match &args.output {
        None => std::io::stdout().write_all(converted.text.as_bytes()).context("cannot write")?,
        Some(file) => write(file, converted.text.as_bytes(), args.force)?,
    }
    Ok(i32::from(converted.problem.is_some()))
}

fn write(file: &Path, text: &[u8], force: bool) -> Result<()> {
    if force {
        return files::replace(file, text);
    }
    match files::create_new(file, text, 0o600) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{} exists already; --force replaces it", file.display())
        }
        result => result.with_context(|| format!("cannot write {}", file.display())),
    }
}

fn whereabouts(project: &str) -> Whereabouts {
    let home = dirs::home_dir();
    let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let named = home.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into());
    Whereabouts {
        project: Some(project.to_owned()),
        home: home.as_deref().map(|home| home.to_string_lossy().into_owned()),
        user: text("USER").or_else(|| text("LOGNAME")).or(named),
        host: nix::unistd::gethostname().ok().map(|host| host.to_string_lossy().into_owned()),
    }
}

/// Everything that is a secret here, by its value.
fn secrets(config_dir: &Path) -> Result<Vec<String>> {
    let config = Config::load(config_dir).context("the secrets in it could not be looked for")?;
    let mut found = Vec::new();
    for (name, value) in env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if is_secret(&name) {
            add(&value, &mut found);
        } else if name.starts_with("ANTHROPIC_")
            && !name.contains("MODEL")
            && value.len() >= TELLING
        {
            found.push(value.into_owned());
        }
    }
    collect(&config.settings(None), &mut found);
    for provider in config.provider_names() {
        collect(&config.settings(Some(provider)), &mut found);
    }
    Ok(found)
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if is_secret(name) => add(text, found),
                    field => collect(field, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// A value, the variables it is made of, and of a list of headers each one by itself.
fn add(value: &str, found: &mut Vec<String>) {
    let names = variables(value);
    found.extend(names.iter().filter_map(|name| env::var(name).ok()));
    if names.is_empty() {
        let headers = value.lines().filter_map(|line| line.split_once(':'));
        found.extend(headers.map(|(_, content)| content.trim().to_owned()));
        found.push(value.trim().to_owned());
    }
}
