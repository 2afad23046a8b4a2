//! `ccc agent-shim [--case … | --screen] -- claude …`: stands between ccc and every client process.
//!
//! The client refuses a terminal as its input, so inside the PTY this process reads the terminal
//! and passes the bytes on through a socket; output goes straight to the PTY. For the supervisor it
//! does the same. It is also what makes sure that nothing outlives ccc:
//!
//! | happens | means | follows |
//! |---|---|---|
//! | byte 0x04 | no more input | the client's input is closed; it finishes its turn and exits |
//! | end of input, hang-up, TERM | ccc wants the end, or is gone | TERM to the group, after a grace period KILL, also to what left the group |
//! | USR1 | ccc does not want to wait | no grace period |
//! | the client exits | | its code, or 128 + its signal, is ours |
//! | anybody else below exits | its parent was gone | nothing, but it is seen off |
//!
//! No signal that ccc or a terminal sends ends the shim itself: it is the one who cleans up.

mod screen;

pub use screen::PERSONS_TERMINAL;

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crossbeam_channel::{Sender, never, unbounded};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpgrp, getpid, getppid, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::child::{END_OF_INPUT, HURRY};
use super::exit::BY_SIGNAL;
use super::orphans;
use super::raw_mode::make_raw;
use crate::case::{self, Covers, Entered};
use crate::client::case::CaseRequest;
use crate::console;
use crate::threads::named;

/// How long the client may take to end after TERM.
const GRACE: Duration = Duration::from_secs(2);

const HURRY_NUMBER: i32 = HURRY as i32;
/// What the shim hears; none of it ends the shim itself.
const SIGNALS: [i32; 5] = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, HURRY_NUMBER];

enum ShimEvent {
    ClientExited(WaitStatus),
    EndWanted,
    HurryWanted,
}

/// What the shim exits with when the case that is required cannot be had.
pub const NO_CASE: i32 = 125;

/// The client has the terminal that the shim was started on, and draws on it.
pub const SCREEN: &str = "--screen";

/// `[--case … | --screen] -- command …`: runs the command and returns its exit code.
pub fn run(args: &[OsString]) -> i32 {
    let Some(at) = args.iter().position(|arg| arg == "--").filter(|at| at + 1 < args.len()) else {
        console::say("agent-shim: no command is given");
        return 2;
    };
    let (before, command) = (&args[..at], &args[at + 1..]);
    if before == [SCREEN] {
        return screen::run(command);
    }
    let case = match (before, CaseRequest::read(before)) {
        ([], _) => None,
        (_, Some(case)) => Some(case),
        (_, None) => {
            console::say(format!("agent-shim: {before:?} is not understood"));
            return 2;
        }
    };
    match case {
        Some(case) => guarded(&case, command),
        None => {
            leave_the_session();
            supervised(command, &Entered::default())
        }
    }
}

/// What runs here must not share the user's terminal: a tool that reads from it would be stopped. And
/// it must not share a process group with ccc, which a signal for the group would end. On a PTY of its
/// own this process leads a session already, and that fails harmlessly.
fn leave_the_session() {
    let _ = setsid();
}

fn supervised(command: &[OsString], entered: &Entered) -> i32 {
    match supervise(command, entered) {
        Ok(code) => code,
        Err(error) => {
            console::say(format!("cannot start {}: {error}", command[0].display()));
            127
        }
    }
}

/// Nothing of a case may stay, not even when the shim itself is killed. So there are two of it: the
/// one in the case ends when the outer one is gone, and what the inner one leaves, the outer one ends.
fn guarded(case: &CaseRequest, command: &[OsString]) -> i32 {
    leave_the_session();
    orphans::adopt();
    let outer = getpid();
    // SAFETY: the process has one thread, so the child may do whatever this one may.
    #[expect(unsafe_code, reason = "two processes of the same program are wanted")]
    let inner = match unsafe { fork() } {
        Ok(ForkResult::Parent { child }) => child,
        Ok(ForkResult::Child) => {
            end_with_parent();
            if getppid() != outer {
                return BY_SIGNAL + Signal::SIGTERM as i32;
            }
            return match enter(case) {
                Ok(entered) => supervised(command, &entered),
                Err(code) => code,
            };
        }
        Err(error) => {
            console::say(format!("agent-shim: no second process: {error}"));
            return NO_CASE;
        }
    };
    let passed_on = Signals::new(SIGNALS).and_then(|mut signals| {
        named("signals", move || {
            for signal in &mut signals {
                // One for the group has reached the inner one too; a second one does no harm.
                let hurry = signal == HURRY_NUMBER;
                let _ = kill(inner, if hurry { HURRY } else { Signal::SIGTERM });
            }
        })
    });
    if let Err(error) = passed_on {
        log::warn!("the shim in the case hears only signals for the group: {error}");
    }
    loop {
        match waitpid(inner, None) {
            Ok(WaitStatus::Exited(_, code)) => return code,
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                orphans::kill_all();
                return BY_SIGNAL + signal as i32;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return NO_CASE,
        }
    }
}

/// Puts this process into its glass case, and says so: the first line of all.
fn enter(case: &CaseRequest) -> Result<Entered, i32> {
    let entered = case::enter(&Covers::of(&case.covered));
    let report = &entered.report;
    let said = console::print_exact(report.line().as_bytes());
    if said.is_err() || (case.required && !report.held.is_case()) {
        console::say(format!(
            "supervisor.sandbox is \"required\", but this machine has no glass case: {}",
            report.why
        ));
        return Err(NO_CASE);
    }
    Ok(entered)
}

#[expect(clippy::disallowed_methods, reason = "the shim waits for whoever is its child")]
fn supervise(command: &[OsString], entered: &Entered) -> std::io::Result<i32> {
    make_raw(std::io::stdin());
    orphans::adopt();
    let (to_loop, events) = unbounded();

    let mut signals = Signals::new(SIGNALS)?;
    // A socket and no pipe: nobody can open it through /proc and speak to the client in ccc's name.
    let (input, clients_input) = UnixStream::pair()?;
    let mut client = Command::new(&command[0]);
    client.args(&command[1..]).stdin(Stdio::from(OwnedFd::from(clients_input)));
    client.envs(entered.temporary.iter().map(|dir| ("TMPDIR", dir)));
    die_with_parent(&mut client);
    let pid = Pid::from_raw(client.spawn()?.id().cast_signed());
    // It holds our copy of the client's end of the socket.
    drop(client);

    let ends = to_loop.clone();
    named("input", move || relay(std::io::stdin().lock(), input, &ends))?;
    let signalled = to_loop.clone();
    named("signals", move || {
        for signal in &mut signals {
            let hurry = signal == HURRY_NUMBER;
            let event = if hurry { ShimEvent::HurryWanted } else { ShimEvent::EndWanted };
            let _ = signalled.send(event);
        }
    })?;
    named("wait", move || {
        see_off(|ended, status| {
            if ended == pid {
                let _ = to_loop.send(ShimEvent::ClientExited(status));
            }
        });
    })?;

    let mut ending = false;
    let mut deadline = never();
    let status = loop {
        crossbeam_channel::select! {
            recv(events) -> event => match event {
                Ok(ShimEvent::ClientExited(status)) => break Some(status),
                Ok(ShimEvent::EndWanted) if !ending => {
                    ending = true;
                    deadline = crossbeam_channel::after(GRACE);
                    // This process hears it too, and knows already.
                    let _ = killpg(getpgrp(), Signal::SIGTERM);
                }
                Ok(ShimEvent::EndWanted) => {}
                Ok(ShimEvent::HurryWanted) | Err(_) => break None,
            },
            recv(deadline) -> _ => break None,
        }
    };
    // A client that was ended has left its tools behind; one that exits has tidied up, and what it
    // leaves running on purpose may stay; but nothing may stay of what ran in a case.
    let tidied_up = matches!(status, Some(WaitStatus::Exited(..))) && !ending;
    if !tidied_up || entered.report.held.is_case() {
        orphans::kill_all();
    }
    Ok(match status {
        Some(WaitStatus::Exited(_, code)) => code,
        Some(WaitStatus::Signaled(_, signal, _)) => BY_SIGNAL + signal as i32,
        _ => BY_SIGNAL + Signal::SIGKILL as i32,
    })
}

/// The exit of every child, the client's and those of the orphans, until there is none left.
fn see_off(each: impl Fn(Pid, WaitStatus)) {
    loop {
        match waitpid(None, None) {
            Ok(status) => {
                if let Some(pid) = status.pid() {
                    each(pid, status);
                }
            }
            Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

fn relay(mut from: impl Read, to: impl Write, to_loop: &Sender<ShimEvent>) {
    let mut to = Some(to);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(size) => {
                let end = memchr::memchr(END_OF_INPUT, &buffer[..size]);
                if let Some(input) = &mut to {
                    // A client that is gone is noticed by the one who waits for it.
                    let _ = input
                        .write_all(&buffer[..end.unwrap_or(size)])
                        .and_then(|()| input.flush());
                }
                if end.is_some() {
                    to = None;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = to_loop.send(ShimEvent::EndWanted);
}

/// If the outer shim is killed, the inner one must not go on alone.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_pdeathsig(Signal::SIGTERM) {
        log::warn!("a killed shim may leave its client behind: {error}");
    }
}

/// If the shim is killed, the client must not go on alone.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    // SAFETY: prctl is async-signal-safe, and nothing is allocated between fork and exec.
    #[expect(unsafe_code, reason = "there is no safe way to run code in the forked child")]
    unsafe {
        command.pre_exec(|| {
            nix::sys::prctl::set_pdeathsig(Signal::SIGTERM).map_err(std::io::Error::from)
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}
