//! `ccc completions SHELL`: a completion script for the shell, generated from the command line's definition.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{generate, shells};

use crate::cli::{Cli, Shell};
use crate::console;

pub fn run(shell: Shell) -> Result<i32> {
    // Generated into memory first, because a reader that closes the pipe early is not an error.
    let mut script = Vec::new();
    let mut cli = Cli::command();
    match shell {
        Shell::Bash => generate(shells::Bash, &mut cli, "ccc", &mut script),
        Shell::Zsh => generate(shells::Zsh, &mut cli, "ccc", &mut script),
        Shell::Fish => generate(shells::Fish, &mut cli, "ccc", &mut script),
    }
    console::print_exact(&script)?;
    Ok(0)
}
