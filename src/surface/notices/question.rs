//! A question to the person: all of what is asked for, and what the answers mean.

use serde_json::{Map, Value};

use super::indented;
use crate::client::form::{self, FormQuestion};
use crate::client::plan;
use crate::client::stream::always_means;
use crate::event::{Asker, Question};
use crate::surface::Transcript;
use crate::surface::diff::{self, Edit};
use crate::surface::styled::{Glyphs, Style, Styled, exposed};

impl Transcript {
    /// All of what is asked for, every line of it: who allows must have seen it.
    pub fn question(&mut self, question: &Question) -> Vec<Styled> {
        let who = match question.asker {
            Asker::Agent => "The agent",
            Asker::Supervisor => "The supervisor",
        };
        let asked = &question.asked;
        self.question_shown(&asked.tool, &asked.input);
        if let Some(questions) = form::questions(asked) {
            let lines = questions.iter().flat_map(form_lines).collect();
            let lines = self.fitted(lines, "    ");
            return self.apart(lines);
        }
        if plan::is_plan(asked) {
            return self.plan(question);
        }
        let mut head = Styled::new(Style::Question, &format!("? {who} wants to use "))
            .with(Style::Bold, &exposed(&asked.tool));
        let mut lines = Vec::new();
        if !asked.description.trim().is_empty() {
            lines.extend(indented(Style::Dim, "  ", &exposed_lines(&asked.description)));
        }
        match serde_json::from_str::<Value>(&asked.input) {
            Ok(Value::Object(mut fields)) => {
                let mut rows = Vec::new();
                // It stands there already.
                fields.retain(|name, value| {
                    name != "description" || value.as_str() != Some(asked.description.as_str())
                });
                if let Some(change) =
                    change(&mut fields, question.before.as_deref(), self.look.glyphs)
                {
                    // What is changed where, at one glance; what is as always is not worth a line.
                    if let Some(Value::String(path)) = fields.shift_remove("file_path") {
                        // The client's description of an edit is the end of its path.
                        if path.ends_with(asked.description.trim()) {
                            lines.clear();
                        }
                        head = head.with(Style::Plain, &format!(" {}", exposed(self.near(&path))));
                    }
                    let counts = match (change.added, change.removed) {
                        (0, 0) => "  no change".to_owned(),
                        (added, removed) => format!("  +{added} -{removed}"),
                    };
                    head = head.with(Style::Dim, &counts);
                    fields.retain(|name, value| name != "replace_all" || value != false);
                    self.change_is_seen();
                    let indent = |line: Styled| line.with_prefix(Style::Plain, "    ");
                    rows = change.rows.into_iter().map(indent).collect();
                    // Not in the column of the numbers.
                    rows = self.fitted(rows, "        ");
                }
                for (name, value) in &fields {
                    lines.extend(field(name, value));
                }
                lines.append(&mut rows);
            }
            _ => lines.extend(indented(Style::Plain, "  ", &exposed_lines(&asked.input))),
        }
        let always = asked.suggestions.as_deref().map(always_means).unwrap_or_default();
        if !always.is_empty() {
            let always = format!("\"Yes, always\" would allow: {}", always.join(", "));
            lines.push(Styled::new(Style::Dim, &format!("  {}", exposed(&always))));
        }
        lines.insert(0, head);
        let lines = self.fitted(lines, "    ");
        self.apart(lines)
    }
}

/// So many lines around a change are shown of a file that would be written anew.
const CONTEXT: usize = 2;

/// What an edit would change in the file as it is; its texts need not be shown besides.
fn change(fields: &mut Map<String, Value>, before: Option<&str>, glyphs: Glyphs) -> Option<Edit> {
    let text = |name: &str| fields.get(name)?.as_str().map(str::to_owned);
    let edit = if let (Some(old), Some(new)) = (text("old_string"), text("new_string")) {
        // Where it stands in the file, if it does.
        let at = before
            .filter(|_| !old.is_empty())
            .and_then(|before| before.find(&old).map(|at| (before, at)));
        match at {
            Some((before, at)) => {
                let line_start = before[..at].rfind('\n').map_or(0, |newline| newline + 1);
                let line = before[..line_start].matches('\n').count() + 1;
                // Whole lines, so that they look as in the file.
                let (indent, behind) = (&before[line_start..at], &before[at + old.len()..]);
                let rest = behind.split_inclusive('\n').next().unwrap_or_default();
                let rest = if old.ends_with('\n') { "" } else { rest };
                let whole = |text: &str| format!("{indent}{text}{rest}");
                diff::edit(&whole(&old), &whole(&new), Some(line), None, glyphs)
            }
            None => diff::edit(&old, &new, None, None, glyphs),
        }
    } else {
        // A file that is written as a whole.
        let content = text("content").filter(|_| fields.contains_key("file_path"))?;
        diff::edit(before.unwrap_or_default(), &content, Some(1), Some(CONTEXT), glyphs)
    };
    fields.retain(|name, _| !["old_string", "new_string", "content"].contains(&name.as_str()));
    Some(edit)
}

fn field(name: &str, value: &Value) -> Vec<Styled> {
    let head = format!("  {}: ", exposed(name));
    match value.as_str() {
        Some(text) if text.contains('\n') => {
            let lines = text
                .split('\n')
                .map(|line| Styled::new(Style::Plain, &format!("    {}", exposed(line))));
            std::iter::once(Styled::new(Style::Dim, &head)).chain(lines).collect()
        }
        Some(text) => vec![Styled::new(Style::Dim, &head).with(Style::Plain, &exposed(text))],
        None => {
            let json = exposed(&value.to_string());
            vec![Styled::new(Style::Dim, &head).with(Style::Plain, &json)]
        }
    }
}

fn exposed_lines(text: &str) -> String {
    text.split('\n').map(exposed).collect::<Vec<_>>().join("\n")
}

/// A question with its options, numbered for the answer.
fn form_lines(form: &FormQuestion) -> Vec<Styled> {
    let several = if form.several { " (choose one or more)" } else { "" };
    let text = exposed_lines(&format!("{}{several}", form.question));
    let mut lines: Vec<_> = text
        .split('\n')
        .enumerate()
        .map(|(at, line)| (if at == 0 { "? " } else { "  " }, line))
        .map(|(mark, line)| Styled::new(Style::Question, &format!("{mark}{line}")))
        .collect();
    for (at, option) in form.options.iter().enumerate() {
        let label = format!("  {}. {}", at + 1, exposed(&option.label));
        lines.push(
            Styled::new(Style::Bold, &label)
                .with(Style::Dim, &format!("  {}", exposed(&option.description))),
        );
    }
    lines
}
