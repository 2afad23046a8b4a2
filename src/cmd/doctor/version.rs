//! Asks the client for its version: `claude --version`, with a minimal environment and a time limit.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::answer::{Bounds, answer};

/// The answer takes well under a second.
const LONGEST: Duration = Duration::from_secs(10);
const BOUNDS: Bounds = Bounds { time: LONGEST, idle: LONGEST, bytes: 4096 };

pub fn ask(claude: &Path) -> Result<String> {
    let kept = ["PATH", "HOME"];
    let kept = kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(claude);
    told(command.arg("--version").env_clear().envs(kept), BOUNDS)
}

fn told(command: &mut Command, bounds: Bounds) -> Result<String> {
    let answer = answer(command, b"", bounds)?;
    if !answer.status.success() {
        bail!("it fails ({})", answer.status);
    }
    Ok(String::from_utf8_lossy(&answer.printed).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_fails_is_no_answer() {
        let error = told(&mut Command::new("false"), BOUNDS).unwrap_err();
        assert!(error.to_string().contains("fails"), "{error}");
        assert!(ask(Path::new("/nowhere/claude")).is_err());
    }
}
