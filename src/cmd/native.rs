//! `ccc [provider] [claude args…]`: replaces itself by the plain client on the chosen endpoint. With
//! `--supervisor=hook`, the Stop hook supervises the session from its first stop.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::checks::{self, Wishes};
use super::supervision::{self, Begins};
use super::{Usage, release, slash_commands};
use crate::client::args::{ClientArgs, Resume, read_args, take_settings};
use crate::client::session_id;
use crate::client::version::Version;
use crate::config::clients::{self, Clients, JudgedBy, Launch, Limits, background, user_settings};
use crate::config::{Config, profile};
use crate::console;
use crate::directories::Directories;
use crate::executables;
use crate::hook::pinned::PinnedFile;
use crate::hook::state::StateFile;
use crate::review::instructions;

pub struct Native {
    pub provider: Option<String>,
    pub args: Vec<OsString>,
    /// Supervised from the first stop.
    pub supervised: bool,
    pub max_iterations: Option<u32>,
    pub checks: Wishes,
    pub no_record: bool,
}

/// Returns only if the client cannot be started.
pub fn run(place: &Directories, config: &Config, mut native: Native) -> Result<i32> {
    let claude = release::hooked_client()?;
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
    if let Err(error) = slash_commands::create(&place.client_dir, &executables::ccc()?) {
        console::say(format!("ccc: /supervisor and /supervisoroff are not available: {error:#}"));
    }

    let taken = read_args(native.args.clone());
    if taken.background && background::is_only_in(&clients.agent.env) {
        refuse_to_lose_the_endpoint(&claude)?;
    }

    let launch = uuid::Uuid::new_v4().to_string();
    let own = Launch {
        id: &launch,
        claude: &claude,
        env: &clients.agent.env,
        max_iterations: native.max_iterations,
        no_checks: native.checks.none,
        no_record: native.no_record,
        trust_checks: native.checks.trust,
    };
    let settings = own.settings(place, &clients.agent.settings)?;
    let mut args: Vec<OsString> = vec!["--settings".into(), settings];
    let pinned = PinnedFile::of_launch(&place.config_dir, &launch)?;
    if native.supervised {
        if let Some(why) = clients::why_hooks_are_off(place, &native.args) {
            bail!("{why} turns the Stop hook off; use `ccc --supervisor`, which needs no hooks");
        }
        // Asked here, because the hook itself cannot ask anybody.
        if let Ok(found) = instructions::find(&place.project, &place.config_dir) {
            let own = config.supervisor()?.checks;
            checks::allowed(place, own, Some(&found), native.checks, true)?;
        }
        let (id, chosen) = session(&taken)?;
        if let Some(id) = id.as_ref().filter(|_| chosen) {
            args.extend(["--session-id".into(), id.into()]);
        }
        let state = id.as_ref().map(|id| StateFile::new(&place.state_dir, id)).transpose()?;
        let begins = Begins {
            provider: native.provider.as_deref(),
            settings: &clients
                .judges
                .iter()
                .map(|judge| judge.settings.clone())
                .collect::<Vec<_>>(),
            max_iterations: native.max_iterations,
            arguments: Some(&taken),
        };
        let id = id.unwrap_or_default();
        supervision::begin(place, state.as_ref(), &pinned, &id, &begins)?;
    } else {
        pinned.end()?;
    }
    args.extend(native.args);
    let mut command = Command::new(&claude);
    command.args(&args).env_clear().envs(clients.agent.env.iter().cloned());
    command.envs(own.environment(place).into_iter().filter(|(_, value)| !value.is_empty()));
    let error = command.exec();
    Err(error).with_context(|| format!("cannot start {}", claude.display()))
}

/// Fails if the client would lose the endpoint: it would send the key to its default address.
fn refuse_to_lose_the_endpoint(claude: &Path) -> Result<()> {
    let version = Version::read(&release::ask(claude)?);
    if version.is_some_and(|version| version >= background::HANDS_ON) {
        return Ok(());
    }
    let which = version.map(|version| format!(" {version}")).unwrap_or_default();
    bail!(
        "claude{which} does not hand {} on to a session in the background, and would send your key to its \
         default address. ccc does it instead, but not for an address with a login in it. Update claude to \
         {} or newer, or use an address without a login",
        profile::BASE_URL,
        background::HANDS_ON
    )
}

/// The session that is supervised first, and whether ccc chose its id. The supervision belongs to the
/// launch: if only the client knows which session it will be, the first stop tells.
fn session(taken: &ClientArgs) -> Result<(Option<String>, bool)> {
    let id = match (&taken.session_id, &taken.resume) {
        // The client chooses the id of a background session.
        _ if taken.background => return Ok((None, false)),
        (Some(id), _) => id,
        (None, Some(Resume::Session(id))) if !taken.forks => id,
        (None, resumed) if taken.forks || (resumed.is_none() && !taken.names_session) => {
            return Ok((Some(uuid::Uuid::new_v4().to_string()), true));
        }
        _ => return Ok((None, false)),
    };
    if !session_id::is_safe(id) {
        return Err(Usage(format!("{id:?} is not a session id")).into());
    }
    Ok((Some(id.clone()), false))
}
