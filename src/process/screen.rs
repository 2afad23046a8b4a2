//! The agent's client with its own screen: on a pseudo-terminal with the modes of the person's,
//! behind a shim that leads its session.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};

use super::child::Group;
use super::exit;
use super::orphans::{self, Awaited};
use super::shim::{PERSONS_TERMINAL, SCREEN};
use super::terminal::{self, PersonsTerminal};
use crate::client::launch::Launch;
use crate::event::Gone;
use crate::threads::named;

#[derive(Debug)]
pub enum ScreenEvent {
    /// The person suspended it (Ctrl-Z).
    Stopped,
    Exited(Gone),
}

#[derive(Debug)]
pub struct ScreenClient {
    master: File,
    shim: Pid,
    gone: bool,
}

impl ScreenClient {
    pub fn start(
        launch: &Launch,
        persons: &PersonsTerminal,
        size: Winsize,
        on_event: impl Fn(ScreenEvent) -> bool + Send + 'static,
    ) -> Result<Self> {
        let pty = openpty(&size, persons.modes()).context("no PTY can be opened")?;
        close_on_exec(&pty.master)?;
        let argv = launch.argv_for(SCREEN);
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).env_clear().envs(launch.env.iter().cloned());
        command.current_dir(&launch.dir);
        let end = |slave: &OwnedFd| slave.try_clone().map(Stdio::from);
        command.stdin(end(&pty.slave)?).stdout(end(&pty.slave)?).stderr(end(&pty.slave)?);
        let persons = persons.device().try_clone()?;
        // SAFETY: only system calls that are async-signal-safe, and nothing is allocated.
        #[expect(unsafe_code, reason = "there is no safe way to run code in the forked child")]
        unsafe {
            command.pre_exec(move || {
                setsid()?;
                // The type of this number differs between systems.
                #[allow(clippy::cast_lossless, trivial_numeric_casts)]
                if libc::ioctl(0, libc::TIOCSCTTY as _, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
                // The shim needs the person's terminal, so it must not be closed on exec; `dup2`
                // clears that flag.
                let kept = match persons.as_raw_fd() {
                    PERSONS_TERMINAL => libc::fcntl(PERSONS_TERMINAL, libc::F_SETFD, 0),
                    other => libc::dup2(other, PERSONS_TERMINAL),
                };
                if kept < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let (child, awaited) =
            Awaited::spawn(&mut command).context("cannot start the agent's client")?;
        // Our copy must be closed, or the end of the output would never come.
        drop(pty.slave);
        let shim = Pid::from_raw(child.id().cast_signed());
        named("agent exit", move || wait(shim, awaited, &on_event))?;
        Ok(Self { master: File::from(pty.master), shim, gone: false })
    }

    /// The end of the PTY that the person's terminal is connected to.
    pub fn terminal(&self) -> io::Result<File> {
        self.master.try_clone()
    }

    pub fn resize(&self, size: &Winsize) {
        terminal::set_size(&self.master, size);
    }

    /// The id of the PTY's session, which the shim leads.
    pub fn session(&self) -> Pid {
        self.shim
    }

    pub fn resume(&self) {
        if let Err(error) = kill(self.shim, Signal::SIGCONT) {
            log::warn!("the client stays stopped: {error}");
        }
    }

    pub fn group(&self) -> Group {
        Group::of(self.shim.as_raw().unsigned_abs())
    }

    pub fn sweep(&mut self) {
        self.gone = true;
    }
}

impl Drop for ScreenClient {
    fn drop(&mut self) {
        if !self.gone {
            self.group().terminate();
        }
    }
}

fn close_on_exec(fd: &OwnedFd) -> nix::Result<()> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map(drop)
}

fn wait(shim: Pid, awaited: Awaited, on_event: &impl Fn(ScreenEvent) -> bool) {
    let gone = loop {
        match waitpid(shim, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Stopped(..)) => {
                on_event(ScreenEvent::Stopped);
            }
            Ok(WaitStatus::Exited(_, code)) => break exit::gone(Some(code), None),
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                // The shim can no longer clean up; its orphans are now ours.
                orphans::kill_all();
                break exit::gone(None, Some(signal as i32));
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => break Gone { how: error.to_string(), ..Gone::default() },
        }
    };
    drop(awaited);
    on_event(ScreenEvent::Exited(gone));
}
