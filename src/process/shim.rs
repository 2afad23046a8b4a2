//! `ccc agent-shim [--case … | --screen] -- claude …`: runs between ccc and every client process.
//!
//! The client refuses a terminal as its input, so inside the PTY this process reads the terminal
//! and passes the bytes on through a socket; output goes straight to the PTY. It does the same for
//! the supervisor. It also ensures that nothing outlives ccc:
//!
//! | event | meaning | reaction |
//! |---|---|---|
//! | byte 0x04 | no more input | the client's input is closed; it finishes its turn and exits |
//! | end of input, hang-up, TERM | ccc wants the end, or is gone | TERM to the group, after a grace period KILL, also to processes that left the group |
//! | USR1 | ccc does not want to wait | no grace period |
//! | the client exits | | its code, or 128 + its signal, is ours |
//! | another process below exits | it was an orphan | it is reaped |
//!
//! No signal from ccc or a terminal ends the shim itself, because it has to clean up.

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
use super::exit::{BY_SIGNAL, is_by_itself};
use super::orphans;
use super::raw_mode::make_raw;
use crate::case::{self, Covers, Entered};
use crate::client::case::CaseRequest;
use crate::console;
use crate::threads::named;

/// How long the client may take to exit after TERM.
const GRACE: Duration = Duration::from_secs(2);

const HURRY_NUMBER: i32 = HURRY as i32;
/// The signals that the shim handles; none of them ends the shim itself.
const SIGNALS: [i32; 5] = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, HURRY_NUMBER];

enum ShimEvent {
    ClientExited(WaitStatus),
    EndWanted,
    HurryWanted,
}

/// The shim's exit code if a required case is not available.
pub const NO_CASE: i32 = 125;

/// The client draws on the terminal on which the shim was started.
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
        Some(case) => run_in_case(&case, command),
        None => {
            start_own_session();
            run_supervised(command, &Entered::default())
        }
    }
}

/// The client must not share the user's terminal, because a tool that reads from it would be
/// stopped, nor ccc's process group, because a signal to the group would end it. On its own PTY
/// this process already leads a session, and the call fails harmlessly.
fn start_own_session() {
    let _ = setsid();
}

fn run_supervised(command: &[OsString], entered: &Entered) -> i32 {
    match supervise(command, entered) {
        Ok(code) => code,
        Err(error) => {
            console::say(format!("cannot start {}: {error}", command[0].display()));
            127
        }
    }
}

/// Nothing that runs in a case may survive, even if the shim itself is killed. So there are two
/// shims: the inner one, in the case, ends if the outer one is killed, and the outer one ends what
/// the inner one leaves.
fn run_in_case(case: &CaseRequest, command: &[OsString]) -> i32 {
    start_own_session();
    orphans::adopt();
    let outer = getpid();
    // SAFETY: the process has one thread, so the child may do whatever this one may.
    #[expect(unsafe_code, reason = "the shim needs a second process of itself")]
    let inner = match unsafe { fork() } {
        Ok(ForkResult::Parent { child }) => child,
        Ok(ForkResult::Child) => {
            end_with_parent();
            if getppid() != outer {
                return BY_SIGNAL + Signal::SIGTERM as i32;
            }
            return match enter(case) {
                Ok(entered) => run_supervised(command, &entered),
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
                // A signal to the group has already reached the inner shim; a second one does no
                // harm.
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

/// Puts this process into its glass case, and reports that in the very first line.
fn enter(case: &CaseRequest) -> Result<Entered, i32> {
    let entered = case::enter(&Covers::of(&case.covered));
    let report = &entered.report;
    if let Err(error) = console::print_exact(report.line().as_bytes()) {
        console::say(format!("cannot report the glass case to ccc: {error}"));
        return Err(NO_CASE);
    }
    if case.required && !report.held.is_case() {
        console::say(format!(
            "supervisor.sandbox is \"required\", but this machine has no glass case: {}",
            report.why
        ));
        return Err(NO_CASE);
    }
    Ok(entered)
}

#[expect(clippy::disallowed_methods, reason = "the shim waits for all its children")]
fn supervise(command: &[OsString], entered: &Entered) -> std::io::Result<i32> {
    make_raw(std::io::stdin());
    orphans::adopt();
    let (to_loop, events) = unbounded();

    let mut signals = Signals::new(SIGNALS)?;
    // A socket instead of a pipe: no process can open it through /proc and impersonate ccc.
    let (input, clients_input) = UnixStream::pair()?;
    let mut client = Command::new(&command[0]);
    client.args(&command[1..]).stdin(Stdio::from(OwnedFd::from(clients_input)));
    client.envs(entered.temporary.iter().map(|dir| ("TMPDIR", dir)));
    if let Some(dir) = &entered.servers {
        client.env("TMUX_TMPDIR", dir).env_remove("TMUX").env_remove("STY");
    }
    die_with_parent(&mut client);
    let pid = Pid::from_raw(client.spawn()?.id().cast_signed());
    // The command holds our copy of the client's end of the socket.
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
        reap(|ended, status| {
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
                    // This process gets the signal too, and ignores it.
                    let _ = killpg(getpgrp(), Signal::SIGTERM);
                }
                Ok(ShimEvent::EndWanted) => {}
                Ok(ShimEvent::HurryWanted) | Err(_) => break None,
            },
            recv(deadline) -> _ => break None,
        }
    };
    // A client that was killed leaves its tools behind. One that exits has cleaned up, and what it
    // leaves running on purpose may stay, except after a case.
    let cleaned_up = is_by_itself(status) && !ending;
    if !cleaned_up || entered.report.held.is_case() {
        orphans::kill_all();
    }
    Ok(match status {
        Some(WaitStatus::Exited(_, code)) => code,
        Some(WaitStatus::Signaled(_, signal, _)) => BY_SIGNAL + signal as i32,
        _ => BY_SIGNAL + Signal::SIGKILL as i32,
    })
}

/// Reaps every child, the client and orphans, until none is left.
fn reap(each: impl Fn(Pid, WaitStatus)) {
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
                    // A failed write is ignored: the thread that waits for the client notices its
                    // exit.
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

/// If the outer shim is killed, the inner one must not continue alone.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_pdeathsig(Signal::SIGTERM) {
        log::warn!("a killed shim may leave its client behind: {error}");
    }
}

/// If the shim is killed, the client must not continue alone.
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
