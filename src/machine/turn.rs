//! The agent's turn: from its first line to its result, and whether the person still wants it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentTurn {
    /// No turn is running. The next one may have been interrupted already.
    Closed {
        interrupting: bool,
    },
    Open {
        interrupting: bool,
    },
    /// The person interrupted the turn, and did not wait for its end.
    Abandoned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    OfItself,
    Interrupted,
    /// The person has been told already that the turn was interrupted.
    Abandoned,
}

impl Default for AgentTurn {
    fn default() -> Self {
        AgentTurn::Closed { interrupting: false }
    }
}

impl AgentTurn {
    pub fn is_open(self) -> bool {
        !matches!(self, AgentTurn::Closed { .. })
    }

    pub fn is_interrupting(self) -> bool {
        matches!(
            self,
            AgentTurn::Closed { interrupting: true } | AgentTurn::Open { interrupting: true }
        )
    }

    pub fn start(&mut self) {
        *self = AgentTurn::Open { interrupting: self.is_interrupting() };
    }

    pub fn interrupt(&mut self) {
        *self = match self {
            AgentTurn::Closed { .. } => AgentTurn::Closed { interrupting: true },
            AgentTurn::Open { .. } | AgentTurn::Abandoned => AgentTurn::Open { interrupting: true },
        };
    }

    /// The interrupt got no answer, and the person continues without one.
    pub fn abandon(&mut self) {
        *self = if self.is_open() { AgentTurn::Abandoned } else { AgentTurn::default() };
    }

    /// The abandoned turn has taken up a new message, so the person wants it again.
    pub fn wanted_again(&mut self) {
        if *self == AgentTurn::Abandoned {
            *self = AgentTurn::Open { interrupting: false };
        }
    }

    pub fn end(&mut self) -> TurnEnd {
        match std::mem::take(self) {
            AgentTurn::Abandoned => TurnEnd::Abandoned,
            turn if turn.is_interrupting() => TurnEnd::Interrupted,
            _ => TurnEnd::OfItself,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_lasts_until_a_result() {
        let mut turn = AgentTurn::default();
        turn.interrupt();
        assert!(!turn.is_open() && turn.is_interrupting());
        turn.start();
        assert!(turn.is_open() && turn.is_interrupting());
        assert_eq!(turn.end(), TurnEnd::Interrupted);
        assert_eq!(turn, AgentTurn::default());
        turn.start();
        assert_eq!(turn.end(), TurnEnd::OfItself);
    }

    #[test]
    fn only_a_running_turn_can_be_abandoned() {
        let mut turn = AgentTurn::default();
        turn.interrupt();
        turn.abandon();
        assert_eq!(turn, AgentTurn::default());
        turn.start();
        turn.interrupt();
        turn.abandon();
        assert!(turn.is_open() && !turn.is_interrupting());
        assert_eq!(turn.end(), TurnEnd::Abandoned);
    }

    #[test]
    fn an_abandoned_turn_may_be_wanted_again() {
        let mut turn = AgentTurn::Abandoned;
        turn.wanted_again();
        assert_eq!(turn, AgentTurn::Open { interrupting: false });
        let mut interrupted = AgentTurn::Open { interrupting: true };
        interrupted.wanted_again();
        assert_eq!(interrupted, AgentTurn::Open { interrupting: true });
        // The client starts another turn.
        let mut turn = AgentTurn::Abandoned;
        turn.start();
        assert_eq!(turn, AgentTurn::Open { interrupting: false });
    }
}
