//! Tools: the line for a tool use, for how long it has been running, and its outcome.

use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::outputs::{ASYNC_AGENT, DENIED, seen_as_created};
use super::sub_agents::{SubAgent, starts_sub_agent};
use super::todos::maintains_todos;
use super::{Author, NARROWEST, Transcript};
use crate::brief::output::exit_code;
use crate::client::stream::ToolResult;
use crate::client::{form, plan};
use crate::event::{Asker, Now};
use crate::surface::status::clock;
use crate::surface::styled::{self, Style, Styled};

/// A shorter duration is not worth showing.
pub const WORTH_TELLING: Duration = Duration::from_secs(2);
/// The tool with which the supervisor gives its verdict, which is shown as a notice.
const VERDICT_TOOL: &str = "StructuredOutput";
/// How much of a tool use's purpose identifies its result.
const LABEL: usize = 30;
/// The fields of a tool's input that say most about it, best first.
const DESCRIPTIVE_FIELDS: [&str; 12] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "path",
    "description",
    "skill",
    "subject",
    "prompt",
    "task_id",
];

/// The fields that are paths.
const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// A tool use without a result yet.
#[derive(Debug)]
pub struct RunningTool {
    id: String,
    name: String,
    /// Distinguishes its result from those of other tools that ran at the same time.
    label: String,
    head: Styled,
    author: Author,
    since: Now,
    /// Whether its line is in the transcript already.
    shown: bool,
    /// Whether it is never shown to the person.
    hidden: bool,
    input: String,
    /// The person has seen what it changes, and allowed it.
    seen: bool,
    /// The person is being asked about it; the question shows what it is.
    asked: bool,
    /// The person denied it, or the question was withdrawn.
    denied: bool,
}

impl Transcript {
    pub(super) fn tool_use(
        &mut self,
        id: &str,
        name: &str,
        input: &str,
        author: Author,
    ) -> Vec<Styled> {
        let purpose = purpose(input, |path| self.near(path));
        let (first, more) = styled::first_line(&purpose);
        let glyph = format!("{} ", self.look.glyphs.tool);
        let used = glyph.width() + name.width() + 1;
        let mut head = Styled::new(Style::Tool, &glyph).with(Style::Bold, name);
        if !first.is_empty() {
            head = head.with(Style::Plain, &format!(" {}", self.short(&first, more, used, author)));
        }
        let agents = author == Author::AGENT;
        let listed = agents && maintains_todos(name);
        // A question or a plan is shown when the person is asked, and so is the answer.
        let asks = agents && (name == plan::TOOL || name == form::TOOL);
        let hidden = name == VERDICT_TOOL || listed || asks;
        if agents && starts_sub_agent(name) {
            self.sub_agents.push(SubAgent::new(id, &first, self.now));
        }
        let label = styled::cut(&format!("{name} {first}"), LABEL, self.look.glyphs.ellipsis);
        let running = RunningTool {
            id: id.to_owned(),
            name: name.to_owned(),
            label: label.trim_end().to_owned(),
            head,
            author,
            since: self.now,
            shown: false,
            hidden,
            input: input.to_owned(),
            seen: false,
            asked: false,
            denied: false,
        };
        self.running.push(running);
        // Without a live area, its line appears at once.
        if self.look.live || hidden { Vec::new() } else { self.show_tool(self.running.len() - 1) }
    }

    /// Moves the line of a running tool to the transcript.
    fn show_tool(&mut self, at: usize) -> Vec<Styled> {
        let running = &mut self.running[at];
        if running.shown || running.hidden {
            return Vec::new();
        }
        running.shown = true;
        let (id, head, author) = (running.id.clone(), running.head.clone(), running.author);
        let lines = self.tool_lines(vec![head], author);
        self.last_tool = Some(id);
        lines
    }

    /// Before a sub-agent's line, shows the line of the tool that started it.
    pub(super) fn show_parent(&mut self, id: &str) -> Vec<Styled> {
        match self.running.iter().position(|running| running.id == id) {
            Some(at) => self.show_tool(at),
            None => Vec::new(),
        }
    }

    /// Tools whose turn is over will not get a result any more. One that waited for an answer has
    /// not run, and its question stands in the transcript.
    pub(super) fn give_up_tools(&mut self) -> Vec<Styled> {
        self.running.retain(|running| !(running.asked || running.denied));
        let lines = (0..self.running.len()).flat_map(|at| self.show_tool(at)).collect();
        self.running.clear();
        self.forget_sub_agents(false);
        lines
    }

    pub(super) fn tool_result(&mut self, result: &ToolResult, author: Author) -> Vec<Styled> {
        let at = self.running.iter().position(|running| running.id == result.tool_use_id);
        let mut lines = Vec::new();
        let (mut name, mut label, mut input) = (String::new(), String::new(), String::new());
        let mut code = exit_code(&result.preview);
        let (mut seen, mut denied) = (false, false);
        // After a compaction the client repeats old results, of tool uses that are not shown.
        if at.is_none() && author.own {
            return lines;
        }
        // Its line appears when it has ended.
        if self.look.live && result.preview.starts_with(ASYNC_AGENT) {
            self.running.retain(|running| running.id != result.tool_use_id);
            self.goes_on_in_background(&result.tool_use_id);
            return lines;
        }
        if let Some(at) = at {
            let tools_used = self.sub_agent_ended(&result.tool_use_id);
            let took = self.now.saturating_sub(self.running[at].since);
            let running = &mut self.running[at];
            if !running.shown {
                let mut facts: Vec<String> = Vec::new();
                facts.extend(code.take().map(|code| format!("exit {code}")));
                facts.extend(tools_used);
                facts.extend((took >= WORTH_TELLING).then(|| clock(took)));
                let mut head = std::mem::take(&mut running.head);
                if result.is_error {
                    head = head.restyled(Style::Bad);
                }
                let style = if result.is_error { Style::Bad } else { Style::Dim };
                let head = self.with_facts(head, style, &facts.join(" "), author);
                self.running[at].head = head;
            }
            lines = self.show_tool(at);
            let running = self.running.remove(at);
            if running.hidden && !result.is_error && maintains_todos(&running.name) {
                let changed = self.todos.done(&running.name, &running.input, &result.preview);
                return if changed { self.todos_changed() } else { Vec::new() };
            }
            if running.hidden {
                return Vec::new();
            }
            // A result directly below its tool's line needs no name.
            if self.last_tool.as_ref() != Some(&result.tool_use_id) {
                label = format!("{}: ", running.label);
            }
            (name, input) = (running.name, running.input);
            seen = running.seen;
            denied = running.denied;
        }
        if let Some(code) = code {
            label = format!("{label}exit {code}: ");
        }
        let created = seen_as_created(result, &input);
        let result = created.as_ref().unwrap_or(result);
        let mut body = if denied {
            // The reason is shown above, and what the client says about it is for the agent.
            self.outcome(Style::Dim, vec![DENIED.to_owned()], &label, author)
        } else {
            self.output(result, &name, &label, author)
        };
        if seen && !result.patch.is_empty() {
            body.truncate(1);
        }
        lines.extend(self.tool_lines(body, author));
        lines
    }

    /// The tool's line with facts about its run; the purpose is shortened to make room.
    fn with_facts(&self, head: Styled, style: Style, facts: &str, author: Author) -> Styled {
        if facts.is_empty() {
            return head;
        }
        let facts = format!("  {facts}");
        let room = self.width.max(NARROWEST).saturating_sub(self.margin(author) + facts.width());
        head.cut(room, self.look.glyphs.ellipsis).with(style, &facts)
    }

    /// A question has shown the change in full.
    pub(in crate::surface) fn change_is_seen(&mut self) {
        self.running.iter_mut().for_each(|running| running.seen |= running.asked);
    }

    /// The review was abandoned: its tools will not get a result, and its process may still print.
    pub(in crate::surface) fn give_up_review(&mut self) {
        self.review_dropped = true;
        self.running.retain(|running| running.author.who != Asker::Supervisor);
    }

    pub(in crate::surface) fn question_shown(&mut self, tool: &str, input: &str) {
        self.asked_at = Some(self.now);
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        let asked = value(input);
        for running in &mut self.running {
            running.asked =
                running.name == tool && asked.is_some() && value(&running.input) == asked;
        }
    }

    /// Time spent waiting for the person does not count as the tools' time.
    pub(in crate::surface) fn answered(&mut self) {
        if let Some(asked) = self.asked_at.take() {
            let waited = self.now.saturating_sub(asked);
            for running in &mut self.running {
                running.since += waited;
                running.asked = false;
            }
        }
    }

    /// The person will not answer any more.
    pub(in crate::surface) fn withdrawn(&mut self) {
        self.was_denied();
        self.answered();
    }

    /// The person denied what they were asked.
    pub(in crate::surface) fn was_denied(&mut self) {
        self.running.iter_mut().for_each(|running| running.denied |= running.asked);
    }

    /// The plan that the person is asked about.
    pub(in crate::surface) fn running_plan(&self) -> Option<String> {
        let asked = self.running.iter().rev().find(|running| running.name == plan::TOOL)?;
        plan::text(&asked.input)
    }

    pub fn is_running_tool(&self) -> bool {
        self.running.iter().any(|running| running.author.who == Asker::Agent)
    }

    /// The running tools, and for how long they have run.
    pub(super) fn running_rows(&self) -> Vec<Styled> {
        let row = |running: &RunningTool| {
            let took = self.asked_at.unwrap_or(self.now).saturating_sub(running.since);
            let facts = if took >= WORTH_TELLING { clock(took) } else { String::new() };
            let line = self.with_facts(running.head.clone(), Style::Dim, &facts, running.author);
            self.placed(line, running.author)
        };
        let in_tree = |running: &&RunningTool| {
            running.author == Author::AGENT && starts_sub_agent(&running.name)
        };
        let shown = |running: &&RunningTool| {
            !(running.shown || running.hidden || running.asked || in_tree(running))
        };
        let rows = self.running.iter().filter(shown).map(row);
        rows.chain(self.sub_agent_rows()).collect()
    }
}

/// The purpose of a tool use, in one line.
fn purpose(input: &str, near: impl Fn(&str) -> &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(input) else {
        return String::new();
    };
    let named =
        DESCRIPTIVE_FIELDS.iter().find_map(|name| Some((*name, fields.get(*name)?.as_str()?)));
    match named {
        Some((name, path)) if PATHS.contains(&name) => near(path).to_owned(),
        Some((_, text)) => text.to_owned(),
        None => fields.values().find_map(Value::as_str).unwrap_or_default().to_owned(),
    }
}
