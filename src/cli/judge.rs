//! `ccc judge …`.

use std::path::PathBuf;

use clap::Args;

/// What the table says, for those who run it in CI.
const EXIT_CODES: &str = "\
Exit codes: 0 if every verdict was right, 1 if one was wrong, 4 if none was wrong and one is missing.";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct JudgeArgs {
    /// Print the sessions that would be played, and what is wrong with the work in them
    #[arg(long)]
    pub list: bool,
    /// Play all sessions instead of the sample
    #[arg(long)]
    pub all: bool,
    /// Play the sessions whose name contains this; may be given several times
    #[arg(long, value_name = "TEXT", conflicts_with = "all")]
    pub only: Vec<String>,
    /// Judge with this model instead of the configured judges
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Judge on this provider from ccc.json instead of the configured judges
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Judge by this file instead of the SUPERVISOR.md that counts here
    #[arg(long, value_name = "FILE")]
    pub supervisor: Option<PathBuf>,
    /// Start without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
