//! What ccc itself says in the transcript: notices, questions, and the closing summary.

use serde_json::Value;

use super::styled::{self, Style, Styled, exposed};
use super::{Report, Transcript};
use crate::event::{Asker, Dropped, Notice, Outcome, Phase, Question};
use crate::form::{self, FormQuestion};
use crate::verdict::Verdict;

const GO_ON: &str = "Type a message to go on, or /supervisor to review again.";

impl Transcript {
    pub fn notice(&mut self, notice: &Notice) -> Vec<Styled> {
        match notice {
            Notice::Started { supervising, max_iterations } => {
                let dot = self.look.glyphs.dot;
                let limit = format!(" {dot} up to {}", count(*max_iterations, "review"));
                self.supervising = *supervising;
                let line = mode(*supervising);
                let line = if *supervising { line.with(Style::Dim, &limit) } else { line };
                self.shown(vec![line])
            }
            Notice::Supervision { on } => {
                self.supervising = *on;
                self.shown(vec![mode(*on)])
            }
            Notice::Phase { phase, round, max } => self.phase(*phase, *round, *max),
            Notice::UserMessage { text } => {
                let lines = indented(Style::User, self.look.glyphs.prompt, text);
                self.apart(lines)
            }
            Notice::Feedback { .. } => {
                let text = format!("{} sent to the agent", self.look.glyphs.arrow);
                let line = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
                self.shown(vec![line.with(Style::Dim, &text)])
            }
            Notice::ReviewStarted { round, max, attempt } => {
                let second = if *attempt > 1 { ", second try" } else { "" };
                let text = format!("{}Review {round}/{max}{second}", self.look.glyphs.gutter);
                let lines = vec![Styled::new(Style::Supervisor, &text)];
                if *attempt > 1 || self.look.phases { self.shown(lines) } else { self.apart(lines) }
            }
            Notice::Verdict { round, verdict } => self.verdict(*round, verdict),
            Notice::ReviewFailed { reason, retrying: true, .. } => {
                let dash = self.look.glyphs.dash;
                self.failure(&format!("Review failed: {} {dash} trying again", sentence(reason)))
            }
            Notice::ReviewFailed { reason, .. } => {
                let text = self.hinted(&format!("No verdict: {}.", sentence(reason)), GO_ON);
                self.failure(&text)
            }
            Notice::ReviewDropped { why, .. } => {
                let why = match why {
                    Dropped::UserMessage => "you sent a message",
                    Dropped::Interrupt => "interrupted",
                    Dropped::AgentWoke => "the agent went on by itself",
                    Dropped::SwitchedOff => "supervision is off",
                    Dropped::SessionEnded => return Vec::new(),
                };
                self.shown(vec![Styled::new(Style::Dim, &format!("Review dropped: {why}"))])
            }
            Notice::LimitReached { max } => {
                let reviews = count(*max, "review");
                let text = format!("Stopped after {reviews} without confirmation.");
                let text = self.hinted(&text, GO_ON);
                self.failure(&text)
            }
            Notice::TurnFailed { error } => {
                self.failure(&format!("The agent's turn failed: {error}"))
            }
            Notice::Interrupted => self.shown(vec![Styled::new(Style::Dim, "Interrupted.")]),
            Notice::TakenBack { too_late, .. } => {
                let text = if *too_late { "Too late to take it back." } else { "Taken back." };
                self.shown(vec![Styled::new(Style::Dim, text)])
            }
            Notice::WaitingForBackground { tasks } => {
                let text = format!("Waiting for background work: {}", tasks.join(", "));
                self.shown(vec![Styled::new(Style::Dim, &text)])
            }
            Notice::PermissionAnswered { tool, allowed, reason, .. } => {
                let text = match (allowed, reason.as_str()) {
                    (true, _) => format!("allowed {tool}"),
                    (false, "") => format!("denied {tool}"),
                    (false, reason) => format!("denied {tool}: {reason}"),
                };
                self.shown(styled::lines(Style::Dim, &text))
            }
            Notice::AgentGone { how, last_words, resuming } => {
                self.agent_gone(how, last_words.trim(), *resuming)
            }
            Notice::Session { .. } | Notice::PermissionAsked { .. } => Vec::new(),
        }
    }

    fn phase(&mut self, phase: Phase, round: u32, max: u32) -> Vec<Styled> {
        let name = match phase {
            Phase::Working => "working",
            Phase::Reviewing => "reviewing",
            Phase::Waiting | Phase::Ended => return Vec::new(),
        };
        if !self.look.phases {
            return Vec::new();
        }
        let round = match round_of(phase, round, max).filter(|_| self.supervising) {
            Some(round) => format!(" {} round {round}/{max}", self.look.glyphs.dot),
            None => String::new(),
        };
        let rule = self.look.glyphs.rule;
        self.apart(vec![Styled::new(Style::Dim, &format!("{rule} {name}{round} {rule}"))])
    }

    fn verdict(&mut self, round: u32, verdict: &Verdict) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let mut lines = vec![if verdict.completed {
            let text = format!("{} Confirmed complete in round {round}", glyphs.good);
            Styled::new(Style::Good, &text)
        } else {
            Styled::new(Style::Bad, &format!("{} Not complete yet", glyphs.bad))
        }];
        // A verdict that was read out of the supervisor's prose stands right above already.
        if self.judgement != verdict.feedback.trim() {
            let feedback = styled::lines(Style::Plain, &verdict.feedback);
            lines.extend(
                feedback.into_iter().map(|line| line.behind(Style::Supervisor, glyphs.gutter)),
            );
        }
        self.judgement.clear();
        self.shown(lines)
    }

    fn agent_gone(&mut self, how: &str, last_words: &str, resuming: bool) -> Vec<Styled> {
        let dash = self.look.glyphs.dash;
        let mut text = format!("claude {how}");
        if !last_words.is_empty() {
            text = format!("{text}: {last_words}");
        }
        if resuming {
            text = format!("{text} {dash} resuming the session");
        } else if self.look.hints {
            text = format!("{text} {dash} your next message resumes the session");
        }
        self.failure(&text)
    }

    fn failure(&mut self, text: &str) -> Vec<Styled> {
        self.shown(styled::lines(Style::Bad, text))
    }

    fn hinted(&self, text: &str, hint: &str) -> String {
        if self.look.hints { format!("{text} {hint}") } else { text.to_owned() }
    }

    /// All of what is asked for, every line of it: who allows must have seen it.
    pub fn question(&mut self, question: &Question) -> Vec<Styled> {
        let who = match question.asker {
            Asker::Agent => "The agent",
            Asker::Supervisor => "The supervisor",
        };
        let asked = &question.asked;
        if let Some(questions) = form::questions(asked) {
            let lines = questions.iter().flat_map(form_lines).collect();
            return self.apart(lines);
        }
        let head = Styled::new(Style::Question, &format!("? {who} asks to use "))
            .with(Style::Bold, &exposed(&asked.tool));
        let mut lines = vec![head];
        if !asked.description.trim().is_empty() {
            lines.extend(indented(Style::Dim, "  ", &exposed_lines(&asked.description)));
        }
        match serde_json::from_str::<Value>(&asked.input) {
            Ok(Value::Object(fields)) => {
                for (name, value) in &fields {
                    lines.extend(field(name, value));
                }
            }
            _ => lines.extend(indented(Style::Plain, "  ", &exposed_lines(&asked.input))),
        }
        self.apart(lines)
    }

    pub fn report(&mut self, report: &Report) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let (style, outcome) = match &report.outcome {
            Outcome::Completed => (Style::Good, format!("{} Confirmed complete", glyphs.good)),
            Outcome::Ended => (Style::Bold, "Session ended".to_owned()),
            Outcome::Unreviewed => (Style::Bold, "Done, not reviewed".to_owned()),
            Outcome::Failed(why) => (Style::Bad, format!("{} Failed: {why}", glyphs.bad)),
            Outcome::Limit => (Style::Bad, format!("{} Not confirmed", glyphs.bad)),
            Outcome::NoVerdict(why) => (Style::Bad, format!("{} No verdict: {why}", glyphs.bad)),
            Outcome::Signal(signal) => (Style::Bold, format!("Ended by signal {signal}")),
            // What it printed is all there is to say.
            Outcome::ClientLeft(_) => return Vec::new(),
        };
        let rounds = u32::try_from(report.rounds.len()).unwrap_or(u32::MAX);
        let mut facts = vec![count(rounds, "round"), duration(report.seconds.total)];
        if report.cost_usd > 0.0 {
            facts.push(format!("${:.4}", report.cost_usd));
        }
        let mut lines = styled::lines(style, &outcome);
        if let Some(last) = lines.pop() {
            let dot = glyphs.dot;
            let facts = format!(" {dot} {}", facts.join(&format!(" {dot} ")));
            lines.push(last.with(Style::Dim, &facts));
        }
        if let Some(id) = report.session_id.as_deref().filter(|_| self.look.hints) {
            let text = format!("Go on with: ccc --supervisor --resume {id}");
            lines.push(Styled::new(Style::Dim, &text));
        }
        self.apart(lines)
    }
}

/// The round that a phase belongs to: the work that a review will judge has that review's number.
pub fn round_of(phase: Phase, round: u32, max: u32) -> Option<u32> {
    match phase {
        Phase::Working => Some((round + 1).min(max)),
        Phase::Reviewing => Some(round),
        Phase::Waiting | Phase::Ended => None,
    }
}

fn mode(on: bool) -> Styled {
    let state = if on { "enabled" } else { "disabled" };
    Styled::new(Style::Heading, &format!("Supervisor mode {state}"))
}

fn indented(style: Style, first: &str, text: &str) -> Vec<Styled> {
    let lines = styled::lines(Style::Plain, text).into_iter().enumerate();
    lines.map(|(at, line)| line.behind(style, if at == 0 { first } else { "  " })).collect()
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

fn sentence(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

fn count(number: u32, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn duration(seconds: f64) -> String {
    let seconds = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
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

#[cfg(test)]
mod tests;
