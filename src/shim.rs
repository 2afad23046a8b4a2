//! `ccc agent-shim -- claude …`: stands between ccc and every client process.
//!
//! The client refuses a terminal as its input, so inside the PTY this process reads the terminal
//! and passes the bytes on through a pipe; output goes straight to the PTY. On pipes (the
//! supervisor) it does the same. It is also what makes sure that nothing outlives ccc:
//!
//! | happens | means | follows |
//! |---|---|---|
//! | byte 0x04 | no more input | the client's input is closed; it finishes its turn and exits |
//! | end of input, hang-up, TERM | ccc wants the end, or is gone | TERM to the group, then KILL, also to what left the group |
//! | the client exits | | its code, or 128 + its signal, is ours |

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crossbeam_channel::{Sender, unbounded};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::child::{END_OF_INPUT, make_raw, named};

/// How long the client may take to end after TERM.
const GRACE: Duration = Duration::from_secs(2);

enum Happened {
    Exited(ExitStatus),
    End,
}

/// Runs the command and returns its exit code.
pub fn run(command: &[OsString]) -> i32 {
    match supervise(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cannot start {}: {error}", command[0].display());
            127
        }
    }
}

fn supervise(command: &[OsString]) -> std::io::Result<i32> {
    // On a PTY this process leads its session already. The supervisor's must not share the user's
    // terminal: a tool that reads from it would be stopped, and the review with it.
    let _ = setsid();
    make_raw(std::io::stdin());
    adopt_orphans();
    let (happened, events) = unbounded();

    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT])?;
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]).stdin(Stdio::piped());
    die_with_parent(&mut child);
    let mut child = child.spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed());

    if let Some(input) = child.stdin.take() {
        let happened = happened.clone();
        named("input", move || relay(std::io::stdin().lock(), input, &happened))?;
    }
    let signalled = happened.clone();
    named("signals", move || {
        for _ in &mut signals {
            let _ = signalled.send(Happened::End);
        }
    })?;
    named("wait", move || {
        if let Ok(status) = child.wait() {
            let _ = happened.send(Happened::Exited(status));
        }
    })?;

    if let Ok(Happened::Exited(status)) = events.recv() {
        // A client that was killed has left its tools behind; one that exits has tidied up, and
        // what it leaves running on purpose may stay.
        if status.signal().is_some() {
            kill_descendants();
        }
        return Ok(code(status));
    }
    let _ = killpg(getpgrp(), Signal::SIGTERM);
    let deadline = crossbeam_channel::after(GRACE);
    let status = loop {
        crossbeam_channel::select! {
            recv(events) -> event => match event {
                Ok(Happened::Exited(status)) => break Some(status),
                Ok(Happened::End) => {}
                Err(_) => break None,
            },
            recv(deadline) -> _ => break None,
        }
    };
    if status.is_none() {
        let _ = kill(pid, Signal::SIGKILL);
    }
    kill_descendants();
    Ok(status.map_or(128 + Signal::SIGKILL as i32, code))
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn relay(mut from: impl Read, to: impl Write, happened: &Sender<Happened>) {
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
    let _ = happened.send(Happened::End);
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

/// The client runs its tools in sessions of their own, out of reach of a signal to the group. As
/// their reaper the shim becomes their parent when the client dies, and can find them.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        log::warn!("tools of a killed client may be left over: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Every child that is left, and theirs, which become ours as their parents die.
#[cfg(target_os = "linux")]
fn kill_descendants() {
    for _ in 0..100 {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            let _ = kill(child, Signal::SIGKILL);
            let _ = nix::sys::wait::waitpid(child, None);
        }
    }
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let me = std::process::id().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            // "pid (name) state ppid …"; the name may hold anything, so look behind its last bracket.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            parent == Some(&me)
        })
        .map(Pid::from_raw)
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn kill_descendants() {}
