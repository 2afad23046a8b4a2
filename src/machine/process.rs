//! The agent's process, as far as the rules need to know about it.

use std::time::Duration;

use crate::event::{Gone, Now};

/// Two deaths within this time are no coincidence: the agent is not restarted again.
const DEATH_WINDOW: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Process {
    pub running: bool,
    /// A turn has begun at least once: the client started, and speaks the protocol.
    pub spoke: bool,
    /// The last reason for a failure that the client itself gave.
    pub last_error: String,
    last_death: Option<Now>,
}

impl Process {
    /// Returns whether the process died twice within `DEATH_WINDOW`.
    pub fn died(&mut self, now: Now) -> bool {
        let last = self.last_death.replace(now);
        last.is_some_and(|last| now.saturating_sub(last) < DEATH_WINDOW)
    }

    /// "claude exited with code 1: no credit"
    pub fn failure(&self, gone: &Gone) -> String {
        let words = [&gone.last_words, &self.last_error];
        let words = words.into_iter().find(|words| !words.is_empty()).cloned().unwrap_or_default();
        Gone { last_words: words, ..gone.clone() }.told_about("claude")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deaths_close_together_count() {
        let mut process = Process::default();
        assert!(!process.died(Now::from_secs(100)));
        assert!(process.died(Now::from_secs(159)));
        assert!(!process.died(Now::from_secs(159) + DEATH_WINDOW));
    }

    #[test]
    fn the_reason_is_the_last_output_or_else_the_last_error() {
        let gone = |words: &str| Gone {
            how: "exited with code 1".into(),
            code: Some(1),
            last_words: words.into(),
        };
        let process = Process { last_error: "no credit".into(), ..Process::default() };
        assert_eq!(process.failure(&gone("boom")), "claude exited with code 1: boom");
        assert_eq!(process.failure(&gone("")), "claude exited with code 1: no credit");
        assert_eq!(Process::default().failure(&gone("")), "claude exited with code 1");
    }
}
