//! A program that is asked something and answers: what it prints, within a bound of time and size.

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

/// Between two looks at a program that says nothing.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Somebody whom it left behind may hold its output open.
const LEFT_OPEN: Duration = Duration::from_secs(1);
/// Of what it says about a failure.
const MOST_ERRORS: u64 = 64 << 10;

/// How much is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub time: Duration,
    /// For how long it may do nothing at all: then it waits for somebody who does not come.
    pub idle: Duration,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Answer {
    pub status: ExitStatus,
    /// No more than was asked for; who prints more is ended by that.
    pub printed: Vec<u8>,
    pub errors: String,
}

/// Past its time the program is ended, and everybody whom it started.
pub fn answer(command: &mut Command, input: &[u8], bounds: Bounds) -> Result<Answer> {
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
    let errors = read(child.stderr.take(), MOST_ERRORS);
    let until = Instant::now() + bounds.time;
    match finished(&mut child, &printed, until, bounds.idle) {
        Ok((status, printed)) => {
            let errors = errors.recv_timeout(LEFT_OPEN).unwrap_or_default();
            let errors = String::from_utf8_lossy(&errors).into_owned();
            Ok(Answer { status, printed, errors })
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
            bytes = match printed.recv_timeout(LOOK_AGAIN) {
                Err(RecvTimeoutError::Timeout) => None,
                read => Some(read.unwrap_or_default()),
            };
        }
        if let Ok(Some(status)) = child.try_wait() {
            let bytes = bytes.or_else(|| printed.recv_timeout(LEFT_OPEN).ok());
            return Ok((status, bytes.unwrap_or_default()));
        }
        if idle.time() >= most_idle {
            bail!("no answer; it is waiting for something");
        }
        if bytes.is_some() {
            // Its output is closed; it is about to exit.
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

    fn asked(script: &str, input: &[u8], bounds: Bounds) -> Result<Answer> {
        answer(Command::new("/bin/sh").args(["-c", script]), input, bounds)
    }

    #[test]
    fn what_it_prints_is_its_answer() {
        let told = asked("cat; echo why >&2; exit 3", b"words", BOUNDS).unwrap();
        assert_eq!((told.printed.as_slice(), told.errors.as_str()), (&b"words"[..], "why\n"));
        assert_eq!(told.status.code(), Some(3));
        assert!(answer(&mut Command::new("/nowhere/x"), b"", BOUNDS).is_err());
    }

    #[test]
    fn who_does_not_come_to_an_end_is_ended() {
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
    fn who_is_left_behind_is_not_waited_for() {
        let told = asked("sleep 600 & echo $!", b"", BOUNDS).unwrap();
        let left: i32 = String::from_utf8(told.printed).unwrap().trim().parse().unwrap_or_default();
        if left > 0 {
            let _ = nix::sys::signal::kill(Pid::from_raw(left), Signal::SIGKILL);
        }
        assert!(told.status.success());
    }
}
