//! What the supervisor does.

use super::user::FEEDBACK_PREFIX;
use super::{Machine, Review};
use crate::event::{Action, Asker, Dropped, Gone, Notice, Outcome, Phase, Round};
use crate::stream::{Envelope, Message, TurnResult};
use crate::verdict::Collector;

impl Machine {
    pub(super) fn start_review(&mut self, attempt: u32) {
        self.reviews += 1;
        let id = self.reviews;
        self.review = Some(Review {
            id,
            attempt,
            started: self.now,
            deadline: self.now + self.rules.review_timeout,
            collector: Collector::default(),
        });
        self.enter(Phase::Reviewing);
        self.say(Notice::ReviewStarted {
            round: self.round,
            max: self.rules.max_iterations,
            attempt,
        });
        match self.request(id) {
            Some(request) => self.actions.push(Action::StartReview(Box::new(request))),
            None => self.review_failed("the agent named no session that could be forked"),
        }
    }

    pub(super) fn supervisor(&mut self, id: u32, envelope: Envelope) {
        let Some(review) = self.review.as_mut().filter(|review| review.id == id) else {
            return;
        };
        match envelope.message {
            Message::Control { request_id, request } => {
                self.control(Asker::Supervisor, request_id, request);
            }
            Message::ControlCancelled { request_id } => {
                self.withdraw(|question| question.request_id == request_id);
            }
            Message::Result(result) => self.concluded(&result),
            // What a sub-agent of the supervisor says is not the supervisor's word.
            message if envelope.parent.is_none() => review.collector.feed(&message),
            _ => {}
        }
    }

    fn concluded(&mut self, result: &TurnResult) {
        let cost_usd = self.cost.review(result.cost_usd);
        let Some(review) = self.review.as_mut() else { return };
        let verdict = std::mem::take(&mut review.collector).conclude(result);
        let seconds = self.now.saturating_sub(review.started).as_secs_f64();
        let verdict = match verdict {
            Ok(verdict) => verdict,
            Err(reason) => return self.review_failed(&reason),
        };
        self.stop_review();
        let (round, completed, feedback) =
            (self.round, verdict.completed, verdict.feedback.clone());
        self.rounds.push(Round { round, verdict: verdict.clone(), seconds, cost_usd });
        let (max, cost_usd) = (self.rules.max_iterations, self.cost.total());
        self.say(Notice::Verdict { round, max, seconds, cost_usd, verdict });
        if completed {
            self.fresh = true;
            self.give_back(Outcome::Completed);
        } else {
            self.say(Notice::Feedback { round, text: feedback.clone() });
            self.deliver(format!("{FEEDBACK_PREFIX}{feedback}"), false);
        }
    }

    pub(super) fn supervisor_gone(&mut self, id: u32, gone: &Gone) {
        if self.review.as_ref().is_some_and(|review| review.id == id) {
            let reason = match gone.last_words.as_str() {
                "" => format!("the supervisor {}", gone.how),
                words => format!("the supervisor {}: {words}", gone.how),
            };
            self.review_failed(&reason);
        }
    }

    pub(super) fn review_failed(&mut self, reason: &str) {
        let Some(review) = &self.review else { return };
        let retrying = review.attempt == 1;
        self.stop_review();
        self.say(Notice::ReviewFailed { round: self.round, reason: reason.to_owned(), retrying });
        if retrying {
            self.start_review(2);
        } else {
            self.undecided = true;
            self.give_back(Outcome::NoVerdict(reason.to_owned()));
        }
    }

    /// A review that nobody waits for any more does not count as a round. Says whether there was one.
    pub(super) fn drop_review(&mut self, why: Dropped) -> bool {
        if self.review.is_none() {
            return false;
        }
        self.stop_review();
        self.say(Notice::ReviewDropped { round: self.round, why });
        self.round = self.round.saturating_sub(1);
        if self.phase == Phase::Reviewing && why == Dropped::AgentWoke {
            self.unjudged = false;
        }
        true
    }

    fn stop_review(&mut self) {
        if let Some(review) = self.review.take() {
            self.withdraw(|question| question.asker == Asker::Supervisor);
            self.actions.push(Action::StopReview { review: review.id });
        }
    }
}
