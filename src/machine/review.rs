//! The review of a turn. The engine says what happens next; this module does it for a session.

use super::judgement::{Judgement, Review};
use super::{Machine, TypedInto};
use crate::checks::{FILES_CHANGED, voids_confirmation};
use crate::client::case::CaseReport;
use crate::client::stream::{Envelope, Message, Usage};
use crate::event::{Action, Asker, ChangedFile, Dropped, Gone, Notice, Now, Outcome, Phase, Round};
use crate::review::engine::{Engine, Step};
use crate::review::policy::Policy;
use crate::review::prompt::feedback_message;
use crate::review::verdict::{Halt, Verdict};

impl Machine {
    pub(super) fn start_review(&mut self) {
        let Self { rules, now, .. } = self;
        let asked = rules.person && rules.typed_into == TypedInto::Ccc;
        let policy = Policy::session(asked, rules.review_timeout, &rules.judging);
        let (engine, steps) = Engine::start(policy, self.task.requirements.clone(), *now);
        let (started, usage) = (self.spent.busy_until(*now), Usage::default());
        let review = Review { id: 0, started, cost_usd: 0.0, usage, engine };
        self.judgement = Judgement::Review(Box::new(review));
        self.enter(Phase::Reviewing);
        self.follow(steps);
    }

    pub(super) fn supervisor(&mut self, id: u32, envelope: Envelope) {
        let Some(review) = self.judgement.review_of(id) else { return };
        if let Message::Result(result) = &envelope.message {
            let turn = result.turn_cost_usd.filter(|_| self.rules.judging.own_cost);
            review.cost_usd = self.spent.cost.review(result.cost_usd, turn);
            review.usage += result.usage;
            review.engine.paid(review.cost_usd, result.usage);
            self.spent.usage += result.usage;
        }
        let steps = review.engine.heard(envelope, self.now);
        self.follow(steps);
    }

    pub(super) fn supervisor_gone(&mut self, id: u32, gone: &Gone) {
        if self.judgement.review_of(id).is_some() {
            self.drive(|engine, now| engine.gone(gone, now));
        }
    }

    pub(super) fn tree_changed(&mut self, id: u32, files: Vec<ChangedFile>, more: usize) {
        if self.judgement.review_of(id).is_some() {
            self.known.outdated = true;
            self.say(Notice::TreeChanged { round: self.task.round, files, more });
        }
    }

    pub(super) fn prepared(&mut self, id: u32, word: &str) {
        if let Some(review) = self.judgement.review_of(id) {
            review.engine.prepared(word);
        }
    }

    pub(super) fn verified(&mut self, id: u32, findings: &[Option<String>]) {
        if self.judgement.review_of(id).is_some() {
            self.drive(|engine, now| engine.verified(findings, now));
        }
    }

    pub(super) fn drive(&mut self, happens: impl FnOnce(&mut Engine, Now) -> Vec<Step>) {
        if let Some(review) = self.judgement.review() {
            let steps = happens(&mut review.engine, self.now);
            self.follow(steps);
        }
    }

    fn follow(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Start { attempt, .. } => self.start_judge(attempt),
                Step::Tell(text) => {
                    let (review, uuid) = (self.spent.reviews, self.next_id());
                    self.actions.push(Action::TellSupervisor { review, uuid, text });
                }
                Step::Ask { request_id, asked } => self.ask(Asker::Supervisor, request_id, asked),
                Step::Unask { request_id } => {
                    self.withdraw(|question| question.request_id == request_id);
                }
                Step::Deny { request_id, asked } => {
                    self.deny(Asker::Supervisor, request_id, asked);
                }
                Step::Refuse { request_id, subtype } => {
                    self.actions.push(Action::Refuse {
                        asker: Asker::Supervisor,
                        request_id,
                        subtype,
                    });
                }
                Step::Rule { request_id, ruling } => {
                    self.actions.push(Action::Rule {
                        review: self.spent.reviews,
                        request_id,
                        ruling,
                    });
                }
                Step::Held(CaseReport { held, why }) => {
                    self.say(Notice::ReviewCase { round: self.task.round, held, why });
                }
                Step::Said(opinion) => {
                    self.say(Notice::Opinion { round: self.task.round, opinion });
                }
                Step::Verify { evidence, confirms } => {
                    let review = self.spent.reviews;
                    self.actions.push(Action::Verify { review, evidence, confirms });
                }
                Step::Stop => self.stop_judge(),
                Step::Failed { reason, retrying } => {
                    self.say(Notice::ReviewFailed { round: self.task.round, reason, retrying });
                }
                Step::End(Ok(verdict)) => self.judged(verdict),
                Step::End(Err(reason)) => {
                    self.judgement = Judgement::None;
                    self.undecided(Outcome::NoVerdict(reason));
                }
            }
        }
    }

    fn start_judge(&mut self, attempt: u32) {
        self.spent.reviews += 1;
        let id = self.spent.reviews;
        let mut first = attempt == 1;
        let mut judge = None;
        if let Some(review) = self.judgement.review() {
            judge = review.engine.seat().cloned();
            first &= review.id == 0;
            review.id = id;
            // Several judges share one review, which began with the first of them.
            if judge.is_none() {
                review.started = self.spent.busy_until(self.now);
            }
        }
        self.spent.cost.new_review();
        self.say(Notice::ReviewStarted {
            round: self.task.round,
            max: self.rules.max_iterations,
            attempt,
            judge,
        });
        let brief = self.brief(false);
        if first && !brief.is_empty() {
            self.say(Notice::Brief { round: self.task.round, text: brief });
        }
        match self.request(id) {
            Some(request) => self.actions.push(Action::StartReview(Box::new(request))),
            None => self.drive(|engine, now| {
                engine.failed("the agent named no session that could be forked", now)
            }),
        }
    }

    fn stop_judge(&mut self) {
        if let Some(review) = self.judgement.review().map(|review| review.id) {
            self.withdraw(|question| question.asker == Asker::Supervisor);
            self.actions.push(Action::StopReview { review });
        }
    }

    fn judged(&mut self, mut verdict: Verdict) {
        let Some(Review { started, mut cost_usd, usage, .. }) = self.judgement.take_review() else {
            return;
        };
        if !verdict.opinions.is_empty() {
            cost_usd = verdict.opinions.iter().map(|opinion| opinion.cost_usd).sum();
        }
        if verdict.completed && self.must_be_repeated() {
            return self.repeat_review();
        }
        let amended = self.task.found(&verdict.requirements);
        verdict.amended = amended.filter(|_| self.rules.judging.detailed_notices);
        verdict.better_round = self.better_round(verdict.better_round);
        let seconds = self.spent.busy_until(self.now).saturating_sub(started).as_secs_f64();
        let round = self.task.round;
        self.spent.rounds.push(Round { round, verdict: verdict.clone(), seconds, cost_usd, usage });
        self.say(self.verdict_notice(verdict.clone(), seconds, cost_usd, usage));
        let feedback = verdict.feedback.clone();
        match verdict.halt {
            _ if verdict.completed => {
                self.task.fresh = true;
                self.give_back(Outcome::Completed);
            }
            Some(Halt::Blocked) => self.undecided(Outcome::Blocked(feedback)),
            Some(Halt::Impossible) => self.undecided(Outcome::Impossible(feedback)),
            None => {
                let tree = self.known.examined.fingerprint.clone();
                self.send_back(&verdict, tree);
            }
        }
    }

    /// True at most once a round, because something may be changing files all the time.
    fn must_be_repeated(&mut self) -> bool {
        let void = voids_confirmation(&self.rules.checking.checks, self.known.outdated);
        void && !std::mem::replace(&mut self.task.repeated, true)
    }

    fn repeat_review(&mut self) {
        let round = self.task.round;
        self.say(Notice::ReviewFailed { round, reason: FILES_CHANGED.to_owned(), retrying: true });
        self.judge();
    }

    /// Sends the feedback to the agent, unless the task goes in circles.
    pub(super) fn send_back(&mut self, verdict: &Verdict, tree: Option<String>) {
        let text = verdict.feedback.clone();
        let stuck = self.task.circle.rejected(verdict, tree);
        if let Some(why) = stuck.filter(|_| self.rules.judging.ends_circles) {
            let open = verdict.open().cloned().collect();
            self.say(Notice::Stuck { why: why.to_owned(), open, feedback: text.clone() });
            self.undecided(Outcome::Stuck(format!("{why}: {text}")));
        } else {
            self.say(Notice::Feedback { round: self.task.round, text: text.clone() });
            let message = match self.rules.typed_into {
                TypedInto::Ccc => feedback_message(&text),
                // The client itself marks it as feedback.
                TypedInto::Client => text,
            };
            let before = self.task.snapshot();
            self.deliver(message, false, before);
        }
    }

    fn verdict_notice(
        &self,
        verdict: Verdict,
        seconds: f64,
        cost_usd: f64,
        usage: Usage,
    ) -> Notice {
        let (round, max, total) =
            (self.task.round, self.rules.max_iterations, self.spent.cost.total());
        if self.rules.judging.own_cost {
            let session_usd = Some(total);
            Notice::Verdict { round, max, seconds, cost_usd, session_usd, usage, verdict }
        } else {
            let (cost_usd, usage) = (total, Usage::default());
            Notice::Verdict { round, max, seconds, cost_usd, session_usd: None, usage, verdict }
        }
    }

    /// The work is not confirmed, and the loop does not know how to continue.
    fn undecided(&mut self, outcome: Outcome) {
        self.task.leave_undecided();
        self.give_back(outcome);
    }

    /// A dropped review does not count as a round. Returns whether one was running.
    pub(super) fn drop_review(&mut self, why: Dropped) -> bool {
        self.stop_judge();
        match std::mem::take(&mut self.judgement) {
            Judgement::None => return false,
            Judgement::Checks(run) => self.stop_checks(&run),
            Judgement::Review(_) => {}
        }
        self.say(Notice::ReviewDropped { round: self.task.round, why });
        self.task.review_dropped();
        if self.phase == Phase::Reviewing && why == Dropped::AgentWoke {
            self.unjudged = false;
        }
        true
    }
}
