//! What can be typed. Definitions only: what it means is resolved in `cmd`.

pub mod judge;
pub mod provider;
pub mod replay;
pub mod sessions;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::directories::STATE_DIR;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Options of claude that a supervised session understands anywhere on the command line.
const TAKEN_OVER: &str = "\
Claude's own options follow ccc's. With --supervisor these continue a recorded session:
  -r, --resume [ID]  Resume a session: its id, the beginning of it, or choose from a list
  -c, --continue     Resume the latest session of this project

`ccc help COMMAND` explains a command.";

/// A supervised coding loop around claude.
///
/// An agent works, and each time it goes idle a second, forked claude reviews the result: feedback
/// goes back to the agent, until the work is confirmed or a limit is reached.
#[derive(Debug, Parser)]
#[command(
    name = "ccc",
    version,
    args_conflicts_with_subcommands = true,
    after_help = TAKEN_OVER
)]
#[command(override_usage = "ccc [OPTIONS] [PROVIDER] [CLAUDE ARGS…]\n       ccc <COMMAND>")]
pub struct Cli {
    #[command(flatten)]
    pub session: SessionArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Args)]
pub struct SessionArgs {
    /// Supervise the agent: in ccc's own terminal, with `=native` in claude's own, or with `=hook` by claude's Stop hook
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "here")]
    pub supervisor: Option<Where>,

    /// Run unattended; give the prompt here, among the claude arguments, or on standard input
    #[arg(short = 'p', long = "prompt", visible_alias = "print", value_name = "TEXT", num_args = 0..=1)]
    pub prompt: Option<Option<String>>,

    /// What to print in an unattended run
    #[arg(long, value_name = "FORMAT")]
    pub output_format: Option<OutputFormat>,

    /// Reviews before the loop stops [default: 10, or `supervisor.max_iterations` in ccc.json]
    #[arg(long, value_name = "N", value_parser = reviews)]
    pub max_iterations: Option<u32>,

    /// Plain lines, no redrawing: for screen readers and simple terminals [or `CCC_PLAIN=1`]
    #[arg(long)]
    pub plain: bool,

    /// Do not record the session
    #[arg(long)]
    pub no_record: bool,

    /// Skip the checks before a review
    #[arg(long, conflicts_with = "trust_checks")]
    pub no_checks: bool,

    /// Run the checks in this project's SUPERVISOR.md without asking
    #[arg(long)]
    pub trust_checks: bool,

    /// A provider from ccc.json, then arguments for claude
    #[arg(
        value_name = "PROVIDER, CLAUDE ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub rest: Vec<OsString>,
}

fn reviews(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number above 0".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Run only these
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Also run those whose `when` matches no file changed since the last commit
    #[arg(long)]
    pub all: bool,
    /// Run the checks in this project's SUPERVISOR.md without asking
    #[arg(long)]
    pub trust_checks: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// The supervised session in this terminal
    Here,
    /// Claude with its own screen, which ccc relays, records and supervises
    Native,
    /// Plain claude, reviewed by its Stop hook, without ccc around it
    Hook,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A readable transcript; in a pipe or a file, only the agent's last answer
    Text,
    /// The agent's lines unchanged, with ccc's own in between
    StreamJson,
    /// One object at the end
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a SUPERVISOR.md to start from, with the checks that fit this project
    Init {
        /// For all projects, in the config directory
        #[arg(long)]
        global: bool,
        /// Accept the proposed checks without asking
        #[arg(short, long, conflicts_with = "global")]
        yes: bool,
    },
    /// Run this project's checks now
    Check(CheckArgs),
    /// Switch the Stop hook's supervision of a session on or off; with no argument, print the current state
    SupervisorMode {
        /// The session [default: the one in `CLAUDE_CODE_SESSION_ID`]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// `on` or `off`; what follows is ignored
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "on|off")]
        words: Vec<String>,
    },
    /// Review a session at its Stop hook (claude runs this)
    SupervisorHook {
        /// Settings for the supervisor
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
        /// Where the state of sessions is kept
        #[arg(long, value_name = "DIR", default_value = STATE_DIR)]
        state_dir: PathBuf,
    },
    /// Manage the endpoints claude can run on; with no argument, print the current one
    Provider {
        #[command(subcommand)]
        command: Option<provider::ProviderCommand>,
    },
    /// Test a provider with one tiny request
    Validate(provider::ValidateArgs),
    /// Look back at recorded sessions
    Sessions(sessions::SessionsArgs),
    /// Play back fixtures and recorded sessions, or check that the loop still decides the same way
    Replay(replay::ReplayArgs),
    /// Turn a recorded session into a fixture, without keys, names and paths
    Fixture(replay::FixtureArgs),
    /// Measure how good your judge is, on sessions whose right verdict is known
    Judge(judge::JudgeArgs),
    /// Check that everything ccc needs is in place
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a script that completes ccc's commands and options
    Completions { shell: Shell },
}
