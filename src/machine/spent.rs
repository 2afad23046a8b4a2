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
            phase_since: Now::ZERO,
            working: Duration::ZERO,
            reviewing: Duration::ZERO,
        }
    }

    pub fn leave(&mut self, phase: Phase, now: Now) {
        let passed = now.saturating_sub(self.phase_since);
        match phase {
            Phase::Working => self.working += passed,
            Phase::Reviewing => self.reviewing += passed,
            Phase::Waiting | Phase::Ended => {}
        }
        self.phase_since = now;
    }

    pub fn phase_since(&self) -> Now {
        self.phase_since
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
}
