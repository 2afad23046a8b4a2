//! The person's editor, pager or shell command: it has the terminal while the session continues
//! behind it without drawing.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::time::{Duration, Instant};

use super::{Incoming, Session};
use crate::files;
use crate::process::signals;
use crate::prompt::external_editor::{self, EditorResult};

/// How long an editor may take to save its text when the session ends.
const TO_SAVE: Duration = Duration::from_secs(1);

/// How late a signal can arrive from the key that ended the editor.
const LATE: Duration = Duration::from_secs(1);

/// The result of what had the terminal.
#[derive(Debug)]
pub enum Returned {
    Text(anyhow::Result<String>),
    /// From a pager: why it failed, if it did.
    Nothing(Option<String>),
    Output {
        command: String,
        output: String,
    },
}

impl Session<'_> {
    pub(super) fn edit(&mut self, text: &str) {
        let editor = self.setup.editor.clone();
        self.lend_terminal(&editor, text, |left| Returned::Text(left.text()));
    }

    /// Shows the text in the pager; nothing comes back.
    pub(super) fn page(&mut self, text: &str) {
        let pager = self.setup.pager.clone();
        self.lend_terminal(&pager, text, |left| Returned::Nothing(left.failure()));
    }

    /// Runs the command in the person's shell on their terminal, and keeps what it prints.
    pub(super) fn run_in_shell(&mut self, command: &str) {
        let shell = env::var("SHELL").ok().filter(|shell| !shell.is_empty());
        let shell = shell.as_deref().unwrap_or("/bin/sh");
        // Ctrl-C is for the command, and tee still gets to the end of what it printed. A failure is
        // named for the person and the agent alike.
        let run = r#"{ "$1" -c "$2" 2>&1 || echo "[exit code $?]"; } | tee -i "$3""#;
        let line = OsString::from(shell_words::join(["sh", "-c", run, "sh", shell, command]));
        let command = command.to_owned();
        self.lend_terminal(&line, "", move |left| Returned::Output {
            command,
            output: left.output(),
        });
    }

    pub(super) fn note(&mut self, note: &str) {
        let path = self.setup.dir.join("CLAUDE.md");
        let file = files::append_within(&self.setup.dir, "CLAUDE.md");
        let written = file.and_then(|mut file| writeln!(file, "- {note}"));
        let path = path.display();
        self.surface.told(match written {
            Ok(()) => Ok(format!("Added to {path}.")),
            Err(error) => Err(format!("The note was not added to {path}: {error}")),
        });
    }

    fn lend_terminal(
        &mut self,
        command: &OsStr,
        text: &str,
        outcome: impl FnOnce(EditorResult) -> Returned + Send + 'static,
    ) {
        if self.editing.is_some() {
            return;
        }
        self.surface.suspend();
        let to_control = self.to_control.clone();
        // The session may be over by then.
        let done = move |left| drop(to_control.send(Incoming::Edited(outcome(left))));
        match external_editor::start(command, text, done) {
            Ok(editing) => self.editing = Some(editing),
            Err(error) => self.edited(Returned::Text(Err(error))),
        }
    }

    pub(super) fn edited(&mut self, returned: Returned) {
        self.editing = None;
        self.edited_at = Some(Instant::now());
        self.surface.resume();
        match returned {
            Returned::Text(text) => self.surface.edited(text.map_err(|error| format!("{error:#}"))),
            Returned::Output { command, output } => self.surface.ran(&command, &output),
            Returned::Nothing(None) => {}
            Returned::Nothing(Some(why)) => {
                self.surface.told(Err(format!("The pager failed: {why}.")));
            }
        }
    }

    /// A key pressed in the editor may signal every process on the terminal, and that signal may
    /// arrive after the editor's end. Without an editor no key is a signal, because the terminal is
    /// in raw mode.
    pub(super) fn is_for_editor(&self, signal: i32) -> bool {
        let just_ended = self.edited_at.is_some_and(|at| at.elapsed() < LATE);
        (self.editing.is_some() || just_ended) && signals::is_from_keys(signal)
    }

    /// Ends the editor when the session is over.
    pub(super) fn end_editing(&mut self) {
        let Some(editing) = &self.editing else { return };
        editing.terminate();
        let deadline = Instant::now() + TO_SAVE;
        loop {
            match self.control.recv_deadline(deadline) {
                Ok(Incoming::Edited(_)) => break,
                Ok(control @ (Incoming::AgentExited(..) | Incoming::SupervisorExited(..))) => {
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
