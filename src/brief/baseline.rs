//! Tests that ran while git had put the work away, to see what was there before.

use super::command::CommandKind;
use super::edits::without_here_documents;
use crate::review::permission::shell;

/// Whether every test command in the script ran while git had put the work away: between `git stash`
/// and `git stash pop`, or on another commit.
pub fn tests_without_the_work(script: &str) -> bool {
    let commands = shell::commands(&without_here_documents(script));
    let gits = |command: &shell::Command| -> Vec<String> {
        let plain = command.words.iter().filter(|word| !word.starts_with('-') || *word == "-");
        plain.skip(1).cloned().collect()
    };
    let returns = |command: &shell::Command| {
        command.words[0] == "git"
            && matches!(
                gits(command).iter().map(String::as_str).collect::<Vec<_>>()[..],
                ["stash", "pop" | "apply", ..] | ["checkout" | "switch", "-"]
            )
    };
    let Some(end) = commands.iter().rposition(returns) else { return false };
    let leaves = |command: &shell::Command| {
        let is = |what: &str| gits(command).first().is_some_and(|first| first == what);
        let comes_back_by_name = commands[end].words.last().is_some_and(|word| word == "-");
        let way = if comes_back_by_name { is("checkout") || is("switch") } else { is("stash") };
        command.words[0] == "git" && way && !returns(command)
    };
    let Some(start) = commands.iter().position(leaves) else { return false };
    let mut tests = (0..commands.len()).filter(|at| CommandKind::Test.names(&commands[*at]));
    tests.clone().next().is_some() && tests.all(|at| start < at && at < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_what_was_there_before_are_known() {
        for script in [
            "git stash -q; pytest -q; git stash pop",
            "git stash && pytest -q && git stash pop -q",
            "git checkout -q HEAD~1 && pytest; git checkout -q -",
        ] {
            assert!(tests_without_the_work(script), "{script}");
        }
        for script in [
            "pytest -q",
            "git stash; pytest -q; git stash pop; pytest -q",
            "git stash pop && pytest",
            "git stash; ls; git stash pop",
            "git checkout -b new && pytest && git checkout -",
            "git checkout main -- a.py && pytest",
        ] {
            assert_eq!(tests_without_the_work(script), script.contains("-b new"), "{script}");
        }
    }
}
