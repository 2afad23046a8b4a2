//! What a session has spent: reviews, money, tokens, and time by phase.

use std::time::Duration;

use super::cost::Cost;
use crate::client::stream::Usage;
use crate::event::{Carried, Now, Phase, Round, Seconds, Supervision};

#[derive(Debug)]
pub(super) struct Spent {
    pub rounds: Vec<Round>,
    pub cost: Cost,
    /// Processes that judged, including those without a verdict.
    pub reviews: u32,
    pub usage: Usage,
    asking: Asking,
    /// By the clock that stands still while the person is asked, like the two below.
    phase_since: Now,
    working: Duration,
    reviewing: Duration,
}

impl Spent {
    pub fn new(carried: Option<&Carried>) -> Self {
        let (all, agents) = carried.map_or((0.0, 0.0), |run| (run.cost_usd, run.agent_usd));
        Self {
            rounds: Vec::new(),
            cost: Cost::carried(all, agents),
            reviews: 0,
            usage: Usage::default(),
            asking: Asking::default(),
            phase_since: Now::ZERO,
            working: Duration::ZERO,
            reviewing: Duration::ZERO,
        }
    }

    pub fn leave(&mut self, phase: Phase, now: Now) {
        let now = self.busy_until(now);
        let passed = now.saturating_sub(self.phase_since);
        match phase {
            Phase::Working => self.working += passed,
            Phase::Reviewing => self.reviewing += passed,
            Phase::Waiting | Phase::Ended => {}
        }
        self.phase_since = now;
    }

    /// When the phase would have begun if nobody had been asked in it.
    pub fn phase_since(&self) -> Now {
        self.phase_since + self.asking.total
    }

    /// Whether the person has an open question.
    pub fn ask(&mut self, open: bool, now: Now) {
        self.asking.is(open, now);
    }

    /// How much of the session has passed, without the time in which the person was asked.
    pub fn busy_until(&self, now: Now) -> Now {
        now.saturating_sub(self.asking.until(now))
    }

    pub fn supervision(&self) -> Supervision {
        Supervision { reviews: self.reviews, cost_usd: self.cost.reviews(), usage: self.usage }
    }

    pub fn seconds(&self, total: Now) -> Seconds {
        Seconds {
            total: total.as_secs_f64(),
            working: self.working.as_secs_f64(),
            reviewing: self.reviewing.as_secs_f64(),
        }
    }
}

/// How long the person has been asked.
#[derive(Debug, Default)]
struct Asking {
    /// Since when there is an open question.
    since: Option<Now>,
    total: Duration,
}

impl Asking {
    fn is(&mut self, open: bool, now: Now) {
        if open {
            self.since.get_or_insert(now);
        } else {
            self.total = self.until(now);
            self.since = None;
        }
    }

    fn until(&self, now: Now) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_and_reviews_are_timed() {
        let mut spent = Spent::new(None);
        for (phase, until) in
            [(Phase::Waiting, 5), (Phase::Working, 7), (Phase::Reviewing, 10), (Phase::Working, 14)]
        {
            spent.leave(phase, Now::from_secs(until));
        }
        let seconds = Seconds { total: 20.0, working: 6.0, reviewing: 3.0 };
        assert_eq!(spent.seconds(Now::from_secs(20)), seconds);
        assert_eq!(spent.phase_since(), Now::from_secs(14));
    }

    #[test]
    fn the_time_of_a_question_belongs_to_no_phase() {
        let mut spent = Spent::new(None);
        let second = Now::from_secs;
        spent.leave(Phase::Waiting, second(5));
        spent.ask(true, second(6));
        // A second question while the first is open.
        spent.ask(true, second(10));
        spent.ask(false, second(16));
        assert_eq!(spent.phase_since(), second(15));
        spent.leave(Phase::Working, second(18));
        spent.ask(true, second(20));
        // The session ends with an open question.
        spent.leave(Phase::Reviewing, second(30));
        let seconds = Seconds { total: 30.0, working: 3.0, reviewing: 2.0 };
        assert_eq!(spent.seconds(second(30)), seconds);
    }
}
