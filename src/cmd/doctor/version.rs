//! Which client it is: `claude --version`, in almost no environment, and not for ever.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::process::orphans::Awaited;

/// It takes well under a second.
const DEADLINE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
const MOST: u64 = 4096;

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
    command.arg("--version").env_clear().envs(kept);
    answer(command, DEADLINE)
}

fn answer(mut command: Command, deadline: Duration) -> Result<String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // So that whatever it starts can be ended with it.
        .process_group(0);
    let (mut child, _awaited) = Awaited::spawn(&mut command).context("it does not start")?;
    let (send, printed) = channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || {
            let mut text = Vec::new();
            let _ = out.take(MOST).read_to_end(&mut text);
            let _ = send.send(text);
        });
    }
    let until = Instant::now() + deadline;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > until {
            end(&mut child);
            bail!("no answer within {} s", deadline.as_secs_f32());
        }
        thread::sleep(LOOK_AGAIN);
    };
    // Somebody it left behind may hold its output open.
    let text = printed.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    if !status.success() {
        bail!("it fails ({status})");
    }
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

fn end(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let _ = child.wait();
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
    fn a_client_that_does_not_answer_is_ended() {
        let mut sleep = Command::new("sleep");
        sleep.arg("600");
        let error = answer(sleep, Duration::from_millis(20)).unwrap_err();
        assert!(error.to_string().contains("no answer"), "{error}");
        assert!(answer(Command::new("false"), DEADLINE).unwrap_err().to_string().contains("fails"));
        assert!(ask(Path::new("/nowhere/claude")).is_err());
    }
}
