//! The checks inside the hook: before the judge, and within the hook's own time.

use std::time::{Duration, Instant};

use anyhow::Result;
use crossbeam_channel::after;

use crate::brief::facts::Examined;
use crate::brief::{Facts, brief};
use crate::checks::Check;
use crate::checks::feedback::feedback;
use crate::checks::result::CheckResult;
use crate::checks::running::{Seen, Surroundings, run_all};
use crate::checks::suite::Suite;
use crate::client::transcript::Transcript;
use crate::cmd::checks::{self as cmd_checks, Allowed, Wishes};
use crate::directories::Directories;
use crate::hook::event::StopEvent;
use crate::review::instructions::Instructions;

/// What came of the checks: one that is red is the verdict.
pub struct Checked {
    pub results: Vec<CheckResult>,
    pub red: Option<String>,
    /// So much less time is left for the judge.
    pub took: Duration,
}

/// Nobody can be asked here: what the person has not allowed is skipped, and that is said.
pub fn run(
    place: &Directories,
    own: Vec<Check>,
    instructions: &Instructions,
    time: Duration,
) -> Result<Checked> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    let wishes = Wishes { none: is_set("CCC_NO_CHECKS"), trust: is_set("CCC_TRUST_CHECKS") };
    let Allowed { checks, untrusted } =
        cmd_checks::allowed(place, own, Some(instructions), wishes, false)?;
    if !untrusted.is_empty() {
        super::say(cmd_checks::NOT_TRUSTED);
    }
    // What changed since the task began is not known here, so that every check runs.
    let mut suite = Suite::new(checks, None);
    if suite.is_done() {
        let results: Vec<_> = untrusted.iter().map(CheckResult::not_trusted).collect();
        return Ok(Checked { results, red: None, took: Duration::ZERO });
    }
    let began = Instant::now();
    let surroundings = Surroundings::of(&place.project)?;
    let stopped = run_all(&mut suite, &surroundings, &after(time), |_, _, seen| {
        if let Seen::Ended(result) = seen {
            super::say(&format!("check {}: {}", result.name, result.told()));
        }
    });
    if stopped.is_err() {
        let seconds = time.as_secs();
        super::say(&format!(
            "the checks did not end within {seconds} s, half of the hook's time \
             (supervisor.timeout_seconds); the rest is left to the judge"
        ));
    }
    let mut results = suite.results().to_vec();
    results.extend(untrusted.iter().map(CheckResult::not_trusted));
    Ok(Checked { red: feedback(&results), results, took: began.elapsed() })
}

/// What the judge is told of it, and of the agent's commands in the transcript.
pub fn told(results: &[CheckResult], event: &StopEvent, transcript: &Transcript) -> String {
    brief(&Facts {
        examined: &Examined::default(),
        checks: results,
        activity: &transcript.activity,
        last_answer: event.last_assistant_message.as_deref().unwrap_or_default(),
        background: &[],
    })
}
