//! The task: what the person wants, how often ccc has reviewed it, and what those reviews found.

use crate::event::{Carried, Said};
use crate::review::circle::Circle;
use crate::review::requirement::{self, Amended, Requirement};

#[derive(Debug)]
pub(super) struct Task {
    pub round: u32,
    /// The task is confirmed or its limit is reached, so the next message starts a new one.
    pub fresh: bool,
    /// The last work has no final judgement; the person can ask for one.
    pub undecided: bool,
    /// The person's messages in order, without feedback.
    pub said: Vec<Said>,
    pub requirements: Vec<Requirement>,
    /// The length of `said` at the last judgement.
    judged: usize,
    /// A confirmation was already repeated in this round because files had changed.
    pub repeated: bool,
    pub circle: Circle,
}

/// The state of a task before a message.
#[derive(Debug, Clone)]
pub(super) struct TaskSnapshot {
    pub round: u32,
    pub fresh: bool,
    said: Vec<Said>,
    requirements: Vec<Requirement>,
    judged: usize,
}

impl Task {
    pub fn snapshot(&self) -> TaskSnapshot {
        TaskSnapshot {
            round: self.round,
            fresh: self.fresh,
            said: self.said.clone(),
            requirements: self.requirements.clone(),
            judged: self.judged,
        }
    }

    /// Restores the state from before a message to which the conversation went back.
    pub fn go_back(&mut self, before: TaskSnapshot) {
        let TaskSnapshot { round, fresh, said, requirements, judged } = before;
        let (undecided, repeated, circle) = (false, false, Circle::default());
        *self = Self { round, fresh, undecided, said, requirements, judged, repeated, circle };
    }

    pub fn new(carried: Option<&Carried>) -> Self {
        let Carried { round, fresh, said, requirements, .. } =
            carried.cloned().unwrap_or_else(|| Carried { fresh: true, ..Carried::default() });
        let (judged, undecided, repeated) = (said.len(), false, false);
        let circle = Circle::default();
        Self { round, fresh, undecided, said, requirements, judged, repeated, circle }
    }

    pub fn next_round(&mut self) {
        self.round += 1;
        self.repeated = false;
    }

    /// Stores the requirements that a review found. Returns how the list has changed.
    pub fn found(&mut self, requirements: &[Requirement]) -> Option<Amended> {
        let by_message = self.said.len() > self.judged;
        self.judged = self.said.len();
        if requirements.is_empty() {
            return None;
        }
        let amended = Amended::between(&self.requirements, requirements, by_message);
        self.requirements = requirements.to_vec();
        amended
    }

    /// How many requirements are met, and out of how many. Beside a confirmation without proof, fewer
    /// than all would contradict it.
    pub fn met(&self) -> Option<(usize, usize)> {
        requirement::met(&self.requirements).filter(|(met, all)| met == all || !self.fresh)
    }

    /// Starts a new task; earlier messages are not part of it.
    pub fn begin(&mut self) {
        self.round = 0;
        self.fresh = false;
        self.requirements.clear();
        mark_earlier(&mut self.said);
    }

    /// Adds a message of the person. It decides how to continue, so the task is no longer undecided
    /// or stuck.
    pub fn add_message(&mut self, text: String) {
        self.undecided = false;
        self.circle = Circle::default();
        self.said.push(Said { text, ..Said::default() });
    }

    /// Adds the person's answer to a question of the agent: it may change what is asked for, but it begins
    /// nothing anew.
    pub fn add_answer(&mut self, question: &str, text: &str) {
        let (question, text) = (Some(question.to_owned()), text.to_owned());
        self.said.push(Said { text, question, earlier: false });
    }

    /// `/clear`: only messages that are still on their way belong to the new conversation.
    pub fn forget_all_but(&mut self, kept: impl Fn(&str) -> bool) {
        self.said.retain(|said| kept(&said.text));
        self.judged = 0;
        self.round = 0;
        self.fresh = true;
        self.requirements.clear();
    }

    /// Removes messages that the person took back. With the same text, the last message is one that was
    /// sent after that. Requirements may come from the removed messages, so they are cleared.
    pub fn unsay(&mut self, texts: &[String]) {
        for text in texts.iter().rev() {
            let before = self.said.len().saturating_sub(1);
            let is_it = |said: &Said| said.text == *text;
            let earlier = self.said[..before].iter().rposition(is_it);
            if let Some(at) = earlier.or_else(|| self.said.iter().rposition(is_it)) {
                self.said.remove(at);
                self.judged = self.judged.saturating_sub(1);
                self.requirements.clear();
            }
        }
    }

    /// The agent has worked, perhaps without a message. After a confirmation the count of rounds
    /// restarts, because the limit only counts rounds that confirmed nothing.
    pub fn continue_after_confirmation(&mut self) {
        if self.fresh && !self.undecided {
            self.round = 0;
            self.fresh = false;
        }
    }

    pub fn taken_back(&mut self, text: &str) {
        if let Some(at) = self.said.iter().rposition(|said| said.text == text) {
            self.said.remove(at);
        }
    }

    /// Removes the last slash command: a command that made the agent do no work is nothing for a
    /// supervisor to look for. Returns whether the person had given one.
    pub fn command_ran(&mut self) -> bool {
        let is_given =
            |said: &Said| !said.earlier && said.question.is_none() && is_command(&said.text);
        let given = self.said.iter().rposition(is_given);
        if let Some(at) = given {
            self.said.remove(at);
        }
        if self.round == 0 && self.said.iter().all(|said| said.earlier) {
            self.fresh = true;
        }
        given.is_some()
    }

    /// Takes over the state of an earlier run. A message that was sent in the meantime comes after
    /// the earlier ones.
    pub fn restored(&mut self, carried: Carried) {
        let Carried { mut round, fresh, mut said, requirements, .. } = carried;
        self.judged = said.len();
        let begun = !self.said.is_empty();
        if fresh && begun {
            round = 0;
            mark_earlier(&mut said);
        }
        self.round = round;
        self.fresh = fresh && !begun;
        self.requirements = if fresh { Vec::new() } else { requirements };
        said.append(&mut self.said);
        self.said = said;
    }

    /// The work is not confirmed, and the loop does not know how to continue.
    pub fn leave_undecided(&mut self) {
        self.circle = Circle::default();
        self.undecided = true;
    }

    pub fn limit_reached(&mut self) {
        self.fresh = true;
        self.undecided = true;
    }

    pub fn judge_again(&mut self) {
        self.undecided = false;
        self.fresh = false;
    }

    /// A dropped review does not count as a round.
    pub fn review_dropped(&mut self) {
        self.round = self.round.saturating_sub(1);
    }
}

pub(super) fn is_command(text: &str) -> bool {
    text.trim_start().starts_with('/')
}

fn mark_earlier(said: &mut [Said]) {
    for said in said {
        said.earlier = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::requirement::Standing;

    fn with(said: &[&str]) -> Task {
        let mut task = Task::new(None);
        task.begin();
        for text in said {
            task.add_message((*text).to_owned());
        }
        task
    }

    fn messages(task: &Task) -> Vec<String> {
        let messages =
            |said: &Said| format!("{}{}", if said.earlier { "· " } else { "" }, said.text);
        task.said.iter().map(messages).collect()
    }

    #[test]
    fn a_new_task_marks_the_earlier_messages() {
        let mut task = with(&["a"]);
        (task.round, task.fresh) = (3, true);
        task.begin();
        task.add_message("b".into());
        assert_eq!(
            (messages(&task), task.round, task.fresh),
            (vec!["· a".into(), "b".into()], 0, false)
        );
    }

    #[test]
    fn work_without_a_message_is_counted_until_it_is_confirmed() {
        let mut task = Task::new(None);
        for round in 1..=2 {
            task.continue_after_confirmation();
            task.next_round();
            assert_eq!(task.round, round);
            task.command_ran();
        }
        task.fresh = true;
        task.continue_after_confirmation();
        assert_eq!(task.round, 0);
    }

    #[test]
    fn a_command_is_not_part_of_a_task() {
        let mut task = with(&["/cost"]);
        assert!(task.command_ran() && task.fresh && task.said.is_empty());
        let mut task = with(&["a", "/cost"]);
        assert!(task.command_ran() && !task.fresh);
        assert!(!task.command_ran(), "no command is left");
        assert_eq!(messages(&task), ["a"]);
    }

    #[test]
    fn messages_on_their_way_survive_clear() {
        let mut task = with(&["a", "b"]);
        task.round = 2;
        task.forget_all_but(|text| text == "b");
        assert_eq!((messages(&task), task.round, task.fresh), (vec!["b".into()], 0, true));
    }

    #[test]
    fn a_confirmation_is_not_contradicted_by_a_count() {
        let one = |status| Requirement {
            id: "R1".into(),
            text: String::new(),
            status,
            evidence: Vec::new(),
        };
        let mut task = with(&["a"]);
        task.requirements = vec![one(Standing::Met), one(Standing::Unproven)];
        assert_eq!(task.met(), Some((1, 2)));
        task.fresh = true;
        assert_eq!(task.met(), None);
        task.requirements = vec![one(Standing::Met)];
        assert_eq!(task.met(), Some((1, 1)));
    }

    #[test]
    fn an_earlier_run_comes_before_messages_already_sent() {
        let carried = |fresh| Carried {
            round: 2,
            fresh,
            said: vec![Said { text: "before".into(), ..Said::default() }],
            ..Carried::default()
        };
        let mut task = with(&["now"]);
        task.restored(carried(false));
        assert_eq!((messages(&task), task.round), (vec!["before".into(), "now".into()], 2));
        let mut task = with(&["now"]);
        task.restored(carried(true));
        assert_eq!((messages(&task), task.round), (vec!["· before".into(), "now".into()], 0));
        assert!(!task.fresh, "a message has begun a task already");
    }
}
