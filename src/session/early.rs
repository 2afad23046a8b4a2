//! A judge's client takes longer to start than the files take to be looked at and the brief to be written,
//! and needs neither before its message. So its process starts when it is known that a judge will be asked.
//! Until its message it costs nothing; if the review does not come after all, it ends.

use std::collections::HashMap;

use super::Session;
use super::child_state::ChildState;
use crate::client::stream::Line;
use crate::event::ReviewRequest;
use crate::process::supervisor::SupervisorProcess;

/// The first number of a process that began before its review: no review of the machine's has it.
const FIRST: u32 = 1 << 31;

#[derive(Default)]
pub struct EarlyJudges {
    started: u32,
    waiting: Option<Waiting>,
    /// Those whose review began, and which one that is.
    reviews: HashMap<u32, u32>,
}

struct Waiting {
    id: u32,
    request: ReviewRequest,
    /// What it has printed. The loop knows of no such review yet.
    lines: Vec<Line>,
}

impl EarlyJudges {
    /// The review that a process judges in, or its own number while it does not.
    pub fn review_of(&self, process: u32) -> u32 {
        self.reviews.get(&process).copied().unwrap_or(process)
    }

    /// Whether these lines are of a process without a review; then they are kept, if it may get one.
    pub fn keep(&mut self, process: u32, lines: &mut Vec<Line>) -> bool {
        let early = is_early(self.review_of(process));
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.id == process) {
            waiting.lines.append(lines);
        }
        early
    }
}

/// Whether no review of the machine's has this number.
pub fn is_early(review: u32) -> bool {
    review >= FIRST
}

impl Session<'_> {
    pub(super) fn start_judge_early(&mut self) {
        self.end_early_judge();
        // Of a scripted session the script says what is there, and at once.
        if self.setup.workplace.is_none() {
            return;
        }
        let Some(request) = self.machine.upcoming_judge() else { return };
        self.early.started += 1;
        let id = FIRST + self.early.started;
        match self.judge_process(id, &request) {
            Ok(child) => {
                self.supervisors.insert(id, child);
                self.early.waiting = Some(Waiting { id, request, lines: Vec::new() });
            }
            // It is tried again when the review begins, and then told.
            Err(error) => log::warn!("the judge was not started early: {error:#}"),
        }
    }

    /// The process that waits for this very review and what it has printed, if there is one.
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
        let Waiting { id, lines, .. } = self.early.waiting.take()?;
        let child = self.supervisors.remove(&id).filter(|child| !child.has_exited())?;
        self.early.reviews.insert(id, request.review);
        Some((child, lines))
    }

    /// Nobody will ask it anything.
    pub(super) fn end_early_judge(&mut self) {
        if let Some(Waiting { id, .. }) = self.early.waiting.take()
            && let Some(child) = self.supervisors.get_mut(&id)
        {
            child.handle = None;
        }
    }

    /// The review that it was started for does not come: a message was typed, the agent woke.
    pub(super) fn end_early_judge_unless_wanted(&mut self) {
        if self.early.waiting.is_some() && !self.machine.expects_judge() {
            self.end_early_judge();
        }
    }
}

/// All of a request that a command line depends on.
fn is_started_alike(one: &ReviewRequest, other: &ReviewRequest) -> bool {
    let of = |request: &ReviewRequest| (request.judge, request.fresh);
    of(one) == of(other) && one.session_id == other.session_id && one.model == other.model
}
