//! Permission questions: who asks, who answers, and what happens to a question whose asker no
//! longer waits.

use super::Machine;
use crate::client::stream::{Control, Permission, PermissionRequest};
use crate::event::{Action, Asker, Notice, Question};
use crate::review::permission::{Denied, Ruling};

/// The beginning of the answer that a model gets when there is no person.
pub const NOBODY: &str = "No one can be asked for permission";
/// What people read instead: how to allow it.
pub const UNASKED: &str = "no one to ask (--allowedTools or --permission-mode would allow it)";

impl Machine {
    /// A request of the agent; a supervisor's requests go through its review.
    pub(super) fn control(&mut self, request_id: String, request: Control) {
        match request {
            Control::Permission(asked) if self.rules.person => {
                self.ask(Asker::Agent, request_id, asked);
            }
            Control::Permission(asked) => {
                self.deny(Asker::Agent, request_id, asked);
            }
            // Only a judge's client is configured to ask this.
            Control::ToolUse(_) => {
                let ruling = Ruling::Deny("ccc does not know why this is asked.".to_owned());
                self.actions.push(Action::Rule { review: 0, request_id, ruling });
            }
            Control::Unknown(subtype) => {
                self.actions.push(Action::Refuse { asker: Asker::Agent, request_id, subtype });
            }
        }
    }

    pub(super) fn ask(&mut self, asker: Asker, request_id: String, asked: PermissionRequest) {
        self.say(Notice::PermissionAsked { asker, tool: asked.tool.clone() });
        self.questions.push_back(Question { asker, request_id, asked, before: None });
        self.time_questions();
        if self.questions.len() == 1 {
            self.ask_next();
        }
    }

    pub(super) fn deny(&mut self, asker: Asker, request_id: String, asked: PermissionRequest) {
        let reason = format!(
            "{NOBODY} to use {}. Continue without it, and say at the end what you could not do.",
            asked.tool
        );
        self.answer(asker, request_id, asked, Permission::Deny(reason));
    }

    pub(super) fn answered(&mut self, request_id: &str, answer: Permission) {
        let is_asked = self.questions.front().is_some_and(|first| first.request_id == request_id);
        if !is_asked {
            return;
        }
        let Some(question) = self.questions.pop_front() else { return };
        self.time_questions();
        if question.asker == Asker::Supervisor
            && let Some(review) = self.judgement.review()
        {
            review.engine.answered(request_id, self.now);
        }
        self.answer(question.asker, question.request_id, question.asked, answer);
        self.ask_next();
    }

    fn answer(
        &mut self,
        asker: Asker,
        request_id: String,
        asked: PermissionRequest,
        answer: Permission,
    ) {
        match (&answer, asker) {
            (Permission::Deny(reason), Asker::Agent) => {
                let reason = if reason.starts_with(NOBODY) { UNASKED } else { reason };
                self.denials.push(Denied::new(&asked, reason));
            }
            (Permission::Answers(answers), Asker::Agent) => {
                for (question, answer) in answers {
                    self.task.add_answer(question, answer);
                }
            }
            _ => {}
        }
        let (allowed, reason) = match &answer {
            Permission::Deny(reason) => (false, reason.clone()),
            Permission::Once
            | Permission::Always
            | Permission::AcceptEdits
            | Permission::Answers(_) => (true, String::new()),
        };
        self.say(Notice::PermissionAnswered { asker, tool: asked.tool.clone(), allowed, reason });
        self.actions.push(Action::Answer { asker, request_id, asked, answer });
    }

    fn time_questions(&mut self) {
        if self.rules.judging.own_time {
            self.spent.ask(!self.questions.is_empty(), self.now);
        }
    }

    fn ask_next(&mut self) {
        if let Some(question) = self.questions.front() {
            self.actions.push(Action::Ask(question.clone()));
        }
    }

    /// Removes the questions that nobody waits for any more.
    pub(super) fn withdraw(&mut self, obsolete: impl Fn(&Question) -> bool) {
        let first = self.questions.front().is_some_and(&obsolete);
        self.questions.retain(|question| !obsolete(question));
        self.time_questions();
        if first {
            self.actions.push(Action::Unask);
            self.ask_next();
        }
    }
}
