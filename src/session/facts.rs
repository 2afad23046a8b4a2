//! What a review needs to know of the world: its word, and whether the evidence in a verdict exists.

use std::path::PathBuf;
use std::sync::PoisonError;

use super::Session;
use crate::event::{Event, ReviewRequest};
use crate::review::commands::Commands;
use crate::review::evidence::verify;
use crate::review::lookup::Lookup;
use crate::review::policy::Judging;
use crate::review::requirement::Evidence;

/// The record that evidence is held against.
#[derive(Debug, Default)]
pub struct Known {
    pub agent: Commands,
    /// Of the review that runs now.
    pub judge: Commands,
    /// The review that runs now.
    request: ReviewRequest,
}

/// A word that nobody can know before it is drawn.
pub fn one_time_word() -> String {
    uuid::Uuid::new_v4().simple().to_string().split_off(20)
}

impl Session<'_> {
    /// Draws the word of a review. Of a scripted session the script says it.
    pub(super) fn prepare_review(&mut self, request: &mut ReviewRequest) {
        if self.setup.workplace.is_some() && self.setup.rules.judging != Judging::default() {
            let word = one_time_word();
            request.word = Some(word.clone());
            self.events.push_back(Event::ReviewPrepared { review: request.review, word });
        }
        if request.fresh {
            request.diff = self.diff.lock().unwrap_or_else(PoisonError::into_inner).clone();
        }
        self.known.judge = Commands::default();
        self.known.request = request.clone();
    }

    pub(super) fn verify(&mut self, review: u32, evidence: &[Evidence]) {
        if self.setup.workplace.is_none() {
            return;
        }
        let further = self.setup.judge.options.add_dirs.iter().map(PathBuf::from);
        let further = further.map(|dir| self.setup.dir.join(dir));
        let roots: Vec<_> = std::iter::once(self.setup.dir.clone()).chain(further).collect();
        let Known { agent, judge, request } = &self.known;
        let check = |name: &str| self.machine.check(name);
        let lookup = Lookup { agent, judge, roots: &roots, request, check: &check };
        let findings = verify(evidence, &lookup);
        self.events.push_back(Event::Verified { review, findings });
    }
}
