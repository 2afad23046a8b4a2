//! A review, from its start to a verdict or to the reason why there is none. The engine has no
//! process, no clock and no screen. Its driver (the session's machine or the Stop hook) tells it
//! what happened and performs the steps that it asks for. A [`Policy`] describes how the two
//! drivers differ.
//!
//! ```text
//! start ─► judge ─► its last words ─► evidence looked up ─► its opinion ─► verdict
//!   ▲        ▲             │ unreadable          │ missing, or not there   │
//!   │        ├─────────────┘                     │                         │ another judge is to be
//!   │        └───────────────────────────────────┘ asked again, in the     │ asked (`supervisor.judges`)
//!   │                                              same conversation, once │
//!   ├─ failed: started again, as often as the policy says                  │
//!   └──────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Judges are asked one after the other: this is easier on the machine and on rate limits, and if the
//! first judge says no, the others need not be asked.

mod clock;
mod proof;
mod sitting;
#[cfg(test)]
mod tests;
mod wording;

use crate::client::case::CaseReport;
use crate::client::stream::{Envelope, PermissionRequest, Usage};
use crate::event::{Gone, Now};
use crate::review::opinion::{self, Opinion};
use crate::review::permission::Ruling;
use crate::review::policy::{JudgesAsk, Policy, Seat};
use crate::review::requirement::{Evidence, Requirement};
use crate::review::verdict::Verdict;
use sitting::Sitting;

/// The id of the request that makes the judge's client ask before each tool.
pub const INITIALIZE: &str = "ccc-judge";
/// The reason given when a person would have to be asked, and there is none.
const NOBODY: &str = "There is no one to ask for permission.";

/// What the driver has to do next, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Start this judge with the review's message, and pass the one-time word it was given to
    /// `prepared`.
    Start { judge: usize, attempt: u32 },
    /// Send the running judge one more message.
    Tell(String),
    /// Ask the person for the permission that the judge wants, and pass the answer to `answered`.
    Ask { request_id: String, asked: PermissionRequest },
    /// Withdraw the question: the judge no longer waits for an answer.
    Unask { request_id: String },
    /// Deny this permission, because nobody is there to give it.
    Deny { request_id: String, asked: PermissionRequest },
    /// Answer the judge's client, which asks whether a tool may run.
    Rule { request_id: String, ruling: Ruling },
    /// Report which case the judge runs in.
    Held(CaseReport),
    /// Refuse a request that this version does not know.
    Refuse { request_id: String, subtype: String },
    /// Look up this evidence, and pass the findings to `verified`. `confirms`: it is all that a
    /// confirmation rests on.
    Verify { evidence: Vec<Evidence>, confirms: bool },
    /// End the judge's process.
    Stop,
    /// Report that an attempt failed.
    Failed { reason: String, retrying: bool },
    /// Report the opinion of one of several judges.
    Said(Opinion),
    /// The review is over: its verdict, or why there is none.
    End(Result<Verdict, String>),
}

#[derive(Debug)]
pub struct Engine {
    policy: Policy,
    began: Now,
    /// The requirements that the last round of this task found.
    known: Vec<Requirement>,
    /// The judge that is being asked, since when, and what it has cost.
    judge: usize,
    since: Now,
    cost_usd: f64,
    usage: Usage,
    sitting: Sitting,
    /// What the earlier judges said; empty if there is only one judge.
    opinions: Vec<Opinion>,
}

impl Engine {
    /// `known` are the requirements that the last round of this task found.
    pub fn start(policy: Policy, known: Vec<Requirement>, now: Now) -> (Self, Vec<Step>) {
        let (sitting, steps) = Sitting::start(policy.of_judge(0, Now::ZERO), known.clone(), now);
        let mut engine = Self {
            policy,
            began: now,
            known,
            judge: 0,
            since: now,
            cost_usd: 0.0,
            usage: Usage::default(),
            sitting,
            opinions: Vec::new(),
        };
        let steps = engine.pass_on(steps, now);
        (engine, steps)
    }

    /// The judge that is being asked, if there are several.
    pub fn seat(&self) -> Option<&Seat> {
        self.policy.judges.get(self.judge)
    }

    pub fn judge(&self) -> usize {
        self.judge
    }

    /// The requirements that the current judge has to list.
    pub fn known(&self) -> &[Requirement] {
        &self.sitting.known
    }

    /// The one-time word that the judge was given, or the digest by which it is recognized
    /// (`review::word`).
    pub fn prepared(&mut self, word: &str) {
        self.sitting.prepared(word);
    }

    /// What the current judge has cost so far, and what its last turn used.
    pub fn paid(&mut self, cost_usd: f64, turn: Usage) {
        self.cost_usd = cost_usd;
        self.usage += turn;
    }

    /// The judge has printed a line.
    pub fn heard(&mut self, envelope: Envelope, now: Now) -> Vec<Step> {
        let steps = self.sitting.heard(envelope, now);
        self.pass_on(steps, now)
    }

    /// The person has answered a question of the judge.
    pub fn answered(&mut self, request_id: &str, now: Now) {
        self.sitting.answered(request_id, now);
    }

    /// The judge's process is gone, and all that it printed has been heard.
    pub fn gone(&mut self, gone: &Gone, now: Now) -> Vec<Step> {
        let steps = self.sitting.gone(gone, now);
        self.pass_on(steps, now)
    }

    /// The driver could not perform a step.
    pub fn failed(&mut self, reason: &str, now: Now) -> Vec<Step> {
        let steps = self.sitting.failed(reason, now);
        self.pass_on(steps, now)
    }

    /// The findings for the evidence that was to be looked up: for each piece why it does not hold,
    /// or `None`.
    pub fn verified(&mut self, findings: &[Option<String>], now: Now) -> Vec<Step> {
        let steps = self.sitting.verified(findings, now);
        self.pass_on(steps, now)
    }

    /// The time that `deadline` gave may have come.
    pub fn tick(&mut self, now: Now) -> Vec<Step> {
        let steps = self.sitting.tick(now);
        self.pass_on(steps, now)
    }

    /// When the judge's time is up; `None` while it waits for a person.
    pub fn deadline(&self) -> Option<Now> {
        self.sitting.deadline()
    }

    /// With several judges, the end of one is not the end of the review: the next one may have to
    /// be asked.
    fn pass_on(&mut self, steps: Vec<Step>, now: Now) -> Vec<Step> {
        if self.policy.judges.is_empty() {
            return steps;
        }
        let mut all = Vec::new();
        for step in steps {
            match step {
                Step::Start { attempt, .. } => all.push(Step::Start { judge: self.judge, attempt }),
                // The opinion that follows already says this.
                Step::Failed { retrying: false, .. } => {}
                Step::End(given) => self.opined(given, now, &mut all),
                step => all.push(step),
            }
        }
        all
    }

    fn opined(&mut self, given: Result<Verdict, String>, now: Now, steps: &mut Vec<Step>) {
        let Some(seat) = self.policy.judges.get(self.judge).cloned() else { return };
        let seconds = self.sitting.took(self.since, now).as_secs_f64();
        let (cost_usd, usage) = (self.cost_usd, self.usage);
        let opinion = Opinion { seconds, cost_usd, usage, ..Opinion::new(&seat, given) };
        let says_yes = opinion.completed == Some(true);
        self.opinions.push(opinion.clone());
        steps.push(Step::Said(opinion));
        let goes_on = says_yes || self.policy.judges_ask == JudgesAsk::All;
        if goes_on && self.judge + 1 < self.policy.judges.len() {
            self.judge += 1;
            (self.since, self.cost_usd, self.usage) = (now, 0.0, Usage::default());
            let known = self.for_the_next();
            let policy = self.policy.of_judge(self.judge, now.saturating_sub(self.began));
            let (sitting, first) = Sitting::start(policy, known, now);
            self.sitting = sitting;
            steps.extend(self.pass_on(first, now));
            return;
        }
        let conclusion =
            opinion::conclusion(&self.policy.judges, std::mem::take(&mut self.opinions));
        if let Err(reason) = &conclusion {
            steps.push(Step::Failed { reason: reason.clone(), retrying: false });
        }
        steps.push(Step::End(conclusion));
    }

    /// The requirements that the next judge is given: those that the earlier judges listed, so that
    /// all lists use the same ids. What the earlier judges thought of them is not passed on.
    fn for_the_next(&self) -> Vec<Requirement> {
        let listed = opinion::requirements(&self.opinions);
        let known = if listed.is_empty() { self.known.clone() } else { listed };
        let fresh = self.seat().is_some_and(|seat| seat.fresh);
        known.into_iter().filter(|one| !(fresh && one.is_shown_by_the_answer())).collect()
    }
}
