//! Runs the checks inside the hook: before the judge, and within the hook's own time limit.

use std::time::{Duration, Instant};

use anyhow::Result;
use crossbeam_channel::{Receiver, after, bounded, never, select};

use crate::brief::facts::{Changed, Examined};
use crate::brief::{Facts, brief};
use crate::checks::Check;
use crate::checks::feedback::feedback;
use crate::checks::result::CheckResult;
use crate::checks::running::{CheckContext, CheckProgress, run_all};
use crate::checks::suite::Suite;
use crate::client::transcript::ClientTranscript;
use crate::cmd::checks::{self as cmd_checks, Allowed, Wishes};
use crate::directories::Directories;
use crate::hook::event::HookEvent;
use crate::review::instructions::Instructions;
use crate::threads::named;

/// The outcome of the checks. A red check decides the review without a judge.
pub struct Checked {
    pub results: Vec<CheckResult>,
    pub red: Option<String>,
    /// Time that the checks took from the judge's share.
    pub took: Duration,
    /// A check ran, and may have changed files.
    pub ran: bool,
    /// The checks that are allowed to run.
    pub checks: Vec<Check>,
    /// The person typed something meanwhile, so the review is dropped.
    pub dropped: bool,
}

/// Why the checks are ended early.
enum Stop {
    Time,
    Typed,
}

/// Nobody can be asked for permission here, so checks that the person has not allowed are skipped, with
/// a message.
pub fn run(
    place: &Directories,
    own: Vec<Check>,
    instructions: &Instructions,
    changed: Option<&Changed>,
    time: Duration,
    typed: &Receiver<Instant>,
) -> Result<Checked> {
    let wishes =
        Wishes { none: super::is_set("CCC_NO_CHECKS"), trust: super::is_set("CCC_TRUST_CHECKS") };
    let Allowed { checks, untrusted } =
        cmd_checks::allowed(place, own, Some(instructions), wishes, false)?;
    if !untrusted.is_empty() {
        super::say(cmd_checks::NOT_TRUSTED);
    }
    let mut suite = Suite::new(checks.clone(), changed.and_then(Changed::paths));
    let mut checked = Checked {
        results: Vec::new(),
        red: None,
        took: Duration::ZERO,
        ran: false,
        checks,
        dropped: false,
    };
    if !suite.is_done() {
        let began = Instant::now();
        let surroundings = CheckContext::of(&place.project)?;
        let stopped = run_all(&mut suite, &surroundings, &stop(time, typed), |_, _, seen| {
            if let CheckProgress::Ended(result) = seen {
                super::say(&format!("check {}: {}", result.name, result.told()));
            }
        });
        checked.took = began.elapsed();
        match stopped {
            Err(Some(Stop::Typed)) => checked.dropped = true,
            Err(_) => {
                suite.out_of_time();
                super::say(&format!(
                    "the checks did not end within {} s, half of the hook's time \
                     (supervisor.timeout_seconds); the rest is left to the judge",
                    time.as_secs()
                ));
            }
            Ok(()) => {}
        }
    }
    let results = suite.results();
    checked.ran = results.iter().any(|result| result.is_green() || result.is_red());
    checked.results = results.to_vec();
    checked.results.extend(untrusted.iter().map(CheckResult::not_trusted));
    checked.red = feedback(&checked.results);
    Ok(checked)
}

fn stop(time: Duration, typed: &Receiver<Instant>) -> Receiver<Stop> {
    let (send, stop) = bounded(1);
    let typed = typed.clone();
    let wait = move || {
        let why = select! {
            recv(typed) -> said => if said.is_ok() { Stop::Typed } else { Stop::Time },
            recv(after(time)) -> _ => Stop::Time,
        };
        let _ = send.send(why);
    };
    if let Err(error) = named("checks", wait) {
        log::warn!("the checks are not ended early: {error}");
        return never();
    }
    stop
}

/// The brief for the judge: the results of the checks, the project's files, and the agent's commands
/// from the transcript. A judge with fresh eyes does not get the agent's answer.
pub fn told(
    results: &[CheckResult],
    examined: &Examined,
    event: &HookEvent,
    transcript: &ClientTranscript,
    fresh: bool,
) -> String {
    let last_answer = event.last_assistant_message.as_deref().filter(|_| !fresh);
    brief(&Facts {
        examined,
        checks: results,
        activity: &transcript.activity,
        last_answer: last_answer.unwrap_or_default(),
        background: &[],
    })
}
