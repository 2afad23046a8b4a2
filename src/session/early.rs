//! A judge's client takes longer to start than examining the files and writing the brief takes, and
//! needs neither until its message. So its process starts as soon as it is clear that a judge will
//! be asked. Until its message it costs nothing; if the review does not happen, it is ended.

use std::collections::HashMap;

use super::Session;
use super::child_state::ChildState;
use crate::client::stream::Line;
use crate::event::ReviewRequest;
use crate::process::supervisor::SupervisorProcess;

/// Processes that start before their review are numbered from here; the machine's reviews never get
/// that far.
const FIRST_EARLY_ID: u32 = 1 << 31;

#[derive(Default)]
pub struct EarlyJudges {
    started: u32,
    waiting: Option<EarlyJudge>,
    /// Processes whose review has begun, and which review that is.
    reviews: HashMap<u32, u32>,
}

struct EarlyJudge {
    id: u32,
    request: ReviewRequest,
    /// What it has printed, kept because its review does not exist yet.
    lines: Vec<Line>,
}

impl EarlyJudges {
    /// The review that a process belongs to, or its own number if it has none yet.
    pub fn review_of(&self, process: u32) -> u32 {
        self.reviews.get(&process).copied().unwrap_or(process)
    }

    /// Whether these lines are of a process without a review; they are kept if it may get one.
    pub fn keep(&mut self, process: u32, lines: &mut Vec<Line>) -> bool {
        let early = is_early(self.review_of(process));
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.id == process) {
            waiting.lines.append(lines);
        }
        early
    }
}

/// Whether the number belongs to a process without a review.
pub fn is_early(review: u32) -> bool {
    review >= FIRST_EARLY_ID
}

impl Session<'_> {
    pub(super) fn start_judge_early(&mut self) {
        self.end_early_judge();
        // A scripted session's script says when a judge starts.
        if self.setup.workplace.is_none() {
            return;
        }
        let Some(request) = self.machine.upcoming_judge() else { return };
        self.early.started += 1;
        let id = FIRST_EARLY_ID + self.early.started;
        match self.judge_process(id, &request) {
            Ok(child) => {
                self.supervisors.insert(id, child);
                self.early.waiting = Some(EarlyJudge { id, request, lines: Vec::new() });
            }
            // The start is tried again when the review begins, and a failure is reported then.
            Err(error) => log::warn!("the judge was not started early: {error:#}"),
        }
    }

    /// The process started for this review and what it has printed, if there is one.
    pub(super) fn take_early_judge(
        &mut self,
        request: &ReviewRequest,
    ) -> Option<(ChildState<Option<SupervisorProcess>>, Vec<Line>)> {
        let fits =
            self.early.waiting.as_ref().is_some_and(|it| is_started_alike(&it.request, request));
        if !fits {
            self.end_early_judge();
            return None;
        }
        let EarlyJudge { id, lines, .. } = self.early.waiting.take()?;
        let child = self.supervisors.remove(&id).filter(|child| !child.has_exited())?;
        self.early.reviews.insert(id, request.review);
        Some((child, lines))
    }

    /// Ends the process that waits for a review.
    pub(super) fn end_early_judge(&mut self) {
        if let Some(EarlyJudge { id, .. }) = self.early.waiting.take()
            && let Some(child) = self.supervisors.get_mut(&id)
        {
            child.handle = None;
        }
    }

    /// Ends the process if its review does not happen: a message was typed, or the agent started
    /// working again.
    pub(super) fn end_early_judge_unless_wanted(&mut self) {
        if self.early.waiting.is_some() && !self.machine.expects_judge() {
            self.end_early_judge();
        }
    }
}

/// Whether two requests lead to the same command line.
fn is_started_alike(one: &ReviewRequest, other: &ReviewRequest) -> bool {
    let of = |request: &ReviewRequest| (request.judge, request.fresh);
    of(one) == of(other) && one.session_id == other.session_id && one.model == other.model
}
