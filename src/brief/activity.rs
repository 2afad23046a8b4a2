//! What the agent ran and when it last edited a file, read from the lines that its client prints.
//! The size is bounded, so that it does not grow with the length of a session.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use serde_json::Value;

use super::edits;
use super::output::{CREATED, exit_code, goes_on, without_remark};
use crate::client::stream::{Block, Message, ToolResult};

/// The number of commands that are kept; the oldest are dropped first.
const MOST: usize = 200;
const COMMAND: usize = 400;
const OUTPUT: usize = 2000;

#[derive(Debug, Clone, Default)]
pub struct Activity {
    commands: VecDeque<Ran>,
    /// Edits that have begun, by the id of their tool.
    edits: VecDeque<(String, String)>,
    /// Edits that were made, and how many commands and edits had ended before.
    edited: VecDeque<(usize, String)>,
    /// How many commands and edits have ended.
    ended: usize,
    /// Files that a tool created; deleted again, they are as when the task began.
    created: BTreeSet<String>,
    /// The file that was edited last, prose excepted.
    pub last_edit: Option<String>,
    forgotten: usize,
    /// Whether a tool of another program, such as an MCP server, was used: what it can do is
    /// unknown.
    used_others: bool,
}

/// A shell command that the agent ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    id: String,
    pub command: String,
    pub how: Ended,
    /// The beginning and the end of what it printed.
    pub output: String,
    ended_at: usize,
    /// Whether no file was edited after it.
    pub after_last_edit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was started, but its end was not seen.
    Unknown,
    Well,
    /// With its exit code, if the client reports it.
    Badly(Option<i32>),
}

impl Activity {
    pub fn commands(&self) -> impl DoubleEndedIterator<Item = &Ran> {
        self.commands.iter()
    }

    pub fn forgotten(&self) -> usize {
        self.forgotten
    }

    /// Whether such a command was run, or may have been: in a command that was dropped or cut
    /// short, or by a tool that ccc cannot look into.
    pub fn may_have(&self, is: impl Fn(&str) -> bool) -> bool {
        let cut = |ran: &Ran| ran.command.chars().count() == COMMAND;
        self.used_others
            || self.forgotten > 0
            || self.commands.iter().any(|ran| is(&ran.command) || cut(ran))
    }

    /// Sub-agents' tools count like the agent's own.
    pub fn saw(&mut self, message: &Message) {
        match message {
            Message::Assistant { blocks, .. } => {
                for block in blocks {
                    if let Block::ToolUse { id, name, input } = block {
                        self.started(id, name, input);
                    }
                }
            }
            Message::ToolResults(results) => {
                for result in results {
                    self.ended(result);
                }
            }
            _ => {}
        }
    }

    fn started(&mut self, id: &str, tool: &str, input: &str) {
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        if tool == "Bash" {
            self.commands.push_back(Ran {
                id: id.to_owned(),
                command: text("command").chars().take(COMMAND).collect(),
                how: Ended::Unknown,
                output: String::new(),
                ended_at: self.ended,
                after_last_edit: true,
            });
            if self.commands.len() > MOST {
                self.commands.pop_front();
                self.forgotten += 1;
            }
        }
        self.used_others |= tool.starts_with("mcp__") || tool == "Skill";
        if let Some(path) = edits::by(tool, &input) {
            self.edits.push_back((id.to_owned(), path));
            if self.edits.len() > MOST {
                self.edits.pop_front();
            }
        }
    }

    fn ended(&mut self, result: &ToolResult) {
        self.ended += 1;
        let ran = self.commands.iter_mut().rev().find(|ran| ran.id == result.tool_use_id);
        let is_command = ran.is_some();
        if let Some(ran) = ran {
            ran.how = if result.is_error {
                Ended::Badly(exit_code(&result.preview))
            } else if goes_on(&result.preview) {
                Ended::Unknown
            } else {
                Ended::Well
            };
            ran.output = without_remark(&result.preview).chars().take(OUTPUT).collect();
            // The end of the output says whether tests ran.
            ran.output.push('\n');
            ran.output.push_str(&result.tail);
            ran.ended_at = self.ended;
            if !result.is_error {
                let gone = edits::removed_again(&ran.command, &self.created);
                let is_gone = |path: &str| gone.iter().any(|gone| Path::new(gone).ends_with(path));
                self.edited.retain(|(_, path)| !is_gone(path));
                self.edits.retain(|(_, path)| !is_gone(path));
            }
        }
        if let Some(at) = self.edits.iter().position(|(id, _)| *id == result.tool_use_id) {
            let edited = self.edits.remove(at).map(|(_, path)| path);
            // A script that failed may have edited the file before it did.
            if let Some(path) = edited.filter(|_| !result.is_error || is_command) {
                if result.preview.starts_with(CREATED) {
                    self.created.insert(path.clone());
                }
                self.edited.push_back((self.ended, path));
                if self.edited.len() > MOST {
                    self.edited.pop_front();
                }
            }
        }
        let (at, last) = self.edited.back().cloned().unzip();
        self.last_edit = last;
        for ran in &mut self.commands {
            // What a script does after its own edit runs on the edited files.
            ran.after_last_edit = at.is_none_or(|at| ran.ended_at >= at);
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// `edit FILE`, `create FILE`, `run COMMAND => OUTPUT`, `fail COMMAND => OUTPUT`, `mcp TOOL`
    pub fn activity(lines: &[&str]) -> Activity {
        let mut activity = Activity::default();
        for (at, line) in lines.iter().enumerate() {
            let (word, rest) = line.split_once(' ').unwrap();
            let (command, output) = rest.split_once(" => ").unwrap_or((rest, ""));
            let output = if word == "create" { CREATED } else { output };
            let (name, key) = match word {
                "edit" => ("Edit", "file_path"),
                "create" => ("Write", "file_path"),
                "mcp" => (command, "input"),
                _ => ("Bash", "command"),
            };
            let input = serde_json::json!({key: command}).to_string();
            let id = at.to_string();
            let block = Block::ToolUse { id: id.clone(), name: name.into(), input };
            activity.saw(&Message::Assistant {
                model: "m".into(),
                blocks: vec![block],
                context: None,
            });
            activity.saw(&Message::ToolResults(vec![ToolResult {
                tool_use_id: id,
                is_error: word == "fail",
                preview: output.into(),
                tail: String::new(),
                patch: Vec::new(),
            }]));
        }
        activity
    }

    #[test]
    fn every_command_is_before_or_after_the_last_edit() {
        let seen = activity(&["run make", "edit a.py", "fail pytest => Exit code 2\nboom"]);
        let ran: Vec<_> = seen
            .commands()
            .map(|ran| (ran.command.as_str(), ran.how, ran.after_last_edit))
            .collect();
        assert_eq!(ran, [("make", Ended::Well, false), ("pytest", Ended::Badly(Some(2)), true)]);
        assert_eq!(seen.last_edit.as_deref(), Some("a.py"));
    }

    #[test]
    fn a_shell_edits_too_and_prose_is_not_tested() {
        let last = |lines: &[&str]| {
            activity(lines).commands().map(|ran| ran.after_last_edit).collect::<Vec<_>>()
        };
        assert_eq!(last(&["run pytest", "run sed -i s/a/b/ a.py"]), [false, true]);
        assert_eq!(last(&["run sed -i s/a/b/ a.py && pytest", "run ls"]), [true, true]);
        assert_eq!(last(&["run pytest", "edit README.md"]), [true]);
    }

    #[test]
    fn a_file_that_was_created_and_deleted_again_makes_no_run_stale() {
        let last = |lines: &[&str]| {
            let seen = activity(lines);
            let flags: Vec<_> = seen.commands().map(|ran| ran.after_last_edit).collect();
            (flags, seen.last_edit)
        };
        let tried = ["edit a.py", "run pytest", "create /p/try.py", "run python3 try.py"];
        assert_eq!(last(&tried), (vec![false, true], Some("/p/try.py".into())));
        let gone = [&tried[..], &["run rm try.py"]].concat();
        assert_eq!(last(&gone), (vec![true, true, true], Some("a.py".into())));
        let more = [&tried[..], &["run rm a.py"]].concat();
        assert_eq!(last(&more), (vec![false, false, true], Some("a.py".into())));
    }

    #[test]
    fn a_long_session_costs_no_more_than_a_short_one() {
        let lines: Vec<_> = (0..MOST + 5).map(|at| format!("run echo {at}")).collect();
        let seen = activity(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((seen.commands().count(), seen.forgotten()), (MOST, 5));
    }
}
