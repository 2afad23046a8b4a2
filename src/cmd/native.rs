//! `ccc [provider] [claude args…]`: becomes the plain client on the chosen endpoint. With
//! `--supervisor=hook` its session is supervised by the Stop hook from its first stop.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::client::{self, Clients, Limits, user_settings};
use super::place::{self, Place};
use super::{Usage, slash_commands};
use crate::claude_args::{Resume, take_over, take_settings};
use crate::config::Config;
use crate::session_id;
use crate::state::StateFile;

pub struct Native {
    pub provider: Option<String>,
    pub args: Vec<OsString>,
    /// Supervised from the first stop on.
    pub supervised: bool,
    pub max_iterations: Option<u32>,
}

/// Returns only when the client cannot be started.
pub fn run(place: &Place, config: &Config, mut native: Native) -> Result<i32> {
    let limits = Limits::of(config, native.max_iterations)?;
    let user = user_settings(take_settings(&mut native.args).as_deref())?;
    let clients =
        Clients::prepare(place, config, native.provider.as_deref(), user.as_ref(), &limits)?;
    let ccc = env::current_exe().context("ccc cannot find its own executable")?;
    if let Err(error) = slash_commands::create(&place.config_dir, &ccc) {
        eprintln!("ccc: /supervisor and /supervisoroff are not there: {error:#}");
    }
    let claude = place::claude()?;

    let mut args: Vec<OsString> = vec!["--settings".into(), clients.agent.settings.into()];
    if native.supervised {
        if client::users_settings(place).get("disableAllHooks") == Some(&json!(true)) {
            bail!(
                "disableAllHooks in your settings.json switches the Stop hook off; use `ccc --supervisor`"
            );
        }
        let (id, chosen) = session(&native.args)?;
        if chosen {
            args.extend(["--session-id".into(), id.clone().into()]);
        }
        StateFile::new(&place.state_dir, &id)?.change(|state| {
            state.enabled = true;
            state.count = 0;
        })?;
    }
    args.extend(native.args);
    let mut command = Command::new(&claude);
    command.args(&args).env_clear().envs(clients.agent.env);
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
