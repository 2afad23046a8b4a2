//! Performs the machine's actions.

use std::path::Path;

use super::Session;
use crate::client::stream::{
    PermissionRequest, cancel_message, client_request, interrupt, message_to_judge,
    permission_answer, refuse_control, rewind_conversation, rewind_files, tool_ruling,
};
use crate::event::{Action, Asker, Event, Notice};
use crate::files;
use crate::review::word;

/// The largest file that is read to show what an edit would change.
const LARGEST_SHOWN: u64 = 1 << 20;

/// The contents of the file that a tool wants to change. They may change before the tool runs.
fn edited_file(asked: &PermissionRequest, dir: &Path) -> Option<String> {
    let input: serde_json::Value = serde_json::from_str(&asked.input).ok()?;
    let changes = input.get("old_string").or(input.get("content")).is_some();
    let path = dir.join(input.get("file_path").filter(|_| changes)?.as_str()?);
    let size = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    (size <= LARGEST_SHOWN).then(|| files::read_text(&path).ok()).flatten()
}

impl Session<'_> {
    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::StartAgent { resume } => self.start_agent(resume),
            Action::Send { uuid, text } if self.native.is_some() => self.feed_back(uuid, text),
            Action::Send { uuid, text } => self.tell_agent(self.images.message(&uuid, &text)),
            Action::CancelMessage { request_id, uuid } => {
                self.tell_agent(cancel_message(&request_id, &uuid));
            }
            Action::RewindConversation { request_id, uuid, last } => {
                // The task may be an earlier one again.
                self.old.forget();
                self.tell_agent(rewind_conversation(&request_id, &uuid, &last));
            }
            Action::RewindFiles { request_id, uuid } => {
                self.tell_agent(rewind_files(&request_id, &uuid));
            }
            Action::GiveBack { text } => self.surface.give_back(&text),
            Action::InterruptAgent { request_id } => self.tell_agent(interrupt(&request_id)),
            Action::AskClient { request_id, request } => {
                self.tell_agent(client_request(&request_id, &request));
            }
            Action::Answer { asker, request_id, asked, answer } => {
                self.send_to(asker, permission_answer(&request_id, &asked, &answer));
            }
            Action::Refuse { asker, request_id, subtype } => {
                self.send_to(asker, refuse_control(&request_id, &subtype));
            }
            Action::Rule { review, request_id, ruling } => {
                let asker = if review == 0 { Asker::Agent } else { Asker::Supervisor };
                self.send_to(asker, tool_ruling(&request_id, &ruling));
            }
            Action::Ask(mut question) => {
                question.before = edited_file(&question.asked, &self.setup.dir);
                self.surface.ask(&question);
            }
            Action::Unask => self.surface.unask(),
            Action::NoteFiles => self.note_files(),
            Action::Examine { id } => {
                self.examine(id);
                self.start_judge_early();
            }
            Action::StartCheck { check, what } => self.start_check(check, &what),
            Action::StopCheck { check } => self.stop_check(check),
            Action::StartReview(request) => self.start_review(*request),
            Action::Verify { review, evidence, confirms } => {
                self.verify(review, &evidence, confirms);
            }
            Action::TellSupervisor { review, uuid, text } => {
                let process = self.supervisors.get(&review);
                if let Some(supervisor) = process.and_then(|process| process.handle.as_ref()) {
                    let text = word::put(&text, self.known.word());
                    supervisor.send(message_to_judge(&uuid, &text));
                }
            }
            Action::StopReview { review } => {
                if let Some(process) = self.supervisors.get_mut(&review) {
                    process.handle = None;
                }
            }
            Action::Say(notice) => {
                if let Notice::Session { session_id } = &notice {
                    self.restore_earlier(session_id);
                }
                self.notice(&notice);
            }
            Action::Finish(outcome) => self.outcome = Some(outcome),
        }
    }

    /// The session has an id: restores what an earlier run of it handed on.
    fn restore_earlier(&mut self, session_id: &str) {
        self.look_up_commands(session_id);
        if self.setup.rules.carried.is_none() {
            let left = self.native.as_ref().and_then(|native| native.left(session_id));
            let carried = left.or_else(|| (self.setup.earlier)(session_id));
            if carried.as_ref().is_some_and(|carried| !carried.fresh) {
                // The task began in the earlier run.
                self.old.forget();
            }
            self.events.extend(carried.map(Event::Restored));
        }
    }
}
