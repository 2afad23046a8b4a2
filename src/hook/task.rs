//! The progress of the task that the Stop hook judges, kept from one stop to the next.

use serde::{Deserialize, Serialize};

use crate::event::is_default;
use crate::review::circle::Circle;
use crate::review::requirement::Requirement;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Task {
    pub count: u32,
    /// The task is confirmed or has used up its reviews; the person's next message begins another task.
    #[serde(skip_serializing_if = "is_default")]
    pub settled: bool,
    /// The task is settled because it was confirmed.
    #[serde(skip_serializing_if = "is_default")]
    pub confirmed: bool,
    /// How many of the person's messages belong to earlier tasks.
    #[serde(skip_serializing_if = "is_default")]
    pub earlier: usize,
    /// How many messages the person had sent by the last stop.
    #[serde(skip_serializing_if = "is_default")]
    pub heard: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// The latest rejections, to notice when the reviews go in circles.
    #[serde(skip_serializing_if = "Circle::is_empty")]
    pub rejections: Circle,
}

impl Task {
    /// The agent has stopped, and the person has sent `messages` messages by now. The rules are those
    /// of a session: a message after a settled task begins another one, any message clears the record
    /// of rejections, and whatever the agent does by itself after a confirmation starts a new count.
    pub fn stopped(&mut self, messages: usize) {
        if messages > self.heard {
            if self.settled {
                *self = Self { earlier: self.heard, ..Self::default() };
            }
            self.rejections = Circle::default();
        } else if self.confirmed {
            (self.count, self.settled, self.confirmed) = (0, false, false);
        }
        // A rewound conversation has fewer messages than before.
        self.earlier = self.earlier.min(messages);
        self.heard = messages;
    }

    pub fn confirm(&mut self) {
        self.settle();
        self.confirmed = true;
    }

    pub fn settle(&mut self) {
        self.settled = true;
        self.requirements.clear();
        self.rejections = Circle::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_after_a_settled_task_begins_another_one() {
        let mut task = Task::default();
        task.stopped(2);
        task.count = 3;
        task.settle();
        // The agent woke by itself: it is still the same task, and the limit still holds.
        task.stopped(2);
        assert_eq!((task.count, task.settled, task.earlier), (3, true, 0));
        task.confirm();
        task.stopped(2);
        assert_eq!((task.count, task.settled, task.earlier), (0, false, 0));
        task.confirm();
        task.stopped(3);
        assert_eq!((task.count, task.settled, task.earlier, task.heard), (0, false, 2, 3));
        task.count = 1;
        task.stopped(4);
        assert_eq!((task.count, task.earlier), (1, 2));
        task.stopped(1);
        assert_eq!((task.earlier, task.heard), (1, 1));
    }
}
