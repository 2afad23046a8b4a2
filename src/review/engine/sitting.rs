//! One judge's part of a review: from the start of its process to its verdict, or to the reason why
//! there is none.

use std::time::Duration;

use super::clock::Clock;
use super::proof::Doubt;
use super::{NOBODY, Step};
use crate::client::case::{CaseKind, CaseReport};
use crate::client::stream::{
    Control, Envelope, Message, PermissionRequest, TurnResult, why_retried,
};
use crate::event::{Gone, Now};
use crate::review::engine::INITIALIZE;
use crate::review::permission::{self, Denied, Ruling};
use crate::review::policy::{Policy, Prose};
use crate::review::prompt;
use crate::review::requirement::Requirement;
use crate::review::verdict::{Reading, Verdict, says_only_yes};

/// What the judge was asked for last.
#[derive(Debug, Clone, PartialEq, Eq)]
enum JudgeTurn {
    Review,
    /// A verdict in a readable form, after an answer that was not one. The earlier answer still
    /// counts if the judge gives nothing better.
    Form {
        prose: Option<String>,
        why: String,
    },
}

#[derive(Debug)]
pub(super) struct Sitting {
    pub(super) policy: Policy,
    attempt: u32,
    /// How often this judge may still be asked for a readable verdict.
    asks_left: u32,
    /// How often it may still be asked for proof.
    pub(super) proof_asks_left: u32,
    turn: JudgeTurn,
    clock: Clock,
    /// The glass case of this judge; its shim reports it before the judge prints anything.
    case: Option<CaseReport>,
    /// Whether the judge has printed something. After that, a report about the case cannot be from
    /// the shim.
    spoke: bool,
    /// Why the judge's last request to the model was retried.
    retried: Option<String>,
    denied: Vec<Denied>,
    /// The requirements of the last round. A verdict must not leave one out.
    pub(super) known: Vec<Requirement>,
    pub(super) word: Option<String>,
    /// A verdict whose evidence is being looked up, and whether it has the review's word.
    pub(super) verifying: Option<(Verdict, bool)>,
    /// What the last yes listed, if the judge was asked for its proof.
    pub(super) in_doubt: Vec<Requirement>,
    /// Requirements with a quote of the user that the user did not say.
    pub(super) not_said: Vec<String>,
    /// Why the last yes does not count yet.
    pub(super) doubt: Option<Doubt>,
    pub(super) steps: Vec<Step>,
}

impl Sitting {
    pub fn start(policy: Policy, known: Vec<Requirement>, now: Now) -> (Self, Vec<Step>) {
        let mut sitting = Self {
            attempt: 0,
            asks_left: 0,
            proof_asks_left: 0,
            turn: JudgeTurn::Review,
            known,
            word: None,
            verifying: None,
            in_doubt: Vec::new(),
            not_said: Vec::new(),
            doubt: None,
            clock: Clock::new(policy.timeout, now),
            policy,
            case: None,
            spoke: false,
            retried: None,
            denied: Vec::new(),
            steps: Vec::new(),
        };
        sitting.attempt(now);
        let steps = sitting.take();
        (sitting, steps)
    }

    /// The one-time word that the judge was given, or the digest by which it is recognized
    /// (`review::word`).
    pub fn prepared(&mut self, word: &str) {
        self.word = Some(word.to_owned());
    }

    /// The judge has printed a line.
    pub fn heard(&mut self, envelope: Envelope, now: Now) -> Vec<Step> {
        let first = !std::mem::replace(&mut self.spoke, true);
        match envelope.message {
            Message::Case(report) if first => {
                self.case = Some(report.clone());
                self.steps.push(Step::Held(report));
            }
            // The client did not accept the hook through which it asks before each tool.
            Message::ControlAnswered { request_id, .. }
            | Message::ControlRefused { request_id, .. }
            | Message::Model { request_id, .. }
                if request_id == INITIALIZE =>
            {
                self.fail("this client does not let ccc decide what its tools may do", now);
            }
            Message::Control { request_id, request } => self.asked(request_id, request, now),
            Message::ControlCancelled { request_id } if self.clock.go_on(&request_id, now) => {
                self.steps.push(Step::Unask { request_id });
            }
            Message::ApiRetry { error, .. } => self.retried = Some(why_retried(&error)),
            // A result of a sub-agent is not the judge's.
            Message::Result(result) if envelope.parent.is_none() => self.concluded(&result, now),
            Message::Unreadable { kind, why } => {
                self.fail(&format!("the supervisor's {kind} cannot be read: {why}"), now);
            }
            _ => {}
        }
        self.take()
    }

    /// The person has answered a question of the judge.
    pub fn answered(&mut self, request_id: &str, now: Now) {
        self.clock.go_on(request_id, now);
    }

    /// The judge's process is gone, and all that it printed has been heard.
    pub fn gone(&mut self, gone: &Gone, now: Now) -> Vec<Step> {
        // If the judge exits normally instead of answering again, its earlier answer counts.
        let left = gone.code == Some(0);
        match (std::mem::replace(&mut self.turn, JudgeTurn::Review), self.doubt.take()) {
            (_, Some(doubt)) if left => self.unproven(doubt, now),
            (JudgeTurn::Form { prose, why }, None) if left => self.unread(&why, prose, now),
            // What kept it from starting is still there a moment later.
            _ if gone.never_started() => self.give_up(&gone.told_about("the supervisor")),
            _ => self.fail(&gone.told_about("the supervisor"), now),
        }
        self.take()
    }

    /// The driver could not perform a step.
    pub fn failed(&mut self, reason: &str, now: Now) -> Vec<Step> {
        self.fail(reason, now);
        self.take()
    }

    /// The time that `deadline` gave may have come.
    pub fn tick(&mut self, now: Now) -> Vec<Step> {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            let seconds = self.policy.timeout.as_secs_f32();
            let retried = self.retried.take().map(|why| format!(": {why}")).unwrap_or_default();
            self.fail(&format!("no verdict within {seconds} s{retried}"), now);
        }
        self.take()
    }

    /// When the judge's time is up; `None` while it waits for a person.
    pub fn deadline(&self) -> Option<Now> {
        self.clock.deadline()
    }

    /// How long the judge has taken, beginning at `since`.
    pub fn took(&self, since: Now, now: Now) -> Duration {
        let asked = if self.policy.own_time { self.clock.stopped(now) } else { Duration::ZERO };
        now.saturating_sub(since).saturating_sub(asked)
    }

    fn attempt(&mut self, now: Now) {
        self.attempt += 1;
        (self.case, self.spoke, self.retried) = (None, false, None);
        self.asks_left = self.policy.asks_again;
        self.proof_asks_left = self.policy.asks_again;
        self.turn = JudgeTurn::Review;
        self.word = None;
        self.verifying = None;
        self.in_doubt = Vec::new();
        self.doubt = None;
        self.clock = self.clock.again(self.policy.timeout, now);
        self.steps.push(Step::Start { attempt: self.attempt, judge: 0 });
    }

    fn asked(&mut self, request_id: String, request: Control, now: Now) {
        let step = match request {
            Control::ToolUse(asked) => Step::Rule { ruling: self.rule(&asked), request_id },
            Control::Permission(asked) if self.policy.person => {
                self.clock.wait_for(&request_id, now);
                Step::Ask { request_id, asked }
            }
            Control::Permission(asked) => {
                self.denied.push(Denied::new(&asked, NOBODY));
                Step::Deny { request_id, asked }
            }
            Control::Unknown(subtype) => Step::Refuse { request_id, subtype },
        };
        self.steps.push(step);
    }

    fn rule(&mut self, asked: &PermissionRequest) -> Ruling {
        let held = self.case.as_ref().map_or(CaseKind::Nothing, |case| case.held);
        let ruling = match permission::rule(held, asked, &self.policy.allowed_tools) {
            Ruling::Ask if !self.policy.person => Ruling::Deny(format!(
                "{NOBODY} Without a glass case, only commands that read run without permission; \
                 supervisor.allowed_tools in ccc.json can allow more."
            )),
            ruling => ruling,
        };
        if let Ruling::Deny(reason) = &ruling {
            self.denied.push(Denied::new(asked, reason));
        }
        ruling
    }

    fn concluded(&mut self, result: &TurnResult, now: Now) {
        // A doubted yes is replaced by whatever the judge answers next.
        self.doubt = None;
        if result.is_error {
            return self.fail(&result.failure(), now);
        }
        let earlier = match std::mem::replace(&mut self.turn, JudgeTurn::Review) {
            JudgeTurn::Form { prose, .. } => prose,
            JudgeTurn::Review => None,
        };
        match Reading::of(result, self.word.as_deref()) {
            Reading::Verdict { verdict, has_word } => self.given(verdict, has_word, now),
            Reading::Broken(why) => self.ask_again(&why, None, now),
            // The first text is the review itself; the second only repeats it in another form.
            Reading::Prose(text) => {
                self.ask_again("it is plain text", Some(earlier.unwrap_or(text)), now);
            }
            Reading::Nothing => self.ask_again("it is empty", earlier, now),
        }
    }

    /// Asks again in the same conversation, if the judge may be asked again.
    fn ask_again(&mut self, why: &str, prose: Option<String>, now: Now) {
        if self.asks_left > 0 {
            self.asks_left -= 1;
            self.turn = JudgeTurn::Form { prose, why: why.to_owned() };
            self.steps.push(Step::Tell(prompt::ask_for_the_verdict(why, self.word.is_some())));
        } else {
            self.unread(why, prose, now);
        }
    }

    /// The judge gave no readable verdict, at most this text.
    fn unread(&mut self, why: &str, prose: Option<String>, now: Now) {
        // A yes in a form that cannot be used is no feedback.
        let is_feedback =
            |prose: &String| self.policy.prose == Prose::Feedback && !says_only_yes(prose);
        match prose.filter(is_feedback) {
            Some(prose) => self.end(Ok(Verdict::new(false, &prose))),
            None => self.fail(&format!("the supervisor's answer cannot be used: {why}"), now),
        }
    }

    fn fail(&mut self, reason: &str, now: Now) {
        if self.attempt >= self.policy.attempts {
            return self.give_up(reason);
        }
        self.steps.push(Step::Stop);
        self.steps.push(Step::Failed { reason: reason.to_owned(), retrying: true });
        self.attempt(now);
    }

    fn give_up(&mut self, reason: &str) {
        self.steps.push(Step::Stop);
        self.steps.push(Step::Failed { reason: reason.to_owned(), retrying: false });
        self.steps.push(Step::End(Err(reason.to_owned())));
    }

    pub(super) fn end(&mut self, verdict: Result<Verdict, String>) {
        let (case, denied) =
            (self.case.as_ref().map(|case| case.held), std::mem::take(&mut self.denied));
        let verdict = verdict.map(|verdict| Verdict { case, denied, ..verdict });
        self.steps.push(Step::Stop);
        self.steps.push(Step::End(verdict));
    }

    pub(super) fn take(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }
}
