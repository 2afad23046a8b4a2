//! Tools: the line for a use of one, how long it has been running, and what came of it.

use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{Place, Transcript};
use crate::event::Now;
use crate::stream::ToolResult;
use crate::surface::diff;
use crate::surface::status::clock;
use crate::surface::styled::{self, Style, Styled};

/// Where previews of a tool's output end.
const PREVIEW: usize = 2000;
/// So many lines of a tool's output are shown, and of an edit.
const OUTPUT: usize = 3;
const CHANGES: usize = 16;
/// Below this nobody wants to know how long it took.
const WORTH_TELLING: Duration = Duration::from_secs(2);
/// The supervisor's way to give its verdict, which has a notice of its own.
const VERDICT_TOOL: &str = "StructuredOutput";
/// Tools whose output is for the agent: how much it was says enough.
const READERS: [&str; 6] = ["Read", "NotebookRead", "Glob", "Grep", "LS", "ToolSearch"];
/// Tools that start a sub-agent, and what the client puts around its report for the model.
const SUB_AGENTS: [&str; 2] = ["Task", "Agent"];
const AROUND: [&str; 3] = ["<tools-used-before-summary>", "[Subagent hand-back]", "agentId: "];
/// So much of what a tool was used for tells its result from others.
const LABEL: usize = 30;
/// The fields of a tool's input that say most about it, best first.
const TELLING: [&str; 12] = [
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

/// A use of a tool that has not answered yet.
#[derive(Debug)]
pub struct Running {
    id: String,
    name: String,
    /// What tells its result from those of others that ran beside it.
    label: String,
    head: Styled,
    place: Place,
    since: Now,
    /// Its line is in the transcript already.
    shown: bool,
    /// Not for the person's eyes.
    hidden: bool,
}

impl Transcript {
    pub(super) fn tool_use(
        &mut self,
        id: &str,
        name: &str,
        input: &str,
        place: Place,
    ) -> Vec<Styled> {
        let telling = telling(input);
        let (first, more) = styled::first_line(&telling);
        let glyph = format!("{} ", self.look.glyphs.tool);
        let used = glyph.width() + name.width() + 1;
        let mut head = Styled::new(Style::Tool, &glyph).with(Style::Bold, name);
        if !first.is_empty() {
            head = head.with(Style::Plain, &format!(" {}", self.short(&first, more, used, place)));
        }
        let hidden = name == VERDICT_TOOL;
        let label = styled::cut(&format!("{name} {first}"), LABEL, self.look.glyphs.ellipsis);
        let running = Running {
            id: id.to_owned(),
            name: name.to_owned(),
            label: label.trim_end().to_owned(),
            head,
            place,
            since: self.now,
            shown: false,
            hidden,
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
        lines
    }

    pub(super) fn tool_result(&mut self, result: &ToolResult, place: Place) -> Vec<Styled> {
        let at = self.running.iter().position(|running| running.id == result.tool_use_id);
        let mut lines = Vec::new();
        let (mut name, mut label) = (String::new(), String::new());
        if let Some(at) = at {
            let took = self.now.saturating_sub(self.running[at].since);
            if took >= WORTH_TELLING && !self.running[at].shown {
                let running = &mut self.running[at];
                let head = std::mem::take(&mut running.head);
                running.head = head.with(Style::Dim, &format!("  {}", clock(took)));
            }
            lines = self.show_tool(at);
            let running = self.running.remove(at);
            if running.hidden {
                return Vec::new();
            }
            // Right below its own line a result needs no name.
            if self.last_tool.as_ref() != Some(&result.tool_use_id) {
                label = format!("{}: ", running.label);
            }
            name = running.name;
        }
        let body = self.output(result, &name, &label, place);
        lines.extend(self.tool_lines(body, place));
        lines
    }

    /// The outcome, hanging from the tool's line.
    fn output(&self, result: &ToolResult, name: &str, label: &str, place: Place) -> Vec<Styled> {
        let branch = format!("  {} ", self.look.glyphs.branch);
        let indent = " ".repeat(branch.width());
        if !result.patch.is_empty() {
            let head =
                Styled::new(Style::Dim, &format!("{branch}{label}{}", diff::extent(&result.patch)));
            let room =
                self.wrap.map(|cells| cells.saturating_sub(self.margin(place) + indent.len()));
            let lines = diff::hunks(&result.patch, room, CHANGES, self.look.glyphs);
            let lines = lines.into_iter().map(|line| line.behind(Style::Plain, &indent));
            return std::iter::once(head).chain(lines).collect();
        }
        let (style, texts) = self.summary(result, name);
        let row = |(at, text): (usize, String)| {
            let (head, text) =
                if at == 0 { (&branch, format!("{label}{text}")) } else { (&indent, text) };
            let text = self.short(&text, false, head.width(), place);
            Styled::new(Style::Dim, head).with(style, &text)
        };
        texts.into_iter().enumerate().map(row).collect()
    }

    fn summary(&self, result: &ToolResult, name: &str) -> (Style, Vec<String>) {
        // The client marks its own complaints for the model; a person needs no mark.
        let preview =
            result.preview.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
        let preview = if SUB_AGENTS.contains(&name) { report(&preview) } else { preview };
        let (kept, preview) = kept_elsewhere(&preview);
        let clean = |line: &str| styled::first_line(last_state(line)).0.into_owned();
        let mut lines: Vec<_> =
            preview.lines().filter(|line| !line.trim().is_empty()).map(clean).collect();
        let all = result.preview.lines().count();
        let more = if result.preview.chars().count() >= PREVIEW { "+" } else { "" };
        let Some(first) = lines.first_mut() else {
            return (Style::Dim, vec!["no output".to_owned()]);
        };
        if result.is_error && !first.to_lowercase().starts_with("error") {
            *first = format!("error: {first}");
        }
        let style = if result.is_error { Style::Bad } else { Style::Dim };
        if !result.is_error && READERS.contains(&name) && all > 1 {
            return (style, vec![format!("{all}{more} lines")]);
        }
        if let Some(kept) = kept {
            lines.truncate(OUTPUT);
            lines.push(format!("{} {kept}", self.look.glyphs.ellipsis));
            return (style, lines);
        }
        // A line that only says that there is one more is no shorter than that line.
        if lines.len() > OUTPUT + 1 || !more.is_empty() {
            let hidden = lines.len().saturating_sub(OUTPUT);
            lines.truncate(OUTPUT);
            if hidden > 0 {
                let ellipsis = self.look.glyphs.ellipsis;
                lines.push(format!("{ellipsis} {hidden}{more} more lines"));
            }
        }
        (style, lines)
    }

    /// What is running now, for how long.
    pub(super) fn running_rows(&self) -> Vec<Styled> {
        let row = |running: &Running| {
            let took = self.now.saturating_sub(running.since);
            let line = running.head.clone();
            let line = if took >= WORTH_TELLING {
                line.with(Style::Dim, &format!("  {}", clock(took)))
            } else {
                line
            };
            self.placed(line, running.place)
        };
        self.running.iter().filter(|running| !running.shown && !running.hidden).map(row).collect()
    }
}

/// An output that the client found too long for the agent is a file: what the client says about
/// that, and how the output begins.
fn kept_elsewhere(preview: &str) -> (Option<&str>, &str) {
    let split = || {
        let (note, rest) =
            preview.strip_prefix("<persisted-output>")?.trim_start().split_once('\n')?;
        let (_, output) = rest.split_once("):\n")?;
        Some((note, output.trim_end().trim_end_matches("</persisted-output>")))
    };
    split().map_or((None, preview), |(note, output)| (Some(note), output))
}

/// What a sub-agent reported, as far as it is for people.
fn report(preview: &str) -> String {
    let preview = preview.split("\n<usage>").next().unwrap_or_default();
    let for_the_model = |line: &&str| AROUND.iter().any(|mark| line.trim_start().starts_with(mark));
    let lines: Vec<_> = preview.lines().filter(|line| !for_the_model(line)).collect();
    lines.join("\n")
}

/// What a terminal would show of a line that was written over and over, as a progress bar is.
fn last_state(line: &str) -> &str {
    line.rsplit('\r').find(|state| !state.trim().is_empty()).unwrap_or_default()
}

fn telling(input: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(input) else {
        return String::new();
    };
    let named = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
    named.or_else(|| fields.values().find_map(Value::as_str)).unwrap_or_default().to_owned()
}
