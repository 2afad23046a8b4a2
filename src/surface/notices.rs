//! What ccc itself says in the transcript: notices and the closing summary; questions are in a file
//! of their own.

mod question;

use super::styled::{self, Style, Styled};
use super::transcript::{Kind, Place};
use super::{Report, Transcript};
use crate::event::{Dropped, Notice, Outcome, Phase};
use crate::verdict::Verdict;

/// So much of a message of the person's is shown again above the line that it was typed in.
const MESSAGE: usize = 20;
const TRY_AGAIN: &str = "Send a message to try again; `ccc doctor` checks the set-up.";
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
            Notice::UserMessage { text } => self.said(text),
            Notice::Feedback { .. } => {
                let text = format!("{} sent to the agent", self.look.glyphs.arrow);
                let line = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
                self.shown(vec![line.with(Style::Dim, &text)])
            }
            Notice::ReviewStarted { round, max, attempt } => {
                let second = if *attempt > 1 { ", second try" } else { "" };
                let text = format!("{}Review {round}/{max}{second}", self.look.glyphs.gutter);
                let lines = vec![Styled::new(Style::Supervisor, &text)];
                let lines =
                    if *attempt > 1 || self.look.phases { lines } else { self.apart(lines) };
                self.heading(lines)
            }
            Notice::Verdict { round, max, seconds, cost_usd, verdict } => {
                let mut facts = vec![duration(*seconds)];
                facts.extend(cost(*cost_usd).map(|cost| format!("{cost} so far")));
                self.verdict(&format!("{round}/{max}"), &facts, verdict)
            }
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
            Notice::TurnFailed { error } => self.turn_failed(error),
            Notice::Interrupted => {
                let mut lines = self.break_off();
                lines.extend(self.shown(vec![Styled::new(Style::Dim, "Interrupted.")]));
                lines
            }
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
            Notice::NotRecorded { what, why } => {
                self.shown(vec![Styled::new(Style::Dim, &format!("Not recorded: {what}: {why}"))])
            }
            Notice::Resumed { round, max, messages, cost_usd } => {
                let mut facts = Vec::new();
                if *round > 0 {
                    facts.push(format!("after round {round} of {max}"));
                }
                facts.push(count(u32::try_from(*messages).unwrap_or(u32::MAX), "message"));
                facts.extend(cost(*cost_usd));
                let text = format!("Going on: {}", facts.join(", "));
                self.shown(vec![Styled::new(Style::Dim, &text)])
            }
            Notice::Session { session_id } => self.session(session_id),
            Notice::PermissionAsked { .. } => Vec::new(),
        }
    }

    /// Whoever pastes a file knows what is in it, and wants to scroll back to what was before.
    fn said(&mut self, text: &str) -> Vec<Styled> {
        let lines = indented(Style::User, self.look.glyphs.prompt, text);
        let mut lines = self.fitted(lines, "  ");
        let hidden = lines.len().saturating_sub(MESSAGE);
        // A line that only says that there is one more is no shorter than that line.
        if self.look.live && hidden > 1 {
            lines.truncate(MESSAGE);
            let text = format!("  {} {hidden} more lines", self.look.glyphs.ellipsis);
            lines.push(Styled::new(Style::Dim, &text));
        }
        self.apart(lines)
    }

    /// `/clear` says nothing itself.
    fn session(&mut self, id: &str) -> Vec<Styled> {
        let before = self.session.replace(id.to_owned());
        if before.is_none_or(|before| before == id) {
            return Vec::new();
        }
        let text = "A new conversation: the agent has forgotten the one before.";
        let line = Styled::new(Style::Dim, text);
        let lines = self.fitted(vec![line], "");
        self.shown(lines)
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
        let line = Styled::new(Style::Dim, &format!("{rule} {name}{round} {rule}"));
        let lines = self.apart(vec![line]);
        self.heading(lines)
    }

    fn verdict(&mut self, round: &str, facts: &[String], verdict: &Verdict) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let (style, text) = if verdict.completed {
            (Style::Good, format!("{} Confirmed complete in round {round}", glyphs.good))
        } else {
            (Style::Bad, format!("{} Not complete yet, round {round}", glyphs.bad))
        };
        let dot = glyphs.dot;
        let facts = format!(" {dot} {}", facts.join(&format!(" {dot} ")));
        let mut lines = vec![Styled::new(style, &text).with(Style::Dim, &facts)];
        // A verdict that was read out of the supervisor's prose stands right above already.
        if self.judgement != verdict.feedback.trim() {
            lines.extend(self.rendered(&verdict.feedback, Place::SUPERVISOR));
        }
        self.judgement.clear();
        self.lines(lines, Kind::Notice, Place::SUPERVISOR)
    }

    fn turn_failed(&mut self, error: &str) -> Vec<Styled> {
        let said = self.has_just_said(error);
        let text = if said { String::new() } else { format!(": {}", sentence(error)) };
        let text = format!("The agent's turn failed{text}.");
        let mut lines = styled::lines(Style::Bad, &text);
        let otherwise = self.look.hints.then_some(TRY_AGAIN);
        if let Some(advice) = advice(error).or(otherwise) {
            let text = format!("  {} {advice}", self.look.glyphs.arrow);
            lines.push(Styled::new(Style::Plain, &text));
        }
        let lines = self.fitted(lines, "    ");
        self.apart(lines)
    }

    fn agent_gone(&mut self, how: &str, last_words: &str, resuming: bool) -> Vec<Styled> {
        let dash = self.look.glyphs.dash;
        let mut lines = self.break_off();
        let mut text = format!("claude {how}");
        if !last_words.is_empty() && !self.has_just_printed(last_words) {
            text = format!("{text}: {last_words}");
        }
        if resuming {
            text = format!("{text} {dash} resuming the session");
        } else if self.look.hints {
            text = format!("{text} {dash} your next message resumes the session");
        }
        lines.extend(self.failure(&text));
        lines
    }

    fn failure(&mut self, text: &str) -> Vec<Styled> {
        let lines = self.fitted(styled::lines(Style::Bad, text), "  ");
        self.shown(lines)
    }

    /// Wrapped to the screen, where there is one; further rows stand behind `hanging`.
    fn fitted(&self, lines: Vec<Styled>, hanging: &str) -> Vec<Styled> {
        let Some(cells) = self.wrap else { return lines };
        let hanging = Styled::new(Style::Plain, hanging);
        lines.iter().flat_map(|line| line.wrap(cells, &hanging)).collect()
    }

    fn hinted(&self, text: &str, hint: &str) -> String {
        if self.look.hints { format!("{text} {hint}") } else { text.to_owned() }
    }

    pub fn report(&mut self, report: &Report) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let mut broken_off = self.break_off();
        let (style, outcome) = match &report.outcome {
            Outcome::Completed => (Style::Good, format!("{} Confirmed complete", glyphs.good)),
            Outcome::Ended => (Style::Bold, "Session ended".to_owned()),
            Outcome::Unreviewed => (Style::Bold, "Done, not reviewed".to_owned()),
            Outcome::Failed(why) => {
                let said = |(_, words): &(&str, &str)| self.has_just_printed(words);
                let why = why.split_once(": ").filter(said).map_or(why.as_str(), |(how, _)| how);
                (Style::Bad, format!("{} Failed: {why}", glyphs.bad))
            }
            Outcome::Limit => (Style::Bad, format!("{} Not confirmed", glyphs.bad)),
            Outcome::NoVerdict(why) => (Style::Bad, format!("{} No verdict: {why}", glyphs.bad)),
            Outcome::Signal(signal) => (Style::Bold, format!("Ended by signal {signal}")),
            // What it printed is all there is to say.
            Outcome::ClientLeft(_) => return broken_off,
        };
        let rounds = u32::try_from(report.rounds.len()).unwrap_or(u32::MAX);
        let mut facts = vec![count(rounds, "round"), duration(report.seconds.total)];
        facts.extend(cost(report.cost_usd));
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
        broken_off.extend(self.apart(lines));
        broken_off
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

/// What a person can do about an error of the API, by what it says.
fn advice(error: &str) -> Option<&'static str> {
    let error = error.to_lowercase();
    let known: [(&[&str], &str); 8] = [
        (
            &["no conversation found", "valid session id"],
            "`ccc sessions` lists those of this project, `ccc --supervisor --resume` lets you choose.",
        ),
        (
            &["invalid api key", "authentication", "401", "/login", "unauthorized", "oauth"],
            "Check the key: `ccc validate` tries it, `ccc provider` shows which one is used, `claude /login` logs in.",
        ),
        (
            &["credit balance", "billing", "402", "quota"],
            "The account is out of credit: top it up, or go on with another provider (`ccc --supervisor NAME --resume …`).",
        ),
        (
            &["prompt is too long", "context"],
            "The conversation is too long: `/compact` makes it shorter, `/clear` starts anew.",
        ),
        (
            &["rate limit", "429", "usage limit"],
            "The limit passes with time: send a message to try again later.",
        ),
        (
            &["overloaded", "529", "503", "502", "500", "internal server"],
            "The endpoint has trouble: send a message to try again.",
        ),
        (
            &[
                "connection",
                "econnrefused",
                "enotfound",
                "timed out",
                "fetch failed",
                "unable to connect",
            ],
            "The endpoint cannot be reached: `ccc validate` tries it.",
        ),
        (&["model"], "Check the model: `/model` or `--model` chooses another one."),
    ];
    let fits =
        |(signs, _): &&(&[&str], &'static str)| signs.iter().any(|sign| error.contains(sign));
    known.iter().find(fits).map(|(_, advice)| *advice)
}

fn cost(usd: f64) -> Option<String> {
    (usd > 0.0).then(|| money(usd))
}

/// Fractions of a cent count as long as there are few of them.
pub fn money(usd: f64) -> String {
    if usd < 0.1 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

fn sentence(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

fn count(number: u32, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

pub fn duration(seconds: f64) -> String {
    let seconds = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests;
