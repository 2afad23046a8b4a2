//! `ccc supervisor-hook`: reviews the work when the plain client stops, and handles what the person
//! types to ccc. It always exits with 0: if anything goes wrong, the client may stop, and the reason
//! goes to standard error and to the log.
//!
//! Most sessions are not supervised, and this runs at every stop of each of them. So that case is
//! decided first, and reads only the arguments, the event, the pinned facts and the state file.

mod checks;
mod files;
mod guard;
mod judge;
mod prompt;
mod review;
mod stop;
mod typed;

use std::env;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cmd::logging;
use crate::console;
use crate::directories::{Directories, STATE_DIR};
use crate::hook::client_environment;
use crate::hook::event::{HookEvent, HookKind};
use crate::hook::pinned::{Pinned, PinnedFile};
use crate::hook::reply::{Form, Reply};
use crate::hook::state::StateFile;

/// `--no-record`, for the hooks of this launch.
const NO_RECORD: &str = "CCC_NO_RECORD";

/// Larger than any real event, so that a hostile one cannot fill the memory.
const MAX_EVENT: u64 = 16 << 20;

pub fn run(args: &[OsString]) -> i32 {
    let launch = Args::parse(args).ok().and_then(|args| args.launch);
    // Read first: below, the environment of the hook is replaced by the client's.
    let form = Form::of(env::var("AI_AGENT").ok().as_deref());
    let missing = client_environment::take_on(launch.as_deref());
    let mut told = Told::default();
    let decision = decide(args, missing, &mut told);
    told.changes.iter().for_each(|change| say(change));
    let tell = |also: &str| {
        let also = Some(also).filter(|also| told.supervised && !also.is_empty());
        let all: Vec<_> = told.changes.iter().map(String::as_str).chain(also).collect();
        all.join("\n")
    };
    let reply = match decision {
        Ok(Decision::GoOn(feedback)) => Reply::GoOn { feedback, tell: tell("") },
        Ok(Decision::Taken(reason)) => Reply::Taken(reason),
        Ok(Decision::Silent) => Reply::Tell(tell("")),
        Ok(Decision::Allow(why)) => {
            say(&why);
            log::info!("supervisor-hook: {why}");
            Reply::Tell(tell(&why))
        }
        Err(error) => {
            say(&format!("the stop is allowed: {error:#}"));
            log::error!("supervisor-hook: {error:#}");
            Reply::Tell(tell(&format!("The work was not reviewed: {error:#}")))
        }
    };
    // If writing the reply fails, there is nobody left to tell.
    if let Some(answer) = reply.body(form) {
        let _ = writeln!(console::stdout(), "{answer}");
    }
    0
}

/// What the person is told on their screen.
#[derive(Default)]
struct Told {
    /// Whether the session is supervised; the person is told nothing about one that is not.
    supervised: bool,
    changes: Vec<String>,
}

enum Decision {
    Allow(String),
    /// ccc has nothing to say.
    Silent,
    /// The agent is not done, and is told why.
    GoOn(String),
    /// A prompt was meant for ccc, or a settings change is refused; the person is told this.
    Taken(String),
}

fn allow(why: &str) -> Result<Decision> {
    Ok(Decision::Allow(why.to_owned()))
}

/// The command with which the person switches supervision on (or off, with "off" behind it).
fn switch_command() -> &'static str {
    // The client sets this for the hooks of a plugin, whose commands begin with its name.
    if env::var_os("CLAUDE_PLUGIN_ROOT").is_some() { "/ccc:supervisor" } else { "/supervisor" }
}

fn say(text: &str) {
    console::say(format!("[ccc supervisor-hook] {text}"));
}

/// Whether this launch was started with the option that the variable stands for.
fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}

fn decide(args: &[OsString], missing: Vec<String>, told: &mut Told) -> Result<Decision> {
    if is_set("CCC_SUPERVISOR_HOOK") {
        return allow("this is the supervisor itself");
    }
    if is_set("CCC_SUPERVISOR_PTY") {
        return allow("the surrounding session supervises");
    }
    // Whatever fails before the event is known may hide a stop of supervised work.
    told.supervised = true;
    let args = Args { missing, ..Args::parse(args)? };
    told.supervised = args.is_supervised();
    let event = read_event()?;
    let state_dir = args.state_dir(event.cwd.as_deref())?;
    let state = StateFile::new(&state_dir, &event.session_id)?;
    told.supervised = false;
    match event.kind() {
        HookKind::Stop => stop::stopped(&args, &event, &state, &state_dir, told),
        HookKind::Prompt => prompt::submitted(&args, &event, &state, &state_dir),
        HookKind::ConfigChange => config_changed(&args, &event, &state_dir),
        HookKind::Other => Ok(Decision::Silent),
    }
}

fn read_event() -> Result<HookEvent> {
    let mut text = Vec::new();
    std::io::stdin().take(MAX_EVENT).read_to_end(&mut text).context("cannot read the event")?;
    serde_json::from_slice(&text).context(
        "ccc cannot read what claude reported; if this happens again, update ccc, or use a version of claude \
         that `ccc doctor` knows",
    )
}

/// Does not rely on the state file's `enabled`: the agent can write that file.
fn config_changed(args: &Args, event: &HookEvent, state_dir: &Path) -> Result<Decision> {
    let file = args.pinned(event)?;
    let pinned = Pinned::load(&file.current());
    let supervised = file.is_due() || !matches!(pinned, Ok(None));
    let Some(why) = event.config_change.refusal().filter(|_| supervised) else {
        return Ok(Decision::Silent);
    };
    logging::start(state_dir.join("ccc.log"));
    log::warn!("supervisor-hook: {why}");
    if let Ok(Some(mut pinned)) = pinned {
        pinned.unread.push(why.clone());
        pinned.save(&file.current())?;
    }
    Ok(Decision::Taken(why))
}

/// Parsed by hand: setting up the full command-line parser costs more than the rest of the hook.
#[derive(Debug, PartialEq)]
struct Args {
    /// The settings file of each judge.
    settings: Vec<PathBuf>,
    state_dir: PathBuf,
    /// The launch of the client that the supervision belongs to.
    launch: Option<String>,
    /// Variables that the launch was given to reach the model, and that are missing here.
    missing: Vec<String>,
}

impl Args {
    fn parse(args: &[OsString]) -> Result<Self> {
        let mut parsed = Self {
            settings: Vec::new(),
            state_dir: PathBuf::from(STATE_DIR),
            launch: None,
            missing: Vec::new(),
        };
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

    /// Whether the work is under supervision, as far as that is known without the event.
    fn is_supervised(&self) -> bool {
        let session = env::var("CLAUDE_CODE_SESSION_ID").unwrap_or_default();
        let file = Directories::find()
            .and_then(|found| PinnedFile::of(&found.config_dir, self.launch.as_deref(), &session));
        file.is_ok_and(|file| file.is_due() || file.current().exists())
    }

    fn pinned(&self, event: &HookEvent) -> Result<PinnedFile> {
        let config_dir = Directories::find()?.config_dir;
        PinnedFile::of(&config_dir, self.launch.as_deref(), &event.session_id)
    }

    /// Made absolute, because a relative directory would mean another one after the agent's first `cd`.
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

/// The directory in which the session began. A hook runs wherever the agent has since moved to.
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
            missing: Vec::new(),
        };
        assert_eq!(parse("--settings /path/to/settings.json --state-dir other").unwrap(), both);
        assert_eq!(parse("--settings=/path/to/settings.json --state-dir=other").unwrap(), both);
        assert_eq!(parse("--launch abc").unwrap().launch.as_deref(), Some("abc"));
        assert_eq!(parse("").unwrap().state_dir, Path::new(".claude/ccc"));
        assert!(parse("--bogus 1").is_err() && parse("--settings").is_err());
    }
}
