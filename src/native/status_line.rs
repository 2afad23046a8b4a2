//! The line that the client shows below its input. ccc writes the state of the supervision into a small
//! file whenever it changes; the client runs `ccc status-line` every second, which adds how long that
//! state has lasted. The file of a ccc that was killed is ignored.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::process::orphans::Awaited;
use crate::{console, surface};

/// Displayed as `before`, the time elapsed since `since`, and `after`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Shown {
    pub ccc: i32,
    pub before: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

impl Shown {
    fn line(&self, now: f64) -> String {
        let elapsed =
            self.since.map(|since| format!(" {}", surface::duration((now - since).max(0.0))));
        format!("{}{}{}", self.before, elapsed.unwrap_or_default(), self.after)
    }
}

/// The file of this ccc process. Files left by processes that were killed are removed.
pub fn file(state_dir: &Path) -> PathBuf {
    for entry in std::fs::read_dir(state_dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix("status-"));
        let ccc = name.and_then(|name| name.strip_suffix(".json")?.parse().ok());
        if ccc.is_some_and(|ccc| !is_alive(ccc)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    state_dir.join(format!("status-{}.json", std::process::id()))
}

fn is_alive(process: i32) -> bool {
    process > 0 && !matches!(kill(Pid::from_raw(process), None), Err(Errno::ESRCH))
}

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64()
}

/// `ccc status-line FILE [COMMAND]`: prints the output of the user's own command and the state of the
/// supervision.
pub fn run(args: &[OsString]) -> i32 {
    let Some(file) = args.first() else { return 2 };
    let mut out = args.get(1).map(users_own).unwrap_or_default();
    if !out.is_empty() && !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    if let Some(line) = ours(Path::new(file)) {
        out.extend_from_slice(console::clean(&line).as_bytes());
        out.push(b'\n');
    }
    // Written unfiltered: the client reads this through a pipe, and the user's own line has colours.
    let _ = console::stdout().write_all(&out);
    0
}

fn ours(file: &Path) -> Option<String> {
    let shown: Shown = serde_json::from_slice(&files::read_own(file).ok()?).ok()?;
    is_alive(shown.ccc).then(|| shown.line(now()))
}

fn users_own(command: &OsString) -> Vec<u8> {
    let mut input = Vec::new();
    let _ = std::io::stdin().take(1 << 20).read_to_end(&mut input);
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok((mut child, _awaited)) = Awaited::spawn(&mut shell) else { return Vec::new() };
    if let Some(mut to) = child.stdin.take() {
        // A command that does not read its input is fine.
        let _ = to.write_all(&input);
    }
    child.wait_with_output().map(|output| output.stdout).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_without_ccc() {
        let shown = Shown {
            ccc: 1,
            before: "reviewing".into(),
            since: Some(100.0),
            after: " · round 2/10".into(),
        };
        assert_eq!(shown.line(134.2), "reviewing 34s · round 2/10");
        assert_eq!(Shown { since: None, ..shown }.line(0.0), "reviewing · round 2/10");
    }
}
