//! `ccc completions SHELL`: a script for the shell, made from the definition of the command line.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{generate, shells};

use crate::cli::{Cli, Shell};
use crate::console;

pub fn run(shell: Shell) -> Result<i32> {
    // Into memory first: a reader that goes away early is no failure.
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
