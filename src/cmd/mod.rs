//! One file per command: what was typed becomes what is meant, and is run.

mod init;
mod logging;
mod looks;
mod place;
mod prompt;
mod replay;
mod supervise;

use std::ffi::OsString;

use anyhow::Result;
use clap::Parser;

use crate::cli::{Cli, Command};

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
    // Inner commands: ccc starts them itself, so they skip the parser.
    match args.get(1).and_then(|word| word.to_str()) {
        Some("agent-shim") if args.len() > 3 => return crate::shim::run(&args[3..]),
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
        Some(Command::Replay { files, instant, output_format }) => {
            replay::run(&files, instant, output_format)
        }
        None if cli.session.supervisor => supervise::run(cli.session),
        None => Err(Usage("say what to do: `ccc --supervisor` starts a supervised session, `ccc --help` tells more".into()).into()),
    }
}
