//! The closing summary.

use super::super::styled::{Style, Styled};
use super::super::{Report, Transcript};
use super::amounts::{cost, count, duration, review_cost};
use crate::event::Outcome;
use crate::process::exit::signal_name;

impl Transcript {
    pub fn report(&mut self, report: &Report) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let mut broken_off = self.end_activity();
        let (style, outcome) = match &report.outcome {
            Outcome::Completed => {
                let bare = report.rounds.last().is_some_and(|round| round.verdict.without_proof);
                let proof = if bare { ", without proof" } else { "" };
                (Style::Good, format!("{} Confirmed complete{proof}", glyphs.good))
            }
            Outcome::Ended => (Style::Bold, "Session ended".to_owned()),
            Outcome::Unreviewed => (Style::Bold, "Done, not reviewed".to_owned()),
            Outcome::Failed(why) => {
                let said = |(_, words): &(&str, &str)| self.has_just_printed(words);
                let why = match why.split_once(": ").filter(said) {
                    _ if self.has_just_said(why) => String::new(),
                    Some(("Error", _)) => String::new(),
                    Some((how, _)) => format!(": {how}"),
                    None => format!(": {why}"),
                };
                (Style::Bad, format!("{} Failed{why}", glyphs.bad))
            }
            Outcome::Unwritten(why) => {
                (Style::Bad, format!("{} Failed: cannot write the output: {why}", glyphs.bad))
            }
            Outcome::Limit => (Style::Bad, format!("{} Not confirmed", glyphs.bad)),
            Outcome::NoVerdict(why) => (Style::Bad, format!("{} No verdict: {why}", glyphs.bad)),
            Outcome::Blocked(why) => (Style::Bad, format!("{} Blocked: {why}", glyphs.bad)),
            Outcome::Impossible(why) => (Style::Bad, format!("{} Impossible: {why}", glyphs.bad)),
            Outcome::Stuck(why) => (Style::Bad, format!("{} Stuck: {why}", glyphs.bad)),
            Outcome::Signal(signal) => (Style::Bold, format!("Ended by {}", signal_name(*signal))),
            // What it printed is all there is to say.
            Outcome::ClientLeft(_) => return broken_off,
        };
        let mut facts = vec![count(report.rounds.len(), "round"), duration(report.seconds.total)];
        let all = cost(report.cost_usd);
        let reviews = review_cost(report.supervision.cost_usd, &report.supervision.usage);
        facts.extend(match (all, reviews.join(", ")) {
            (all, reviews) if reviews.is_empty() => all,
            (Some(all), reviews) => Some(format!("{all} (reviews: {reviews})")),
            (None, reviews) => Some(format!("reviews: {reviews}")),
        });
        // The facts follow on the same line.
        let outcome = outcome.strip_suffix('.').unwrap_or(&outcome);
        let mut lines = self.own_lines(style, outcome);
        if let Some(first) = lines.first_mut() {
            *first = self.named(std::mem::take(first));
        }
        if let Some(last) = lines.pop() {
            let dot = glyphs.dot;
            let facts = format!(" {dot} {}", facts.join(&format!(" {dot} ")));
            lines.push(last.with(Style::Dim, &facts));
        }
        let mut lines = self.in_rows(lines);
        // In one piece, however narrow the screen is: it is there to be copied.
        if let Some(text) = self.how_to_go_on(report) {
            lines.push(Styled::new(Style::Dim, &text));
        }
        broken_off.extend(self.apart(lines));
        broken_off
    }
}

impl Transcript {
    /// A person resumes as they like; without one it is said only where something is left to do, and
    /// with the message that it takes.
    fn how_to_go_on(&self, report: &Report) -> Option<String> {
        let id = report.session_id.as_deref()?;
        let resume = format!("ccc --supervisor --resume {id}");
        match &report.outcome {
            _ if self.look.hints => Some(format!("Resume with: {resume}")),
            Outcome::Completed | Outcome::Ended | Outcome::Unreviewed | Outcome::ClientLeft(_) => {
                None
            }
            Outcome::Limit => Some(format!(
                "To continue with the same number of reviews: {resume} -p \"continue\" (--max-iterations N allows more)"
            )),
            _ => Some(format!("To continue: {resume} -p \"what to do next\"")),
        }
    }
}
