//! `ccc supervisor-hook`: the judgement at the plain client's Stop. Always exits 0; whatever goes
//! wrong lets the client stop, and says why on standard error and in the log.
//!
//! Off is the common case and runs at every stop of every session, so it comes first and reads
//! nothing but its arguments, the event and the state file.

mod review;

use std::env;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::client::Limits;
use super::logging;
use super::place::Place;
use crate::config::Config;
use crate::hook::{StopEvent, block};
use crate::state::StateFile;

/// More than any event; a hostile one does not fill the memory.
const MAX_EVENT: u64 = 16 << 20;

pub fn run(args: &[OsString]) -> i32 {
    match decide(args) {
        // Nobody is there to be told when this fails too.
        Ok(Decision::Block(reason)) => drop(writeln!(std::io::stdout(), "{}", block(&reason))),
        Ok(Decision::Allow(why)) => {
            say(&why);
            log::info!("supervisor-hook: {why}");
        }
        Err(error) => {
            say(&format!("{error:#}; the stop is allowed"));
            log::error!("supervisor-hook: {error:#}");
        }
    }
    0
}

enum Decision {
    Allow(String),
    Block(String),
}

fn allow(why: &str) -> Result<Decision> {
    Ok(Decision::Allow(why.to_owned()))
}

fn say(text: &str) {
    print(&format!("[ccc supervisor-hook] {text}"));
}

/// To standard error, or to nobody: a hook must not fail because it cannot print.
fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn decide(args: &[OsString]) -> Result<Decision> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| value == "1");
    if is_set("CCC_SUPERVISOR_HOOK") {
        return allow("this is the supervisor itself");
    }
    if is_set("CCC_SUPERVISOR_PTY") {
        return allow("the surrounding session supervises");
    }
    let args = Args::parse(args)?;
    let mut text = String::new();
    std::io::stdin().take(MAX_EVENT).read_to_string(&mut text).context("cannot read the event")?;
    let event: StopEvent =
        serde_json::from_str(&text).context("the event on standard input is broken")?;
    let state_dir = args.state_dir(event.cwd.as_deref())?;
    // A project that was never supervised gets no files of ours.
    if state_dir.is_dir() {
        logging::start(state_dir.join("ccc.log"));
    }
    let state = StateFile::new(&state_dir, &event.session_id)?;
    match state.load()? {
        None => return allow("this session is not supervised"),
        Some(state) if !state.enabled => return allow("supervision is off"),
        Some(_) => {}
    }
    if event.has_background_tasks() {
        return allow("background tasks are still running");
    }
    supervise(&args, &event, &state, &state_dir)
}

fn supervise(
    args: &Args,
    event: &StopEvent,
    state: &StateFile,
    state_dir: &Path,
) -> Result<Decision> {
    let found = Place::find()?;
    let project = project(event.cwd.as_deref()).unwrap_or(found.project);
    let place = Place { state_dir: state_dir.to_owned(), project, ..found };
    let config = Config::load(&place.config_dir)?;
    let max = env::var("CCC_MAX_ITERATIONS").ok().and_then(|max| max.parse().ok());
    let limits = Limits::of(&config, max)?;
    // Counted before the review: one that is cut off has been paid for too.
    let counted = state.change(|state| {
        let more = state.count < limits.max_iterations;
        state.count += u32::from(more);
        (more, state.count)
    });
    let round = match counted {
        Ok((true, round)) => round,
        Ok((false, _)) => {
            return allow(&format!("the limit of {} reviews is reached", limits.max_iterations));
        }
        // The client's own cap still ends the loop.
        Err(error) => {
            say(&format!("the count is not kept: {error:#}"));
            1
        }
    };
    let verdict = review::run(args.settings.as_deref(), event, &place, &config, &limits, round)?;
    if !verdict.explicit {
        bail!("the supervisor's answer is no verdict");
    }
    if verdict.completed {
        return allow(&format!("confirmed complete in round {round}"));
    }
    Ok(Decision::Block(verdict.feedback))
}

/// Parsed by hand: the parser for the whole command line costs more than all the rest.
#[derive(Debug, PartialEq)]
struct Args {
    settings: Option<PathBuf>,
    state_dir: PathBuf,
}

impl Args {
    fn parse(args: &[OsString]) -> Result<Self> {
        let mut parsed = Self { settings: None, state_dir: PathBuf::from(".claude/ccc") };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy();
            let (name, attached) =
                text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
            let value = attached.map(PathBuf::from).or_else(|| args.next().map(PathBuf::from));
            let value = value.with_context(|| format!("{name} needs a value"))?;
            match name {
                "--settings" => parsed.settings = Some(value),
                "--state-dir" => parsed.state_dir = value,
                _ => bail!("unknown option {name:?}"),
            }
        }
        Ok(parsed)
    }

    /// A relative directory means something else after the agent's first `cd`.
    fn state_dir(&self, cwd: Option<&str>) -> Result<PathBuf> {
        if self.state_dir.is_absolute() {
            return Ok(self.state_dir.clone());
        }
        if let Some(dir) = state_dir_from_env() {
            return Ok(dir);
        }
        let base =
            project(cwd).map_or_else(env::current_dir, Ok).context("no directory for the state")?;
        Ok(base.join(&self.state_dir))
    }
}

/// Where the session began. Hooks run wherever the agent has gone since.
pub fn project(cwd: Option<&str>) -> Option<PathBuf> {
    let project = env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let absolute = |dir: &PathBuf| dir.is_absolute();
    project.filter(absolute).or_else(|| cwd.map(PathBuf::from).filter(absolute))
}

pub fn state_dir_from_env() -> Option<PathBuf> {
    env::var_os("CCC_STATE_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario 002 «解析 hook 参数»
    #[test]
    fn scenario_002_the_hooks_arguments() {
        let parse = |line: &str| {
            Args::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
        };
        let both =
            Args { settings: Some("/path/to/settings.json".into()), state_dir: "other".into() };
        assert_eq!(parse("--settings /path/to/settings.json --state-dir other").unwrap(), both);
        assert_eq!(parse("--settings=/path/to/settings.json --state-dir=other").unwrap(), both);
        assert_eq!(parse("").unwrap().state_dir, Path::new(".claude/ccc"));
        assert!(parse("--bogus 1").is_err() && parse("--settings").is_err());
    }
}
