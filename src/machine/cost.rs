//! What a session has cost. The client reports its own total. That total starts again at 0 after
//! `/clear` and, in older clients, with each process. Newer clients continue from the total at
//! which the session stopped, and so do forks of that session.

#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    /// Everything that the running process does not count. Negative if the process counts costs
    /// that are not this session's.
    past: f64,
    process: f64,
    /// The total at which a new process of this session, or a fork of it, may begin.
    inherited: f64,
    reviews: f64,
    /// The part of `reviews` that the running review has cost so far.
    review: f64,
}

impl Cost {
    /// The cost of earlier runs: all of it, and the part that the agent's client counts.
    pub fn carried(all: f64, agents: f64) -> Self {
        Self { past: all - agents, process: agents, inherited: agents, reviews: 0.0, review: 0.0 }
    }

    pub fn new_process(&mut self) {
        self.past += self.process - self.inherited;
        self.process = self.inherited;
    }

    pub fn agent(&mut self, total: f64) {
        if total < self.process {
            self.past += self.process;
            self.inherited = 0.0;
        }
        self.process = total;
    }

    pub fn new_review(&mut self) {
        self.review = 0.0;
    }

    /// Returns what the running review has cost so far. Each of its turns reports a total; newer
    /// clients also report the cost of the turn, which is exact.
    pub fn review(&mut self, total: f64, turn: Option<f64>) -> f64 {
        let own = match turn {
            Some(turn) => self.review + turn,
            None if total < self.inherited => total,
            None => total - self.inherited,
        };
        self.reviews += own - self.review;
        self.review = own;
        own
    }

    pub fn agents(self) -> f64 {
        self.process
    }

    pub fn reviews(self) -> f64 {
        self.reviews
    }

    pub fn total(self) -> f64 {
        self.past + self.process + self.reviews
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_total(cost: Cost, total: f64) {
        assert!((cost.total() - total).abs() < 1e-9, "{cost:?} is not {total}");
    }

    #[test]
    fn a_total_that_starts_again_at_zero_is_added() {
        let mut cost = Cost::default();
        cost.agent(1.0);
        cost.agent(1.5);
        cost.new_review();
        cost.review(0.25, None);
        assert_total(cost, 1.75);
        // The second turn of the same review.
        cost.review(0.3, None);
        assert_total(cost, 1.8);
        cost.new_review();
        cost.review(0.2, None);
        assert_total(cost, 2.0);
        cost.new_process();
        cost.agent(0.5);
        assert_total(cost, 2.5);
        // `/clear`
        cost.agent(0.125);
        assert_total(cost, 2.625);
    }

    #[test]
    fn a_resumed_client_may_continue_its_total() {
        for (first, review) in [(2.5, 2.1), (0.5, 0.1)] {
            let mut cost = Cost::carried(3.0, 2.0);
            cost.new_process();
            assert_total(cost, 3.0);
            cost.agent(first);
            assert_total(cost, 3.5);
            cost.new_review();
            assert!((cost.review(review, None) - 0.1).abs() < 1e-9);
            assert_total(cost, 3.6);
            // The client dies and is started again.
            cost.new_process();
            assert_total(cost, 3.6);
            cost.agent(first);
            assert_total(cost, 4.1);
        }
    }

    #[test]
    fn the_reported_cost_of_a_turn_is_used() {
        let mut cost = Cost::default();
        cost.agent(0.1);
        cost.new_process();
        cost.new_review();
        // This review costs more than everything before it, and its total begins at 0: only the
        // cost of the turn is unambiguous.
        cost.review(0.5, Some(0.5));
        assert!((cost.review(0.6, Some(0.1)) - 0.6).abs() < 1e-9);
        assert!((cost.reviews() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_fork_is_not_charged_for_its_origin() {
        for first in [2.5, 0.5] {
            let mut cost = Cost::carried(0.0, 2.0);
            cost.new_process();
            assert_total(cost, 0.0);
            cost.agent(first);
            assert_total(cost, 0.5);
        }
    }
}
