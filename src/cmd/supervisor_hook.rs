//! `ccc supervisor-hook`: the judgement at the plain client's Stop. Always exits 0; whatever goes
//! wrong lets the client stop, and says why on standard error and in the log.
//!
//! Off is the common case and runs at every stop of every session, so it comes first and reads
//! nothing but its arguments, the event and the state file.

mod checks;
mod guard;
mod judge;
mod review;

use std::env;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::guard::{Guarded, Standing};
use super::logging;
use crate::client::transcript::Transcript;
use crate::config::Config;
use crate::config::clients::Limits;
use crate::console;
use crate::directories::{Directories, STATE_DIR};
use crate::executables;
use crate::hook::client_environment;
use crate::hook::event::{StopEvent, answer};
use crate::hook::state::StateFile;
use crate::hook::transcript_file::TranscriptFile;
use crate::review::circle::Circle;
use crate::review::verdict::{Halt, Verdict};
use crate::tree::Snapshot;

/// More than any event; a hostile one does not fill the memory.
const MAX_EVENT: u64 = 16 << 20;

pub fn run(args: &[OsString]) -> i32 {
    client_environment::take_on();
    let mut told = Told::default();
    let decision = decide(args, &mut told);
    told.changes.iter().for_each(|change| say(change));
    let mut message = told.changes.join("\n");
    let mut also = |text: &str| {
        if told.supervised {
            let gap = if message.is_empty() { "" } else { "\n" };
            message = format!("{message}{gap}{text}");
        }
    };
    let reason = match decision {
        Ok(Decision::Block(reason)) => Some(reason),
        Ok(Decision::Allow(why)) => {
            say(&why);
            log::info!("supervisor-hook: {why}");
            also(&why);
            None
        }
        Err(error) => {
            say(&format!("{error:#}; the stop is allowed"));
            log::error!("supervisor-hook: {error:#}");
            also(&format!("The work was not reviewed: {error:#}"));
            None
        }
    };
    // Nobody is there to be told when this fails too.
    if let Some(answer) = answer(reason.as_deref(), &message) {
        let _ = writeln!(console::stdout(), "{answer}");
    }
    0
}

/// What the person is told on their own screen.
#[derive(Default)]
struct Told {
    /// A session that nobody supervises is left in peace.
    supervised: bool,
    changes: Vec<String>,
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
    console::say(text);
}

fn decide(args: &[OsString], told: &mut Told) -> Result<Decision> {
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
    let mut transcript = TranscriptFile::new(event.transcript_path.as_deref());
    let mut guarded = match standing(&event, &state, &mut transcript, told) {
        Standing::Off => return allow("supervision is off"),
        Standing::On(guarded) => Some(guarded),
        Standing::Unpinned => {
            let found = state.load().inspect_err(|_| told.supervised = true)?;
            match found {
                None => return allow("this session is not supervised"),
                Some(state) if !state.enabled => return allow("supervision is off"),
                Some(_) => None,
            }
        }
    };
    if event.has_background_tasks() {
        return allow("background tasks are still running");
    }
    transcript.wait_for_answer(event.last_assistant_message.as_deref());
    if let Some(why) = transcript.transcript().turn.unjudged() {
        return allow(why);
    }
    told.supervised = true;
    let transcript = transcript.transcript();
    let decision = supervise(&args, &event, transcript, &state, &state_dir, guarded.as_deref_mut());
    told.changes.extend(guarded.into_iter().flat_map(|mut guarded| guarded.for_the_person()));
    decision
}

/// What was pinned when supervision began, if that can be read.
fn standing(
    event: &StopEvent,
    state: &StateFile,
    transcript: &mut TranscriptFile,
    told: &mut Told,
) -> Standing {
    let config_dir = Directories::find().map(|found| found.config_dir);
    let found = config_dir.and_then(|dir| guard::standing(&dir, event, state, transcript));
    found.unwrap_or_else(|error| {
        told.supervised = true;
        told.changes.push(format!("What supervision began with cannot be read: {error:#}"));
        Standing::Unpinned
    })
}

fn supervise(
    args: &Args,
    event: &StopEvent,
    transcript: &Transcript,
    state: &StateFile,
    state_dir: &Path,
    mut guarded: Option<&mut Guarded>,
) -> Result<Decision> {
    let found = Directories::find()?;
    let began_in = guarded.as_deref().map(|guarded| guarded.pinned.project.clone());
    let project = began_in.or_else(|| project(event.cwd.as_deref())).unwrap_or(found.project);
    let place = Directories { state_dir: state_dir.to_owned(), project, ..found };
    let (config, max) = match guarded.as_deref_mut() {
        Some(guarded) => (guarded.config(&place), Some(guarded.pinned.max_iterations)),
        None => {
            let max = env::var("CCC_MAX_ITERATIONS").ok().and_then(|max| max.parse().ok());
            (Config::load(&place.config_dir)?, max)
        }
    };
    let limits = Limits::of(&config, max)?;
    // Counted before the review: one that is cut off has been paid for too.
    let counted = state.change(|state| {
        let more = state.count < limits.max_iterations;
        state.count += u32::from(more);
        (more, state.count)
    });
    let round = match counted {
        Ok((true, round)) => {
            if let Some(guarded) = guarded.as_deref_mut() {
                guarded.counted(round)?;
            }
            round
        }
        Ok((false, _)) => {
            return allow(&format!("the limit of {} reviews is reached", limits.max_iterations));
        }
        // The client's own cap still ends the loop.
        Err(error) => {
            say(&format!("the count is not kept: {error:#}"));
            1
        }
    };
    let requirements = state.load()?.map(|state| state.requirements).unwrap_or_default();
    let (settings, task) = (args.settings.as_deref(), review::Task { round, requirements });
    let verdict =
        review::run(settings, event, transcript, &place, &config, &limits, task, guarded)?;
    let git = executables::on_path(Path::new("git"));
    let tree = Snapshot::take(&place.project, git.as_deref()).fingerprint();
    let stuck = remember(state, &verdict, tree);
    if verdict.completed {
        let proof = if verdict.without_proof { ", without proof" } else { "" };
        return allow(&format!("confirmed complete in round {round}{proof}"));
    }
    match (verdict.halt, stuck) {
        (Some(Halt::Blocked), _) => allow(&format!("blocked: {}", verdict.feedback)),
        (Some(Halt::Impossible), _) => allow(&format!("impossible: {}", verdict.feedback)),
        (None, Some(why)) => allow(&format!("stuck: {why}: {}", verdict.feedback)),
        (None, None) => Ok(Decision::Block(verdict.feedback)),
    }
}

/// Keeps what the next review of this task has to know. Says why the task is stuck, if it is.
fn remember(state: &StateFile, verdict: &Verdict, tree: String) -> Option<&'static str> {
    let changed = state.change(|state| {
        if verdict.completed {
            state.requirements.clear();
        } else if !verdict.requirements.is_empty() {
            state.requirements.clone_from(&verdict.requirements);
        }
        if verdict.completed || verdict.halt.is_some() {
            state.rejections = Circle::default();
            return None;
        }
        let stuck = state.rejections.rejected(verdict, Some(tree));
        if stuck.is_some() {
            state.rejections = Circle::default();
        }
        stuck
    });
    changed.unwrap_or_else(|error| {
        say(&format!("the review is not kept: {error:#}"));
        None
    })
}

/// Parsed by hand: the parser for the whole command line costs more than all the rest.
#[derive(Debug, PartialEq)]
struct Args {
    settings: Option<PathBuf>,
    state_dir: PathBuf,
}

impl Args {
    fn parse(args: &[OsString]) -> Result<Self> {
        let mut parsed = Self { settings: None, state_dir: PathBuf::from(STATE_DIR) };
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
