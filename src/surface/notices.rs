//! ccc's own messages in the transcript. Verdicts, the closing summary, checks and questions have their
//! own files.

mod advice;
mod amounts;
mod checks;
mod plan;
mod question;
mod report;
mod resumed;
mod rewind;
mod verdict;

use super::Transcript;
use super::styled::{self, Style, Styled};
use super::terminal::DENIED;
use super::transcript::{Author, LineKind, SPOKEN_NAME};
use crate::client::case::{CaseKind, CaseReport};
use crate::client::{form, plan as plan_tool};
use crate::event::{Asker, ChangedFile, Dropped, Notice, Phase, file_changed};
use crate::machine::{NOBODY, UNASKED};
use advice::advice;
use amounts::verdict_cost;

pub use amounts::{count, duration, money, review_cost};

/// How many lines of the person's message are repeated in the transcript.
const MESSAGE: usize = 20;
/// How many of the files that changed during a review are named.
const MOST_CHANGED: usize = 10;
const TRY_AGAIN: &str = "Send a message to try again; `ccc doctor` checks your setup.";
const GO_ON: &str = "Type a message to continue, or /supervisor to review again.";

impl Transcript {
    pub fn notice(&mut self, notice: &Notice) -> Vec<Styled> {
        let lines = self.told(notice);
        self.in_rows(lines)
    }

    fn told(&mut self, notice: &Notice) -> Vec<Styled> {
        match notice {
            Notice::Started { supervising, max_iterations } => {
                let dot = self.look.glyphs.dot;
                let limit = format!(" {dot} up to {}", count(*max_iterations, "review"));
                self.supervising = *supervising;
                let line = mode(*supervising);
                let line = if *supervising { line.with(Style::Dim, &limit) } else { line };
                let mut lines = vec![line];
                lines.extend(self.place_lines());
                self.shown(lines)
            }
            Notice::Supervision { on } => {
                self.supervising = *on;
                self.shown(vec![mode(*on)])
            }
            Notice::Mode { mode } => self.mode_told(mode),
            Notice::WishRefused { what, why } => {
                self.failure(&format!("claude did not {what}: {}.", sentence(why)))
            }
            Notice::Backgrounded => {
                let text = "Sent to the background.";
                self.remarked(vec![Styled::new(Style::Dim, text)])
            }
            Notice::Phase { phase, round, max } => self.phase(*phase, *round, *max),
            Notice::UserMessage { text } if self.at_work || self.is_writing() => {
                self.held.push(text.clone());
                Vec::new()
            }
            Notice::UserMessage { text } => self.said(text),
            Notice::Feedback { .. } => {
                let text = format!("{} sent to the agent", self.look.glyphs.arrow);
                let line = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
                self.shown(vec![line.with(Style::Dim, &text)])
            }
            Notice::CheckEnded(result) => self.check_ended(result),
            Notice::ChecksChangedFiles => self.checks_changed_files(),
            Notice::ReviewStarted { round, max, attempt, judge } => {
                self.review_started(&format!("{round}/{max}"), *attempt, judge.as_ref())
            }
            Notice::TreeChanged { files, more, .. } => self.tree_changed(files, *more),
            Notice::ReviewCase { held, why, .. } => self.case(*held, why),
            Notice::Verdict { round, max, seconds, cost_usd, session_usd, usage, verdict } => {
                let spent = verdict_cost(*cost_usd, *session_usd, usage);
                let facts: Vec<_> = [duration(*seconds)].into_iter().chain(spent).collect();
                self.verdict(&format!("{round}/{max}"), &facts, verdict)
            }
            Notice::ReviewFailed { reason, retrying, .. } => self.review_failed(reason, *retrying),
            Notice::ReviewDropped { why, .. } => self.review_cancelled(*why),
            Notice::LimitReached { max } => self.limit_reached(*max),
            Notice::Stuck { why, .. } => self.given_up(&format!("Stuck: {why}.")),
            Notice::TurnFailed { error } => self.turn_failed(error),
            Notice::Interrupted => {
                let mut lines = self.end_activity();
                lines.extend(self.remarked(vec![Styled::new(Style::Dim, "Interrupted.")]));
                lines
            }
            Notice::WentBack { text, what } => self.went_back(text, *what),
            Notice::NotGoneBack { what, why } => self.not_gone_back(*what, why),
            Notice::TakenBack { too_late: true, .. } => {
                self.of_a_message("Too late to take the message back.".to_owned())
            }
            Notice::TakenBack { text, .. } => self.taken_back("Taken back", text),
            Notice::NotTakenUp { text } => self.taken_back("Not delivered to the agent", text),
            Notice::WaitingForBackground { tasks } => {
                let text = format!("Waiting for background work: {}", tasks.join(", "));
                self.remarked(vec![Styled::new(Style::Dim, &text)])
            }
            Notice::PermissionAnswered { tool, allowed, reason, .. } if tool == plan_tool::TOOL => {
                self.answered();
                self.plan_answered(*allowed, reason)
            }
            // The answer is already in the transcript.
            Notice::PermissionAnswered { tool, allowed: true, .. } if tool == form::TOOL => {
                self.answered();
                Vec::new()
            }
            Notice::PermissionAnswered { asker, tool, allowed, reason } => {
                self.permission_answered(*asker, tool, *allowed, reason)
            }
            Notice::AgentGone { how, last_words, resuming } => {
                self.agent_gone(how, last_words.trim(), *resuming)
            }
            Notice::Silent { seconds } => self.silent(*seconds),
            Notice::FileChanged { what, round, applies } => {
                let text = format!("  {}", file_changed(what, *round, *applies));
                self.in_review(Styled::new(Style::Dim, &text))
            }
            Notice::NotRecorded { what, why } => {
                self.shown(vec![Styled::new(Style::Dim, &format!("Not recorded: {what}: {why}"))])
            }
            Notice::Resumed { round, max, messages, cost_usd, ending } => {
                self.resumed(*round, *max, *messages, *cost_usd, ending.as_ref())
            }
            Notice::Session { session_id } => self.new_session(session_id),
            Notice::Opinion { opinion, .. } => self.opinion(opinion),
            Notice::CheckStarted { name, timeout, .. } => self.check_started(name, *timeout),
            Notice::PermissionAsked { .. } | Notice::Brief { .. } => Vec::new(),
        }
    }

    fn permission_answered(
        &mut self,
        asker: Asker,
        tool: &str,
        allowed: bool,
        reason: &str,
    ) -> Vec<Styled> {
        if !allowed {
            self.was_denied();
        }
        self.answered();
        let text = match (allowed, reason) {
            (true, _) => format!("allowed {tool}"),
            (false, reason) if tool == form::TOOL && !reason.starts_with(NOBODY) => {
                "no answer given".to_owned()
            }
            (false, "" | DENIED) => format!("denied {tool}"),
            // The options that UNASKED names are the agent's.
            (false, reason) if reason.starts_with(NOBODY) && asker == Asker::Supervisor => {
                format!("denied {tool}: no one to ask")
            }
            (false, reason) if reason.starts_with(NOBODY) => format!("denied {tool}: {UNASKED}"),
            (false, reason) => format!("denied {tool}: {reason}"),
        };
        // Placed below the question, if that is on the screen.
        let mark =
            if self.look.live { format!("  {} ", self.look.glyphs.arrow) } else { String::new() };
        self.shown(self.own_lines(Style::Dim, &format!("{mark}{text}")))
    }

    fn tree_changed(&mut self, files: &[ChangedFile], more: usize) -> Vec<Styled> {
        let all = count(files.len() + more, "file");
        let mut named: Vec<_> = files.iter().take(MOST_CHANGED).map(ToString::to_string).collect();
        if files.len() + more > named.len() {
            named.push(self.look.glyphs.ellipsis.to_owned());
        }
        let text = format!(
            "While the review ran, {all} of the project changed: {}. A review must not change \
             anything; perhaps another process did.",
            named.join(", ")
        );
        self.failure(&text)
    }

    /// The strongest glass case is the expected one, so it needs no line.
    fn case(&mut self, held: CaseKind, why: &str) -> Vec<Styled> {
        if held == CaseKind::Overlay {
            return Vec::new();
        }
        let text = CaseReport { held, why: why.to_owned() }.told();
        let line = Styled::new(Style::Supervisor, self.look.glyphs.gutter);
        self.shown(vec![line.with(Style::Dim, &text)])
    }

    /// A long message is shortened: the person knows what they pasted, and wants to scroll back past it.
    pub(super) fn said(&mut self, text: &str) -> Vec<Styled> {
        if let Some(place) = &mut self.place {
            place.last = false;
        }
        let lines = indented(Style::User, self.look.glyphs.prompt, text);
        let mut lines = self.fitted(lines, "  ");
        let hidden = lines.len().saturating_sub(MESSAGE);
        // A line that says "1 more" takes as much room as the line it hides.
        if (self.look.live || self.look.phases) && hidden > 1 {
            lines.truncate(MESSAGE);
            let text = format!("  {} {hidden} more lines", self.look.glyphs.ellipsis);
            lines.push(Styled::new(Style::Dim, &text));
        }
        self.apart(lines)
    }

    /// Reports what happens to a message that the agent has not received.
    fn taken_back(&mut self, what: &str, text: &str) -> Vec<Styled> {
        if let Some(at) = self.held.iter().rposition(|held| held == text) {
            self.held.remove(at);
        }
        let (first, more) = styled::first_line(text);
        let more = if more { format!(" {}", self.look.glyphs.ellipsis) } else { String::new() };
        self.of_a_message(format!("{what}: {first}{more}"))
    }

    /// What became of a message; like the message itself, not in the middle of the agent's text.
    pub(super) fn of_a_message(&mut self, told: String) -> Vec<Styled> {
        if self.is_writing() {
            self.told_later.push(told);
            return Vec::new();
        }
        let lines = self.fitted(vec![Styled::new(Style::Dim, &told)], "  ");
        self.shown(lines)
    }

    fn review_cancelled(&mut self, why: Dropped) -> Vec<Styled> {
        self.give_up_review();
        let why = match why {
            Dropped::UserMessage => "you sent a message",
            Dropped::Interrupt => "interrupted",
            Dropped::AgentWoke => "the agent resumed by itself",
            Dropped::SwitchedOff => "supervision is off",
            Dropped::SessionEnded => return Vec::new(),
        };
        let line = Styled::new(Style::Dim, &format!("Review cancelled ({why})"));
        self.in_review(line)
    }

    /// Lines that the person asked for.
    pub fn own(&mut self, lines: Vec<Styled>) -> Vec<Styled> {
        let lines = self.fitted(lines, "");
        self.apart(lines)
    }

    /// Answers a question that the person asked ccc itself.
    pub fn remark(&mut self, style: Style, text: &str) -> Vec<Styled> {
        let lines = self.fitted(styled::lines(style, text), "  ");
        self.apart(lines)
    }

    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Announces a new conversation, because `/clear` itself prints nothing.
    fn new_session(&mut self, id: &str) -> Vec<Styled> {
        let before = self.session.replace(id.to_owned());
        if before.is_none_or(|before| before == id) {
            return Vec::new();
        }
        let text = "New conversation: the agent no longer remembers the previous one.";
        let line = Styled::new(Style::Dim, text);
        let lines = self.fitted(vec![line], "");
        self.shown(lines)
    }

    fn phase(&mut self, phase: Phase, round: u32, max: u32) -> Vec<Styled> {
        self.review_shown &= phase != Phase::Reviewing;
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

    fn turn_failed(&mut self, error: &str) -> Vec<Styled> {
        let said = self.has_just_said(error) || self.has_just_printed(error);
        let text = if said { String::new() } else { format!(": {}", sentence(error)) };
        let text = format!("The agent's turn failed{text}.");
        let mut lines = self.own_lines(Style::Bad, &text);
        let otherwise = self.look.hints.then_some(TRY_AGAIN);
        lines.extend(advice(error).or(otherwise).map(|advice| self.advised(advice)));
        let lines = self.fitted(lines, "    ");
        self.apart(lines)
    }

    fn review_failed(&mut self, reason: &str, retrying: bool) -> Vec<Styled> {
        // An API failure is the judge's last text, too.
        let said = sentence(&std::mem::take(&mut self.judgement)) == sentence(reason);
        let why = if said { String::new() } else { format!(": {}", sentence(reason)) };
        if retrying {
            let dash = self.look.glyphs.dash;
            return self.of_the_review(&format!("Review failed{why} {dash} trying again"));
        }
        self.given_up(&format!("No verdict{why}."))
    }

    fn agent_gone(&mut self, how: &str, last_words: &str, resuming: bool) -> Vec<Styled> {
        let dash = self.look.glyphs.dash;
        let mut lines = self.end_activity();
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

    /// The agent has worked on since the last review, so this is not in its block.
    fn limit_reached(&mut self, max: u32) -> Vec<Styled> {
        let reviews = count(max, "review");
        let mut lines = self.failure(&format!("Stopped after {reviews} without confirmation."));
        lines.extend(self.what_now());
        lines
    }

    /// An end of a review after which the person has to decide how to continue.
    fn given_up(&mut self, text: &str) -> Vec<Styled> {
        let mut lines = self.of_the_review(text);
        lines.extend(self.what_now());
        lines
    }

    /// Something bad in the block of a review.
    fn of_the_review(&mut self, text: &str) -> Vec<Styled> {
        let text = format!("{} {text}", self.look.glyphs.bad);
        let mut lines = self.own_lines(Style::Bad, &text);
        if let Some(first) = lines.first_mut() {
            *first = self.named(std::mem::take(first));
        }
        self.lines(lines, LineKind::Notice, Author::SUPERVISOR)
    }

    fn what_now(&mut self) -> Vec<Styled> {
        if !self.look.hints {
            return Vec::new();
        }
        let lines = self.fitted(vec![self.advised(GO_ON)], "    ");
        self.shown(lines)
    }

    fn advised(&self, advice: &str) -> Styled {
        Styled::new(Style::Plain, &format!("  {} {advice}", self.look.glyphs.arrow))
    }

    fn failure(&mut self, text: &str) -> Vec<Styled> {
        let lines = self.fitted(self.own_lines(Style::Bad, text), "  ");
        self.remarked(lines)
    }

    /// Wrapped to the screen, where there is one; further rows stand behind `hanging`.
    pub(super) fn fitted(&self, lines: Vec<Styled>, hanging: &str) -> Vec<Styled> {
        let Some(cells) = self.wrap else { return lines };
        let hanging = Styled::new(Style::Plain, hanging);
        lines.iter().flat_map(|line| line.wrap(cells, &hanging)).collect()
    }

    /// Wraps long lines here, because the terminal would break words and the bar of a review.
    fn in_rows(&self, lines: Vec<Styled>) -> Vec<Styled> {
        let Some(cells) = self.wrap else { return lines };
        let (indent, gutter) = (Styled::new(Style::Plain, "  "), self.look.glyphs.gutter);
        let below_bar = indent.clone().with_prefix(Style::Supervisor, gutter);
        let rows = |line: Styled| match line.width() > cells {
            true if line.text().starts_with(gutter) => line.wrap(cells, &below_bar),
            true => line.wrap(cells, &indent),
            false => vec![line],
        };
        lines.into_iter().flat_map(rows).collect()
    }

    /// ccc's message with text by others: only its first line starts where ccc's own lines do.
    fn own_lines(&self, style: Style, text: &str) -> Vec<Styled> {
        let lines = styled::lines(style, text).into_iter().enumerate();
        lines.map(|(at, line)| if at == 0 { line } else { self.quoted(line) }).collect()
    }

    /// Marks a line as ccc's own where it is read aloud.
    fn named(&self, line: Styled) -> Styled {
        if self.look.spoken { line.with_prefix(Style::Plain, SPOKEN_NAME) } else { line }
    }

    fn silent(&mut self, seconds: u64) -> Vec<Styled> {
        #[expect(clippy::cast_precision_loss, reason = "nobody waits that long")]
        let silent = duration(seconds as f64);
        let way_out = if self.look.hints { "interrupts it" } else { "ends the session" };
        let text = format!(
            "claude has been silent for {silent}; it may still be working. Ctrl-C {way_out}."
        );
        self.shown(vec![Styled::new(Style::Question, &text)])
    }
}

/// The round that a phase belongs to: work has the number of the review that will judge it.
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
    lines.map(|(at, line)| line.with_prefix(style, if at == 0 { first } else { "  " })).collect()
}

fn sentence(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

#[cfg(test)]
mod tests;
