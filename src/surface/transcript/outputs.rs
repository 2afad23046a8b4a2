//! A tool's outcome, as far as it concerns people: some lines of its output, or what an edit
//! changed.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::sub_agents::starts_sub_agent;
use super::{Author, Transcript};
use crate::brief::output::exit_code;
use crate::brief::output::{CREATED, NO_OUTPUT};
use crate::client::stream::{Hunk, ToolResult};
use crate::machine::NOBODY;
use crate::surface::diff;
use crate::surface::styled::{self, Style, Styled};

/// How many lines are shown: of the beginning of an output; of its end if the tool failed, which is
/// where the reason is; and of an edit.
const OUTPUT: usize = 3;
const FAILURE: usize = 8;
const CHANGES: usize = 16;
/// Tools whose output is for the agent; its length is enough for people.
const READERS: [&str; 6] = ["Read", "NotebookRead", "Glob", "Grep", "LS", "ToolSearch"];
/// Lines of a sub-agent's report that are meant for the model.
const FOR_THE_MODEL: [&str; 3] =
    ["<tools-used-before-summary>", "[Subagent hand-back]", "agentId: "];
pub const ASYNC_AGENT: &str = "Async agent launched successfully";
pub const DENIED: &str = "not run: denied";
/// What newer clients put before the reason of a hook.
const HOOK: (&str, &str) = ("PreToolUse:", " hook error: ");
/// What the client or ccc tells the model, and what a person is shown instead.
const CLIENTS_WORDS: [(&str, &str); 13] = [
    (CREATED, "created"),
    // The client says so of every tool that it stops; what the person denied is known here.
    ("The user doesn't want to proceed with this tool use", "interrupted"),
    ("The user doesn't want to take this action right now", DENIED),
    (NOBODY, DENIED),
    (ASYNC_AGENT, "started in the background"),
    (NO_OUTPUT, "no output"),
    ("[Request interrupted by user", "interrupted"),
    ("User has approved your plan", "approved"),
    ("User has approved exiting plan mode", "approved"),
    ("Command was manually backgrounded by user", "continues in the background"),
    ("Command running in background with ID", "runs in the background"),
    (
        "Permission for this action was denied by the Claude Code auto mode",
        "not run: auto mode denied it",
    ),
    (
        "Auto mode is unavailable",
        "not run: auto mode cannot check actions here; choose another permission mode",
    ),
];
/// Remarks for the model within text for people.
const REMARKS: [(&str, &str); 2] =
    [("<system-reminder>", "</system-reminder>"), (" (file state is current in your context", ")")];

impl Transcript {
    /// The outcome, attached to the tool's line.
    pub(super) fn output(
        &self,
        result: &ToolResult,
        name: &str,
        label: &str,
        author: Author,
    ) -> Vec<Styled> {
        let branch = format!("  {} ", self.look.glyphs.branch);
        let indent = " ".repeat(branch.width());
        if !result.patch.is_empty() {
            let head =
                Styled::new(Style::Dim, &format!("{branch}{label}{}", diff::extent(&result.patch)));
            let room =
                self.wrap.map(|cells| cells.saturating_sub(self.margin(author) + indent.len()));
            let lines = diff::hunks(&result.patch, room, CHANGES, self.look.glyphs);
            let lines = lines.into_iter().map(|line| line.with_prefix(Style::Plain, &indent));
            return std::iter::once(head).chain(lines).collect();
        }
        let (style, texts) = self.summary(result, name);
        self.outcome(style, texts, label, author)
    }

    pub(super) fn outcome(
        &self,
        style: Style,
        texts: Vec<String>,
        label: &str,
        author: Author,
    ) -> Vec<Styled> {
        let branch = format!("  {} ", self.look.glyphs.branch);
        let indent = " ".repeat(branch.width());
        let row = |(at, text): (usize, String)| {
            let (head, text) =
                if at == 0 { (&branch, format!("{label}{text}")) } else { (&indent, text) };
            let text = self.short(&text, false, head.width(), author);
            Styled::new(Style::Dim, head).with(style, &text)
        };
        texts.into_iter().enumerate().map(row).collect()
    }

    fn summary(&self, result: &ToolResult, name: &str) -> (Style, Vec<String>) {
        let style = if result.is_error { Style::Bad } else { Style::Dim };
        if let Some((_, instead)) =
            CLIENTS_WORDS.iter().find(|(words, _)| result.preview.starts_with(words))
        {
            return (Style::Dim, vec![(*instead).to_owned()]);
        }
        let cut = !result.tail.is_empty();
        let ending = result.is_error && cut;
        let output = if ending { &result.tail } else { &result.preview };
        // The client marks its own complaints for the model; people need no mark.
        let output = output.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
        let output = without_remarks(&output);
        let output = if starts_sub_agent(name) { report(&output) } else { output };
        let output = output
            .strip_prefix(HOOK.0)
            .and_then(|rest| rest.split_once(HOOK.1))
            .map_or(output.as_str(), |(_, why)| why)
            .to_owned();
        let (kept, output) = kept_elsewhere(&output);
        // Code keeps its relative indentation; only what all lines share is removed.
        let clean = |line: &str| styled::untabbed(last_state(line)).trim_end().to_owned();
        let mut lines: Vec<_> = output.lines().map(clean).filter(|line| !line.is_empty()).collect();
        let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min();
        lines.iter_mut().for_each(|line| drop(line.drain(..indent.unwrap_or(0))));
        let code = exit_code(&result.preview);
        if code.is_some() && !ending && !lines.is_empty() {
            // The exit code is on the tool's own line.
            lines.remove(0);
        }
        let ellipsis = self.look.glyphs.ellipsis;
        let Some(first) = lines.first_mut() else {
            return (style, vec!["no output".to_owned()]);
        };
        if result.is_error {
            if code.is_none() && !ending && !first.trim_start().to_lowercase().starts_with("error")
            {
                *first = format!("error: {}", first.trim_start());
            }
            let hidden = lines.len().saturating_sub(FAILURE);
            if hidden > 1 || ending {
                lines.drain(..hidden);
                let many = if ending { String::new() } else { format!("{hidden} ") };
                let how = if self.look.live { "; Ctrl-O shows all" } else { "" };
                lines.insert(0, format!("{ellipsis} {many}lines above{how}"));
            }
            return (style, lines);
        }
        let more = if cut { "+" } else { "" };
        let all = result.preview.lines().count();
        if READERS.contains(&name) && all > 1 {
            return (style, vec![format!("{all}{more} lines")]);
        }
        if starts_sub_agent(name) && lines.len() > 1 {
            return (style, vec![format!("{} {ellipsis}", lines[0])]);
        }
        if let Some(kept) = kept {
            lines.truncate(OUTPUT);
            lines.push(format!("{ellipsis} {kept}"));
            return (style, lines);
        }
        // A line that says there is one more line is no shorter than that line.
        if lines.len() > OUTPUT + 1 || cut {
            let hidden = lines.len().saturating_sub(OUTPUT);
            lines.truncate(OUTPUT);
            if hidden > 0 {
                lines.push(format!("{ellipsis} {hidden}{more} more lines"));
            }
        }
        (style, lines)
    }
}

/// An output too long for the agent is saved to a file by the client: its note about that, and the
/// beginning of the output.
fn kept_elsewhere(preview: &str) -> (Option<&str>, &str) {
    let split = || {
        let (note, rest) =
            preview.strip_prefix("<persisted-output>")?.trim_start().split_once('\n')?;
        let (_, output) = rest.split_once("):\n")?;
        Some((note, output.trim_end().trim_end_matches("</persisted-output>")))
    };
    split().map_or((None, preview), |(note, output)| (Some(note), output))
}

/// A sub-agent's report, as far as it is meant for people.
pub fn report(preview: &str) -> String {
    let preview = preview.split("\n<usage>").next().unwrap_or_default();
    let for_the_model =
        |line: &&str| FOR_THE_MODEL.iter().any(|mark| line.trim_start().starts_with(mark));
    let lines: Vec<_> = preview.lines().filter(|line| !for_the_model(line)).collect();
    lines.join("\n")
}

/// A new file is an edit like any other, but the client reports no changes for it.
pub fn seen_as_created(result: &ToolResult, input: &str) -> Option<ToolResult> {
    if result.is_error || !result.patch.is_empty() || !result.preview.starts_with(CREATED) {
        return None;
    }
    let input: Value = serde_json::from_str(input).ok()?;
    let lines: Vec<_> = input["content"].as_str()?.lines().map(|line| format!("+{line}")).collect();
    let patch = vec![Hunk { old_start: 0, new_start: 1, lines }];
    (!patch[0].lines.is_empty()).then(|| ToolResult { patch, ..result.clone() })
}

fn without_remarks(output: &str) -> String {
    let mut out = output.to_owned();
    for (open, close) in REMARKS {
        while let Some(from) = out.find(open) {
            let to = out[from..].find(close).map_or(out.len(), |at| from + at + close.len());
            out.replace_range(from..to, "");
        }
    }
    out
}

/// What a terminal shows of a line that was overwritten repeatedly, as by a progress bar.
fn last_state(line: &str) -> &str {
    line.rsplit('\r').find(|state| !state.trim().is_empty()).unwrap_or_default()
}
