//! A verdict: what it is, what each requirement rests on, and what the supervisor was denied.

use super::super::styled::{self, Style, Styled};
use super::super::{Look, Transcript};

use super::super::transcript::{Author, FullText, LineKind};
use super::amounts::{duration, review_cost};
use crate::review::opinion::Opinion;
use crate::review::permission::Denied;
use crate::review::policy::Seat;
use crate::review::requirement::{Requirement, Standing};
use crate::review::verdict::{Halt, Verdict};

/// So many of the things that a supervisor was denied are shown.
const MOST_DENIED: usize = 5;
/// So many requirements that are met are shown on a screen.
const MOST_SETTLED: usize = 8;
/// The columns in front of a requirement: the margins of the block.
const MARGIN: usize = 4;
const BELOW_MARK: &str = "  ";

impl Transcript {
    pub(super) fn review_started(
        &mut self,
        round: &str,
        attempt: u32,
        judge: Option<&Seat>,
    ) -> Vec<Styled> {
        (self.review_dropped, self.review_shown) = (false, true);
        self.judgement.clear();
        let second = if attempt > 1 { ", second try" } else { "" };
        let by = judge.map(|judge| {
            let eyes = if judge.fresh { ", fresh eyes" } else { "" };
            format!(" by {}{eyes}", judge.name)
        });
        let by = by.unwrap_or_default();
        let text = format!("{}Review {round}{by}{second}", self.look.glyphs.gutter);
        let lines = vec![Styled::new(Style::Supervisor, &text)];
        let lines = if attempt > 1 || self.look.phases { lines } else { self.apart(lines) };
        self.heading(lines)
    }

    /// What one of several judges said stands in the block of the verdict; that it said nothing, here.
    pub(super) fn opinion(&mut self, opinion: &Opinion) -> Vec<Styled> {
        if opinion.completed.is_some() {
            return Vec::new();
        }
        let line = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
        self.shown(vec![line.with(Style::Bad, &opinion.told())])
    }

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
            Some(Halt::Blocked) => (Style::Bad, glyphs.bad, "Blocked: needs your input,"),
            Some(Halt::Impossible) => (Style::Bad, glyphs.bad, "Impossible as it stands,"),
            None => (Style::Bad, glyphs.bad, "Not complete yet,"),
        };
        let text = format!("{mark} {text} round {round}{proof}");
        let dot = glyphs.dot;
        let facts = format!(" {dot} {}", facts.join(&format!(" {dot} ")));
        let headline = Styled::new(style, &text).with(Style::Dim, &facts);
        let mut lines = vec![self.named(headline)];
        lines.extend(self.opinions(verdict).into_iter().map(|line| self.quoted(line)));
        let requirements = self.requirements(verdict);
        lines.extend(requirements.into_iter().map(|line| self.quoted(line)));
        // What the supervisor's prose says as well stands right above already.
        if !self.judgement.ends_with(verdict.feedback.trim()) {
            let feedback = self.rendered(&verdict.feedback, Author::SUPERVISOR);
            lines.extend(feedback.into_iter().map(|line| self.quoted(line)));
        }
        self.judgement.clear();
        lines.extend(self.better_round(verdict.better_round));
        lines.extend(self.denied(&verdict.denied));
        self.lines(lines, LineKind::Notice, Author::SUPERVISOR)
    }

    /// What the supervisor says of an earlier round, and how to go back to it.
    fn better_round(&self, round: Option<u32>) -> Vec<Styled> {
        let Some(round) = round else { return Vec::new() };
        let how = match self.look {
            Look { live: true, .. } => "press Esc twice at the empty prompt when the agent is idle",
            Look { spoken: true, .. } => "type /rewind when the agent is idle",
            _ => "",
        };
        let how =
            if how.is_empty() { ".".to_owned() } else { format!(": {how} to go back to it.") };
        // Wrapped like the feedback above it.
        let lines = self.rendered(&format!("Round {round} was better{how}"), Author::SUPERVISOR);
        lines.into_iter().map(|line| self.quoted(line)).collect()
    }

    /// One line for each of several judges: what it said, how long it took, and what it cost.
    fn opinions(&self, verdict: &Verdict) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let line = |opinion: &Opinion| {
            let (style, mark) = match opinion.completed {
                Some(true) => (Style::Good, glyphs.good),
                Some(false) => (Style::Bad, glyphs.bad),
                None => (Style::Bad, "?"),
            };
            let mut facts = vec![duration(opinion.seconds)];
            facts.extend(review_cost(opinion.cost_usd, &opinion.usage));
            let dot = glyphs.dot;
            Styled::new(style, &format!("{mark} "))
                .with(Style::Plain, &format!("judge {}", opinion.told()))
                .with(Style::Dim, &format!(" {dot} {}", facts.join(&format!(" {dot} "))))
        };
        verdict.opinions.iter().map(line).collect()
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

    /// What is open first. What is long is folded: what was settled already in a round
    /// before, and on a screen what is more than a few.
    fn requirements(&mut self, verdict: &Verdict) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let (open, settled): (Vec<_>, Vec<_>) =
            verdict.requirements.iter().partition(|requirement| requirement.is_open());
        let known = std::mem::take(&mut self.settled);
        if !verdict.completed {
            self.settled = settled.iter().map(|one| one.id.clone()).collect();
        }
        let is_old = |one: &&&Requirement| !verdict.completed && known.contains(&one.id);
        let old = settled.iter().filter(is_old).count();
        let new: Vec<_> = settled.iter().filter(|one| !is_old(one)).collect();
        let most = if self.look.live { MOST_SETTLED } else { usize::MAX };
        let shown = if new.len() > most.saturating_add(1) { most } else { new.len() };
        let mut lines: Vec<_> = open.iter().flat_map(|one| self.requirement(one)).collect();
        lines.extend(new.iter().take(shown).flat_map(|one| self.requirement(one)));
        let mut folded = Vec::new();
        if new.len() > shown {
            folded.push(format!("{} more met", new.len() - shown));
        }
        if old > 0 {
            folded.push(format!("{old} still met"));
        }
        if !folded.is_empty() {
            let how = if self.keeps_whole { "; Ctrl-O shows all" } else { "" };
            let text = format!("{} {}{how}", glyphs.ellipsis, folded.join(", "));
            lines.push(Styled::new(Style::Dim, &text));
            let all = verdict.requirements.iter().map(|one| self.requirement_text(one));
            let text = all.collect::<Vec<_>>().join("\n");
            if self.keeps_whole {
                self.whole.push(FullText { what: "requirements", text });
            }
        }
        if let Some(amended) = &verdict.amended {
            lines.push(Styled::new(Style::Dim, &format!("Requirements: {amended}")));
        }
        lines
    }

    fn mark(&self, status: Standing) -> (Style, &'static str) {
        let glyphs = self.look.glyphs;
        match status {
            Standing::Met => (Style::Good, glyphs.good),
            Standing::Unmet => (Style::Bad, glyphs.bad),
            Standing::Unproven => (Style::Bad, "?"),
            Standing::Dropped => (Style::Dim, glyphs.dash),
        }
    }

    /// Of what is open nothing shows it, whatever was claimed.
    fn shown_by(&self, requirement: &Requirement) -> String {
        if requirement.is_open() {
            return String::new();
        }
        let shown = requirement.evidence.iter().map(|evidence| one_line(&evidence.to_string()));
        shown.collect::<Vec<_>>().join(&format!(" {} ", self.look.glyphs.dot))
    }

    fn requirement_text(&self, requirement: &Requirement) -> String {
        let (mark, shown) = (self.mark(requirement.status).1, self.shown_by(requirement));
        format!("{mark} {} {}   {shown}", requirement.id, one_line(&requirement.text))
    }

    /// Its mark and what it is, in full; then what shows it, in one row.
    fn requirement(&self, requirement: &Requirement) -> Vec<Styled> {
        let (style, mark) = self.mark(requirement.status);
        let (text, shown) = (one_line(&requirement.text), self.shown_by(requirement));
        let line = Styled::new(style, &format!("{mark} ")).with(Style::Plain, &text);
        let both = line.clone().with(Style::Dim, &format!("   {shown}"));
        let cells = self.wrap.map(|cells| cells.saturating_sub(MARGIN).max(1));
        match cells {
            _ if shown.is_empty() && cells.is_none_or(|cells| line.width() <= cells) => vec![line],
            _ if cells.is_none_or(|cells| both.width() <= cells) => vec![both],
            _ => {
                let cells = cells.unwrap_or(usize::MAX);
                let mut rows = line.wrap(cells, &Styled::new(Style::Plain, BELOW_MARK));
                if !shown.is_empty() {
                    let room = cells.saturating_sub(BELOW_MARK.len());
                    let shown = styled::cut(&shown, room, self.look.glyphs.ellipsis);
                    rows.push(Styled::new(Style::Dim, &format!("{BELOW_MARK}{shown}")));
                }
                rows
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
