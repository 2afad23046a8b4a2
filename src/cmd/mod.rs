//! The commands, one file each, and the dispatch from the command line to them.

mod base;
mod check;
mod checks;
mod completions;
mod doctor;
mod fixture;
pub mod import;
mod init;
mod judge;
mod logging;
mod login;
mod misspelt;
mod native;
mod output;
mod pick;
mod prompt;
mod provider;
mod questions;
mod release;
mod replay;
mod sessions;
mod slash_commands;
mod stop;
mod supervise;
mod supervise_native;
mod supervision;
mod supervisor_hook;
mod supervisor_mode;
mod validate;

use std::ffi::OsString;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::cli::{Cli, Command, SessionArgs, Where};
use crate::config::{self, Config};
use crate::console;
use crate::directories::Directories;
use crate::process::pty;
use native::Native;

/// A mistake in what the user typed: exit code 2 instead of 1.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

pub fn run(mut args: Vec<OsString>) -> i32 {
    crate::process::signals::survive_long_files();
    // Commands started by programs, not people. They skip the parser, which would cost more than they do.
    match args.get(1).and_then(|word| word.to_str()) {
        Some("agent-shim") if args.len() > 3 => return crate::process::shim::run(&args[2..]),
        Some("supervisor-hook") if !asks_for_help(&args) => {
            return supervisor_hook::run(&args[2..]);
        }
        Some("status-line") if args.len() > 2 => {
            return crate::native::status_line::run(&args[2..]);
        }
        Some("scripted-client") if args.len() > 2 => return play(&args[2..]),
        _ => {}
    }
    // clap's own command `help` takes no option, not even this one.
    if args.get(1).is_some_and(|word| word == "help") {
        args.retain(|arg| !is_help(arg));
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help contains no foreign text; an error message quotes what was typed.
            match error.exit_code() {
                0 => return exit_code(print_help(&error)),
                _ => console::say(error.render().to_string().trim_end()),
            }
            return error.exit_code();
        }
    };
    exit_code(dispatch(cli))
}

/// In colour if the output is a terminal.
fn print_help(error: &clap::Error) -> Result<i32> {
    let text = error.render();
    let text = if console::is_terminal() { text.ansi().to_string() } else { text.to_string() };
    console::print_styled(text.as_bytes())?;
    Ok(0)
}

fn exit_code(result: Result<i32>) -> i32 {
    result.unwrap_or_else(|error| {
        console::say(format!("ccc: {error:#}"));
        if error.is::<Usage>() { 2 } else { 1 }
    })
}

fn play(args: &[OsString]) -> i32 {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    exit_code(crate::fixture::scripted_client::run(&args[0], &args[1..]))
}

fn dispatch(cli: Cli) -> Result<i32> {
    match cli.command {
        Some(Command::Init { global, yes }) => init::run(global, yes),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Fixture(args)) => fixture::run(&args),
        Some(Command::Provider { command }) => provider::run(command),
        Some(Command::Validate(args)) => validate::run(&args),
        Some(Command::Judge(args)) => judge::run(&args),
        Some(Command::Doctor { json }) => doctor::run(json),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Sessions(args)) => sessions::run(args),
        Some(Command::SupervisorMode { session, words }) => supervisor_mode::run(&words, session),
        // With arguments, `run` has already handled it.
        Some(Command::SupervisorHook { .. }) => Ok(supervisor_hook::run(&[])),
        None => launch(cli.session),
    }
}

/// `ccc [OPTIONS] [PROVIDER] [CLAUDE ARGS…]`
fn launch(mut args: SessionArgs) -> Result<i32> {
    if args.plain && args.supervisor != Some(Where::Here) {
        let problem = "--plain is for `ccc --supervisor`; here, claude draws the screen itself";
        return Err(Usage(problem.into()).into());
    }
    let place = Directories::find()?;
    logging::start(place.state_dir.join("ccc.log"));
    import::offer_once(&place)?;
    let config = Config::load(&place.config_dir)?;
    if let Some(problem) = config.readable_keys(&place.config_dir) {
        console::say(format!("ccc: {problem}; `chmod 600` makes the file private"));
    }
    if let Some(unknown) = config.unknown_told() {
        console::say(format!("ccc: {} has {unknown}; check the spelling", config::FILE));
    }
    if let Some(missing) = config.missing_provider() {
        console::say(format!("ccc: in {}, {missing}", config::FILE));
    }
    give_back_option(&mut args);
    let words = args.rest.len();
    let provider = take_provider(&config, &mut args.rest);
    let is_named = args.rest.len() < words;
    // Plain claude gets everything behind a provider's name as it is.
    if !is_named || args.supervisor.is_some() {
        misspelt::check(&args.rest, args.prompt.is_none() && !is_named, &config)?;
    }
    args.rest.splice(0..0, config.claude_args().into_iter().map(OsString::from));
    let needs_pty = matches!(args.supervisor, Some(Where::Here | Where::Native));
    let no_pty = needs_pty && !pty::available();
    if no_pty {
        console::say(
            "ccc: this machine cannot open a PTY, so ccc starts the plain claude, supervised by \
             its Stop hook",
        );
    }
    match args.supervisor {
        Some(Where::Here) if !no_pty => {
            return supervise::run(place, &config, args, provider.as_deref());
        }
        Some(Where::Native) if !no_pty => {
            return supervise_native::run(place, &config, args, provider.as_deref());
        }
        _ => {}
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
        checks: checks::Wishes { none: args.no_checks, trust: args.trust_checks },
        no_record: args.no_record,
    };
    native::run(&place, &config, native)
}

/// `-p --model m "do it"`: for claude, `-p` takes no value. The parser takes whatever follows for the
/// prompt.
fn give_back_option(args: &mut SessionArgs) {
    let is_option = |text: &str| {
        let name = text.split('=').next().unwrap_or_default();
        name.len() > 1 && name.starts_with('-') && !name.contains(char::is_whitespace)
    };
    if let Some(prompt @ Some(_)) = &mut args.prompt
        && let Some(option) = prompt.take_if(|text| is_option(text))
    {
        args.rest.insert(0, option.into());
    }
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
    args.iter().any(is_help)
}

fn is_help(arg: &OsString) -> bool {
    arg == "--help" || arg == "-h"
}
