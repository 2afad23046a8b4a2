//! The surface of a session whose screen belongs to the client: it draws nothing. The state goes into
//! the file that the client's status line reads.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use super::status_line::{self, Shown};
use super::told::{self, NEVER_HEARD, StatusLine};
use crate::client::stream::Line;
use crate::console;
use crate::event::{Notice, Now, Outcome};
use crate::files;
use crate::machine::Status;
use crate::process::exit::signal_name;
use crate::process::terminal::PersonsTerminal;
use crate::surface::{Report, Surface};

pub struct NativeSurface {
    terminal: Rc<PersonsTerminal>,
    file: PathBuf,
    line: StatusLine,
    shown: Option<Shown>,
    /// What the recording lacks.
    unrecorded: Vec<String>,
    farewell: Vec<String>,
}

impl NativeSurface {
    pub fn new(terminal: Rc<PersonsTerminal>, file: PathBuf) -> Self {
        let line = StatusLine::default();
        Self { terminal, file, line, shown: None, unrecorded: Vec::new(), farewell: Vec::new() }
    }
}

impl Surface for NativeSurface {
    fn agent(&mut self, _line: &Line) {}

    fn supervisor(&mut self, _line: &Line) {}

    fn notice(&mut self, notice: &Notice) {
        self.line.notice(notice);
        if let Notice::NotRecorded { .. } = notice {
            self.unrecorded.extend(told::sentence(notice));
        }
    }

    fn told(&mut self, text: Result<String, String>) {
        self.line.alarm = text.err();
    }

    fn unheard(&mut self) {
        self.line.unheard();
    }

    fn farewell(&mut self, text: &str) {
        self.farewell.push(text.to_owned());
    }

    fn update(&mut self, status: &Status, now: Now) -> io::Result<()> {
        let ago = now.saturating_sub(status.since).as_secs_f64();
        // Rounded to the second, because the computed moment differs slightly each time.
        let since = (status_line::now() - ago).round();
        let shown = self.line.shown(status, since);
        if self.shown.as_ref() != Some(&shown) {
            let written = serde_json::to_vec(&shown).map_err(io::Error::from);
            let written = written
                .and_then(|text| files::replace(&self.file, &text).map_err(io::Error::other));
            if let Err(error) = written {
                log::warn!("there is no status line: {error}");
                // The last state would be a false one.
                let _ = std::fs::remove_file(&self.file);
            }
            self.shown = Some(shown);
        }
        Ok(())
    }

    fn suspend(&mut self) {
        self.terminal.give_back();
    }

    fn resume(&mut self) {
        if let Err(error) = self.terminal.take() {
            log::warn!("the terminal keeps its modes: {error}");
        }
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        // A client that exited by itself has restored the terminal.
        let (ended, signal) = match report.outcome {
            Outcome::Ended => (true, None),
            Outcome::ClientLeft(code) => (code <= 128, (code > 128).then(|| code - 128)),
            _ => (false, None),
        };
        if !ended {
            self.terminal.tidy();
        }
        self.terminal.give_back();
        let _ = std::fs::remove_file(&self.file);
        if let Some(signal) = signal {
            console::say(format!("ccc: claude was ended by {}.", signal_name(signal)));
        }
        let never_heard = self.line.was_never_heard().then_some(NEVER_HEARD);
        // Said in the conversation too, unless it ended before that.
        let unrecorded = self.unrecorded.iter().map(String::as_str);
        let farewell = self.farewell.iter().map(String::as_str);
        for text in unrecorded.chain(never_heard).chain(farewell) {
            console::say(format!("ccc: {text}"));
        }
        Ok(())
    }
}
