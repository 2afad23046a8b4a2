//! The agent: a client process on its own pseudo-terminal.

use std::fs::File;
use std::os::fd::BorrowedFd;

use anyhow::{Context, Result};
use crossbeam_channel::Sender;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::client::launch::Launch;
use crate::client::stream::Line;
use crate::event::Gone;
use crate::process::child::{self, ChildEvent, END_OF_INPUT, Group};
use crate::process::exit;
use crate::process::orphans::{self, Awaited};
use crate::process::raw_mode::make_raw;
use crate::threads::named;

pub struct Agent {
    input: Sender<Vec<u8>>,
    master: Box<dyn MasterPty + Send>,
    group: Group,
    gone: bool,
}

impl Agent {
    /// Lines go to `on_output` in order, which may block; the exit is reported to `on_exit` at
    /// once.
    pub fn start(
        launch: &Launch,
        (columns, rows): (u16, u16),
        on_output: impl Fn(ChildEvent) -> bool + Send + 'static,
        on_exit: impl FnOnce(Gone) -> bool + Send + 'static,
    ) -> Result<Self> {
        let pair =
            native_pty_system().openpty(size(columns, rows)).context("no PTY can be opened")?;
        let fd = pair.master.as_raw_fd().context("the PTY has no descriptor")?;
        // SAFETY: the master stays open for longer than this borrow.
        #[expect(unsafe_code, reason = "portable-pty only gives a raw descriptor")]
        let master = unsafe { BorrowedFd::borrow_raw(fd) };
        make_raw(master);
        // Not portable-pty's reader, which cannot be polled.
        let reader = File::from(master.try_clone_to_owned()?);
        let mut command = CommandBuilder::from_argv(launch.argv());
        command.env_clear();
        for (name, value) in &launch.env {
            command.env(name, value);
        }
        command.cwd(&launch.dir);
        let (mut child, awaited) = Awaited::start(
            || pair.slave.spawn_command(command),
            |child| child.process_id().unwrap_or_default(),
        )
        .context("cannot start the agent")?;
        // Our copy must be closed, or the end of the output would never come.
        drop(pair.slave);
        let pid = child.process_id().context("the agent has no process id")?;

        let writer = pair.master.take_writer()?;
        named("agent output", move || child::read_lines(reader, Line::decode, on_output))?;
        named("agent exit", move || {
            let status = child.wait();
            drop(awaited);
            let gone = match status {
                Ok(status) => match status.signal() {
                    Some(signal) => {
                        // The shim can no longer clean up; its orphans are now ours.
                        orphans::kill_all();
                        Gone { how: format!("was ended: {signal}"), ..Gone::default() }
                    }
                    None => exit::gone(i32::try_from(status.exit_code()).ok(), None),
                },
                Err(error) => Gone { how: error.to_string(), ..Gone::default() },
            };
            on_exit(gone);
        })?;
        let input = child::writer("agent input", writer)?;
        Ok(Self { input, master: pair.master, group: Group::of(pid), gone: false })
    }

    pub fn send(&self, line: Vec<u8>) {
        // A failed write is ignored: the agent's exit is reported separately.
        let _ = self.input.send(line);
    }

    pub fn close_input(&self) {
        self.send(vec![END_OF_INPUT]);
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        if let Err(error) = self.master.resize(size(columns, rows)) {
            log::debug!("the PTY keeps its size: {error}");
        }
    }

    pub fn group(&self) -> Group {
        self.group
    }

    /// After the exit: kills what the agent left in its process group.
    pub fn sweep(&mut self) {
        self.gone = true;
        self.group.kill();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if !self.gone {
            self.group.terminate();
        }
    }
}

/// Whether this machine can open a PTY. `CCC_NO_PTY=1` pretends that it cannot.
pub fn available() -> bool {
    let refused = std::env::var_os("CCC_NO_PTY").is_some_and(|value| value == "1");
    !refused && native_pty_system().openpty(size(80, 24)).is_ok()
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { cols: columns.max(1), rows: rows.max(1), pixel_width: 0, pixel_height: 0 }
}
