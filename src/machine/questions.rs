//! Permission: who asks, who answers, and what becomes of a question that nobody waits for.

use super::Machine;
use crate::event::{Action, Asker, Notice, Question};
use crate::stream::{Control, Permission, PermissionRequest};

impl Machine {
    pub(super) fn control(&mut self, asker: Asker, request_id: String, request: Control) {
        match request {
            Control::Permission(asked) if self.rules.person => {
                self.say(Notice::PermissionAsked { asker, tool: asked.tool.clone() });
                self.questions.push_back((Question { asker, request_id, asked }, self.now));
                if self.questions.len() == 1 {
                    self.ask_next();
                }
            }
            Control::Permission(asked) => {
                let reason = format!(
                    "Nobody is at the terminal to allow {}. Do without it, or say at the end what could not be done.",
                    asked.tool
                );
                self.answer(asker, request_id, asked, Permission::Deny(reason));
            }
            Control::Unknown(subtype) => {
                self.actions.push(Action::Refuse { asker, request_id, subtype });
            }
        }
    }

    pub(super) fn answered(&mut self, request_id: &str, answer: Permission) {
        let asked_first =
            self.questions.front().is_some_and(|(front, _)| front.request_id == request_id);
        if !asked_first {
            return;
        }
        if let Some((question, since)) = self.questions.pop_front() {
            // The time that a person takes is not the supervisor's.
            if let Some(review) =
                self.review.as_mut().filter(|_| question.asker == Asker::Supervisor)
            {
                review.deadline += self.now.saturating_sub(since);
            }
            self.answer(question.asker, question.request_id, question.asked, answer);
        }
        self.ask_next();
    }

    fn answer(
        &mut self,
        asker: Asker,
        request_id: String,
        asked: PermissionRequest,
        answer: Permission,
    ) {
        let (allowed, reason) = match &answer {
            Permission::Deny(reason) => (false, reason.clone()),
            Permission::Once | Permission::Always | Permission::Answers(_) => (true, String::new()),
        };
        self.say(Notice::PermissionAnswered { asker, tool: asked.tool.clone(), allowed, reason });
        self.actions.push(Action::Answer { asker, request_id, asked, answer });
    }

    fn ask_next(&mut self) {
        if let Some((question, _)) = self.questions.front() {
            self.actions.push(Action::Ask(question.clone()));
        }
    }

    /// Questions that nobody waits for any more.
    pub(super) fn withdraw(&mut self, obsolete: impl Fn(&Question) -> bool) {
        let first = self.questions.front().is_some_and(|(question, _)| obsolete(question));
        self.questions.retain(|(question, _)| !obsolete(question));
        if first {
            self.actions.push(Action::Unask);
            self.ask_next();
        }
    }
}
