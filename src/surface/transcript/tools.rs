//! Tools: the line for a use of one, how long it has been running, and what came of it.

use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::outputs::{ASYNC_AGENT, DENIED, exit_code};
use super::sub_agents::{SubAgent, starts_one};
use super::todos::keeps_list;
use super::{Author, NARROWEST, Transcript};
use crate::client::stream::ToolResult;
use crate::client::{form, plan};
use crate::event::{Asker, Now};
use crate::surface::status::clock;
use crate::surface::styled::{self, Style, Styled};

/// Below this nobody wants to know how long it took.
pub const WORTH_TELLING: Duration = Duration::from_secs(2);
/// The supervisor's way to give its verdict, which has a notice of its own.
const VERDICT_TOOL: &str = "StructuredOutput";
/// So much of what a tool was used for tells its result from others.
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

/// Those that are paths.
const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// A use of a tool that has not answered yet.
#[derive(Debug)]
pub struct RunningTool {
    id: String,
    name: String,
    /// What tells its result from those of others that ran beside it.
    label: String,
    head: Styled,
    place: Author,
    since: Now,
    /// Its line is in the transcript already.
    shown: bool,
    /// Not for the person's eyes.
    hidden: bool,
    input: String,
    /// The person has seen what it changes, and allowed it.
    seen: bool,
    /// The person is being asked about it: the question says what it is.
    asked: bool,
    /// The person has said no.
    denied: bool,
}

impl Transcript {
    pub(super) fn tool_use(
        &mut self,
        id: &str,
        name: &str,
        input: &str,
        place: Author,
    ) -> Vec<Styled> {
        let purpose = purpose(input, |path| self.near(path));
        let (first, more) = styled::first_line(&purpose);
        let glyph = format!("{} ", self.look.glyphs.tool);
        let used = glyph.width() + name.width() + 1;
        let mut head = Styled::new(Style::Tool, &glyph).with(Style::Bold, name);
        if !first.is_empty() {
            head = head.with(Style::Plain, &format!(" {}", self.short(&first, more, used, place)));
        }
        let agents = place == Author::AGENT;
        let listed = agents && keeps_list(name);
        // A question or a plan is shown when the person is asked, and so is the answer.
        let asks = agents && (name == plan::TOOL || name == form::TOOL);
        let hidden = name == VERDICT_TOOL || listed || asks;
        if agents && starts_one(name) {
            self.sub_agents.push(SubAgent::new(id, &first, self.now));
        }
        let label = styled::cut(&format!("{name} {first}"), LABEL, self.look.glyphs.ellipsis);
        let running = RunningTool {
            id: id.to_owned(),
            name: name.to_owned(),
            label: label.trim_end().to_owned(),
            head,
            place,
            since: self.now,
            shown: false,
            hidden,
            input: input.to_owned(),
            seen: false,
            asked: false,
            denied: false,
        };
        self.running.push(running);
        // Where there is no place for what is going on, its line comes at once.
        if self.look.live || hidden { Vec::new() } else { self.show_tool(self.running.len() - 1) }
    }

    /// The line of a running tool goes to the transcript.
    fn show_tool(&mut self, at: usize) -> Vec<Styled> {
        let running = &mut self.running[at];
        if running.shown || running.hidden {
            return Vec::new();
        }
        running.shown = true;
        let (id, head, place) = (running.id.clone(), running.head.clone(), running.place);
        let lines = self.tool_lines(vec![head], place);
        self.last_tool = Some(id);
        lines
    }

    /// A sub-agent speaks: the line of the tool that started it comes first.
    pub(super) fn show_parent(&mut self, id: &str) -> Vec<Styled> {
        match self.running.iter().position(|running| running.id == id) {
            Some(at) => self.show_tool(at),
            None => Vec::new(),
        }
    }

    /// Tools that will not answer any more: their turn is over.
    pub(super) fn give_up_tools(&mut self) -> Vec<Styled> {
        let lines = (0..self.running.len()).flat_map(|at| self.show_tool(at)).collect();
        self.running.clear();
        self.forget_sub_agents(false);
        lines
    }

    pub(super) fn tool_result(&mut self, result: &ToolResult, place: Author) -> Vec<Styled> {
        let at = self.running.iter().position(|running| running.id == result.tool_use_id);
        let mut lines = Vec::new();
        let (mut name, mut label) = (String::new(), String::new());
        let mut code = exit_code(&result.preview);
        let (mut seen, mut denied) = (false, false);
        // After a compaction the client repeats old results, of uses that nobody sees.
        if at.is_none() && place.own {
            return lines;
        }
        // Its line comes when it has ended.
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
                let head = self.with_facts(head, style, &facts.join(" "), place);
                self.running[at].head = head;
            }
            lines = self.show_tool(at);
            let running = self.running.remove(at);
            if running.hidden && !result.is_error && keeps_list(&running.name) {
                let changed = self.todos.done(&running.name, &running.input, &result.preview);
                return if changed { self.todos_changed() } else { Vec::new() };
            }
            if running.hidden {
                return Vec::new();
            }
            // Right below its own line a result needs no name.
            if self.last_tool.as_ref() != Some(&result.tool_use_id) {
                label = format!("{}: ", running.label);
            }
            name = running.name;
            seen = running.seen;
            denied = running.denied;
        }
        if let Some(code) = code {
            label = format!("{label}exit {code}: ");
        }
        let mut body = if denied {
            // Why is said above, and what the client makes of it is for the agent.
            self.outcome(Style::Dim, vec![DENIED.to_owned()], &label, place)
        } else {
            self.output(result, &name, &label, place)
        };
        if seen && !result.patch.is_empty() {
            body.truncate(1);
        }
        lines.extend(self.tool_lines(body, place));
        lines
    }

    /// The line of a tool with what is known of its run; what it was used for gives way to that.
    fn with_facts(&self, head: Styled, style: Style, facts: &str, place: Author) -> Styled {
        if facts.is_empty() {
            return head;
        }
        let facts = format!("  {facts}");
        let room = self.width.max(NARROWEST).saturating_sub(self.margin(place) + facts.width());
        head.cut(room, self.look.glyphs.ellipsis).with(style, &facts)
    }

    /// A question has shown this change in full.
    pub(in crate::surface) fn change_is_seen(&mut self) {
        self.running.iter_mut().for_each(|running| running.seen |= running.asked);
    }

    /// Nobody waits for the review any more: its tools will not answer, and its process may still talk.
    pub(in crate::surface) fn give_up_review(&mut self) {
        self.review_dropped = true;
        self.running.retain(|running| running.place.who != Asker::Supervisor);
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

    /// The person was asked in the meantime: that is not the tools' time.
    pub(in crate::surface) fn answered(&mut self) {
        if let Some(asked) = self.asked_at.take() {
            let waited = self.now.saturating_sub(asked);
            for running in &mut self.running {
                running.since += waited;
                running.asked = false;
            }
        }
    }

    /// The person has said no to what they are asked.
    pub(in crate::surface) fn was_denied(&mut self) {
        self.running.iter_mut().for_each(|running| running.denied |= running.asked);
    }

    /// The plan of the use that the person is asked about.
    pub(in crate::surface) fn running_plan(&self) -> Option<String> {
        let asked = self.running.iter().rev().find(|running| running.name == plan::TOOL)?;
        plan::text(&asked.input)
    }

    pub fn is_running_tool(&self) -> bool {
        self.running.iter().any(|running| running.place.who == Asker::Agent)
    }

    /// What is running now, for how long.
    pub(super) fn running_rows(&self) -> Vec<Styled> {
        let row = |running: &RunningTool| {
            let took = self.asked_at.unwrap_or(self.now).saturating_sub(running.since);
            let facts = if took >= WORTH_TELLING { clock(took) } else { String::new() };
            let line = self.with_facts(running.head.clone(), Style::Dim, &facts, running.place);
            self.placed(line, running.place)
        };
        let in_tree =
            |running: &&RunningTool| running.place == Author::AGENT && starts_one(&running.name);
        let shown = |running: &&RunningTool| {
            !(running.shown || running.hidden || running.asked || in_tree(running))
        };
        let rows = self.running.iter().filter(shown).map(row);
        rows.chain(self.sub_agent_rows()).collect()
    }
}

/// What a tool is used for, in one line.
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
