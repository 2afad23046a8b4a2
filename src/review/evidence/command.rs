//! Whether a command was run, with that output, and whether that shows anything.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::{SHORTEST_OUTPUT, is_long_enough, squeezed};
use crate::brief::command::{
    is_test, only_prints, ran_none, reads_like_a_test_result, says_failed, tells_of_failure,
};
use crate::brief::edits::{self, without_here_documents};
use crate::review::commands::{Commands, Ran};
use crate::review::permission::shell;

/// Tools that hand over what a model has written: the result itself can be looked at.
const WRITING: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
const SPEAKING: [&str; 4] = ["Task", "Agent", "TodoWrite", "SendMessage"];

pub fn ran(command: &str, quote: &str, all: &[&Commands], said: &[&str]) -> Result<(), String> {
    if command.trim().is_empty() {
        return Err("it names no command".to_owned());
    }
    let wanted = Wanted::new(command);
    // The last one that shows it counts; else why the last one does not.
    let mut why = None;
    for commands in all.iter().rev() {
        for ran in commands.iter().rev().filter(|ran| wanted.is(ran)) {
            let Err(reason) = shows(ran, quote, commands.edited_after(ran), said) else {
                return Ok(());
            };
            why.get_or_insert(reason);
        }
    }
    Err(match why {
        Some(why) => format!("`{command}`: {why}"),
        None => format!("no command `{command}` was run"),
    })
}

fn shows(ran: &Ran, quote: &str, edited_after: Option<&str>, said: &[&str]) -> Result<(), String> {
    if WRITING.contains(&ran.tool.as_str()) {
        return Err("it wrote a file; cite the file as it is now".to_owned());
    }
    if quote.trim().is_empty() {
        if !squeezed(&ran.output).is_empty() {
            return Err("nothing of its output is quoted".to_owned());
        }
        // It has printed nothing, and so there is nothing to quote.
        if ran.failed {
            return Err("it failed".to_owned());
        }
        if let Some(path) = edits::by("Bash", &json!({"command": ran.command})) {
            return Err(format!("it changed something ({path}); cite what is there now"));
        }
    } else {
        if !squeezed(&ran.output).contains(&squeezed(quote)) {
            return Err("it was run, and its output does not have this quote".to_owned());
        }
        is_long_enough(quote, &ran.output, SHORTEST_OUTPUT)?;
    }
    if ran.tool != "Bash" {
        return Ok(());
    }
    if only_prints(&ran.command) {
        return Err("it only prints what it is given".to_owned());
    }
    if reads_like_a_test_result(quote) && squeezed(&ran.command).contains(&squeezed(quote)) {
        return Err("its quote stands in the command itself".to_owned());
    }
    // A failure shows that something was wrong before it was worked on, and nothing about now.
    let reproduces = tells_of_failure(quote) && (edited_after.is_some() || asks_to_fail(said));
    if is_test(&ran.command) && !reproduces {
        return passed(ran, edited_after);
    }
    Ok(())
}

fn asks_to_fail(said: &[&str]) -> bool {
    static FAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)reproduc|test that fails|failing test (first|for)|fails? first|show (me )?that",
        )
        .ok()
    });
    let asks = |said: &&str| FAIL.as_ref().is_some_and(|pattern| pattern.is_match(said));
    said.iter().any(asks)
}

/// A test run that is called a success.
fn passed(ran: &Ran, edited_after: Option<&str>) -> Result<(), String> {
    if let Some(path) = edited_after {
        return Err(format!(
            "it ran before the last edit ({path}), and says nothing about the files as they are"
        ));
    }
    if ran.failed {
        return Err("it failed".to_owned());
    }
    if says_failed(&ran.output) {
        return Err("a test failed, as its output says".to_owned());
    }
    if ran_none(&ran.output) {
        return Err("it ran no test, as its output says".to_owned());
    }
    Ok(())
}

/// The command that is meant.
struct Wanted {
    text: String,
    parts: Vec<shell::Command>,
}

impl Wanted {
    fn new(command: &str) -> Self {
        let parts = shell::commands(&without_here_documents(command));
        Self { text: squeezed(command), parts }
    }

    fn is(&self, ran: &Ran) -> bool {
        if ran.tool != "Bash" {
            let mut words = self.text.split(' ');
            let is_tool = words.next().is_some_and(|word| word == ran.tool);
            let speaks = SPEAKING.contains(&ran.tool.as_str());
            return is_tool && !speaks && words.all(|word| ran.command.contains(word));
        }
        // Cut short, as the brief names a long one.
        if let Some(start) = self.text.strip_suffix('…').or(self.text.strip_suffix("..."))
            && start.len() >= 8
        {
            return squeezed(&ran.command).replace('`', "'").starts_with(start);
        }
        // Most are ruled out without being taken apart.
        let first = self.parts.first().and_then(|part| part.words.first());
        if first.is_none_or(|word| !ran.command.contains(word.as_str())) {
            return squeezed(&ran.command) == self.text;
        }
        let ran = shell::commands(&without_here_documents(&ran.command));
        let mut ran = ran.iter();
        // All of them, in the same order.
        self.parts.iter().all(|wanted| ran.any(|ran| runs(&ran.words, &wanted.words)))
    }
}

/// Programs that run what their arguments name.
const THROUGH: [&str; 22] = [
    "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "mise", "bundle", "npm", "pnpm", "yarn",
    "bun", "nix", "conda", "docker", "podman", "coverage", "python", "python3", "tox", "direnv",
    "dotenv",
];

/// The wanted words begin the command, or stand behind what runs them.
fn runs(words: &[String], wanted: &[String]) -> bool {
    let through = words.first().is_some_and(|program| THROUGH.contains(&program.as_str()));
    words.starts_with(wanted)
        || through
            && wanted.len() <= words.len()
            && words.windows(wanted.len()).any(|part| part == wanted)
}
