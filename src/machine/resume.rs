//! Resuming a session: what one run leaves behind, and what the next run starts with.

use super::Machine;
use super::cost::Cost;
use crate::event::{Carried, Ending, Notice, Stood};

impl Machine {
    /// The state from which another run of this session would continue.
    pub fn carried(&self) -> Carried {
        Carried {
            // A review that has no verdict yet does not count.
            round: self.task.round.saturating_sub(u32::from(self.judgement.is_running())),
            fresh: self.task.fresh,
            said: self.task.said.clone(),
            cost_usd: self.spent.cost.total(),
            agent_usd: self.spent.cost.agents(),
            requirements: self.task.requirements.clone(),
            ending: self.ending(),
        }
    }

    fn ending(&self) -> Option<Ending> {
        let message = self.task.said.iter().rfind(|said| said.question.is_none())?.text.clone();
        let open = self.task.requirements.iter().filter(|one| one.is_open()).count();
        let judged = self.task.round > u32::from(self.judgement.is_running());
        let stood = match (self.task.undecided, self.task.fresh) {
            (true, _) => Stood::Undecided,
            (false, true) if judged => Stood::Confirmed,
            (false, false) if judged => Stood::Open(open),
            _ => Stood::Unreviewed,
        };
        Some(Ending { message, answer: end_of(&self.conversation.last_answer), stood })
    }

    /// An earlier run of this session was found. That can be after the agent's first turn, which
    /// may be the first to name the session.
    pub(super) fn restored(&mut self, carried: Carried) {
        if self.conversation.resumed || self.task.round > 0 {
            return;
        }
        self.conversation.resumed = true;
        self.say(resumed_notice(&carried, self.rules.max_iterations));
        if let Some(ending) =
            carried.ending.as_ref().filter(|_| self.conversation.last_answer.is_empty())
        {
            self.conversation.last_answer.clone_from(&ending.answer);
        }
        // If the person switches to another conversation later, its earlier cost is not part of
        // this run.
        if self.spent.reviews == 0 {
            self.spent.cost = Cost::carried(carried.cost_usd, carried.agent_usd);
        }
        self.task.restored(carried);
        if self.judgement.checks().is_some() && self.rules.careful {
            // The checks of the next round are running already.
            self.task.round = (self.task.round + 1).min(self.rules.max_iterations);
        }
    }

    /// The ids of the messages that the agent has not taken up yet.
    #[cfg(test)]
    pub fn unconfirmed(&self) -> Vec<String> {
        self.outbox.uuids()
    }
}

/// How many characters of the agent's last answer the next run gets.
const KEPT: usize = 4000;

fn end_of(answer: &str) -> String {
    let from = answer.char_indices().rev().nth(KEPT - 1).map_or(0, |(at, _)| at);
    answer[from..].to_owned()
}

pub(super) fn resumed_notice(carried: &Carried, max: u32) -> Notice {
    Notice::Resumed {
        round: if carried.fresh { 0 } else { carried.round },
        max,
        messages: carried.said.len(),
        cost_usd: carried.cost_usd,
        ending: carried.ending.clone(),
    }
}
