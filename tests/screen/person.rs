//! A person at a terminal: types, resizes, and looks at whole pictures.

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use vt100::Screen;

use crate::glass::{Glass, read};
use crate::patience::{PATIENCE, wait_within};
use crate::picture::Picture;

/// How often a wait looks whether the program is still there.
const LOOK: Duration = Duration::from_millis(200);

pub struct Person {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Ours as well, so that the terminal's modes can be looked at when everybody has left.
    slave: Option<Box<dyn SlavePty + Send>>,
    writer: Box<dyn Write + Send>,
    glass: Arc<Glass>,
    modes: String,
}

impl Person {
    pub fn runs(command: &Command, (columns, rows): (u16, u16), reflows: bool) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a PTY");
        let mut builder = CommandBuilder::new(command.get_program());
        builder.args(command.get_args());
        builder.env_clear();
        for (name, value) in command.get_envs() {
            builder.env(name, value.expect("a value"));
        }
        builder.cwd(command.get_current_dir().expect("a directory"));
        let modes = modes_of(&*pair.master);
        let child = pair.slave.spawn_command(builder).expect("it starts");
        let reader = pair.master.try_clone_reader().expect("its output");
        let writer = pair.master.take_writer().expect("its input");
        let glass = Arc::new(Glass::new(columns, rows, reflows));
        let shown = Arc::clone(&glass);
        thread::spawn(move || read(reader, &shown));
        Self { child, master: pair.master, slave: Some(pair.slave), writer, glass, modes }
    }

    pub fn pid(&self) -> i32 {
        self.child.process_id().expect("a process id").cast_signed()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("a process of ours");
    }

    /// Keys as the terminal sends them.
    pub fn types(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("it reads");
        self.writer.flush().expect("it reads");
    }

    /// As a terminal does it between two brackets.
    pub fn pastes(&mut self, text: &str) {
        self.types(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Types a message, sees it, and sends it.
    #[track_caller]
    pub fn sends(&mut self, text: &str) {
        self.types(text);
        self.sees(text);
        self.types("\r");
    }

    pub fn resizes(&self, columns: u16, rows: u16) {
        self.glass.resize(columns, rows);
        self.master.resize(size(columns, rows)).expect("a new size");
    }

    /// What is to be held of every picture from now on; what it returns is a complaint.
    pub fn watches(&self, check: impl FnMut(&Picture) -> Option<String> + Send + 'static) {
        self.glass.state().watch = Some(Box::new(check));
    }

    /// # Panics
    /// When one of the pictures was not as it had to be.
    #[track_caller]
    pub fn has_no_complaints(&self) {
        let state = self.glass.state();
        assert!(state.pictures > 0, "nothing was drawn");
        assert!(state.complaints.is_empty(), "{}", state.complaints.join("\n---\n"));
    }

    pub fn picture(&self) -> Picture {
        self.glass.state().last.clone()
    }

    /// Everything that was ever printed and is still to be found by scrolling up.
    pub fn history(&self) -> Vec<String> {
        self.glass.history()
    }

    /// What the emulator has, cell by cell.
    pub fn screen(&self) -> Screen {
        self.glass.whole().parser.screen().clone()
    }

    #[track_caller]
    pub fn sees(&mut self, text: &str) -> Picture {
        self.looks_for(&format!("{text:?}"), |picture| picture.text().contains(text))
    }

    /// Waits for a picture.
    #[track_caller]
    pub fn looks_for(&mut self, what: &str, mut found: impl FnMut(&Picture) -> bool) -> Picture {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.glass.state();
        loop {
            let gone = self.child.try_wait().expect("a child");
            if found(&state.last) {
                return state.last.clone();
            }
            let why = match gone {
                Some(status) => format!("it has ended ({status:?})"),
                None if Instant::now() > deadline => format!("not within {PATIENCE:?}"),
                None => {
                    let waited = self.glass.changed.wait_timeout(state, LOOK);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
            };
            panic!("no {what} on the screen, {why}:\n{}", state.last.text());
        }
    }

    /// How many titles the window has to get back.
    pub fn titles(&self) -> i32 {
        self.glass.state().parser.callbacks().titles
    }

    pub fn modes(&self) -> String {
        modes_of(&*self.master)
    }

    /// The modes are those of before, and nothing that was switched on is still on. What was printed
    /// last may still be on its way to the screen.
    #[track_caller]
    pub fn has_a_sane_terminal(&self) {
        assert_eq!(self.modes(), self.modes, "the terminal's modes");
        let sane = wait_within(PATIENCE, || self.left_on().is_empty().then_some(()));
        assert!(sane.is_some(), "left on: {:?}\n{}", self.left_on(), self.picture().text());
    }

    fn left_on(&self) -> Vec<&'static str> {
        let state = self.glass.state();
        let (screen, extra) = (state.parser.screen(), state.parser.callbacks());
        let left_on = [
            ("bracketed paste", screen.bracketed_paste()),
            ("a hidden cursor", screen.hide_cursor()),
            ("the alternate screen", screen.alternate_screen()),
            ("application keys", screen.application_cursor() || screen.application_keypad()),
            ("the mouse", screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None),
            ("lines that do not wrap", extra.no_wrap),
            ("output held back", extra.held),
            ("a colour", screen.fgcolor() != vt100::Color::Default || screen.bold()),
            ("a window title of ours", extra.titles != 0),
        ];
        left_on.into_iter().filter(|(_, on)| *on).map(|(what, _)| what).collect()
    }

    /// Waits for the end; its exit code, and the last picture.
    #[track_caller]
    pub fn leaves(&mut self) -> (u32, Picture) {
        let status = wait_within(PATIENCE, || self.child.try_wait().expect("a child"));
        let Some(status) = status else { panic!("it does not end:\n{}", self.picture().text()) };
        assert_eq!(self.modes(), self.modes, "the terminal's modes at the end");
        self.slave = None;
        let ended = wait_within(PATIENCE, || self.glass.state().ended.then_some(()));
        assert!(ended.is_some(), "somebody still holds the terminal");
        (status.exit_code(), self.picture())
    }

    /// Waits until it is not there any more, in whatever state it has left things.
    #[track_caller]
    pub fn is_gone(&mut self) {
        let gone = wait_within(PATIENCE, || self.child.try_wait().expect("a child"));
        assert!(gone.is_some(), "it does not end:\n{}", self.picture().text());
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // Its own `kill` begins with a HUP, which the test may be about.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = kill(Pid::from_raw(self.pid()), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

/// All of the termios, to be compared.
fn modes_of(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("the modes"))
}
