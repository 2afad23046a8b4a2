//! The person's own editor: it has the terminal while the session goes on behind it, drawing
//! nothing.

use std::time::{Duration, Instant};

use super::{Control, Session};
use crate::{external_editor, signals};

/// How long an editor may take to save what it has when the session ends under it.
const TO_SAVE: Duration = Duration::from_secs(1);

impl Session<'_> {
    pub(super) fn edit(&mut self, text: &str) {
        if self.editing.is_some() {
            return;
        }
        self.surface.suspend();
        let to_control = self.to_control.clone();
        // The session may be over by then.
        let done = move |text| drop(to_control.send(Control::Edited(text)));
        match external_editor::start(&self.setup.editor, text, done) {
            Ok(editing) => self.editing = Some(editing),
            Err(error) => self.edited(Err(error)),
        }
    }

    pub(super) fn edited(&mut self, text: anyhow::Result<String>) {
        self.editing = None;
        self.surface.resume();
        self.surface.edited(text.map_err(|error| format!("{error:#}")));
    }

    /// A key pressed in the editor may be a signal to all who are on the terminal.
    pub(super) fn is_for_editor(&self, signal: i32) -> bool {
        self.editing.is_some() && signals::is_from_keys(signal)
    }

    /// The session is over, and with it the terminal's loan.
    pub(super) fn end_editing(&mut self) {
        let Some(editing) = &self.editing else { return };
        editing.terminate();
        let deadline = Instant::now() + TO_SAVE;
        loop {
            match self.control.recv_deadline(deadline) {
                Ok(Control::Edited(_)) => break,
                Ok(control @ (Control::AgentExited(..) | Control::SupervisorExited(..))) => {
                    self.control(control);
                }
                Ok(_) => {}
                Err(_) => {
                    if let Some(editing) = &self.editing {
                        log::warn!("the editor does not end; killing it");
                        editing.kill();
                    }
                    break;
                }
            }
        }
        self.editing = None;
        self.surface.resume();
    }
}
