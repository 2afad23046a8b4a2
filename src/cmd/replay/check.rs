//! `ccc replay --check`: whether the loop would decide the same way today.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::targets::Target;
use super::{junit, run_script};
use crate::cmd::output::table;
use crate::cmd::stop::Stop;
use crate::console;
use crate::files;
use crate::fixture::{Pace, Script, run_on_machine};
use crate::process::exit::ended_by;
use crate::record::read::Recording;
use crate::record::rerun;
use crate::surface::JsonSurface;

#[derive(Debug)]
pub struct Case {
    pub name: String,
    pub kind: &'static str,
    /// The number of steps of a fixture, or of decisions in a recording.
    pub size: usize,
    pub outcome: String,
    pub failure: Option<String>,
    pub time: Duration,
}

pub fn run(targets: &[Target], junit: Option<&Path>, stop: &Stop) -> Result<i32> {
    let mut cases = Vec::new();
    for target in targets {
        let case = check(target, stop);
        if let Some(signal) = stop.seen() {
            console::say(format!(
                "ccc: stopped after {} of {} targets",
                cases.len(),
                targets.len()
            ));
            return Ok(ended_by(signal));
        }
        cases.push(case);
    }
    console::print(rows(&cases))?;
    let failed = cases.iter().filter(|case| case.failure.is_some()).count();
    for case in &cases {
        if let Some(failure) = &case.failure {
            console::say(format!("ccc: {}: {failure}", case.name));
        }
    }
    console::print(format!("{} of {} passed\n", cases.len() - failed, cases.len()))?;
    if let Some(file) = junit {
        files::replace(file, junit::xml(&cases).as_bytes())?;
    }
    Ok(i32::from(failed > 0))
}

fn check(target: &Target, stop: &Stop) -> Case {
    let began = Instant::now();
    let (mut size, mut outcome) = (0, String::new());
    let (kind, result) = match target {
        Target::Fixture(file) => ("fixture", fixture(file, stop, &mut size, &mut outcome)),
        Target::Recording { dir, .. } => ("recording", recording(dir, &mut size, &mut outcome)),
    };
    let failure = result.err().map(|error| format!("{error:#}"));
    Case { name: target.name(), kind, size, outcome, failure, time: began.elapsed() }
}

/// Runs the fixture on the machine alone, then on the real loop. Both must agree with the script and
/// with each other.
fn fixture(file: &Path, stop: &Stop, size: &mut usize, outcome: &mut String) -> Result<()> {
    let script = Script::load(file)?;
    *size = script.steps.len();
    let on_machine = run_on_machine(&script)?;
    on_machine.name().clone_into(outcome);
    let mut nowhere = JsonSurface::new(std::io::sink());
    let played = run_script(&script, Pace::Instant, &mut nowhere, stop)?;
    if let Some(failure) = played.failure {
        return Err(failure);
    }
    let played_outcome = played.report.outcome;
    ensure!(
        played_outcome.name() == on_machine.name()
            && played_outcome.exit_code() == on_machine.exit_code(),
        "it ends as {:?} on the machine alone, but as {:?} on the real loop",
        on_machine.name(),
        played_outcome.name()
    );
    Ok(())
}

fn recording(dir: &Path, size: &mut usize, outcome: &mut String) -> Result<()> {
    let checked = rerun::check(&Recording::open(dir)?)?;
    *size = checked.decisions;
    let name = if checked.killed { "cut off" } else { checked.outcome.name() };
    name.clone_into(outcome);
    let count = checked.differences.len();
    match checked.differences.first() {
        None => Ok(()),
        Some(first) if count == 1 => Err(anyhow::anyhow!("{first}")),
        Some(first) => Err(anyhow::anyhow!("{first} (the first of {count} differences)")),
    }
}

fn rows(cases: &[Case]) -> String {
    let head = ["target", "kind", "steps", "outcome", "", "time"].map(str::to_owned);
    let rows = cases.iter().map(|case| {
        [
            crate::client::stream::strip_escapes(&case.name).into_owned(),
            case.kind.to_owned(),
            case.size.to_string(),
            case.outcome.clone(),
            if case.failure.is_none() { "ok" } else { "FAILED" }.to_owned(),
            format!("{:.2} s", case.time.as_secs_f64()),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_to_read() {
        let case = |name: &str, size, failure: Option<&str>| Case {
            name: name.into(),
            kind: "fixture",
            size,
            outcome: "ended".into(),
            failure: failure.map(Into::into),
            time: Duration::from_millis(120),
        };
        assert_eq!(
            rows(&[case("a.jsonl", 7, None), case("long name", 12, Some("no"))]),
            "target     kind     steps  outcome          time\n\
             a.jsonl    fixture  7      ended    ok      0.12 s\n\
             long name  fixture  12     ended    FAILED  0.12 s\n"
        );
    }
}
