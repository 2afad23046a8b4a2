//! How far the judgement of the work has come: its checks are running or a judge is looking at it,
//! never both at once.

use super::checks::CheckRun;
use crate::client::stream::Usage;
use crate::event::Now;
use crate::review::engine::Engine;

#[derive(Debug, Default)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a session")]
pub(super) enum Judgement {
    #[default]
    None,
    Checks(CheckRun),
    Review(Box<Review>),
}

#[derive(Debug)]
pub(super) struct Review {
    /// The id of the current judge's process; a second attempt has a new one.
    pub id: u32,
    /// By the clock that stands still while the person is asked.
    pub started: Now,
    pub cost_usd: f64,
    pub usage: Usage,
    pub engine: Engine,
}

impl Judgement {
    pub fn is_running(&self) -> bool {
        !matches!(self, Judgement::None)
    }

    pub fn deadline(&self) -> Option<Now> {
        match self {
            Judgement::None => None,
            Judgement::Checks(run) => run.deadline(),
            Judgement::Review(review) => review.engine.deadline(),
        }
    }

    pub fn checks(&self) -> Option<&CheckRun> {
        match self {
            Judgement::Checks(run) => Some(run),
            Judgement::None | Judgement::Review(_) => None,
        }
    }

    /// The run, if `id` is that of its current examination or check.
    pub fn checks_of(&mut self, id: u32) -> Option<&mut CheckRun> {
        match self {
            Judgement::Checks(run) if run.id == id => Some(run),
            _ => None,
        }
    }

    pub fn take_checks_of(&mut self, id: u32) -> Option<CheckRun> {
        match std::mem::take(self) {
            Judgement::Checks(run) if run.id == id => Some(run),
            other => {
                *self = other;
                None
            }
        }
    }

    pub fn engine(&self) -> Option<&Engine> {
        match self {
            Judgement::Review(review) => Some(&review.engine),
            Judgement::None | Judgement::Checks(_) => None,
        }
    }

    pub fn review(&mut self) -> Option<&mut Review> {
        match self {
            Judgement::Review(review) => Some(review),
            Judgement::None | Judgement::Checks(_) => None,
        }
    }

    /// The review, if `id` is that of its current process.
    pub fn review_of(&mut self, id: u32) -> Option<&mut Review> {
        self.review().filter(|review| review.id == id)
    }

    pub fn take_review(&mut self) -> Option<Review> {
        match std::mem::take(self) {
            Judgement::Review(review) => Some(*review),
            other => {
                *self = other;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_id_takes_nothing() {
        let mut judgement = Judgement::Checks(CheckRun::new(3, Now::ZERO));
        assert!(judgement.take_checks_of(2).is_none() && judgement.checks_of(2).is_none());
        assert!(judgement.take_review().is_none());
        assert!(judgement.is_running() && judgement.checks_of(3).is_some());
        assert!(judgement.take_checks_of(3).is_some());
        assert!(!judgement.is_running());
    }
}
