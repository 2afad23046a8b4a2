//! The supervisor: one client process per review, in its own session, which the shim creates.
//!
//! It communicates through sockets. Every process of the same user can open a pipe or a file
//! through `/proc/<pid>/fd`, so a process that the agent left behind could write a verdict there. A
//! socket cannot be opened that way.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context, Result};
use crossbeam_channel::Sender;

use crate::client::launch::Launch;
use crate::client::stream::Line;
use crate::event::Gone;
use crate::process::child::{self, ChildEvent, END_OF_INPUT, Group};
use crate::process::exit;
use crate::process::orphans::{self, Awaited};
use crate::threads::named;

pub struct SupervisorProcess {
    input: Sender<Vec<u8>>,
    group: Group,
}

impl SupervisorProcess {
    pub fn start(
        launch: &Launch,
        on_output: impl Fn(ChildEvent) -> bool + Send + Sync + 'static,
        on_exit: impl FnOnce(Gone) -> bool + Send + 'static,
    ) -> Result<Self> {
        let (output, printed) = socket_pair()?;
        let (errors, complained) = socket_pair()?;
        let (stdin, told) = socket_pair()?;
        let argv = launch.argv();
        let mut command = Command::new(own_program(&argv[0]));
        command
            .arg0(&argv[0])
            .args(&argv[1..])
            .env_clear()
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&launch.dir)
            .stdin(told)
            .stdout(printed)
            .stderr(complained);
        let (mut child, awaited) =
            Awaited::spawn(&mut command).context("cannot start the supervisor")?;
        // The command holds our copies of the child's ends, so the end of the output cannot come
        // while it exists.
        drop(command);
        let group = Group::of(child.id());
        let input = child::writer("supervisor input", stdin)?;
        // The output ends only when standard error has ended too, which usually has the last words.
        let on_output = Arc::new(on_output);
        let open = Arc::new(AtomicU8::new(2));
        let both = || {
            let (open, on_output) = (Arc::clone(&open), Arc::clone(&on_output));
            move |event| match event {
                ChildEvent::OutputEnded if open.fetch_sub(1, Ordering::SeqCst) > 1 => true,
                event => on_output(event),
            }
        };
        let (on_line, on_error) = (both(), both());
        named("supervisor output", move || child::read_lines(output, Line::decode, on_line))?;
        named("supervisor errors", move || child::read_lines(errors, Line::from_stderr, on_error))?;
        named("supervisor exit", move || {
            let status = child.wait();
            drop(awaited);
            let gone = match &status {
                Ok(status) => exit::gone(status.code(), status.signal()),
                Err(error) => Gone { how: error.to_string(), ..Gone::default() },
            };
            // Processes that it left in its group must not keep the output open.
            group.kill();
            if status.is_ok_and(|status| status.signal().is_some()) {
                // It can no longer clean up; its orphans are now ours.
                orphans::kill_all();
            }
            on_exit(gone);
        })?;
        Ok(Self { input, group })
    }

    pub fn send(&self, line: Vec<u8>) {
        let _ = self.input.send(line);
    }

    pub fn group(&self) -> Group {
        self.group
    }
}

/// When a review is over or was dropped, its input is closed and its process ends. The shim cleans
/// up, so this does not wait.
impl Drop for SupervisorProcess {
    fn drop(&mut self) {
        let _ = self.input.send(vec![END_OF_INPUT]);
        self.group.terminate();
    }
}

/// The shim must be this very program, even if its path now leads to another one.
fn own_program(path: &OsStr) -> &OsStr {
    const RUNNING: &str = "/proc/self/exe";
    let running = std::fs::read_link(RUNNING).unwrap_or_default();
    let gone = running.as_os_str().as_encoded_bytes().strip_suffix(b" (deleted)");
    let is_this = running == Path::new(path) || gone == Some(path.as_encoded_bytes());
    if is_this { OsStr::new(RUNNING) } else { path }
}

/// Our end, and the child's end.
fn socket_pair() -> std::io::Result<(UnixStream, Stdio)> {
    let (ours, theirs) = UnixStream::pair()?;
    Ok((ours, OwnedFd::from(theirs).into()))
}
