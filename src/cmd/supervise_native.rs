//! `ccc --supervisor=native`: supervises claude with its own screen. ccc is its parent process: it
//! relays and records the terminal, receives the client's hook events, and answers them.

use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;

use super::questions;
use super::supervise::{
    earlier, earlier_commands, find_instructions, judges, recorder, run_session, start_files,
    watched,
};
use super::{Usage, checks, release, slash_commands};
use crate::cli::SessionArgs;
use crate::client::args::{ClientArgs, read_args, take_settings};
use crate::client::launch::AgentStart;
use crate::config::clients::{self, Limits, Reporting, user_settings};
use crate::config::{Config, managed};
use crate::directories::Directories;
use crate::machine::{Rules, TypedInto};
use crate::native::origin::ClientProcess;
use crate::native::server::Server;
use crate::native::settings::{Reports, SECRET};
use crate::native::status_line;
use crate::native::surface::NativeSurface;
use crate::process::terminal::{self, PersonsTerminal};
use crate::session::{self, Incoming, NativeSetup, Setup, Workplace};
use crate::{console, executables, files};

pub fn run(
    place: Directories,
    config: &Config,
    mut args: SessionArgs,
    provider: Option<&str>,
) -> Result<i32> {
    let given = take_settings(&mut args.rest);
    let taken = read_args(args.rest.clone());
    refuse_what_needs_no_screen(&args, &taken)?;
    if let Some(why) = clients::why_hooks_are_off(&place, &args.rest) {
        anyhow::bail!(
            "{why} turns off the hooks through which claude reports to ccc; use `ccc \
             --supervisor`, which needs no hooks"
        );
    }
    let claude = release::hooked_client()?;
    let instructions = find_instructions(&place, true)?;
    let wishes = checks::Wishes { none: args.no_checks, trust: args.trust_checks };
    let supervisor = config.supervisor()?;
    let own = supervisor.checks.clone();
    let allowed = checks::allowed(&place, own, Some(&instructions), wishes, true)?;
    let limits = Limits::of(config, args.max_iterations)?;
    let rules = Rules {
        max_iterations: limits.max_iterations,
        review_timeout: limits.review_timeout,
        judging: supervisor.judging(instructions.front.proof),
        checking: allowed.rules(),
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
        typed_into: TypedInto::Client,
        ..Rules::default()
    };

    let (to_control, control) = session::control();
    let secret = uuid::Uuid::new_v4().simple().to_string();
    let reports = to_control.clone();
    let client_process = ClientProcess::default();
    let server = Server::start(secret.clone(), client_process.clone(), move |report| {
        reports.send(Incoming::Hook(report)).is_ok()
    })?;
    let ccc = executables::ccc()?;
    files::prepare_state_dir(&place.state_dir)?;
    let status = status_line::file(&place.state_dir);
    let reports = Reports { to: server.address(), ccc: &ccc, status: &status };
    let user = user_settings(given.as_deref())?;
    let mut client =
        Reporting::prepare(&place, config, provider, user.as_ref(), &limits, &reports)?;
    client.env.push((SECRET.into(), secret.into()));
    client.env.push(("CCC_SUPERVISOR_PTY".into(), "1".into()));
    if let Err(error) = slash_commands::create(&place.client_dir, &ccc) {
        console::say(format!("ccc: /supervisor and /supervisoroff are not available: {error:#}"));
    }
    let mut client_args: Vec<OsString> = vec!["--settings".into(), client.settings.into()];
    client_args.extend(args.rest);

    let terminal = Rc::new(PersonsTerminal::open()?);
    let size = terminal.size().map_or((120, 40), |size| (size.ws_col, size.ws_row));
    let records_keys = !args.no_record && supervisor.record_keys.unwrap_or(true);
    let beforehand = records_keys.then(|| keys_are_recorded(&place.config_dir)).flatten();
    let recorder = (!args.no_record).then(|| recorder(&place, provider, &rules, size, &supervisor));
    let first = AgentStart::AsUserSays;
    let mut judges = judges(&place, &supervisor, &taken, client.judges).into_iter();
    let setup = Setup {
        earlier: earlier(&first, place.state_dir.clone(), rules.seed),
        earlier_commands: earlier_commands(&first, place.state_dir.clone()),
        start_files: start_files(&claude)?,
        claude_args: client_args,
        agent_env: client.env,
        judge: judges.next().unwrap_or_default(),
        other_judges: judges.collect(),
        watched: watched(&place, instructions.path),
        managed: Some(managed::fingerprint()),
        instructions: instructions.text,
        workplace: Some(Workplace::of(&place.project)?),
        size,
        recorder,
        native: Some(NativeSetup {
            terminal: Rc::clone(&terminal),
            hooks: server.address(),
            client: client_process,
            prompt: taken.prompt,
            transcripts: place.all_conversations(),
            beforehand,
        }),
        ..Setup::new(rules, first, ccc, vec![claude.into()], place.project)
    };
    let mut surface = NativeSurface::new(terminal, status);
    terminal::restore_on_panic();
    Ok(run_session(setup, &mut surface, Vec::new(), (to_control, control))?.exit_code)
}

fn refuse_what_needs_no_screen(args: &SessionArgs, taken: &ClientArgs) -> Result<()> {
    if args.prompt.is_some() || taken.print || args.output_format.is_some() {
        let problem = "--supervisor=native is for a person at a terminal; to run unattended, use `ccc --supervisor -p TEXT`";
        return Err(Usage(problem.into()).into());
    }
    if taken.background {
        let problem = "--supervisor=native needs a screen, and a session in the background has \
            none; use `ccc --supervisor=hook --bg TEXT`";
        return Err(Usage(problem.into()).into());
    }
    if !questions::is_possible() {
        let problem =
            "--supervisor=native needs a terminal; without one, use `ccc --supervisor -p TEXT`";
        return Err(Usage(problem.into()).into());
    }
    Ok(())
}

/// Told once per user: anyone who types a password should know that it is recorded. The client draws
/// over the screen as it was before its start, so this needs an announcement of its own.
fn keys_are_recorded(config_dir: &Path) -> Option<(String, String)> {
    const TOLD: &str = "ccc-keys-are-recorded";
    let told = config_dir.join(TOLD);
    if told.exists() {
        return None;
    }
    if let Err(error) = files::replace(&told, b"") {
        log::debug!("{error:#}");
    }
    let whole = "This session is recorded in the project's .claude/ccc/, private to you: the \
                 screen, and every key that you press. `--no-record` records nothing, and \
                 \"record_keys\": false under \"supervisor\" in ccc.json leaves the keys out. \
                 (ccc says this only once.)";
    Some(("every key is recorded; --no-record prevents that".to_owned(), whole.to_owned()))
}
