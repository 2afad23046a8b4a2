//! Background tasks that the agent left running when its turn ended, and how long the review waits
//! for them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::client::stream::{TaskNote, ToolResult};
use crate::event::Now;

/// After a background task's end the agent wakes by itself, within 0.1 s as measured; if it does
/// not, the work is reviewed as it is.
const WAKE_GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Background {
    tasks: BTreeMap<String, BackgroundTask>,
    /// The review waits for the tasks until then.
    until: Option<Now>,
    waking: Waking,
}

#[derive(Debug)]
struct BackgroundTask {
    description: String,
    place: Place,
}

/// Where a task runs. The client also reports commands that the turn waits for, once they take some
/// seconds; their end does not wake the agent.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Foreground,
    /// Older clients do not report it. The task is in the background if this tool use is answered
    /// while it runs.
    Unknown {
        tool_use_id: String,
    },
    Background,
}

impl BackgroundTask {
    fn is_in_background(&self) -> bool {
        self.place == Place::Background
    }
}

/// Whether the agent will begin a turn by itself, because a task has ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Waking {
    #[default]
    No,
    Expected,
    /// The review waits for that turn until this time.
    Until(Now),
}

impl Background {
    pub fn started(&mut self, task: TaskNote) {
        let place = match task.background {
            Some(false) => Place::Foreground,
            None if !task.tool_use_id.is_empty() => {
                Place::Unknown { tool_use_id: task.tool_use_id }
            }
            Some(true) | None => Place::Background,
        };
        // A task that is moved to the background later already has a name.
        let known = self.tasks.remove(&task.task_id);
        let description = known.map_or(task.description, |known| known.description);
        self.tasks.insert(task.task_id, BackgroundTask { description, place });
    }

    pub fn answered(&mut self, results: &[ToolResult]) {
        for task in self.tasks.values_mut() {
            if let Place::Unknown { tool_use_id } = &task.place
                && results.iter().any(|result| result.tool_use_id == *tool_use_id)
            {
                task.place = Place::Background;
            }
        }
    }

    /// The end of an unknown task wakes the agent too. Returns whether this one does.
    pub fn ended(&mut self, id: &str) -> bool {
        let wakes = self.tasks.remove(id).is_none_or(|task| task.is_in_background());
        if wakes {
            self.task_ended();
        }
        wakes
    }

    /// The agent is told of a task's end in a turn that has begun, and does not wake for it.
    pub fn told(&mut self, id: &str) {
        self.tasks.remove(id);
    }

    pub fn turn_ended(&mut self) {
        for task in self.tasks.values_mut() {
            if let Place::Unknown { .. } = task.place {
                task.place = Place::Background;
            }
        }
    }

    /// The client lists the tasks that still run. Returns whether any other has ended.
    pub fn still_running(&mut self, ids: &[String]) -> bool {
        let before = self.len();
        self.tasks.retain(|id, task| !task.is_in_background() || ids.contains(id));
        let fewer = self.len() < before;
        if fewer {
            self.task_ended();
        }
        fewer
    }

    fn task_ended(&mut self) {
        if self.waking == Waking::No {
            self.waking = Waking::Expected;
        }
        if self.is_empty() {
            self.until = None;
        }
    }

    /// Called when no turn is open. The agent also wakes for a task that ended during its last
    /// turn.
    pub fn await_waking(&mut self, now: Now) {
        if self.waking != Waking::No {
            self.waking = Waking::Until(now + WAKE_GRACE);
        }
    }

    pub fn turn_started(&mut self) {
        self.waking = Waking::No;
        self.until = None;
    }

    /// The review no longer waits for tasks or for the agent to wake.
    pub fn stop_waiting(&mut self) {
        self.until = None;
        self.stop_awaiting_waking();
    }

    fn stop_awaiting_waking(&mut self) {
        if let Waking::Until(_) = self.waking {
            self.waking = Waking::Expected;
        }
    }

    /// The process that ran the tasks is gone.
    pub fn lost(&mut self) {
        self.tasks.clear();
        self.stop_waiting();
    }

    /// Waits for the running tasks. Returns their names when the wait begins, to tell the person.
    pub fn wait(&mut self, until: Now) -> Option<Vec<String>> {
        let first = self.until.is_none();
        self.until.get_or_insert(until);
        first.then(|| self.names())
    }

    /// Returns whether the wait for the tasks is over.
    pub fn passed(&mut self, now: Now) -> bool {
        if matches!(self.waking, Waking::Until(until) if until <= now) {
            self.stop_awaiting_waking();
        }
        self.until.is_some_and(|until| until <= now)
    }

    fn behind(&self) -> impl Iterator<Item = &BackgroundTask> {
        self.tasks.values().filter(|task| task.is_in_background())
    }

    /// Whether the turn waits for a task that could run in the background instead. The client does
    /// not report a command before it has run for some seconds, and cannot move it earlier.
    pub fn could_take_more(&self) -> bool {
        self.tasks.values().any(|task| !task.is_in_background())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.behind().count()
    }

    pub fn names(&self) -> Vec<String> {
        self.behind().map(|task| task.description.clone()).collect()
    }

    pub fn awaits_waking(&self) -> bool {
        matches!(self.waking, Waking::Until(_))
    }

    pub fn deadline(&self) -> Option<Now> {
        let waking = match self.waking {
            Waking::Until(until) => Some(until),
            Waking::No | Waking::Expected => None,
        };
        self.until.into_iter().chain(waking).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Now = Now::from_secs(1);

    fn with(tasks: &[&str]) -> Background {
        let mut background = Background::default();
        for task in tasks {
            background.started(note(task));
        }
        background
    }

    fn note(task: &str) -> TaskNote {
        let description = format!("runs {task}");
        TaskNote { task_id: task.to_owned(), description, ..TaskNote::default() }
    }

    #[test]
    fn the_agent_does_not_wake_for_an_end_that_it_was_told_of() {
        let mut background = with(&["a", "b"]);
        background.told("a");
        assert_eq!(background.names(), ["runs b"]);
        background.told("b");
        assert!(background.is_empty() && background.waking == Waking::No);
    }

    /// What clients report about a command that takes some seconds.
    #[test]
    fn a_task_that_the_turn_waits_for_is_not_in_the_background() {
        let mut background = Background::default();
        background.started(TaskNote { background: Some(false), ..note("a") });
        background.started(TaskNote { tool_use_id: "t".into(), ..note("b") });
        background.started(TaskNote { tool_use_id: "u".into(), ..note("c") });
        assert!(background.is_empty() && !background.still_running(&[]));
        // c is answered while it runs; a is moved to the background, and keeps its name.
        let answer = ToolResult {
            tool_use_id: "u".into(),
            is_error: false,
            preview: String::new(),
            tail: String::new(),
            patch: Vec::new(),
        };
        background.answered(&[answer]);
        assert_eq!(background.names(), ["runs c"]);
        background.started(TaskNote { background: Some(true), ..note("a") });
        assert_eq!(background.names(), ["runs a", "runs c"]);
        assert!(!background.ended("b"), "nobody wakes for it");
        background.await_waking(SECOND);
        assert!(!background.awaits_waking());
        assert!(background.ended("c") && background.ended("nobody knows it"));
        background.started(TaskNote { tool_use_id: "v".into(), ..note("d") });
        background.turn_ended();
        assert_eq!(background.names(), ["runs a", "runs d"]);
    }

    #[test]
    fn the_names_are_returned_only_when_the_wait_begins() {
        let mut background = with(&["a", "b"]);
        assert_eq!(
            background.wait(SECOND * 10).as_deref(),
            Some(&["runs a".into(), "runs b".into()][..])
        );
        assert_eq!(background.wait(SECOND * 20), None);
        assert_eq!(background.deadline(), Some(SECOND * 10));
        assert!(!background.passed(SECOND * 9) && background.passed(SECOND * 10));
    }

    #[test]
    fn after_the_last_task_only_the_agents_waking_is_awaited() {
        let mut background = with(&["a", "b"]);
        background.wait(SECOND * 10);
        background.ended("a");
        background.await_waking(SECOND);
        assert_eq!(background.deadline(), Some(SECOND + WAKE_GRACE));
        assert!(!background.passed(SECOND + WAKE_GRACE) && !background.awaits_waking());
        assert_eq!(background.deadline(), Some(SECOND * 10), "b still runs");
        assert!(background.still_running(&[]) && !background.still_running(&[]));
        assert_eq!(background.deadline(), None);
        background.await_waking(SECOND * 5);
        assert!(background.awaits_waking());
        background.turn_started();
        background.await_waking(SECOND * 6);
        assert!(!background.awaits_waking(), "the agent has woken");
    }

    #[test]
    fn a_message_only_postpones_the_waking() {
        let mut background = with(&["a"]);
        background.ended("a");
        background.await_waking(SECOND);
        background.stop_waiting();
        assert_eq!(background.deadline(), None);
        background.await_waking(SECOND * 3);
        assert_eq!(background.deadline(), Some(SECOND * 3 + WAKE_GRACE));
    }
}
