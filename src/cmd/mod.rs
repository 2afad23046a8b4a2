//! One file per command: what was typed becomes what is meant, and is run.

mod init;
mod logging;
mod looks;
mod place;
mod prompt;
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
    // Inner commands stand in front of every client process and skip the parser.
    if args.get(1).is_some_and(|word| word == "agent-shim") && args.len() > 3 {
        return crate::shim::run(&args[3..]);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return error.exit_code();
        }
    };
    match dispatch(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ccc: {error:#}");
            if error.is::<Usage>() { 2 } else { 1 }
        }
    }
}

fn dispatch(cli: Cli) -> Result<i32> {
    match cli.command {
        Some(Command::Init { global }) => init::run(global),
        Some(Command::Replay { .. }) => todo!(),
        None if cli.session.supervisor => supervise::run(cli.session),
        None => Err(Usage("say what to do: `ccc --supervisor` starts a supervised session, `ccc --help` tells more".into()).into()),
    }
}
