//! A session that is taken up again: what one run leaves, and what the next one goes on with.

use super::Machine;
use super::cost::Cost;
use crate::event::{Carried, Notice};

impl Machine {
    /// What another run of this session would go on with.
    pub fn carried(&self) -> Carried {
        Carried {
            // A review without its verdict does not count.
            round: self.task.round.saturating_sub(u32::from(self.review.is_some())),
            fresh: self.task.fresh,
            said: self.task.said.clone(),
            cost_usd: self.cost.total(),
            agent_usd: self.cost.agents(),
            requirements: self.task.requirements.clone(),
        }
    }

    /// Which session it is may be known only from the agent's first turn.
    pub(super) fn restored(&mut self, carried: Carried) {
        if self.conversation.resumed || self.reviews > 0 {
            return;
        }
        self.conversation.resumed = true;
        self.say(resumed_notice(&carried, self.rules.max_iterations));
        self.cost = Cost::carried(carried.cost_usd, carried.agent_usd);
        self.task.restored(carried);
    }

    /// The messages that the agent has not taken up yet, by their ids.
    #[cfg(test)]
    pub fn unconfirmed(&self) -> Vec<String> {
        self.outbox.uuids()
    }
}

pub(super) fn resumed_notice(carried: &Carried, max: u32) -> Notice {
    Notice::Resumed {
        round: if carried.fresh { 0 } else { carried.round },
        max,
        messages: carried.said.len(),
        cost_usd: carried.cost_usd,
    }
}
