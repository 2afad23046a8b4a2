//! One file per command: what was typed becomes what is meant, and is run.

mod attention;
mod client;
mod completions;
mod doctor;
mod fixture;
pub mod import;
mod init;
mod logging;
mod looks;
mod native;
mod output;
mod place;
mod prompt;
mod provider;
mod questions;
mod replay;
mod sessions;
mod slash_commands;
mod supervise;
mod supervisor_hook;
mod supervisor_mode;
mod surfaces;
mod validate;

use std::ffi::OsString;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::cli::{Cli, Command, SessionArgs, Where};
use crate::config::Config;
use crate::pty;
use native::Native;
use place::Place;

/// Something the user typed is wrong: exit code 2 instead of 1.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Runs the command line and returns the exit code.
pub fn run(args: Vec<OsString>) -> i32 {
    // Commands that programs start, not people: they skip the parser, which costs more than they do.
    match args.get(1).and_then(|word| word.to_str()) {
        Some("agent-shim") if args.len() > 3 => return crate::shim::run(&args[3..]),
        Some("supervisor-hook") if !asks_for_help(&args) => {
            return supervisor_hook::run(&args[2..]);
        }
        Some("fixture-player") if args.len() > 2 => return play(&args[2..]),
        _ => {}
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return error.exit_code();
        }
    };
    exit_code(dispatch(cli))
}

fn exit_code(result: Result<i32>) -> i32 {
    result.unwrap_or_else(|error| {
        eprintln!("ccc: {error:#}");
        if error.is::<Usage>() { 2 } else { 1 }
    })
}

fn play(args: &[OsString]) -> i32 {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    exit_code(crate::fixture::player::run(&args[0], &args[1..]))
}

fn dispatch(cli: Cli) -> Result<i32> {
    match cli.command {
        Some(Command::Init { global }) => init::run(global),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Fixture(args)) => fixture::run(&args),
        Some(Command::Provider(command)) => provider::run(command),
        Some(Command::Validate(args)) => validate::run(&args),
        Some(Command::Doctor { json }) => doctor::run(json),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Sessions(args)) => sessions::run(args),
        Some(Command::SupervisorMode { session, words }) => supervisor_mode::run(&words, session),
        // With arguments it never gets here; see `run`.
        Some(Command::SupervisorHook { .. }) => Ok(supervisor_hook::run(&[])),
        None => launch(cli.session),
    }
}

/// `ccc [OPTIONS] [PROVIDER] [CLAUDE ARGS…]`
fn launch(mut args: SessionArgs) -> Result<i32> {
    let place = Place::find()?;
    logging::start(place.state_dir.join("ccc.log"));
    import::offer_once(&place.config_dir)?;
    let config = Config::load(&place.config_dir)?;
    let provider = take_provider(&config, &mut args.rest);
    args.rest.splice(0..0, config.claude_args().into_iter().map(OsString::from));
    let no_pty = args.supervisor == Some(Where::Here) && !pty::available();
    if no_pty {
        eprintln!(
            "ccc: no PTY can be opened here; starting the plain claude, supervised by its Stop hook"
        );
    }
    if args.supervisor == Some(Where::Here) && !no_pty {
        return supervise::run(place, &config, args, provider.as_deref());
    }
    if let Some(prompt) = args.prompt {
        args.rest.push("--print".into());
        args.rest.extend(prompt.map(OsString::from));
    }
    if let Some(format) = args.output_format.and_then(|format| format.to_possible_value()) {
        args.rest.extend(["--output-format".into(), format.get_name().into()]);
    }
    let native = Native {
        provider,
        args: args.rest,
        supervised: args.supervisor.is_some(),
        max_iterations: args.max_iterations,
    };
    native::run(&place, &config, native)
}

fn take_provider(config: &Config, rest: &mut Vec<OsString>) -> Option<String> {
    let named =
        rest.first().and_then(|word| word.to_str()).filter(|word| config.has_provider(word));
    match named.map(str::to_owned) {
        Some(provider) => {
            rest.remove(0);
            Some(provider)
        }
        None => config.default_provider(),
    }
}

fn asks_for_help(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
}
