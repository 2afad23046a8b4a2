//! Runs a program for its output, limited in time and size.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::idle::Idle;
use super::orphans::Awaited;

/// How often a silent program is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long to wait for output after the exit, since a process left behind may hold it open.
const DRAIN: Duration = Duration::from_secs(1);
/// How much of its standard error is kept.
const ERROR_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub time: Duration,
    /// How long it may do nothing at all before ccc assumes that it waits for something in vain.
    pub idle: Duration,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct ProgramOutput {
    pub status: ExitStatus,
    /// At most `Bounds::bytes`. A program that prints more is ended by the closed pipe.
    pub printed: Vec<u8>,
    pub errors: String,
}

/// Runs the program. After its time it is killed, together with everything in its process group.
pub fn answer(command: &mut Command, input: &[u8], bounds: Bounds) -> Result<ProgramOutput> {
    command
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let (mut child, _awaited) = Awaited::spawn(command)
        .with_context(|| format!("{} does not start", command.get_program().display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        thread::spawn(move || stdin.write_all(&input));
    }
    let printed = read(child.stdout.take(), bounds.bytes);
    let errors = read(child.stderr.take(), ERROR_BYTES);
    let until = Instant::now() + bounds.time;
    match finished(&mut child, &printed, until, bounds.idle) {
        Ok((status, printed)) => {
            let errors = errors.recv_timeout(DRAIN).unwrap_or_default();
            let errors = String::from_utf8_lossy(&errors).into_owned();
            Ok(ProgramOutput { status, printed, errors })
        }
        Err(why) => {
            end(&mut child);
            bail!(why)
        }
    }
}

fn finished(
    child: &mut Child,
    printed: &Receiver<Vec<u8>>,
    until: Instant,
    most_idle: Duration,
) -> Result<(ExitStatus, Vec<u8>)> {
    let (began, mut idle) = (Instant::now(), Idle::of(child.id()));
    let mut bytes = None;
    while Instant::now() < until {
        if bytes.is_none() {
            bytes = match printed.recv_timeout(POLL_INTERVAL) {
                Err(RecvTimeoutError::Timeout) => None,
                read => Some(read.unwrap_or_default()),
            };
        }
        if let Ok(Some(status)) = child.try_wait() {
            let bytes = bytes.or_else(|| printed.recv_timeout(DRAIN).ok());
            return Ok((status, bytes.unwrap_or_default()));
        }
        if idle.time() >= most_idle {
            bail!("no answer; it is waiting for something");
        }
        if bytes.is_some() {
            // Its output is closed, so it is about to exit.
            thread::sleep(Duration::from_millis(1));
        }
    }
    bail!("no answer within {} s", (until - began).as_secs_f32().round())
}

fn read(from: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (send, all) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.map(|from| from.take(most).read_to_end(&mut bytes));
        let _ = send.send(bytes);
    });
    all
}

fn end(child: &mut Child) {
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const BOUNDS: Bounds = Bounds { time: MINUTE, idle: MINUTE, bytes: 10 };

    fn asked(script: &str, input: &[u8], bounds: Bounds) -> Result<ProgramOutput> {
        answer(Command::new("/bin/sh").args(["-c", script]), input, bounds)
    }

    #[test]
    fn output_errors_and_status_are_returned() {
        let told = asked("cat; echo why >&2; exit 3", b"words", BOUNDS).unwrap();
        assert_eq!((told.printed.as_slice(), told.errors.as_str()), (&b"words"[..], "why\n"));
        assert_eq!(told.status.code(), Some(3));
        assert!(answer(&mut Command::new("/nowhere/x"), b"", BOUNDS).is_err());
    }

    #[test]
    fn a_program_over_its_limits_is_ended() {
        let short = Bounds { time: Duration::from_millis(50), ..BOUNDS };
        let error = asked("sleep 600", b"", short).unwrap_err();
        assert!(error.to_string().contains("no answer"), "{error}");
        let asleep = Bounds { idle: Duration::from_millis(200), ..BOUNDS };
        if cfg!(target_os = "linux") {
            let error = asked("sleep 600", b"", asleep).unwrap_err();
            assert!(error.to_string().contains("it is waiting"), "{error}");
        }
        assert_eq!(asked("yes", b"", BOUNDS).unwrap().printed.len(), 10);
    }

    #[test]
    fn a_process_left_behind_is_not_waited_for() {
        let told = asked("sleep 600 & echo $!", b"", BOUNDS).unwrap();
        let left: i32 = String::from_utf8(told.printed).unwrap().trim().parse().unwrap_or_default();
        if left > 0 {
            let _ = nix::sys::signal::kill(Pid::from_raw(left), Signal::SIGKILL);
        }
        assert!(told.status.success());
    }
}
