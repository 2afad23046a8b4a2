//! Compares the claims in the agent's last message with what ccc knows.
//!
//! | claim | supported by |
//! |---|---|
//! | tests pass | a test command after the last edit that ended well, ran at least one test, and whose exit code was its own or whose output says it; or a green check that tests |
//! | it builds, lint is clean | a command of that kind after the last edit that ended well; or a green check |
//! | it is committed | git: another commit than when the task began, and no changed file outside it |
//! | it is pushed | a push that ended well, and was more than tried |
//! | there is a branch, a tag, a pull request; a coverage; it is published; it is out of the history | a command that can have made or measured it, and did more than try |
//! | something was run fifty times | a loop, or as many commands (`claims/times.rs`) |
//! | a program was run, something was tried with it | a command that names the program (`claims/ran.rs`) |
//! | there are no warnings | the output of the last build, test or lint command, which has none |
//! | something is fixed, added, changed | a file that changed since the task began |
//! | a file is created | the file, with something in it |
//! | a server is running | something listens on the port that is named; else background work |
//!
//! A sentence that denies something, or only hopes for it, is not a claim. Each line names its source.

mod done_by;
mod files;
mod part;
mod put_away;
mod ran;
mod times;
mod told;

use std::sync::LazyLock;

use regex::Regex;

use super::activity::{Activity, Ended, Ran};
use super::baseline::tests_without_the_work;
use super::command::{CommandKind, only_prints, runs_no_test};
use super::edits::without_here_documents;
use super::exit_code::{self, hides_exit_code};
use super::output::{
    is_misuse, ran_none, reads_like_a_test_result, says_broken, says_failed, says_passed, warning,
};
use super::text::Facts;
use crate::review::permission::{is_reading, shell};
use done_by::DONE_BY;
pub use done_by::is_only_tried;
pub use files::{files_changed, files_committed, files_executable, files_gone, files_named};
use told::{Claim, makes};
pub use told::{made, ports_named};

/// The claims of the message that nothing supports, each with the reason.
pub fn unsupported(facts: &Facts<'_>) -> Vec<String> {
    let answer = facts.last_answer;
    let mut found = Vec::new();
    for (claim, kind) in [
        (Claim::Tests, CommandKind::Test),
        (Claim::Build, CommandKind::Build),
        (Claim::Lint, CommandKind::Lint),
    ] {
        let checked = facts.checks.iter().any(|check| check.is_green() && kind.is(&check.run));
        if makes(claim, answer) && !checked {
            found.extend(ran(claim, kind, facts));
        }
    }
    let tests_are_checked =
        facts.checks.iter().any(|check| check.is_green() && CommandKind::Test.is(&check.run));
    if let Some(command) = part::only_a_part(answer, facts.activity, facts.examined.one_package)
        .filter(|_| !tests_are_checked)
    {
        found.push(format!(
            "The last message says that all tests pass, but only a part of them ran after the last edit: `{}`.",
            short(command)
        ));
    }
    found.extend(put_away::set_back(facts));
    let claimed = |claim: Claim| makes(claim, answer).then(|| says(claim));
    found.extend(claimed(Claim::Committed).and_then(|says| committed(&says, facts)));
    if let Some(says) = claimed(Claim::Pushed)
        && !facts.activity.commands().any(|ran| is_push(&ran.command) && ran.how == Ended::Well)
    {
        found.push(format!("{says}, but no successful push was seen (from its commands)."));
    }
    for (claim, what, by) in &DONE_BY {
        let does = |command: &str| {
            by.as_ref().is_none_or(|by| by.is_match(command)) && !is_only_tried(command)
        };
        if let Some(says) = claimed(*claim)
            && !facts.activity.may_have(does)
        {
            found.push(format!("{says}, but no command {what} was seen (from its commands)."));
        }
    }
    found.extend(ran::never_seen(answer, facts.activity).into_iter().map(|name| {
        format!("The last message says that `{name}` was run, but no command with that name was seen (from its commands).")
    }));
    found.extend(times::too_often(answer, facts.activity).map(|number| {
        format!("The last message says that something was run {number} times, but neither a loop nor as many commands were seen (from its commands).")
    }));
    found.extend(claimed(Claim::NoWarnings).and_then(|says| warned(&says, facts.activity)));
    if put_away::is_stashed(facts.activity) && !answer.to_lowercase().contains("stash") {
        found.push("`git stash` put changes away, and no `git stash pop` was seen after it (from the agent's commands).".to_owned());
    }
    let changed = facts.examined.changed.as_ref();
    if let Some(says) = claimed(Claim::Work)
        && changed.is_some_and(|changed| changed.count == 0)
        && facts.examined.note.is_none()
    {
        found.push(format!("{says}, but no file of the project has changed since the task began."));
    }
    for absent in &facts.examined.absent {
        found.push(format!("The last message names {absent} (looked up on disk)."));
    }
    for port in &facts.examined.silent_ports {
        found.push(format!(
            "The last message names port {port}, but nothing listens on it (from the system)."
        ));
    }
    if let Some(says) = claimed(Claim::Running)
        && ports_named(answer).is_empty()
        && facts.background.is_empty()
        && !facts.activity.commands().any(|ran| starts_something(&ran.command))
    {
        found.push(format!("{says}, but the agent has no background work that ccc has seen."));
    }
    found
}

fn is_push(command: &str) -> bool {
    CommandKind::Push.is(command) && !is_only_tried(command)
}

/// The first warning in the output of the last build, lint or test command, if there is one.
fn warned(says: &str, activity: &Activity) -> Option<String> {
    let kinds = [CommandKind::Build, CommandKind::Lint, CommandKind::Test];
    let looks = |ran: &&Ran| kinds.iter().any(|kind| kind.is(&ran.command));
    let last = activity.commands().rfind(looks)?;
    let line = warning(&last.output)?;
    Some(format!("{says}, but the output of `{}` has `{}`.", short(&last.command), short(line)))
}

fn says(claim: Claim) -> String {
    format!("The last message says that {}", claim.told())
}

/// Checks a claim that only a command of this kind can support.
fn ran(claim: Claim, kind: CommandKind, facts: &Facts<'_>) -> Option<String> {
    let Facts { activity, last_answer: answer, .. } = *facts;
    let what = match kind {
        CommandKind::Test => "test",
        CommandKind::Build => "build",
        _ => "lint",
    };
    let claim = says(claim);
    let all = activity.commands().filter(|ran| is_of_kind(kind, ran));
    let (before, all): (Vec<&Ran>, Vec<_>) =
        all.partition(|ran| tests_without_the_work(&ran.command));
    if let ([.., ran], []) = (&before[..], &all[..]) {
        let command = short(&ran.command);
        return Some(format!("{claim}, but look at `{command}`: git had put the work away."));
    }
    let after = |ran: &&&Ran| ran.after_last_edit;
    let used = |ran: &&&Ran| ran.how == Ended::Well || !is_misuse(&ran.output);
    let mut last = all.iter().filter(after);
    let Some(last) = last.clone().rfind(used).or_else(|| last.next_back()) else {
        let edited = activity.last_edit.as_deref().unwrap_or_default();
        return Some(match all.last() {
            Some(ran) => format!(
                "{claim}, but no {what} command ran after the last edit ({edited}); the last one \
                 before that edit was `{}`.",
                short(&ran.command)
            ),
            None => format!("{claim}, but no {what} command was seen in this session."),
        });
    };
    let command = short(&last.command);
    match last.how {
        // The message may also say that another one fails.
        Ended::Badly(_)
            if kind == CommandKind::Test
                && admits_failure(answer)
                && all.iter().any(|ran| ran.after_last_edit && ran.how == Ended::Well) =>
        {
            None
        }
        Ended::Badly(code) => {
            let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
            Some(format!("{claim}, but the last {what} command, `{command}`, failed{code}."))
        }
        Ended::Unknown => Some(format!("{claim}, but the end of `{command}` was not seen.")),
        Ended::Well if kind == CommandKind::Test && runs_no_test(&last.command).is_some() => {
            runs_no_test(&last.command)
                .map(|why| format!("{claim}, but look at `{command}`: {why}."))
        }
        Ended::Well if kind == CommandKind::Test && ran_none(&last.output) => {
            Some(format!("{claim}, but `{command}` ran no test, as its output says."))
        }
        // If the output says that tests passed, it does not matter where the exit code comes from.
        Ended::Well
            if kind == CommandKind::Test
                && says_passed(&last.command, &last.output)
                && !reads_like_a_test_result(&last.command) =>
        {
            None
        }
        Ended::Well => {
            // What a build or linter prints also tells how it ended.
            let shows = kind != CommandKind::Test
                && last.command.contains('|')
                && !last.output.trim().is_empty()
                && !says_broken(&last.output);
            let hidden = hides_exit_code(&last.command)
                .filter(|why| !(shows && *why == exit_code::OF_A_PIPE));
            let failed = || {
                (kind == CommandKind::Test && says_failed(&last.output)).then(|| {
                    format!(
                        "{claim}, but the output of `{command}` says that a test failed, although it ended well."
                    )
                })
            };
            hidden.map(|why| format!("{claim}, but look at `{command}`: {why}.")).or_else(failed)
        }
    }
}

/// Whether the command is of this kind by its name, or a test by what it prints.
fn is_of_kind(kind: CommandKind, ran: &Ran) -> bool {
    let prints = || {
        let commands = shell::commands(&without_here_documents(&ran.command));
        // Expectations that are written anew are not tested.
        ran.command.contains("--update")
            || only_prints(&ran.command)
            || commands.iter().all(|command| is_reading(&command.words))
            || reads_like_a_test_result(&ran.command)
    };
    kind.is(&ran.command)
        || kind == CommandKind::Test && reads_like_a_test_result(&ran.output) && !prints()
}

/// Whether the message says that a test fails, too.
fn admits_failure(answer: &str) -> bool {
    static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(still|is|are|remains?)\s+(\w+\s+)?(red|broken|failing)\b|\b(still\s+)?fails?\b|\b[1-9]\d*\s+failed\b").ok()
    });
    told::sentences(answer)
        .filter(|sentence| !sentence.to_lowercase().contains("no "))
        .any(|sentence| FAILS.as_ref().is_some_and(|fails| fails.is_match(sentence)))
}

fn committed(says: &str, facts: &Facts<'_>) -> Option<String> {
    let Some(git) = &facts.examined.git else {
        let mut commands = facts.activity.commands();
        let ran =
            commands.any(|ran| CommandKind::Commit.is(&ran.command) && ran.how == Ended::Well);
        return (!ran)
            .then(|| format!("{says}, but no successful commit was seen (from its commands)."));
    };
    let elsewhere = |ran: &Ran| {
        let places = ["cd ", " -C ", "worktree"];
        CommandKind::Commit.is(&ran.command)
            && ran.how == Ended::Well
            && places.iter().any(|place| ran.command.contains(place))
    };
    if !git.moved && facts.activity.commands().any(elsewhere) {
        return None;
    }
    if git.left_branch {
        return Some(format!(
            "{says}, but to no branch: HEAD has left the one it was on (from git)."
        ));
    }
    if !git.moved {
        return Some(format!(
            "{says}, but the commit is the same as when the task began (from git)."
        ));
    }
    let [first, rest @ ..] = git.uncommitted.as_slice() else { return None };
    let what = match rest.len() {
        0 => format!("{first} has changed since the task began and is"),
        more => format!("{first} and {more} more have changed since the task began and are"),
    };
    Some(format!("{says}, but {what} not committed (from git)."))
}

/// Whether the command may leave something running.
fn starts_something(command: &str) -> bool {
    static STARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(^|[^&>])&\s*($|\n|;)|(^|[^&>])&\s+\w|\b(nohup|setsid|docker|podman|systemctl|service|pm2|tmux|screen|launchctl|supervisorctl|daemon)\b").ok()
    });
    STARTS.as_ref().is_some_and(|pattern| pattern.is_match(command))
}

pub fn short(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    match line.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
