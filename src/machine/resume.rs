//! A session that is taken up again: what one run leaves, and what the next one goes on with.

use super::Machine;
use super::cost::Cost;
use crate::event::{Carried, Notice};

impl Machine {
    /// What another run of this session would go on with.
    pub fn carried(&self) -> Carried {
        Carried {
            // A review without its verdict does not count.
            round: self.round.saturating_sub(u32::from(self.review.is_some())),
            fresh: self.fresh,
            said: self.said.clone(),
            cost_usd: self.cost.total(),
            agent_usd: self.cost.agents(),
            requirements: self.requirements.clone(),
        }
    }

    /// Which session it is may be known only from the agent's first turn, and by then a message has
    /// been sent: it comes after the earlier ones.
    pub(super) fn restored(&mut self, carried: Carried) {
        if self.resumed || self.reviews > 0 {
            return;
        }
        self.resumed = true;
        let Carried { mut round, fresh, mut said, cost_usd, agent_usd, requirements } = carried;
        let begun = !self.said.is_empty();
        if fresh && begun {
            round = 0;
            for said in &mut said {
                said.earlier = true;
            }
        }
        self.round = round;
        self.fresh = fresh && !begun;
        self.requirements = if fresh { Vec::new() } else { requirements };
        self.cost = Cost::carried(cost_usd, agent_usd);
        let notice = Notice::Resumed {
            round: if fresh { 0 } else { round },
            max: self.rules.max_iterations,
            messages: said.len(),
            cost_usd,
        };
        said.append(&mut self.said);
        self.said = said;
        self.say(notice);
    }

    /// The messages that the agent has not taken up yet, by their ids.
    #[cfg(test)]
    pub fn unconfirmed(&self) -> Vec<String> {
        self.outbox.uuids()
    }

    pub(super) fn resumed_notice(&self) -> Notice {
        Notice::Resumed {
            round: if self.fresh { 0 } else { self.round },
            max: self.rules.max_iterations,
            messages: self.said.len(),
            cost_usd: self.cost.total(),
        }
    }
}
