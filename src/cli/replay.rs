//! `ccc replay …`, `ccc fixture …`.

use std::path::PathBuf;

use clap::Args;

use super::OutputFormat;

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Fixture files, recorded sessions (an id or its beginning, or a directory), directories of both
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// Skip the pauses
    #[arg(long)]
    pub instant: bool,
    /// Play this many times as fast
    #[arg(long, value_name = "N", default_value = "1", value_parser = above_zero, conflicts_with = "instant")]
    pub speed: f64,
    /// Shorten pauses in a recording to at most this
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub idle_limit: f64,
    /// Show nothing; fail if the loop would decide differently today
    #[arg(long, conflicts_with_all = ["speed", "idle_limit", "output_format"])]
    pub check: bool,
    /// Write the results as JUnit XML, and create the directories of FILE
    #[arg(long, value_name = "FILE", requires = "check")]
    pub junit: Option<PathBuf>,
    /// What to print; here, text is always the whole transcript
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
}

#[derive(Debug, Args)]
pub struct FixtureArgs {
    /// A recorded session: its id or the beginning of it, or its directory
    #[arg(value_name = "SESSION")]
    pub session: PathBuf,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the fixture shows
    #[arg(long)]
    pub title: Option<String>,
    /// Which run of a resumed session, counting from 1 [default: the last]
    #[arg(long, value_name = "N")]
    pub run: Option<usize>,
    /// Write it even if it does not reproduce the session, and overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Write it without asking even if something in it still looks like a secret
    #[arg(long)]
    pub allow_suspects: bool,
}

fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=86_400.0).contains(&value) => Ok(value),
        _ => Err("expected a number of seconds from 0 to 86400".to_owned()),
    }
}
