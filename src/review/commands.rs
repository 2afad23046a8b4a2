//! What a client ran, and what the commands printed: the record in which ccc looks up evidence. Its
//! size is bounded, so that memory does not grow with the length of a session.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::brief::{edits, output};
use crate::client::stream::{Block, Line, Message};

/// A long output is cut to this many bytes at its start and as many at its end.
const KEPT: usize = 64 << 10;
/// The limit for all commands and outputs together; the oldest are dropped first.
const MAX_KEPT: usize = 8 << 20;
/// The number of edits of which the file name is kept.
const MOST_EDITS: usize = 1000;

#[derive(Debug, Default, PartialEq)]
pub struct Commands {
    ran: VecDeque<Ran>,
    kept: usize,
    /// `edits` counts all edits; `edited` names the last of them.
    edits: usize,
    edited: VecDeque<String>,
    /// Files that a tool created, and those of them that a command deleted again: they are as when the
    /// task began.
    created: BTreeSet<String>,
    vanished: BTreeSet<String>,
}

#[derive(Debug, PartialEq)]
pub struct Ran {
    id: String,
    /// `Bash`, `Read`, …
    pub tool: String,
    /// The shell command, or the name and input of another tool.
    pub command: String,
    pub output: String,
    /// Whether it was seen to end. A command that still runs in the background has not ended.
    pub ended: bool,
    /// Whether it ended with an error.
    pub failed: bool,
    /// The file that this command edits, unless the file is prose.
    edits: Option<String>,
    /// How many edits had been made when it ended, including its own.
    edits_before: usize,
}

impl Commands {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Ran> {
        self.ran.iter()
    }

    /// The files that were edited after this command, latest first, without prose.
    pub fn edited_after(&self, ran: &Ran) -> impl Iterator<Item = &str> {
        let later = self.edited.iter().rev().take(self.edits - ran.edits_before);
        later.filter(|path| !self.is_vanished(path)).map(String::as_str)
    }

    /// The files that were edited before this command or by it, latest first.
    pub fn edited_before(&self, ran: &Ran) -> impl Iterator<Item = &str> {
        self.edited.iter().rev().skip(self.edits - ran.edits_before).map(String::as_str)
    }

    /// All edited files, latest first.
    pub fn edited(&self) -> impl Iterator<Item = &str> {
        self.edited.iter().rev().filter(|path| !self.is_vanished(path)).map(String::as_str)
    }

    fn is_vanished(&self, path: &str) -> bool {
        self.vanished.iter().any(|gone| Path::new(gone).ends_with(path))
    }

    /// Records the tool calls and results in a line. The parsed message holds only a preview of a
    /// result, so the whole output is read from the raw line.
    pub fn line(&mut self, line: &Line) {
        for envelope in line.messages() {
            match &envelope.message {
                Message::Assistant { blocks, .. } => {
                    for block in blocks {
                        if let Block::ToolUse { id, name, input } = block {
                            self.started(id, name, input);
                        }
                    }
                }
                Message::ToolResults(results) => {
                    let (outputs, is_told_otherwise) = outputs(&line.raw);
                    for result in results {
                        let whole = outputs.iter().find(|(id, _)| *id == result.tool_use_id);
                        let output = whole.map_or(&result.preview, |(_, output)| output);
                        if is_told_otherwise {
                            let output = format!("Exit code 1\n{}", output::without_remark(output));
                            self.ended(&result.tool_use_id, &output, true);
                        } else {
                            self.ended(&result.tool_use_id, output, result.is_error);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    pub fn started(&mut self, id: &str, tool: &str, input: &str) {
        let read = serde_json::from_str::<Value>(input).unwrap_or_default();
        let shell = read["command"].as_str().map(str::to_owned);
        let command = shell.unwrap_or_else(|| format!("{tool} {input}"));
        let command = shortened(&command);
        self.kept += command.len();
        self.ran.push_back(Ran {
            id: id.to_owned(),
            tool: tool.to_owned(),
            command,
            output: String::new(),
            ended: false,
            failed: false,
            edits: edits::by(tool, &read),
            edits_before: self.edits,
        });
        self.forget();
    }

    pub fn ended(&mut self, id: &str, output: &str, failed: bool) {
        let Some(ran) = self.ran.iter_mut().rev().find(|ran| ran.id == id) else { return };
        let output = output::without_remark(output);
        if ran.tool == "Write" && output.starts_with(output::CREATED) {
            self.created.extend(ran.edits.clone());
        }
        if !failed && ran.tool == "Bash" {
            self.vanished.extend(edits::removed_again(&ran.command, &self.created));
        }
        ran.output = shortened(output);
        ran.ended = !output::goes_on(output);
        ran.failed = failed;
        self.kept += ran.output.len();
        // A script that failed may have edited the file before it did.
        if let Some(path) = ran.edits.take_if(|_| !failed || ran.tool == "Bash") {
            self.edits += 1;
            self.edited.push_back(path);
            if self.edited.len() > MOST_EDITS {
                self.edited.pop_front();
            }
        }
        ran.edits_before = self.edits;
        self.forget();
    }

    fn forget(&mut self) {
        while self.kept > MAX_KEPT
            && let Some(oldest) = self.ran.pop_front()
        {
            self.kept -= oldest.command.len() + oldest.output.len();
        }
    }
}

/// The complete outputs of the tools in a line, by the id of the tool call; and whether the client
/// took an exit code for an answer, and not for a failure: that of `test -f a` if there is no `a`, or of
/// `grep` without a match. It says so only beside the output.
fn outputs(raw: &[u8]) -> (Vec<(String, String)>, bool) {
    #[derive(Deserialize)]
    struct Whole {
        message: Content,
        #[serde(default, alias = "toolUseResult")]
        tool_use_result: Value,
    }
    #[derive(Deserialize)]
    struct Content {
        content: Vec<Value>,
    }
    // Terminal escapes may precede the object.
    let line =
        memchr::memchr(b'{', raw).map(|start| serde_json::from_slice::<Whole>(&raw[start..]));
    let Some(Ok(line)) = line else { return (Vec::new(), false) };
    let blocks = line.message.content.into_iter();
    let outputs: Vec<_> = blocks
        .filter_map(|block| {
            let id = block.get("tool_use_id")?.as_str()?.to_owned();
            Some((id, output(block.get("content")?)))
        })
        .collect();
    let is_told = line.tool_use_result["returnCodeInterpretation"].is_string();
    let is_told_otherwise = is_told && outputs.len() == 1;
    (outputs, is_told_otherwise)
}

fn output(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= 2 * KEPT {
        return text.to_owned();
    }
    let head = (0..=KEPT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - KEPT..=text.len()).find(|at| text.is_char_boundary(*at));
    format!("{}\n…\n{}", &text[..head], &text[tail.unwrap_or(text.len())..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(lines: &[&str]) -> Vec<(String, String)> {
        let mut commands = Commands::default();
        for line in lines {
            commands.line(&Line::decode(line.as_bytes().to_vec()));
        }
        commands.iter().map(|ran| (ran.command.clone(), ran.output.clone())).collect()
    }

    #[test]
    fn tools_and_their_whole_output_are_on_record() {
        let long = "x".repeat(5_000) + " 3 passed";
        let result = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"{long}"}}]}}}}"#
        );
        let ran = fed(&[
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"pytest -q"}},{"type":"tool_use","id":"t2","name":"Grep","input":{"pattern":"x"}}]}}"#,
            &result,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"a.rs"},{"type":"text","text":"b.rs"}]}]}}"#,
        ]);
        assert_eq!(ran[0], ("pytest -q".to_owned(), long));
        assert_eq!(ran[1], (r#"Grep {"pattern":"x"}"#.to_owned(), "a.rs\nb.rs".to_owned()));
    }

    #[test]
    fn what_was_edited_after_a_command_is_on_record_with_it() {
        let mut commands = Commands::default();
        let mut run = |id: &str, tool: &str, input: &str, failed: bool| {
            commands.started(id, tool, input);
            commands.ended(id, "", failed);
        };
        run("1", "Bash", r#"{"command":"pytest"}"#, true);
        run("2", "Edit", r#"{"file_path":"a.py"}"#, false);
        run("3", "Bash", r#"{"command":"pytest"}"#, false);
        run("4", "Edit", r#"{"file_path":"b.py"}"#, true);
        run("5", "Write", r#"{"file_path":"README.md"}"#, false);
        let names = |edited: Vec<&str>| edited.join(" ");
        let seen: Vec<_> = commands
            .iter()
            .map(|ran| (ran.failed, names(commands.edited_after(ran).collect())))
            .collect();
        assert_eq!(seen[0], (true, "a.py".to_owned()));
        assert_eq!(seen[2], (false, String::new()));
        let last = commands.iter().last().unwrap();
        assert_eq!(names(commands.edited_before(last).collect()), "a.py");
    }

    #[test]
    fn an_exit_code_that_the_client_takes_for_an_answer_is_on_record() {
        let ended = |told: &str| {
            let mut commands = Commands::default();
            commands.started("t1", "Bash", r#"{"command":"test -f gone.py"}"#);
            let line = format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"(Bash completed with no output)","is_error":false}}]}},"tool_use_result":{{"stdout":""{told}}}}}"#
            );
            commands.line(&Line::decode(line.into_bytes()));
            let ran = commands.iter().next().unwrap();
            (ran.failed, ran.output.clone())
        };
        assert_eq!(ended(""), (false, String::new()));
        let told = r#","returnCodeInterpretation":"Condition is false""#;
        assert_eq!(ended(told), (true, "Exit code 1\n".to_owned()));
    }

    #[test]
    fn a_file_that_was_created_and_deleted_again_changes_nothing() {
        let mut commands = Commands::default();
        let mut run = |id: &str, tool: &str, input: &str, output: &str| {
            commands.started(id, tool, input);
            commands.ended(id, output, false);
        };
        run("1", "Bash", r#"{"command":"pytest"}"#, "3 passed");
        run(
            "2",
            "Write",
            r#"{"file_path":"/p/try.py"}"#,
            "File created successfully at: /p/try.py",
        );
        run("3", "Bash", r#"{"command":"python3 try.py; rm -f try.py"}"#, "ok");
        let first = |commands: &Commands| {
            let ran = commands.iter().next().unwrap();
            commands.edited_after(ran).map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(first(&commands).is_empty());
        commands.started("4", "Bash", r#"{"command":"rm ./try.py a.py"}"#);
        commands.ended("4", "", false);
        assert_eq!(first(&commands), ["a.py"]);
    }

    #[test]
    fn what_goes_on_in_the_background_has_not_ended() {
        let mut commands = Commands::default();
        commands.started("1", "Bash", r#"{"command":"pytest"}"#);
        assert!(!commands.iter().all(|ran| ran.ended));
        commands.ended("1", "Command running in background with ID: bg1", false);
        assert!(!commands.iter().all(|ran| ran.ended));
        commands.ended("1", "3 passed", false);
        assert!(commands.iter().all(|ran| ran.ended));
    }

    #[test]
    fn the_record_is_bounded() {
        let mut commands = Commands::default();
        for at in 0..2_000 {
            commands.started(&at.to_string(), "Bash", r#"{"command":"make"}"#);
            commands.ended(
                &at.to_string(),
                &format!("begin {}end {at}", "ä".repeat(100_000)),
                false,
            );
        }
        let kept: usize = commands.iter().map(|ran| ran.command.len() + ran.output.len()).sum();
        assert_eq!(kept, commands.kept);
        assert!(kept <= MAX_KEPT, "{kept}");
        let last = commands.iter().last().unwrap();
        assert!(last.output.starts_with("begin ä") && last.output.ends_with("end 1999"));
    }
}
