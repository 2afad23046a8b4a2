//! A question to the person: all of what is asked for, and what the answers mean.

use serde_json::{Map, Value};

use super::indented;
use crate::client::form::{self, FormQuestion};
use crate::client::plan;
use crate::client::stream::always_means;
use crate::event::{Asker, Question};
use crate::surface::styled::{Glyphs, Style, Styled, exposed};
use crate::surface::{Transcript, diff};

impl Transcript {
    /// All of what is asked for, every line of it: who allows must have seen it.
    pub fn question(&mut self, question: &Question) -> Vec<Styled> {
        let who = match question.asker {
            Asker::Agent => "The agent",
            Asker::Supervisor => "The supervisor",
        };
        self.question_shown();
        let asked = &question.asked;
        if let Some(questions) = form::questions(asked) {
            let lines = questions.iter().flat_map(form_lines).collect();
            return self.apart(lines);
        }
        if plan::is_plan(asked) {
            return self.plan(question);
        }
        let mut head = Styled::new(Style::Question, &format!("? {who} asks to use "))
            .with(Style::Bold, &exposed(&asked.tool));
        let mut lines = Vec::new();
        if !asked.description.trim().is_empty() {
            lines.extend(indented(Style::Dim, "  ", &exposed_lines(&asked.description)));
        }
        match serde_json::from_str::<Value>(&asked.input) {
            Ok(Value::Object(mut fields)) => {
                // It stands there already.
                fields.retain(|name, value| {
                    name != "description" || value.as_str() != Some(asked.description.as_str())
                });
                let change = change(&mut fields, self.look.glyphs);
                if !change.is_empty() {
                    // What is changed where, at one glance; what is as always is not worth a line.
                    if let Some(Value::String(path)) = fields.shift_remove("file_path") {
                        head = head.with(Style::Plain, &format!(" {}", exposed(&path)));
                    }
                    let count = |mark: char| {
                        let marked = |line: &&Styled| line.text().trim_start().starts_with(mark);
                        change.iter().filter(marked).count()
                    };
                    head = head.with(Style::Dim, &format!("  +{} -{}", count('+'), count('-')));
                    fields.retain(|name, value| name != "replace_all" || value != false);
                    self.change_is_seen(&asked.tool, &asked.input);
                }
                for (name, value) in &fields {
                    lines.extend(field(name, value));
                }
                lines.extend(change);
            }
            _ => lines.extend(indented(Style::Plain, "  ", &exposed_lines(&asked.input))),
        }
        let always = asked.suggestions.as_deref().map(always_means).unwrap_or_default();
        if !always.is_empty() {
            let always = format!("\"Yes, always\" would allow: {}", always.join(", "));
            let line = Styled::new(Style::Dim, &format!("  {}", exposed(&always)));
            lines.extend(self.fitted(vec![line], "    "));
        }
        lines.insert(0, head);
        self.apart(lines)
    }
}

/// What an edit would change; its texts need not be shown besides.
fn change(fields: &mut Map<String, Value>, glyphs: Glyphs) -> Vec<Styled> {
    let text = |name: &str| fields.get(name)?.as_str().map(str::to_owned);
    let (Some(old), Some(new)) = (text("old_string"), text("new_string")) else {
        return Vec::new();
    };
    fields.retain(|name, _| name != "old_string" && name != "new_string");
    let lines = diff::edit(&old, &new, None, glyphs);
    lines.into_iter().map(|line| line.behind(Style::Plain, "    ")).collect()
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
    let several = if form.several { " (several may be chosen)" } else { "" };
    let mut lines =
        indented(Style::Question, "? ", &exposed_lines(&format!("{}{several}", form.question)));
    for (at, option) in form.options.iter().enumerate() {
        let label = format!("  {}. {}", at + 1, exposed(&option.label));
        lines.push(
            Styled::new(Style::Bold, &label)
                .with(Style::Dim, &format!("  {}", exposed(&option.description))),
        );
    }
    lines
}
