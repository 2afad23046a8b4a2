//! Which of the commands that ran a judge means: by all of its words, by a part of a script, or by the
//! beginning that the brief shows.

use super::squeezed;
use crate::brief::edits::without_here_documents;
use crate::review::commands::Ran;
use crate::review::permission::shell;

/// Tools with which a model speaks: what they say is no result.
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

/// The command that is meant.
pub struct Wanted {
    text: String,
    parts: Vec<shell::Command>,
}

impl Wanted {
    pub fn new(command: &str) -> Self {
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
        // Cut short, as the brief names a long one; `./...` is a name, too.
        if let Some(start) = self.text.strip_suffix('…').or(self.text.strip_suffix("..."))
            && start.len() >= 8
            && squeezed(&ran.command).replace('`', "'").starts_with(start)
        {
            return true;
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
