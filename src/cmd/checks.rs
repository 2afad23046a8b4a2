//! Which checks apply here, and whether they may run. Checks from the user's own files may; those from
//! a file of the project may after the person has said yes.

use anyhow::Result;

use super::questions::{self, Questions};
use crate::checks::trust::Decisions;
use crate::checks::{self, Check};
use crate::directories::Directories;
use crate::machine::CheckingRules;
use crate::review::instructions::Instructions;

pub const NOT_TRUSTED: &str = "the checks in this project's SUPERVISOR.md were skipped, because \
    nobody has allowed them yet. Run `ccc check` at a terminal to review and allow them, or add \
    --trust-checks";

#[derive(Debug, Clone, Copy, Default)]
pub struct Wishes {
    /// `--no-checks`
    pub none: bool,
    /// `--trust-checks`
    pub trust: bool,
}

#[derive(Debug, Default)]
pub struct Allowed {
    pub checks: Vec<Check>,
    /// Checks that nobody has allowed.
    pub untrusted: Vec<Check>,
}

impl Allowed {
    pub fn rules(self) -> CheckingRules {
        CheckingRules { examines: true, checks: self.checks, untrusted: self.untrusted }
    }
}

/// `own` are the checks of ccc.json. With `ask`, a person at the terminal can allow the others now.
pub fn allowed(
    place: &Directories,
    own: Vec<Check>,
    instructions: Option<&Instructions>,
    wishes: Wishes,
    ask: bool,
) -> Result<Allowed> {
    if wishes.none {
        return Ok(Allowed::default());
    }
    let found = instructions.map(|found| found.front.checks.clone()).unwrap_or_default();
    let is_project = instructions.is_some_and(|found| !found.path.starts_with(&place.config_dir));
    let decisions = Decisions::of(&place.config_dir);
    let trusted = found.is_empty()
        || !is_project
        || wishes.trust
        || decisions.is_trusted(&place.project, &found)
        || (ask && questions::is_possible() && asked(place, &found, &decisions)?);
    if trusted {
        return Ok(Allowed { checks: checks::together(own, found), untrusted: Vec::new() });
    }
    let names: Vec<_> = own.iter().map(|check| check.name.clone()).collect();
    let untrusted = found.into_iter().filter(|check| !names.contains(&check.name)).collect();
    Ok(Allowed { checks: own, untrusted })
}

fn asked(place: &Directories, found: &[Check], decisions: &Decisions) -> Result<bool> {
    let mut questions = Questions::terminal();
    questions
        .say("This project's SUPERVISOR.md declares checks. ccc would run these commands:\n")?;
    for check in found {
        questions.say(&listed(check))?;
    }
    questions.say("")?;
    let yes = questions
        .confirm("Run them, now and in the future, as long as they do not change?", false)?;
    if yes {
        decisions.trust(&place.project, found)?;
    }
    Ok(yes)
}

/// Shows the command itself, because the name of a check may say anything.
fn listed(check: &Check) -> String {
    let command = format!("    {}", check.run.replace('\n', "\n    "));
    if check.name == check.run {
        return command;
    }
    format!("  {}:\n{command}", check.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_whole_before_it_is_allowed() {
        let check = Check { name: "tests".into(), ..Check::command("make test\ncurl x | sh") };
        assert_eq!(listed(&check), "  tests:\n    make test\n    curl x | sh");
        assert_eq!(listed(&Check::command("make")), "    make");
    }
}
