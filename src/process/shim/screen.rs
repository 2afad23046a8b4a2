//! The shim of a client that draws on its terminal. It leads the session of that terminal, as a
//! shell would, so that the client can be stopped and continued. It also holds the person's own
//! terminal open, to restore it if ccc is killed.
//!
//! | event | reaction |
//! |---|---|
//! | the client stops (Ctrl-Z) | the shim stops too, which ccc sees |
//! | CONT | the client gets the terminal again and continues |
//! | TERM, hang-up | TERM to the client, after a grace period KILL, also to the processes that it left behind |
//! | ccc is gone | the same, and then the person's terminal is restored |

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crossbeam_channel::{Sender, never, unbounded};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::termios::{Termios, tcgetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, getppid, setpgid, tcsetpgrp};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::{GRACE, HURRY_NUMBER, die_with_parent};
use crate::console;
use crate::process::exit::{BY_SIGNAL, is_by_itself};
use crate::process::orphans;
use crate::process::terminal;
use crate::threads::named;

/// The descriptor on which the shim gets the person's terminal.
pub const PERSONS_TERMINAL: RawFd = 3;

enum ScreenShimEvent {
    Stopped,
    Exited(WaitStatus),
    Continued,
    EndWanted,
    HurryWanted,
}

pub fn run(command: &[OsString]) -> i32 {
    let ccc = getppid();
    let persons = persons_terminal();
    // The PTY was created with the modes of the person's terminal, and is still unchanged.
    let modes = tcgetattr(std::io::stdin()).ok();
    let code = match supervise(command) {
        Ok(code) => code,
        Err(error) => {
            console::say(format!("cannot start {}: {error}", command[0].display()));
            127
        }
    };
    if getppid() != ccc {
        give_back(persons, modes.as_ref());
    }
    code
}

/// The person's terminal, closed on exec so that the client does not inherit it.
fn persons_terminal() -> Option<File> {
    // SAFETY: the process that starts this shim puts a terminal there, and nothing else owns it.
    #[expect(unsafe_code, reason = "a descriptor that was inherited has no owner yet")]
    let terminal = unsafe { OwnedFd::from_raw_fd(PERSONS_TERMINAL) };
    if let Err(error) = fcntl(&terminal, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)) {
        log::debug!("no terminal to give back: {error}");
        std::mem::forget(terminal);
        return None;
    }
    Some(File::from(terminal))
}

fn give_back(persons: Option<File>, modes: Option<&Termios>) {
    if let (Some(persons), Some(modes)) = (persons, modes) {
        terminal::reset(&persons, modes);
    }
}

#[expect(clippy::disallowed_methods, reason = "the shim waits for all its children")]
fn supervise(command: &[OsString]) -> std::io::Result<i32> {
    orphans::adopt();
    let (happens, events) = unbounded();
    let mut signals =
        Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, HURRY_NUMBER])?;
    let mut client = Command::new(&command[0]);
    client.args(&command[1..]);
    die_with_parent(&mut client);
    // SAFETY: only system calls that are async-signal-safe, and nothing is allocated.
    #[expect(unsafe_code, reason = "there is no safe way to run code in the forked child")]
    unsafe {
        client.pre_exec(|| {
            setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
            give_terminal_to(getpid())?;
            Ok(())
        });
    }
    let client = Pid::from_raw(client.spawn()?.id().cast_signed());

    let signalled = happens.clone();
    named("signals", move || {
        for signal in &mut signals {
            let event = match signal {
                SIGCONT => ScreenShimEvent::Continued,
                // Only the client stops; the shim then follows.
                SIGTSTP => continue,
                HURRY_NUMBER => ScreenShimEvent::HurryWanted,
                _ => ScreenShimEvent::EndWanted,
            };
            let _ = signalled.send(event);
        }
    })?;
    named("wait", move || reap(client, &happens))?;

    let mut ending = false;
    let mut deadline = never();
    let status = loop {
        crossbeam_channel::select! {
            recv(events) -> event => match event {
                Ok(ScreenShimEvent::Exited(status)) => break Some(status),
                Ok(ScreenShimEvent::Stopped) => {
                    let _ = kill(getpid(), Signal::SIGSTOP);
                }
                Ok(ScreenShimEvent::Continued) => {
                    let _ = give_terminal_to(client);
                    let _ = killpg(client, Signal::SIGCONT);
                }
                Ok(ScreenShimEvent::EndWanted) if !ending => {
                    ending = true;
                    deadline = crossbeam_channel::after(GRACE);
                    let _ = killpg(client, Signal::SIGTERM);
                    let _ = killpg(client, Signal::SIGCONT);
                }
                Ok(ScreenShimEvent::EndWanted) => {}
                Ok(ScreenShimEvent::HurryWanted) | Err(_) => break None,
            },
            recv(deadline) -> _ => break None,
        }
    };
    let cleaned_up = is_by_itself(status) && !ending;
    if !cleaned_up {
        let _ = killpg(client, Signal::SIGKILL);
        orphans::kill_all();
    }
    Ok(match status {
        Some(WaitStatus::Exited(_, code)) => code,
        Some(WaitStatus::Signaled(_, signal, _)) => BY_SIGNAL + signal as i32,
        _ => BY_SIGNAL + Signal::SIGKILL as i32,
    })
}

/// Makes this the foreground group of the terminal. A process of another group that asks for that
/// is stopped, unless it blocks SIGTTOU.
fn give_terminal_to(group: Pid) -> nix::Result<()> {
    let mut stops = SigSet::empty();
    stops.add(Signal::SIGTTOU);
    stops.thread_block()?;
    let given = tcsetpgrp(std::io::stdin(), group);
    stops.thread_unblock()?;
    given
}

/// Reports the exit and the stops of the client, and reaps orphans.
fn reap(client: Pid, happens: &Sender<ScreenShimEvent>) {
    loop {
        match waitpid(None, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Stopped(pid, _)) if pid == client => {
                let _ = happens.send(ScreenShimEvent::Stopped);
            }
            Ok(status) if status.pid() == Some(client) => {
                let _ = happens.send(ScreenShimEvent::Exited(status));
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}
