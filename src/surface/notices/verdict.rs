//! A verdict: what it is, what each requirement rests on, and what the supervisor was denied.

use super::super::Transcript;
use super::super::styled::{self, Style, Styled};
use super::super::transcript::{Author, LineKind};
use crate::review::permission::Denied;
use crate::review::requirement::{Requirement, Standing};
use crate::review::verdict::{Halt, Verdict};

/// So many of the things that a supervisor was denied are shown.
const MOST_DENIED: usize = 5;

impl Transcript {
    pub(super) fn verdict(
        &mut self,
        round: &str,
        facts: &[String],
        verdict: &Verdict,
    ) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let proof = if verdict.without_proof { ", without proof" } else { "" };
        let (style, mark, text) = match verdict.halt {
            _ if verdict.completed => (Style::Good, glyphs.good, "Confirmed complete in"),
            Some(Halt::Blocked) => (Style::Bad, glyphs.bad, "Blocked: this needs you,"),
            Some(Halt::Impossible) => (Style::Bad, glyphs.bad, "Impossible as it stands,"),
            None => (Style::Bad, glyphs.bad, "Not complete yet,"),
        };
        let text = format!("{mark} {text} round {round}{proof}");
        let dot = glyphs.dot;
        let facts = format!(" {dot} {}", facts.join(&format!(" {dot} ")));
        let headline = Styled::new(style, &text).with(Style::Dim, &facts);
        let mut lines = vec![self.named(headline)];
        lines.extend(self.requirements(verdict).into_iter().map(|line| self.quoted(line)));
        // What the supervisor's prose says as well stands right above already.
        if !self.judgement.ends_with(verdict.feedback.trim()) {
            let feedback = self.rendered(&verdict.feedback, Author::SUPERVISOR);
            lines.extend(feedback.into_iter().map(|line| self.quoted(line)));
        }
        self.judgement.clear();
        lines.extend(self.denied(&verdict.denied));
        self.lines(lines, LineKind::Notice, Author::SUPERVISOR)
    }

    /// What the supervisor was not allowed to do: a verdict that rests on less has to say so.
    fn denied(&self, denied: &[Denied]) -> Vec<Styled> {
        let mut texts: Vec<_> = denied
            .iter()
            .take(MOST_DENIED)
            .map(|denied| {
                let what = denied.what.lines().next().unwrap_or_default();
                let what = if what.is_empty() { String::new() } else { format!(" `{what}`") };
                format!("denied {}{what}: {}", denied.tool, denied.reason)
            })
            .collect();
        if denied.len() > MOST_DENIED {
            let more = denied.len() - MOST_DENIED;
            texts.push(format!("{} {more} more were denied", self.look.glyphs.ellipsis));
        }
        let lines = texts.iter().flat_map(|text| styled::lines(Style::Dim, text));
        lines.map(|line| self.quoted(line)).collect()
    }

    /// One line each, what is open first: its mark, what it is, and what shows it.
    fn requirements(&self, verdict: &Verdict) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let line = |requirement: &Requirement| {
            let (style, mark) = match requirement.status {
                Standing::Met => (Style::Good, glyphs.good),
                Standing::Unmet => (Style::Bad, glyphs.bad),
                Standing::Unproven => (Style::Bad, "?"),
                Standing::Dropped => (Style::Dim, glyphs.dash),
            };
            let shown = requirement.evidence.iter().map(ToString::to_string);
            let shown = shown.collect::<Vec<_>>().join(&format!(" {} ", glyphs.dot));
            let text = requirement.text.lines().next().unwrap_or_default();
            let line = Styled::new(style, &format!("  {mark} ")).with(Style::Plain, text);
            if shown.is_empty() { line } else { line.with(Style::Dim, &format!("   {shown}")) }
        };
        let (open, settled): (Vec<_>, Vec<_>) =
            verdict.requirements.iter().partition(|requirement| requirement.is_open());
        open.into_iter().chain(settled).map(line).collect()
    }
}
