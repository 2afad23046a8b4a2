//! The time limit of a judge. The clock stops while a person answers a question of the judge.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::event::Now;

#[derive(Debug)]
pub struct Clock {
    /// The time that was left when the clock last started.
    left: Duration,
    runs_since: Now,
    /// The time for which questions have stopped the clock.
    stopped: Duration,
    stopped_at: Now,
    /// The judge's questions that are still unanswered.
    questions: BTreeSet<String>,
}

impl Clock {
    pub fn new(left: Duration, now: Now) -> Self {
        let (stopped, stopped_at) = (Duration::ZERO, now);
        Self { left, runs_since: now, stopped, stopped_at, questions: BTreeSet::new() }
    }

    /// For another attempt of the same judge.
    pub fn again(&self, left: Duration, now: Now) -> Self {
        Self { stopped: self.stopped(now), ..Self::new(left, now) }
    }

    /// For how long the person has been asked.
    pub fn stopped(&self, now: Now) -> Duration {
        let open = !self.questions.is_empty();
        self.stopped + if open { now.saturating_sub(self.stopped_at) } else { Duration::ZERO }
    }

    pub fn wait_for(&mut self, question: &str, now: Now) {
        if self.questions.is_empty() {
            self.left = self.left.saturating_sub(now.saturating_sub(self.runs_since));
            self.stopped_at = now;
        }
        self.questions.insert(question.to_owned());
    }

    /// The question has been answered or withdrawn. Returns whether it was open.
    pub fn go_on(&mut self, question: &str, now: Now) -> bool {
        let was_open = self.questions.remove(question);
        if was_open && self.questions.is_empty() {
            self.runs_since = now;
            self.stopped += now.saturating_sub(self.stopped_at);
        }
        was_open
    }

    pub fn deadline(&self) -> Option<Now> {
        self.questions.is_empty().then(|| self.runs_since.saturating_add(self.left))
    }
}
