//! What a session has cost. The client reports its own total. That total starts again at 0 after
//! `/clear` and, in older clients, with each process. Newer clients continue from the total at
//! which the session stopped, and so do forks of that session.

#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    /// All but what the running process counts. Below 0 where that counts what is not ours.
    past: f64,
    process: f64,
    /// What a new process of this session, or a fork of it, may begin with.
    inherited: f64,
    reviews: f64,
    /// What the review that runs now has cost, as part of it.
    review: f64,
}

impl Cost {
    /// Of earlier runs: all of it, and the part that the agent's client counts.
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

    /// What a review has cost of its own. Each of its turns tells the total; newer clients also tell
    /// what the turn has cost, and then nothing has to be guessed.
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
    fn is(cost: Cost, total: f64) {
        assert!((cost.total() - total).abs() < 1e-9, "{cost:?} is not {total}");
    }

    #[test]
    fn an_account_that_starts_again_is_added() {
        let mut cost = Cost::default();
        cost.agent(1.0);
        cost.agent(1.5);
        cost.new_review();
        cost.review(0.25, None);
        is(cost, 1.75);
        // Its second turn.
        cost.review(0.3, None);
        is(cost, 1.8);
        cost.new_review();
        cost.review(0.2, None);
        is(cost, 2.0);
        cost.new_process();
        cost.agent(0.5);
        is(cost, 2.5);
        // `/clear`
        cost.agent(0.125);
        is(cost, 2.625);
    }

    #[test]
    fn a_resumed_client_may_go_on_with_its_account() {
        for (first, review) in [(2.5, 2.1), (0.5, 0.1)] {
            let mut cost = Cost::carried(3.0, 2.0);
            cost.new_process();
            is(cost, 3.0);
            cost.agent(first);
            is(cost, 3.5);
            cost.new_review();
            assert!((cost.review(review, None) - 0.1).abs() < 1e-9);
            is(cost, 3.6);
            // It dies, and is started again.
            cost.new_process();
            is(cost, 3.6);
            cost.agent(first);
            is(cost, 4.1);
        }
    }

    #[test]
    fn a_client_that_tells_what_a_turn_has_cost_is_believed() {
        let mut cost = Cost::default();
        cost.agent(0.1);
        cost.new_process();
        cost.new_review();
        // Dearer than all before it, and its total begins at 0: only the turn's own cost tells.
        cost.review(0.5, Some(0.5));
        assert!((cost.review(0.6, Some(0.1)) - 0.6).abs() < 1e-9);
        assert!((cost.reviews() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_fork_does_not_pay_for_what_it_was_forked_from() {
        for first in [2.5, 0.5] {
            let mut cost = Cost::carried(0.0, 2.0);
            cost.new_process();
            is(cost, 0.0);
            cost.agent(first);
            is(cost, 0.5);
        }
    }
}
