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
/// The reason for denying what a person could have allowed.
const NOBODY: &str = "There is no one to ask for permission.";

/// What the driver has to do next, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Start this judge, with the review's message; the word that it is given goes to `prepared`.
    Start { judge: usize, attempt: u32 },
    /// One more message to the judge that is running.
    Tell(String),
    /// Ask the person what the judge asks; the answer goes to `answered`.
    Ask { request_id: String, asked: PermissionRequest },
    /// The judge no longer waits for this answer.
    Unask { request_id: String },
    /// Nobody is there to give permission.
    Deny { request_id: String, asked: PermissionRequest },
    /// The judge's client asks whether a tool may run.
    Rule { request_id: String, ruling: Ruling },
    /// Which case the judge runs in.
    Held(CaseReport),
    /// A request that this version does not know.
    Refuse { request_id: String, subtype: String },
    /// Look this up; the answer goes to `verified`.
    Verify(Vec<Evidence>),
    /// End the judge's process.
    Stop,
    /// An attempt came to nothing.
    Failed { reason: String, retrying: bool },
    /// One of several judges has said what it thinks.
    Said(Opinion),
    /// The review is over: its verdict, or why there is none.
    End(Result<Verdict, String>),
}

#[derive(Debug)]
pub struct Engine {
    policy: Policy,
    began: Now,
    /// What the last round of this task found.
    known: Vec<Requirement>,
    /// The judge that is asked now, since when, and what it has cost.
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

    /// The judge that is asked now, where there are several.
    pub fn seat(&self) -> Option<&Seat> {
        self.policy.judges.get(self.judge)
    }

    pub fn judge(&self) -> usize {
        self.judge
    }

    /// What the judge that is asked now has to list.
    pub fn known(&self) -> &[Requirement] {
        &self.sitting.known
    }

    /// The word that the judge was given, and nobody else knows.
    pub fn prepared(&mut self, word: &str) {
        self.sitting.prepared(word);
    }

    /// What the judge that is asked now has cost so far, and what its last turn used.
    pub fn paid(&mut self, cost_usd: f64, turn: Usage) {
        self.cost_usd = cost_usd;
        self.usage += turn;
    }

    /// A line of the judge.
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

    /// Something that the driver was to do cannot be done.
    pub fn failed(&mut self, reason: &str, now: Now) -> Vec<Step> {
        let steps = self.sitting.failed(reason, now);
        self.pass_on(steps, now)
    }

    /// For each piece of evidence that was to be looked up: why it does not hold, or nothing.
    pub fn verified(&mut self, findings: &[Option<String>], now: Now) -> Vec<Step> {
        let steps = self.sitting.verified(findings, now);
        self.pass_on(steps, now)
    }

    /// The moment that `deadline` named may have come.
    pub fn tick(&mut self, now: Now) -> Vec<Step> {
        let steps = self.sitting.tick(now);
        self.pass_on(steps, now)
    }

    /// `None` while the judge waits for a person.
    pub fn deadline(&self) -> Option<Now> {
        self.sitting.deadline()
    }

    /// With several judges, the end of one is not the end of the review.
    fn pass_on(&mut self, steps: Vec<Step>, now: Now) -> Vec<Step> {
        if self.policy.judges.is_empty() {
            return steps;
        }
        let mut all = Vec::new();
        for step in steps {
            match step {
                Step::Start { attempt, .. } => all.push(Step::Start { judge: self.judge, attempt }),
                // Told as its opinion.
                Step::Failed { retrying: false, .. } => {}
                Step::End(given) => self.opined(given, now, &mut all),
                step => all.push(step),
            }
        }
        all
    }

    fn opined(&mut self, given: Result<Verdict, String>, now: Now, steps: &mut Vec<Step>) {
        let Some(seat) = self.policy.judges.get(self.judge).cloned() else { return };
        let seconds = now.saturating_sub(self.since).as_secs_f64();
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

    /// The next judge lists what the others listed under the same ids, so that their lists can be held
    /// side by side. It is not told what they thought of it.
    fn for_the_next(&self) -> Vec<Requirement> {
        let listed = opinion::requirements(&self.opinions);
        let known = if listed.is_empty() { self.known.clone() } else { listed };
        let fresh = self.seat().is_some_and(|seat| seat.fresh);
        known.into_iter().filter(|one| !(fresh && one.is_shown_by_the_answer())).collect()
    }
}
