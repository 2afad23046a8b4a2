//! `ccc completions SHELL`: a script for the shell, made from the definition of the command line.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{generate, shells};

use super::output::print;
use crate::cli::{Cli, Shell};

pub fn run(shell: Shell) -> Result<i32> {
    // Into memory first: a reader that goes away early is no failure.
    let mut script = Vec::new();
    let mut cli = Cli::command();
    match shell {
        Shell::Bash => generate(shells::Bash, &mut cli, "ccc", &mut script),
        Shell::Zsh => generate(shells::Zsh, &mut cli, "ccc", &mut script),
        Shell::Fish => generate(shells::Fish, &mut cli, "ccc", &mut script),
    }
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
