//! `ccc fixture`: turns a recorded session into one file that can be shared and replayed.

use std::env;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Usage;
use super::questions::{self, Questions};
use super::replay::targets;
use crate::cli::replay::FixtureArgs;
use crate::config::{Config, secret, variables};
use crate::console;
use crate::directories::Directories;
use crate::files;
use crate::fixture::scrub::{MachineIdentity, Suspects};
use crate::fixture::{Converted, convert};
use crate::record::read::Recording;
use crate::record::rerun::runs;

/// A shorter value whose name does not mark it as a secret is not treated as one.
const SHORTEST_UNNAMED_SECRET: usize = 6;

pub fn run(args: &FixtureArgs) -> Result<i32> {
    let place = Directories::find()?;
    if let Some(file) = &args.output {
        has_directory(file)?;
        if !args.force && file.symlink_metadata().is_ok() {
            bail!(already_exists(file));
        }
    }
    let recording = Recording::open(&targets::session(&args.session)?)?;
    let runs = runs(&recording)?;
    let number = args.run.unwrap_or(runs.len());
    let Some(run) = number.checked_sub(1).and_then(|at| runs.get(at)) else {
        return Err(Usage(format!(
            "there is no run {number}; the session has {} (--run counts from 1)",
            runs.len()
        ))
        .into());
    };
    let begun = run.begun.as_ref().context(
        "the recording does not contain the rules of this run, so ccc cannot convert it",
    )?;
    let title = match &args.title {
        Some(title) => title.clone(),
        None => format!("A session recorded with ccc {}", begun.ccc),
    };
    let secrets = secrets(&place.config_dir)?;
    let converted = convert(&recording, run, &title, &secrets, &whereabouts(&begun.project))?;
    if runs.len() > 1 {
        console::say(format!("ccc: run {number} of {}", runs.len()));
    }
    console::say(format!("ccc: replaced: {}", converted.replaced));
    if !may_leave(&converted.suspects, args.allow_suspects)? {
        return Ok(1);
    }
    if let Some(problem) = &converted.problem {
        console::say(format!(
            "ccc: the fixture does not reproduce the recorded session: {problem}"
        ));
        if !args.force {
            console::say("ccc: nothing was written. --force writes the fixture anyway");
            return Ok(1);
        }
    }
    match &args.output {
        None => converted.in_pieces(console::print_exact).context("cannot write the fixture")?,
        Some(file) => write(file, &converted, args.force)?,
    }
    Ok(i32::from(converted.problem.is_some()))
}

/// Before the file leaves the machine, somebody must have seen the suspicious texts left in it and agreed.
fn may_leave(suspects: &Suspects, allowed: bool) -> Result<bool> {
    if suspects.found.is_empty() {
        return Ok(true);
    }
    console::say("ccc: these were left unchanged and may be secrets:");
    for (line, text) in &suspects.found {
        console::say(format!("  line {line}: {text}"));
    }
    if allowed {
        return Ok(true);
    }
    if questions::is_possible() {
        return Questions::terminal().confirm("Write the fixture with them in it?", false);
    }
    console::say(
        "ccc: nothing was written. Look at each of them; if none is a secret, --allow-suspects \
         writes the fixture",
    );
    Ok(false)
}

/// A misspelt path must not create a new directory.
fn has_directory(file: &Path) -> Result<()> {
    match file.parent() {
        Some(dir) if dir != Path::new("") && !dir.is_dir() => {
            bail!("cannot write {}: there is no directory {}", file.display(), dir.display())
        }
        _ => Ok(()),
    }
}

fn already_exists(file: &Path) -> String {
    format!("{} already exists; --force replaces it", file.display())
}

/// Writes the file privately, and completely or not at all.
fn write(file: &Path, converted: &Converted, force: bool) -> Result<()> {
    match files::write_whole(file, force, &|mut to| converted.write(&mut to)) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!(already_exists(file))
        }
        result => result.with_context(|| format!("cannot write {}", file.display())),
    }
}

fn whereabouts(project: &str) -> MachineIdentity {
    let home = dirs::home_dir();
    let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let named = home.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into());
    MachineIdentity {
        project: Some(project.to_owned()),
        home: home.as_deref().map(|home| home.to_string_lossy().into_owned()),
        user: text("USER").or_else(|| text("LOGNAME")).or(named),
        host: nix::unistd::gethostname().ok().map(|host| host.to_string_lossy().into_owned()),
    }
}

/// The values of all secrets known here.
fn secrets(config_dir: &Path) -> Result<Vec<String>> {
    let config =
        Config::load(config_dir).context("ccc could not search the fixture for secrets")?;
    let mut found = Vec::new();
    for (name, value) in env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if secret::is_secret(&name) {
            add(&value, &mut found);
        } else if name.starts_with("ANTHROPIC_")
            && !name.contains("MODEL")
            && value.len() >= SHORTEST_UNNAMED_SECRET
        {
            found.push(value.into_owned());
        }
    }
    for provider in config.provider_names().map(Some).chain([None]) {
        secret::for_each(&config.settings(provider), &mut |value| add(value, &mut found));
    }
    Ok(found)
}

/// Adds a value or, if it refers to variables, their values; for a list of headers also each header's value.
fn add(value: &str, found: &mut Vec<String>) {
    let names = variables(value);
    found.extend(names.iter().filter_map(|name| env::var(name).ok()));
    if names.is_empty() {
        let headers = value.lines().filter_map(|line| line.split_once(':'));
        found.extend(headers.map(|(_, content)| content.trim().to_owned()));
        found.push(value.trim().to_owned());
    }
}
