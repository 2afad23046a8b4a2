//! A session that is taken up again: where it stood, and its last words.

use super::super::Transcript;
use super::super::styled::{Style, Styled};
use super::super::transcript::Author;
use super::amounts::{cost, count};
use crate::event::{Ending, Stood};

/// So many lines of the last answer are shown again.
const ANSWER: usize = 12;

impl Transcript {
    pub(super) fn resumed(
        &mut self,
        round: u32,
        max: u32,
        messages: usize,
        cost_usd: f64,
        ending: Option<&Ending>,
    ) -> Vec<Styled> {
        let mut facts = Vec::new();
        if round > 0 {
            facts.push(format!("after round {round} of {max}"));
        }
        facts.push(count(messages, "message"));
        facts.extend(cost(cost_usd));
        facts.extend(ending.map(|ending| stood(ending.stood)));
        let text = format!("Resumed: {}", facts.join(", "));
        let mut lines = self.shown(vec![Styled::new(Style::Dim, &text)]);
        if let Some(ending) = ending {
            lines.extend(self.said(&ending.message));
            lines.extend(self.end_of(&ending.answer));
        }
        lines
    }

    fn end_of(&mut self, answer: &str) -> Vec<Styled> {
        let lines = self.rendered(answer, Author::AGENT);
        let mut lines = self.fitted(lines, "");
        let hidden = lines.len().saturating_sub(ANSWER);
        if hidden > 1 {
            lines.drain(..hidden);
            lines.insert(0, Styled::new(Style::Dim, self.look.glyphs.ellipsis));
        }
        let lines: Vec<_> = lines.into_iter().map(|line| self.quoted(line)).collect();
        if lines.is_empty() { lines } else { self.apart(lines) }
    }
}

fn stood(stood: Stood) -> String {
    match stood {
        Stood::Confirmed => "confirmed complete".to_owned(),
        Stood::Open(0) => "not complete yet".to_owned(),
        Stood::Open(open) => {
            let open = count(open, "requirement");
            format!("{open} still open")
        }
        Stood::Undecided => "not confirmed".to_owned(),
        Stood::Unreviewed => "not reviewed yet".to_owned(),
    }
}
