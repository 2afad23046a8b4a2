//! Work still running in the background when the agent stops. Its end wakes the agent, which then stops
//! again; that later stop is the one to review. The wait is bounded, because a server never ends and an
//! agent could always keep something running.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub name: String,
    /// A shell command rather than another agent.
    pub is_command: bool,
}

/// The entries of a Stop event's `background_tasks` that are still running.
pub fn running(tasks: &Value) -> Vec<Task> {
    let runs = |task: &&Value| {
        let status = task.get("status").and_then(Value::as_str);
        status.is_none_or(|status| status == "running" || status == "pending")
    };
    let task = |task: &Value| {
        let text = |field: &str| task.get(field)?.as_str().map(str::to_owned);
        let names = ["description", "command", "id"];
        Task {
            id: text("id").unwrap_or_default(),
            name: names.iter().find_map(|name| text(name)).unwrap_or("a task".into()),
            is_command: task.get("command").is_some(),
        }
    };
    let tasks = tasks.as_array().map(Vec::as_slice).unwrap_or_default();
    tasks.iter().filter(runs).map(task).collect()
}

/// How many stops in a row may go unreviewed because of background tasks.
const MOST: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Background {
    /// Ids of the tasks that were already running at the previous stop.
    seen: BTreeSet<String>,
    /// Stops in a row that were not reviewed.
    passed: u32,
}

impl Background {
    /// Called when the agent stops while `tasks` are still running. Returns the names of those the
    /// review waits for; empty means: review now.
    pub fn awaited(&mut self, tasks: &[Task]) -> Vec<String> {
        let is_new = |task: &&Task| !(task.is_command && self.seen.contains(&task.id));
        let waited: Vec<_> = tasks.iter().filter(is_new).map(|task| task.name.clone()).collect();
        self.seen = tasks.iter().map(|task| task.id.clone()).collect();
        if waited.is_empty() || self.passed == MOST {
            self.passed = 0;
            return Vec::new();
        }
        self.passed += 1;
        waited
    }

    /// A message from the person ends the run of unreviewed stops: they can see for themselves what is
    /// unfinished.
    pub fn person_spoke(&mut self) {
        self.passed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, is_command: bool) -> Task {
        Task { id: id.into(), name: format!("run {id}"), is_command }
    }

    #[test]
    fn what_is_new_is_waited_for_and_a_server_is_not_waited_for_twice() {
        let mut background = Background::default();
        assert_eq!(background.awaited(&[task("a", true)]), ["run a"]);
        assert!(background.awaited(&[task("a", true)]).is_empty());
        assert_eq!(background.awaited(&[task("a", true), task("b", true)]), ["run b"]);
        assert!(background.awaited(&[]).is_empty());
    }

    #[test]
    fn nobody_can_put_a_review_off_for_ever() {
        let mut background = Background::default();
        let mut at = |id: &str| background.awaited(&[task(id, true)]).len();
        assert_eq!(["1", "2", "3", "4", "5"].map(&mut at), [1, 1, 1, 0, 1]);
        let mut background = Background::default();
        // Another agent is waited for again at each stop, because it may take long.
        let mut at = |_: u32| background.awaited(&[task("agent", false)]).len();
        assert_eq!([0, 1, 2, 3].map(&mut at), [1, 1, 1, 0]);
        background.person_spoke();
    }

    #[test]
    fn running_tasks_are_seen() {
        let ids = |tasks: &str| -> Vec<String> {
            let tasks = serde_json::from_str(tasks).unwrap();
            running(&tasks).into_iter().map(|task| task.id).collect()
        };
        assert_eq!(ids(r#"[{"id":"b1"},{"id":"b2","status":"running"}]"#), ["b1", "b2"]);
        for none in ["[]", "null", r#"[{"status":"completed"}]"#, "3"] {
            assert!(ids(none).is_empty(), "{none}");
        }
    }
}
