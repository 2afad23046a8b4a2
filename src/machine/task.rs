//! The task: what the person wants, how often ccc has reviewed it, and what those reviews found.

use crate::event::{Carried, Said};
use crate::review::circle::Circle;
use crate::review::requirement::{Amended, Requirement};

#[derive(Debug)]
pub(super) struct Task {
    /// Of the last review.
    pub round: u32,
    /// It is confirmed, or its limit is reached: the next message starts a new one.
    pub fresh: bool,
    /// Its last work was never judged to the end: the person can ask for that again.
    pub undecided: bool,
    /// By the person, in order; feedback is not among it.
    pub said: Vec<Said>,
    /// What the last review found.
    pub requirements: Vec<Requirement>,
    /// How much had been said when it was last judged.
    judged: usize,
    /// In this round.
    pub judged_twice: bool,
    pub circle: Circle,
}

/// How it stood at one moment.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub round: u32,
    pub fresh: bool,
    said: Vec<Said>,
    requirements: Vec<Requirement>,
    judged: usize,
}

impl Task {
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            round: self.round,
            fresh: self.fresh,
            said: self.said.clone(),
            requirements: self.requirements.clone(),
            judged: self.judged,
        }
    }

    /// The person's words and what reviews found go back with the conversation.
    pub fn go_back(&mut self, before: Snapshot) {
        let Snapshot { round, fresh, said, requirements, judged } = before;
        let (undecided, judged_twice, circle) = (false, false, Circle::default());
        *self = Self { round, fresh, undecided, said, requirements, judged, judged_twice, circle };
    }

    pub fn new(carried: Option<&Carried>) -> Self {
        let Carried { round, fresh, said, requirements, .. } =
            carried.cloned().unwrap_or_else(|| Carried { fresh: true, ..Carried::default() });
        let (judged, undecided, judged_twice) = (said.len(), false, false);
        let circle = Circle::default();
        Self { round, fresh, undecided, said, requirements, judged, judged_twice, circle }
    }

    pub fn next_round(&mut self) {
        self.round += 1;
        self.judged_twice = false;
    }

    /// What a review has found. Says how the list has changed.
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

    /// Another one: what was said before is no part of it.
    pub fn begin(&mut self) {
        self.round = 0;
        self.fresh = false;
        self.requirements.clear();
        set_aside(&mut self.said);
    }

    /// Whoever says something has decided how to go on.
    pub fn says(&mut self, text: String) {
        self.undecided = false;
        self.circle = Circle::default();
        self.said.push(Said { text, earlier: false });
    }

    /// `/clear`: only what is still on its way belongs to the new conversation.
    pub fn forget_all_but(&mut self, kept: impl Fn(&str) -> bool) {
        self.said.retain(|said| kept(&said.text));
        self.round = 0;
        self.fresh = true;
        self.requirements.clear();
    }

    /// The person went back to before these words, and has said something else since. What reviews found
    /// in the meantime may have been about them.
    pub fn unsay(&mut self, texts: &[String]) {
        for text in texts.iter().rev() {
            let before = self.said.len().saturating_sub(1);
            if let Some(at) = self.said[..before].iter().rposition(|said| said.text == *text) {
                self.said.remove(at);
                self.judged = self.judged.saturating_sub(1);
                self.requirements.clear();
            }
        }
    }

    /// The agent has worked, perhaps by itself. If the task was confirmed before, the count starts anew: a
    /// limit is for what is not confirmed. From here on the task is not fresh, even if nobody has said
    /// anything yet.
    pub fn goes_on(&mut self) {
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

    /// A slash command that did no agent work is none of the user's wishes that the supervisor should
    /// look for. Says whether the person has given one.
    pub fn command_ran(&mut self) -> bool {
        let given = self.said.iter().rposition(|said| !said.earlier && is_command(&said.text));
        if let Some(at) = given {
            self.said.remove(at);
        }
        if self.round == 0 && self.said.iter().all(|said| said.earlier) {
            self.fresh = true;
        }
        given.is_some()
    }

    /// The session turns out to have been here before; by then a message may have been sent, which
    /// comes after the earlier ones.
    pub fn restored(&mut self, carried: Carried) {
        let Carried { mut round, fresh, mut said, requirements, .. } = carried;
        self.judged = said.len();
        let begun = !self.said.is_empty();
        if fresh && begun {
            round = 0;
            set_aside(&mut said);
        }
        self.round = round;
        self.fresh = fresh && !begun;
        self.requirements = if fresh { Vec::new() } else { requirements };
        said.append(&mut self.said);
        self.said = said;
    }

    /// The work is not confirmed, and the loop does not know how to go on.
    pub fn leave_undecided(&mut self) {
        self.circle = Circle::default();
        self.undecided = true;
    }

    pub fn limit_reached(&mut self) {
        self.fresh = true;
        self.undecided = true;
    }

    /// The person asks for the judgement that is missing.
    pub fn judge_again(&mut self) {
        self.undecided = false;
        self.fresh = false;
    }

    /// A review that nobody waits for any more does not count.
    pub fn review_dropped(&mut self) {
        self.round = self.round.saturating_sub(1);
    }
}

pub(super) fn is_command(text: &str) -> bool {
    text.trim_start().starts_with('/')
}

fn set_aside(said: &mut [Said]) {
    for said in said {
        said.earlier = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(said: &[&str]) -> Task {
        let mut task = Task::new(None);
        task.begin();
        for text in said {
            task.says((*text).to_owned());
        }
        task
    }

    fn told(task: &Task) -> Vec<String> {
        let told = |said: &Said| format!("{}{}", if said.earlier { "· " } else { "" }, said.text);
        task.said.iter().map(told).collect()
    }

    #[test]
    fn a_new_task_sets_the_earlier_messages_aside() {
        let mut task = with(&["a"]);
        (task.round, task.fresh) = (3, true);
        task.begin();
        task.says("b".into());
        assert_eq!(
            (told(&task), task.round, task.fresh),
            (vec!["· a".into(), "b".into()], 0, false)
        );
    }

    #[test]
    fn work_that_nobody_asked_for_is_counted_until_it_is_confirmed() {
        let mut task = Task::new(None);
        for round in 1..=2 {
            task.goes_on();
            task.next_round();
            assert_eq!(task.round, round);
            task.command_ran();
        }
        task.fresh = true;
        task.goes_on();
        assert_eq!(task.round, 0);
    }

    #[test]
    fn a_command_is_no_wish_and_alone_no_task() {
        let mut task = with(&["/cost"]);
        assert!(task.command_ran() && task.fresh && task.said.is_empty());
        let mut task = with(&["a", "/cost"]);
        assert!(task.command_ran() && !task.fresh);
        assert!(!task.command_ran(), "nobody has given another");
        assert_eq!(told(&task), ["a"]);
    }

    #[test]
    fn what_is_on_its_way_survives_a_cleared_conversation() {
        let mut task = with(&["a", "b"]);
        task.round = 2;
        task.forget_all_but(|text| text == "b");
        assert_eq!((told(&task), task.round, task.fresh), (vec!["b".into()], 0, true));
    }

    #[test]
    fn an_earlier_run_comes_before_what_was_said_already() {
        let carried = |fresh| Carried {
            round: 2,
            fresh,
            said: vec![Said { text: "before".into(), earlier: false }],
            ..Carried::default()
        };
        let mut task = with(&["now"]);
        task.restored(carried(false));
        assert_eq!((told(&task), task.round), (vec!["before".into(), "now".into()], 2));
        let mut task = with(&["now"]);
        task.restored(carried(true));
        assert_eq!((told(&task), task.round), (vec!["· before".into(), "now".into()], 0));
        assert!(!task.fresh, "a message has begun a task already");
    }
}
