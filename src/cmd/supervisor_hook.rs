//! `ccc supervisor-hook`: the judgement at the plain client's Stop, and what the person types for it.
//! Always exits 0; whatever goes
//! wrong lets the client stop, and says why on standard error and in the log.
//!
//! Off is the common case and runs at every stop of every session, so it comes first and reads
//! nothing but its arguments, the event and the state file.

mod checks;
mod guard;
mod judge;
mod prompt;
mod review;
mod typed;

use std::env;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::guard::{Guarded, Standing};
use self::review::Reviewed;
use super::{base, logging, supervision};
use crate::config::Config;
use crate::config::clients::Limits;
use crate::console;
use crate::directories::{Directories, STATE_DIR};
use crate::hook::client_environment;
use crate::hook::event::{HookEvent, Kind, answer};
use crate::hook::pinned::PinnedFile;
use crate::hook::state::{State, StateFile};
use crate::hook::task::Task;
use crate::hook::transcript_file::TranscriptFile;
use crate::review::circle::Circle;
use crate::review::verdict::{Halt, Verdict};

/// Why nothing is judged when the person has typed something meanwhile.
const MESSAGE_FIRST: &str = "not reviewed: your message goes first";

/// More than any event; a hostile one does not fill the memory.
const MAX_EVENT: u64 = 16 << 20;

pub fn run(args: &[OsString]) -> i32 {
    let launch = Args::parse(args).ok().and_then(|args| args.launch);
    client_environment::take_on(launch.as_deref());
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
        Ok(Decision::Silent) => None,
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
    /// Nothing of ours.
    Silent,
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
    let event: HookEvent =
        serde_json::from_str(&text).context("the event on standard input is broken")?;
    let state_dir = args.state_dir(event.cwd.as_deref())?;
    let state = StateFile::new(&state_dir, &event.session_id)?;
    match event.kind() {
        Kind::Stop => stopped(&args, &event, &state, &state_dir, told),
        Kind::Prompt => prompt::submitted(&args, &event, &state, &state_dir),
        Kind::Other => Ok(Decision::Silent),
    }
}

fn stopped(
    args: &Args,
    event: &HookEvent,
    state: &StateFile,
    state_dir: &Path,
    told: &mut Told,
) -> Result<Decision> {
    // A project that was never supervised gets no files of ours.
    if state_dir.is_dir() {
        logging::start(state_dir.join("ccc.log"));
    }
    let mut transcript = TranscriptFile::new(event.transcript_path.as_deref());
    let mut guarded = match standing(args, event, state, &mut transcript, told) {
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
    if transcript.transcript().waiting().next().is_some() {
        return allow(MESSAGE_FIRST);
    }
    let decision = supervise(args, event, transcript, state, state_dir, guarded.as_deref_mut());
    told.changes.extend(guarded.into_iter().flat_map(|mut guarded| guarded.for_the_person()));
    decision
}

/// What was pinned when supervision began, if that can be read.
fn standing(
    args: &Args,
    event: &HookEvent,
    state: &StateFile,
    transcript: &mut TranscriptFile,
    told: &mut Told,
) -> Standing {
    let found = args.pinned(event).and_then(|file| guard::standing(file, event, state, transcript));
    found.unwrap_or_else(|error| {
        told.supervised = true;
        told.changes.push(format!("What supervision began with cannot be read: {error:#}"));
        Standing::Unpinned
    })
}

fn supervise(
    args: &Args,
    event: &HookEvent,
    transcript: TranscriptFile,
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
    let mut kept = Kept { state, guarded };
    let messages = transcript.transcript().said.len();
    // Counted before the review: one that is cut off has been paid for too.
    let counted = kept.change(|task| {
        task.stopped(messages);
        let more = task.count < limits.max_iterations;
        if more {
            task.count += 1;
        } else {
            task.settle();
        }
        (more, task.clone())
    });
    let task = match counted {
        Ok((true, task)) => task,
        Ok((false, _)) => {
            return allow(&format!(
                "the limit of {} reviews is reached; your next message begins anew",
                limits.max_iterations
            ));
        }
        // The client's own cap still ends the loop.
        Err(error) => {
            say(&format!("the count is not kept: {error:#}"));
            Task { count: 1, ..Task::default() }
        }
    };
    let guarded = kept.guarded.as_deref_mut();
    let reviewed =
        review::run(&args.settings, event, transcript, &place, &config, &limits, &task, guarded)?;
    let Reviewed { judged, tree } = reviewed;
    let Some(verdict) = judged else {
        // Nobody waits for it any more: it is no round.
        kept.change(|task| task.count = task.count.saturating_sub(1))?;
        return allow(MESSAGE_FIRST);
    };
    let stuck = kept.change(|task| remember(task, &verdict, tree)).unwrap_or_else(|error| {
        say(&format!("the review is not kept: {error:#}"));
        None
    });
    let round = task.count;
    if verdict.completed {
        if let Some(guarded) = kept.guarded {
            base::renew(guarded.file(), &place.project);
        }
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

/// How far the task has come, in the state file and among what is pinned.
struct Kept<'a> {
    state: &'a StateFile,
    guarded: Option<&'a mut Guarded>,
}

impl Kept<'_> {
    fn change<T>(&mut self, change: impl FnOnce(&mut Task) -> T) -> Result<T> {
        let changed = |state: &mut State| (change(&mut state.task), state.task.clone());
        let (result, task) = self.state.change(changed)?;
        if let Some(guarded) = self.guarded.as_deref_mut() {
            guarded.keep(&task)?;
        }
        Ok(result)
    }
}

/// Keeps what the next review of this task has to know. Says why the task is stuck, if it is.
fn remember(task: &mut Task, verdict: &Verdict, tree: Option<String>) -> Option<&'static str> {
    if verdict.completed {
        task.settle();
        return None;
    }
    if !verdict.requirements.is_empty() {
        task.requirements.clone_from(&verdict.requirements);
    }
    if verdict.halt.is_some() {
        task.rejections = Circle::default();
        return None;
    }
    let stuck = task.rejections.rejected(verdict, tree);
    if stuck.is_some() {
        task.rejections = Circle::default();
    }
    stuck
}

/// Parsed by hand: the parser for the whole command line costs more than all the rest.
#[derive(Debug, PartialEq)]
struct Args {
    /// Of each judge.
    settings: Vec<PathBuf>,
    state_dir: PathBuf,
    /// The launch of the client that supervision belongs to.
    launch: Option<String>,
}

impl Args {
    fn parse(args: &[OsString]) -> Result<Self> {
        let mut parsed =
            Self { settings: Vec::new(), state_dir: PathBuf::from(STATE_DIR), launch: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy();
            let (name, attached) =
                text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
            let value = attached.map(PathBuf::from).or_else(|| args.next().map(PathBuf::from));
            let value = value.with_context(|| format!("{name} needs a value"))?;
            match name {
                "--settings" => parsed.settings.push(value),
                "--state-dir" => parsed.state_dir = value,
                "--launch" => parsed.launch = Some(value.to_string_lossy().into_owned()),
                _ => bail!("unknown option {name:?}"),
            }
        }
        Ok(parsed)
    }

    fn pinned(&self, event: &HookEvent) -> Result<PinnedFile> {
        let key = supervision::key(self.launch.as_deref(), &event.session_id);
        PinnedFile::new(&Directories::find()?.config_dir, key)
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
        let both = Args {
            settings: vec!["/path/to/settings.json".into()],
            state_dir: "other".into(),
            launch: None,
        };
        assert_eq!(parse("--settings /path/to/settings.json --state-dir other").unwrap(), both);
        assert_eq!(parse("--settings=/path/to/settings.json --state-dir=other").unwrap(), both);
        assert_eq!(parse("--launch abc").unwrap().launch.as_deref(), Some("abc"));
        assert_eq!(parse("").unwrap().state_dir, Path::new(".claude/ccc"));
        assert!(parse("--bogus 1").is_err() && parse("--settings").is_err());
    }
}
