//! The agent's process on its PTY, behind the shim, with shell scripts in place of the client.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ccc::client::launch::Launch;
use ccc::client::stream::message_to_judge;
use ccc::event::Gone;
use ccc::process::child::ChildEvent;
use ccc::process::pty::Agent;
use crossbeam_channel::{Receiver, unbounded};

use crate::patience::PATIENCE;

enum Seen {
    Line(Vec<u8>),
    OutputEnded,
    Exited(Gone),
}

fn start(script: &str, dir: &Path) -> (Agent, Receiver<Seen>) {
    start_command(&["/bin/sh", "-c", script], dir)
}

fn start_command(command: &[&str], dir: &Path) -> (Agent, Receiver<Seen>) {
    let launch = Launch {
        ccc: env!("CARGO_BIN_EXE_ccc").into(),
        claude: command.iter().map(OsString::from).collect(),
        args: Vec::new(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        dir: dir.to_owned(),
        case: None,
    };
    let (sender, seen) = unbounded();
    let exits = sender.clone();
    let agent = Agent::start(
        &launch,
        (80, 24),
        move |event| match event {
            ChildEvent::Lines(lines) => {
                lines.into_iter().all(|line| sender.send(Seen::Line(line.raw)).is_ok())
            }
            ChildEvent::OutputEnded => sender.send(Seen::OutputEnded).is_ok(),
        },
        move |gone| exits.send(Seen::Exited(gone)).is_ok(),
    );
    (agent.expect("a PTY"), seen)
}

/// Everything until both the exit and the end of output are there.
fn to_the_end(seen: &Receiver<Seen>) -> (Vec<String>, Gone) {
    let (mut lines, mut gone, mut ended) = (Vec::new(), None, false);
    while gone.is_none() || !ended {
        match seen.recv_timeout(PATIENCE).expect("the end") {
            Seen::Line(line) => lines.push(String::from_utf8(line).expect("text")),
            Seen::OutputEnded => ended = true,
            Seen::Exited(exit) => gone = Some(exit),
        }
    }
    (lines, gone.expect("an exit"))
}

fn next_line(seen: &Receiver<Seen>) -> String {
    match seen.recv_timeout(PATIENCE).expect("a line") {
        Seen::Line(line) => String::from_utf8(line).expect("text"),
        _ => panic!("the end instead of a line"),
    }
}

fn temp() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn a_child_that_prints_and_exits_at_once_loses_no_line() {
    let dir = temp();
    for run in 0..1000 {
        let (_agent, seen) = start("echo one; echo two; exit 3", dir.path());
        let (lines, gone) = to_the_end(&seen);
        assert_eq!(
            (lines.as_slice(), gone.code),
            (&["one".into(), "two".into()][..], Some(3)),
            "run {run}"
        );
    }
}

#[test]
fn input_is_a_pipe_and_long_lines_pass_unechoed() {
    let dir = temp();
    let script = r#"test -t 0 && echo "a terminal"; test -t 1 || echo "no terminal"
                    read -r line; printf '%s' "$line" | wc -c; cat >/dev/null; echo end of input"#;
    let (agent, seen) = start(script, dir.path());
    let message = message_to_judge("u", &"x".repeat(1 << 20));
    let size = message.len() - 1;
    agent.send(message);
    assert_eq!(next_line(&seen).trim(), size.to_string());
    agent.close_input();
    let (lines, gone) = to_the_end(&seen);
    assert_eq!((lines.join(""), gone.code), ("end of input".into(), Some(0)));
}

#[test]
fn the_signal_that_ended_the_client_is_told() {
    let dir = temp();
    let (_agent, seen) = start("kill -9 $$", dir.path());
    assert_eq!(to_the_end(&seen).1.how, "was ended by SIGKILL");
}

#[test]
fn a_command_that_cannot_be_run_is_told() {
    let dir = temp();
    let (_agent, seen) = start_command(&["/nowhere/claude"], dir.path());
    let (lines, gone) = to_the_end(&seen);
    assert_eq!(gone.code, Some(127));
    assert!(lines.join("").contains("cannot start /nowhere/claude"), "{lines:?}");
}

/// The pids that a script has written, one per line.
fn pids(file: &Path, count: usize) -> Vec<String> {
    let text = wait_for(|| {
        let text = fs::read_to_string(file).ok()?;
        (text.lines().count() == count && text.ends_with('\n')).then_some(text)
    });
    text.lines().map(str::to_owned).collect()
}

fn wait_for<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited for too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
fn is_gone(pid: &str) -> bool {
    !crate::processes::is_there(pid.parse().expect("a number"))
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_below_the_agent_survives_its_end_by_force() {
    // A tool in a session of its own and a client that ignores TERM: neither hears the group's signal.
    let script = r"trap '' TERM HUP; setsid sh -c 'echo $$ >>pids; exec sleep 1000' & echo $$ >>pids; while :; do sleep 1; done";
    let dir = temp();
    let (agent, seen) = start(script, dir.path());
    let pids = pids(&dir.path().join("pids"), 2);
    agent.group().terminate();
    to_the_end(&seen);
    for pid in pids {
        wait_for(|| is_gone(&pid).then_some(()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_client_leaves_no_tools_behind() {
    let script = "setsid sh -c 'echo $$ >>pids; exec sleep 1000' & echo $$ >>pids; wait";
    let dir = temp();
    let (_agent, seen) = start(script, dir.path());
    let pids = pids(&dir.path().join("pids"), 2);
    let client: i32 =
        wait_for(|| pids.iter().find(|pid| comm(pid) == "sh").and_then(|pid| pid.parse().ok()));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(client), nix::sys::signal::Signal::SIGKILL)
        .expect("our own process");
    to_the_end(&seen);
    for pid in pids {
        wait_for(|| is_gone(&pid).then_some(()));
    }
}

#[cfg(target_os = "linux")]
fn comm(pid: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}
