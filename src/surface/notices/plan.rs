//! A plan to be approved: all of it, as Markdown.

use crate::client::plan;
use crate::event::Question;
use crate::surface::Transcript;
use crate::surface::styled::{Style, Styled};
use crate::surface::transcript::Author;

impl Transcript {
    pub(super) fn plan(&mut self, question: &Question) -> Vec<Styled> {
        let written = plan::text(&question.asked.input).or_else(|| self.running_plan());
        let head = Styled::new(Style::Question, "? The agent proposes a plan");
        let mut lines = vec![head];
        match written {
            Some(text) => {
                lines.push(Styled::default());
                let text = self.rendered(&text, Author::AGENT);
                lines.extend(text.into_iter().map(|line| self.quoted(line)));
            }
            None => {
                let text = "  The plan was not written down; see what the agent said above.";
                lines.push(Styled::new(Style::Dim, text));
            }
        }
        self.apart(lines)
    }

    pub(super) fn plan_answered(&mut self, allowed: bool, reason: &str) -> Vec<Styled> {
        let text = match (allowed, reason) {
            (true, _) => "Plan approved.".to_owned(),
            (false, "") => "Plan not approved.".to_owned(),
            (false, reason) => format!("Plan not approved: {reason}"),
        };
        let lines = self.own_lines(Style::Dim, &text);
        let lines = self.fitted(lines, "  ");
        self.apart(lines)
    }
}
