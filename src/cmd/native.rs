//! `ccc [provider] [claude args…]`: becomes the plain client on the chosen endpoint. With
//! `--supervisor=hook` its session is supervised by the Stop hook from its first stop.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::checks::{self, Wishes};
use super::supervision::{self, Begins};
use super::{Usage, slash_commands};
use crate::client::args::{Resume, take_over, take_settings};
use crate::client::session_id;
use crate::config::Config;
use crate::config::clients::{self, Clients, JudgedBy, Limits, user_settings};
use crate::console;
use crate::directories::Directories;
use crate::executables;
use crate::hook::pinned::PinnedFile;
use crate::hook::state::StateFile;
use crate::review::instructions;

pub struct Native {
    pub provider: Option<String>,
    pub args: Vec<OsString>,
    /// Supervised from the first stop on.
    pub supervised: bool,
    pub max_iterations: Option<u32>,
    pub checks: Wishes,
}

/// Returns only when the client cannot be started.
pub fn run(place: &Directories, config: &Config, mut native: Native) -> Result<i32> {
    let limits = Limits::of(config, native.max_iterations)?;
    let user = user_settings(take_settings(&mut native.args).as_deref())?;
    let clients = Clients::prepare(
        place,
        config,
        native.provider.as_deref(),
        user.as_ref(),
        &limits,
        JudgedBy::Hook,
    )?;
    if let Err(error) = slash_commands::create(&place.config_dir, &executables::ccc()?) {
        console::say(format!("ccc: /supervisor and /supervisoroff are not there: {error:#}"));
    }
    let claude = executables::claude()?;

    let mut args: Vec<OsString> = vec!["--settings".into(), clients.agent.settings.into()];
    if native.supervised {
        if clients::hooks_are_off(place) {
            bail!(
                "disableAllHooks in your settings.json switches the Stop hook off; use `ccc --supervisor`"
            );
        }
        // The hook itself can ask nobody.
        if let Ok(found) = instructions::find(&place.project, &place.config_dir) {
            let own = config.supervisor()?.checks;
            checks::allowed(place, own, Some(&found), native.checks, true)?;
        }
        let (id, chosen) = session(&native.args)?;
        if chosen {
            args.extend(["--session-id".into(), id.clone().into()]);
        }
        let state = StateFile::new(&place.state_dir, &id)?;
        // The person starts it: what an earlier supervision of this session began with is over.
        PinnedFile::new(&place.config_dir, &id)?.remove();
        let begins = Begins {
            provider: native.provider.as_deref(),
            settings: &clients
                .judges
                .iter()
                .map(|judge| judge.settings.clone())
                .collect::<Vec<_>>(),
            max_iterations: native.max_iterations,
            arguments: Some(&take_over(native.args.clone())),
        };
        supervision::begin(place, &state, &id, &begins)?;
    }
    args.extend(native.args);
    let mut command = Command::new(&claude);
    command.args(&args).env_clear().envs(clients.agent.env);
    if native.checks.none {
        command.env("CCC_NO_CHECKS", "1");
    }
    if native.checks.trust {
        command.env("CCC_TRUST_CHECKS", "1");
    }
    if let Some(max) = native.max_iterations {
        command.env("CCC_MAX_ITERATIONS", max.to_string());
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot start {}", claude.display()))
}

/// The session that will be supervised: the user's, or one of ccc's choosing.
fn session(args: &[OsString]) -> Result<(String, bool)> {
    let taken = take_over(args.to_vec());
    let id = match (taken.session_id, taken.resume) {
        (Some(id), _) => id,
        (None, Some(Resume::Session(id))) if !taken.forks => id,
        (None, Some(Resume::Choose | Resume::Latest)) if !taken.forks => {
            let problem = "supervision by the hook needs to know the session before it starts: name it with --resume ID";
            return Err(Usage(problem.into()).into());
        }
        (None, _) => return Ok((uuid::Uuid::new_v4().to_string(), true)),
    };
    if !session_id::is_safe(&id) {
        return Err(Usage(format!("{id:?} is no session id")).into());
    }
    Ok((id, false))
}
