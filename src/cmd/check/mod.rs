//! `ccc check`: runs the checks of this project by hand.

mod changed;
mod show;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use crossbeam_channel::unbounded;
use serde_json::json;

use super::Usage;
use super::checks::{self, Allowed, Wishes};
use crate::checks::result::CheckResult;
use crate::checks::running::{CheckContext, CheckProgress, run_all};
use crate::checks::suite::Suite;
use crate::cli::CheckArgs;
use crate::config::Config;
use crate::console;
use crate::directories::Directories;
use crate::files;
use crate::process::exit::ended_by;
use crate::process::{orphans, signals};
use crate::review::instructions::{self, Problem};
use show::Show;

pub fn run(args: &CheckArgs) -> Result<i32> {
    let place = Directories::find()?;
    let supervisor = Config::load(&place.config_dir)?.supervisor()?;
    let front = match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Some(found),
        Err(Problem::Missing { .. }) => None,
        Err(problem) => bail!("{problem}"),
    };
    let wishes = Wishes { none: false, trust: args.trust_checks };
    let ask = !args.json;
    let allowed = checks::allowed(&place, supervisor.checks, front.as_ref(), wishes, ask)?;
    let Allowed { checks, untrusted } = allowed;
    if checks.is_empty() && untrusted.is_empty() {
        let how = match &front {
            Some(found) => {
                format!("Declare them under `checks` at the top of {}", found.path.display())
            }
            None => "Run `ccc init` to write a SUPERVISOR.md that proposes some".to_owned(),
        };
        let how = format!("{how}, or declare them under supervisor.checks in ccc.json");
        return Err(Usage(format!("there are no checks. {how}")).into());
    }
    let known: Vec<String> =
        checks.iter().chain(&untrusted).map(|check| check.name.clone()).collect();
    if let Some(name) = args.names.iter().find(|name| !known.contains(name)) {
        let known = known.join(", ");
        return Err(Usage(format!("there is no check {name:?} (checks: {known})")).into());
    }
    let named = |name: &String| args.names.is_empty() || args.names.contains(name);
    let checks: Vec<_> = checks.into_iter().filter(|check| named(&check.name)).collect();
    let untrusted: Vec<_> = untrusted.into_iter().filter(|check| named(&check.name)).collect();

    // A check that is asked for by name always runs.
    let changed = (!args.all && args.names.is_empty()).then(|| changed::files(&place.project));
    let wanted: Vec<_> = checks.iter().map(|check| check.name.clone()).collect();
    let mut suite = Suite::new(checks, changed.flatten());
    let (to_stop, stop) = unbounded();
    signals::listen(move |signal| !signals::asks_to_end(signal) || to_stop.send(signal).is_ok())?;
    let mut show = Show::new(args.json, &known);
    let mut kept = Kept::new(&place.state_dir);
    let surroundings = CheckContext::of(&place.project)?;
    orphans::adopt_and_reap()?;
    let stopped = run_all(&mut suite, &surroundings, &stop, |suite, now, seen| {
        kept.note(&seen);
        show.note(suite, now, &seen, kept.path.as_deref());
    });
    show.end();
    let mut results = suite.results().to_vec();
    results.extend(untrusted.iter().map(CheckResult::not_trusted));
    if args.json {
        console::print_json(&json!({"checks": results, "finished": stopped.is_ok()}))?;
    } else {
        console::print_styled(&show.summary(&results))?;
    }
    if let Err(signal) = stopped {
        let without = wanted.iter().filter(|name| results.iter().all(|one| one.name != **name));
        console::say(format!(
            "ccc: {}",
            cut_short(&without.map(String::as_str).collect::<Vec<_>>())
        ));
        return Ok(ended_by(signal.unwrap_or_default()));
    }
    if !untrusted.is_empty() {
        console::say(format!("ccc: {}", checks::NOT_TRUSTED));
        return Ok(2);
    }
    Ok(i32::from(results.iter().any(CheckResult::is_red)))
}

/// Names the checks that a signal cut short, in their order: the first of them was running.
fn cut_short(names: &[&str]) -> String {
    match names {
        [] => "ended by a signal".to_owned(),
        [running] => format!("{running} was ended by a signal, and has no result"),
        [running, others @ ..] => format!(
            "{running} was ended by a signal, and has no result; not run: {}",
            others.join(", ")
        ),
    }
}

struct Kept {
    dir: PathBuf,
    /// The files of this run; two checks must not write to the same one.
    names: Vec<String>,
    file: Option<File>,
    path: Option<PathBuf>,
}

impl Kept {
    fn new(state_dir: &Path) -> Self {
        let dir = state_dir.join("checks");
        if let Err(error) =
            files::prepare_state_dir(state_dir).and_then(|()| files::create_dir(&dir))
        {
            log::warn!("cannot store the output of the checks: {error}");
        }
        Self { dir, names: Vec::new(), file: None, path: None }
    }

    fn note(&mut self, seen: &CheckProgress<'_>) {
        match seen {
            CheckProgress::Started(check) => {
                let mut name = file_name(&check.name);
                if self.names.contains(&name) {
                    name = format!("{}-{name}", self.names.len() + 1);
                }
                let path = self.dir.join(&name);
                self.names.push(name);
                let file = files::create_empty(&path);
                self.path = file.is_ok().then_some(path);
                self.file = file.ok();
            }
            CheckProgress::Printed(text) => {
                if let Some(file) = &mut self.file
                    && file.write_all(text.as_bytes()).is_err()
                {
                    (self.file, self.path) = (None, None);
                }
            }
            CheckProgress::Ended(_) | CheckProgress::Waiting => {}
        }
    }
}

fn file_name(check: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = check.chars().map(safe).take(LONGEST_NAME).collect();
    format!("{}.log", name.trim_start_matches('.'))
}

/// Short enough for every file system, also if each character takes four bytes.
const LONGEST_NAME: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Check;

    #[test]
    fn every_check_has_a_file_of_its_own_for_its_output() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept = Kept::new(dir.path());
        for name in ["test:a", "test/a", "..", &"é".repeat(300)] {
            let check = Check { name: name.to_owned(), ..Check::command("true") };
            kept.note(&CheckProgress::Started(&check));
            kept.note(&CheckProgress::Printed(name));
            let path = kept.path.as_ref().expect("a file");
            assert_eq!(std::fs::read_to_string(path).unwrap(), name, "{}", path.display());
        }
        let first = std::fs::read_to_string(dir.path().join("checks/test_a.log")).unwrap();
        assert_eq!(first, "test:a");
    }
}
