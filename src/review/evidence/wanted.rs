//! Finds the command that a judge means among those that ran: by all of its words, by a part of a
//! script, or by the beginning that the brief shows.

use super::squeezed;
use crate::brief::edits::without_here_documents;
use crate::review::commands::Ran;
use crate::review::permission::shell;

/// Tools whose input is only the model's own text, so that their result proves nothing.
const SPEAKING: [&str; 8] = [
    "Task",
    "Agent",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "SendMessage",
    "ExitPlanMode",
    "Skill",
];

/// The command that the judge names.
pub struct Wanted {
    text: String,
    parts: Vec<shell::Command>,
}

impl Wanted {
    pub fn new(command: &str) -> Self {
        // As in a document: `make test`, or behind a prompt.
        let command = command.trim();
        let marked = command.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
        let command = marked.unwrap_or(command);
        let command = command.strip_prefix("$ ").unwrap_or(command);
        let parts = shell::commands(&without_here_documents(command));
        Self { text: squeezed(command), parts }
    }

    pub fn is(&self, ran: &Ran) -> bool {
        if ran.tool != "Bash" {
            let mut words = self.text.split(' ');
            let is_tool = words.next().is_some_and(|word| word == ran.tool);
            let speaks = SPEAKING.contains(&ran.tool.as_str());
            return is_tool && !speaks && words.all(|word| ran.command.contains(word));
        }
        // The brief shortens long commands with an ellipsis. `./...` can also be an argument, so no
        // match here decides nothing.
        if let Some(start) = self.text.strip_suffix('…').or(self.text.strip_suffix("..."))
            && start.len() >= 8
            && squeezed(&ran.command).replace('`', "'").starts_with(start)
        {
            return true;
        }
        // A cheap test that rules out most commands before they are parsed.
        let first = self.parts.first().and_then(|part| part.words.first());
        if first.is_none_or(|word| !ran.command.contains(word.as_str())) {
            return squeezed(&ran.command) == self.text;
        }
        let ran = shell::commands(&without_here_documents(&ran.command));
        let mut ran = ran.iter();
        // The command must run all wanted parts, in the same order.
        self.parts.iter().all(|wanted| ran.any(|ran| runs(&ran.words, &wanted.words)))
    }
}

/// Programs that run the command named by their arguments.
const THROUGH: [&str; 22] = [
    "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "mise", "bundle", "npm", "pnpm", "yarn",
    "bun", "nix", "conda", "docker", "podman", "coverage", "python", "python3", "tox", "direnv",
    "dotenv",
];

/// Whether the command begins with the wanted words, or contains them behind a program that runs
/// them.
fn runs(words: &[String], wanted: &[String]) -> bool {
    let through = words.first().is_some_and(|program| THROUGH.contains(&program.as_str()));
    words.starts_with(wanted)
        || through
            && wanted.len() <= words.len()
            && words.windows(wanted.len()).any(|part| part == wanted)
}
