//! Notices whether the project's files changed during a review. They are examined when it begins
//! and again before its result counts, because what follows may change files at once. Both happen
//! on a thread: in a large project the loop would stall.

use crossbeam_channel::{Receiver, bounded};

use super::{Incoming, Session};
use crate::client::stream::{Line, Message};
use crate::event::{ChangedFile, Event};
use crate::threads::named;
use crate::tree::{Change, Snapshot};

const MOST: usize = 50;

/// A review whose project is being compared; keeps what its judge has printed since.
#[derive(Debug, Default)]
pub struct Comparing(Vec<Line>);

impl Session<'_> {
    pub(super) fn watch_tree(&mut self, review: u32) {
        let Some(workplace) = self.setup.workplace.clone() else { return };
        let (send, before) = bounded(1);
        // The snapshot behind the brief: the judge was not told of any later change.
        if let Some(looked) = self.looked.take() {
            let _ = send.send(looked);
            self.trees.insert(review, before);
            return;
        }
        let take = move || {
            let _ = send.send(workplace.look());
        };
        match named("tree before", take) {
            Ok(()) => drop(self.trees.insert(review, before)),
            Err(error) => log::warn!("the project is not compared: {error}"),
        }
    }

    /// Whether the line has to wait until the project has been compared. If so, it is kept.
    pub(super) fn defer_until_compared(&mut self, review: u32, line: &Line) -> bool {
        if let Some(comparing) = self.comparing.get_mut(&review) {
            comparing.0.push(line.clone());
            return true;
        }
        if !is_conclusion(line) {
            return false;
        }
        let Some(before) = self.trees.remove(&review) else { return false };
        if self.compare(review, before) {
            self.comparing.insert(review, Comparing(vec![line.clone()]));
            return true;
        }
        false
    }

    fn compare(&self, review: u32, before: Receiver<Snapshot>) -> bool {
        let Some(workplace) = self.setup.workplace.clone() else { return false };
        let done = self.to_control.clone();
        let compare = move || {
            let before = before.recv().ok();
            let after = workplace.look_again(before.as_ref());
            let changes = before.map(|before| before.changes(&after)).unwrap_or_default();
            let _ = done.send(Incoming::TreeCompared(review, Box::new(after), changes));
        };
        named("tree after", compare).inspect_err(|error| log::warn!("{error}")).is_ok()
    }

    pub(super) fn tree_compared(&mut self, review: u32, after: Snapshot, changes: &[Change]) {
        if !changes.is_empty() {
            let (files, more) = files(changes);
            self.step(Event::TreeChanged { review, files, more });
        }
        // A judge that is asked again may continue to work.
        let (send, before) = bounded(1);
        let _ = send.send(after);
        self.trees.insert(review, before);
        let now = self.now();
        for line in self.comparing.remove(&review).unwrap_or_default().0 {
            self.supervisor_line(review, line, now);
        }
    }

    /// At the end nobody hears of a comparison, so no line waits for one: its process would not count as
    /// gone.
    pub(super) fn stop_comparing(&mut self) {
        self.trees.clear();
        let now = self.now();
        for (review, Comparing(lines)) in std::mem::take(&mut self.comparing) {
            for line in lines {
                self.supervisor_line(review, line, now);
            }
        }
    }
}

/// The first changed files, and how many more there are.
pub fn files(changes: &[Change]) -> (Vec<ChangedFile>, usize) {
    let files = changes
        .iter()
        .take(MOST)
        .map(|change| ChangedFile { path: change.path.display().to_string(), kind: change.kind });
    (files.collect(), changes.len().saturating_sub(MOST))
}

fn is_conclusion(line: &Line) -> bool {
    line.messages()
        .any(|envelope| envelope.parent.is_none() && matches!(envelope.message, Message::Result(_)))
}
