//! Which glass case (sandbox) this machine offers for a review, found out by entering one.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Finding;
use crate::client::case::{CaseKind, CaseReport, Sandbox};
use crate::config::Config;
use crate::directories::Directories;
use crate::executables;
use crate::process::orphans::Awaited;

const NAME: &str = "glass case";
/// Entering one takes milliseconds.
const DEADLINE: Duration = Duration::from_secs(10);

pub fn finding(place: &Directories, config: Option<&Config>) -> Finding {
    let sandbox = config.and_then(|config| config.supervisor().ok()).unwrap_or_default().sandbox;
    if sandbox == Sandbox::Off {
        return Finding::odd(
            NAME,
            "turned off by supervisor.sandbox in ccc.json",
            "a review can then run only read-only commands without asking; \"auto\" lets it run tests",
        );
    }
    match try_it(place) {
        Ok(report) => told(sandbox, &report),
        Err(error) => Finding::odd(
            NAME,
            format!("ccc could not test it: {error:#}"),
            "a review can then run only read-only commands without asking",
        ),
    }
}

fn told(sandbox: Sandbox, report: &CaseReport) -> Finding {
    match report.held {
        CaseKind::Overlay => Finding::well(
            NAME,
            "an overlay over the project: a review can run tests, and nothing it writes to the \
             project is kept",
        ),
        CaseKind::Landlock => Finding::odd(
            NAME,
            format!("Landlock: a review cannot write to the project; {}", report.why),
            "tests that write to the project fail in a review",
        ),
        CaseKind::Nothing if sandbox == Sandbox::Required => Finding::broken(
            NAME,
            format!("none, and supervisor.sandbox requires one: {}", report.why),
            "set supervisor.sandbox to \"auto\", or allow user namespaces",
        ),
        CaseKind::Nothing => Finding::odd(
            NAME,
            format!("none: {}", report.why),
            "a review can run only read-only commands without asking; supervisor.allowed_tools can allow more",
        ),
    }
}

/// Enters a glass case for this project in a separate process.
fn try_it(place: &Directories) -> Result<CaseReport> {
    let case =
        Sandbox::Auto.case(&place.project, &[]).context("there is no directory to test it with")?;
    let mut command = Command::new(executables::ccc()?);
    command
        .arg("agent-shim")
        .args(case.args())
        .args(["--", "true"])
        .current_dir(&place.project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let (mut child, _awaited) = Awaited::spawn(&mut command)?;
    // Kept open, because the process would exit at the end of its input.
    let input = child.stdin.take();
    let output = child.stdout.take().context("the test process has no output")?;
    let (send, printed) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        let _ = output.take(64 << 10).read_to_string(&mut text);
        let _ = send.send(text);
    });
    let printed = printed.recv_timeout(DEADLINE);
    drop(input);
    if printed.is_err() {
        let _ = child.kill();
    }
    let _ = child.wait();
    let text = printed.context("no answer")?;
    let line = text.lines().next().context("the test process printed nothing")?;
    serde_json::from_str(line).with_context(|| format!("the test process printed {line:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::doctor::Grade;

    #[test]
    fn what_is_missing_is_as_bad_as_it_is_needed() {
        let report = |held| CaseReport { held, why: "no overlay: because".into() };
        for (sandbox, held, state) in [
            (Sandbox::Auto, CaseKind::Overlay, Grade::Well),
            (Sandbox::Auto, CaseKind::Landlock, Grade::Odd),
            (Sandbox::Required, CaseKind::Landlock, Grade::Odd),
            (Sandbox::Auto, CaseKind::Nothing, Grade::Odd),
            (Sandbox::Required, CaseKind::Nothing, Grade::Broken),
        ] {
            let finding = told(sandbox, &report(held));
            assert_eq!(finding.state, state, "{finding:?}");
            assert_eq!(finding.text.contains("because"), held != CaseKind::Overlay, "{finding:?}");
        }
    }
}
