//! Which client it is: `claude --version`, in almost no environment, and not for ever.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::answer::{Bounds, answer};

/// It takes well under a second.
const BOUNDS: Bounds = Bounds { time: Duration::from_secs(10), bytes: 4096 };

/// The first and the last version that ccc was measured with.
pub const MEASURED: [Version; 2] = [Version([2, 1, 197]), Version([2, 1, 325])];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// `2.1.325 (Claude Code)`
    pub fn read(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let mut numbers = word.split('.').map(|part| part.parse().ok());
        let version = [numbers.next()??, numbers.next()??, numbers.next()??];
        numbers.next().is_none().then_some(Self(version))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// What it prints.
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
    fn versions_are_read_and_compared() {
        assert_eq!(Version::read("2.1.325 (Claude Code)\n"), Some(Version([2, 1, 325])));
        assert!(Version::read("2.1.99").unwrap() < MEASURED[0]);
        assert!(Version::read("3.0.0").unwrap() > MEASURED[1]);
        for text in ["", "claude 2.1.3", "2.1", "2.1.3.4", "v2.1.3"] {
            assert_eq!(Version::read(text), None, "{text}");
        }
        assert_eq!(MEASURED[1].to_string(), "2.1.325");
    }

    #[test]
    fn a_client_that_fails_is_no_answer() {
        let error = told(&mut Command::new("false"), BOUNDS).unwrap_err();
        assert!(error.to_string().contains("fails"), "{error}");
        assert!(ask(Path::new("/nowhere/claude")).is_err());
    }
}
