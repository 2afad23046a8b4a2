//! `ccc judge …`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes: 0 if every verdict was right, 1 if one was wrong, 4 if none was wrong but one is missing.";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct JudgeArgs {
    /// List the sessions that would be played, and what is wrong in each
    #[arg(long)]
    pub list: bool,
    /// Play all sessions, not only the sample of 20
    #[arg(long)]
    pub all: bool,
    /// Play only the sessions whose name contains this text; can be repeated
    #[arg(long, value_name = "TEXT", conflicts_with = "all")]
    pub only: Vec<String>,
    /// Measure this model instead of the configured judges
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Measure this provider from ccc.json instead of the configured judges
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Use these instructions instead of the SUPERVISOR.md that counts here
    #[arg(long, value_name = "FILE")]
    pub supervisor: Option<PathBuf>,
    /// Say whether the work of a recorded session was done when it got its last verdict
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["list", "all", "only", "recorded"])]
    pub label: Option<Label>,
    /// The session to label: its id, or the beginning of it [default: the newest]
    #[arg(value_name = "SESSION", requires = "label")]
    pub session: Option<String>,
    /// Compare the verdicts of this project's recorded sessions with your labels; asks no model
    #[arg(long, conflicts_with_all = ["list", "all", "only", "model", "provider", "supervisor"])]
    pub recorded: bool,
    /// Start without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Label {
    Done,
    NotDone,
}
