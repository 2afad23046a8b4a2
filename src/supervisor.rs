//! The supervisor: one client process per review, on pipes. The shim puts it into a session of its own.

use std::io::pipe;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use crossbeam_channel::Sender;

use crate::child::{self, ChildEvent, END_OF_INPUT, Group};
use crate::event::Gone;
use crate::launch::Launch;

pub struct Supervisor {
    input: Sender<Vec<u8>>,
    group: Group,
}

impl Supervisor {
    pub fn start(
        launch: &Launch,
        on_output: impl Fn(ChildEvent) -> bool + Send + 'static,
        on_exit: impl FnOnce(Gone) -> bool + Send + 'static,
    ) -> Result<Self> {
        // One pipe for both, so that an error message stands where it was printed.
        let (output, into) = pipe()?;
        let argv = launch.argv();
        let mut command = Command::new(&argv[0]);
        command
            .args(&argv[1..])
            .env_clear()
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&launch.dir)
            .stdin(Stdio::piped())
            .stdout(into.try_clone()?)
            .stderr(into);
        let mut child = command.spawn().context("cannot start the supervisor")?;
        // The command holds our copies of the pipe; while it lives, the end of output cannot come.
        drop(command);
        let group = Group::of(child.id());
        let stdin = child.stdin.take().context("the supervisor has no input")?;
        let input = child::writer("supervisor input", stdin)?;
        child::named("supervisor output", move || child::read_lines(output, on_output))?;
        child::named("supervisor exit", move || {
            let gone = match child.wait() {
                Ok(status) => child::gone(status.code(), status.signal()),
                Err(error) => Gone { how: error.to_string(), ..Gone::default() },
            };
            // What it left in its group must not keep the output open.
            group.kill();
            on_exit(gone);
        })?;
        Ok(Self { input, group })
    }

    pub fn send(&self, line: Vec<u8>) {
        let _ = self.input.send(line);
    }
}

/// A review that is over or that nobody wants any more: the input ends, and so does the process. The
/// shim sees to the rest, so nobody waits here.
impl Drop for Supervisor {
    fn drop(&mut self) {
        let _ = self.input.send(vec![END_OF_INPUT]);
        self.group.terminate();
    }
}
