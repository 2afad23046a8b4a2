//! The terminal: windows that are closed, stops that others have to follow.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::json;

use crate::patience::{wait_until, wait_within};
use crate::person::Person;
use crate::room::Room;
use crate::stage::{self, is_ready, is_reviewing, opening};
use crate::tool::{self, SECONDS, Tool};

/// A window that the test can close: nothing else holds it open.
struct Window {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
}

impl Window {
    fn open(command: &std::process::Command) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a PTY");
        let mut builder = CommandBuilder::new(command.get_program());
        builder.args(command.get_args());
        builder.env_clear();
        for (name, value) in command.get_envs() {
            builder.env(name, value.expect("a value"));
        }
        builder.cwd(command.get_current_dir().expect("a directory"));
        let child = pair.slave.spawn_command(builder).expect("it starts");
        Self { child, master: Some(pair.master) }
    }

    /// Reads until this is on it.
    #[track_caller]
    fn shows(&self, text: &str) {
        let master = self.master.as_ref().expect("an open window");
        let mut reader = master.try_clone_reader().expect("its output");
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        while memchr::memmem::find(&seen, text.as_bytes()).is_none() {
            let read = reader.read(&mut buffer).expect("more output");
            assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&buffer[..read]);
        }
    }

    fn close(&mut self) {
        self.master = None;
    }

    /// Waits for the end: its exit code, unless a signal ended it.
    #[track_caller]
    fn leaves(&mut self) -> u32 {
        let status = wait_within(SECONDS, || self.child.try_wait().expect("a child"));
        let status = status.expect("it does not end");
        assert_eq!(status.signal(), None);
        status.exit_code()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[test]
fn a_window_that_is_closed_while_a_tool_runs_leaves_nobody() {
    let room = tool::room();
    let ccc = Path::new(env!("CARGO_BIN_EXE_ccc"));
    let mut window = Window::open(&opening().command(&room, ccc, &["--supervisor", "zq-task"]));
    let tool = Tool::running(&room);
    window.shows("working");
    window.close();
    assert_eq!(window.leaves(), 129);
    tool.is_gone();
}

/// Nobody can see it or type in it any more, whether or not anybody wants to hear of that.
#[test]
fn a_closed_window_ends_the_session_also_when_hang_ups_are_ignored() {
    let room = tool::room();
    let script =
        format!(r#"trap '' HUP; exec "{}" --supervisor zq-task"#, env!("CARGO_BIN_EXE_ccc"));
    let command = opening().command(&room, Path::new("/bin/sh"), &["-c", &script]);
    let mut window = Window::open(&command);
    let tool = Tool::running(&room);
    window.shows("working");
    window.close();
    assert_eq!(window.leaves(), 1);
    tool.is_gone();
}

/// The shell waits for all who are in its job, not only for ccc.
#[test]
fn ctrl_z_stops_what_ccc_runs_behind_as_well() {
    let room = stage::room();
    let opening = opening().env("PS1", "shell> ").env("ENV", "/dev/null");
    let command = opening.command(&room, Path::new("/bin/sh"), &["-i"]);
    let mut person = Person::runs(&command, (80, 24), false);
    person.looks_for("the shell", |picture| picture.text().ends_with("shell>"));
    let ccc = env!("CARGO_BIN_EXE_ccc");
    person.types(&format!("sh -c '{ccc} --supervisor; echo zq-$((40 + 1))'\r"));
    person.looks_for("ccc", |picture| picture.input() == Some("") && is_ready(picture));
    person.types("draft");
    person.looks_for("the text", |picture| picture.input() == Some("draft"));
    person.types("\x1a");
    person.looks_for("the shell", |picture| picture.rows[picture.cursor.0].starts_with("shell>"));
    person.types("echo zq-$((40 + 2))\r");
    person.sees("zq-42");
    person.types("fg\r");
    person.looks_for("all of it", |picture| picture.input() == Some("draft") && is_ready(picture));
    person.types("\x15");
    person.looks_for("no text", |picture| picture.input() == Some(""));
    person.types("\x04");
    person.sees("zq-41");
    person.types("exit\r");
    assert_eq!(person.leaves().0, 0);
}

/// Who would continue it?
#[test]
fn ctrl_z_does_not_stop_what_nobody_could_continue() {
    let room = stage::room();
    let ccc = Path::new(env!("CARGO_BIN_EXE_ccc"));
    let command = opening().command(&room, ccc, &["--supervisor"]);
    let mut person = Person::runs(&command, (80, 24), false);
    person.looks_for("ccc", |picture| picture.input() == Some("") && is_ready(picture));
    person.types("\x1a");
    person.types("draft");
    person.looks_for("the text", |picture| picture.input() == Some("draft"));
    person.types("\x15\x04");
    assert_eq!(person.leaves().0, 0);
}

/// The verdict of a review that waited while ccc was stopped counts.
#[test]
fn time_spent_stopped_is_no_review_time() {
    const TIMEOUT: Duration = Duration::from_secs(3);
    let room = stage::room();
    room.config(&json!({"supervisor": {"timeout_seconds": TIMEOUT.as_secs()}}));
    let ccc = Path::new(env!("CARGO_BIN_EXE_ccc"));
    let command = opening().command(&room, ccc, &["--supervisor", "zq-task"]);
    let person = Person::runs(&command, (80, 24), false);
    let mut stage = stage::Stage { person, room };
    let mut agent = stage.client("agent-0");
    agent.takes_up();
    agent.answers("zq-answer");
    agent.ends_turn();
    let mut supervisor = stage.client("supervisor-0");
    supervisor.takes_up();
    stage.person.looks_for("the phase", is_reviewing);
    stage.person.signal(Signal::SIGSTOP);
    let stopped = Instant::now();
    wait_until("longer than a review may take", || stopped.elapsed() > TIMEOUT * 2);
    stage.person.signal(Signal::SIGCONT);
    stage.person.types("x");
    stage.person.looks_for("the key", |picture| picture.input() == Some("x"));
    supervisor.judges(true, "zq-fine");
    let picture = stage.person.looks_for("the verdict", is_ready);
    assert!(picture.text().contains("Confirmed complete"), "{}", picture.text());
    assert!(!stage.room.path("seen/supervisor-1").exists(), "a second review was paid for");
}

/// The next agent gets the size that the terminal has then.
#[test]
fn a_resize_while_the_agent_is_away_is_not_lost() {
    let room = Room::supervised();
    let noted = r#"stty size <&1 >"$me/size""#;
    room.client(&crate::client::SCRIPT.replace("mkfifo", &format!("{noted}\nmkfifo")));
    let ccc = Path::new(env!("CARGO_BIN_EXE_ccc"));
    let command = opening().command(&room, ccc, &["--supervisor", "zq-task"]);
    let person = Person::runs(&command, (80, 24), false);
    let mut stage = stage::Stage { person, room };
    let mut agent = stage.client("agent-0");
    agent.takes_up();
    agent.answers("zq-answer");
    agent.ends_turn();
    let mut supervisor = stage.client("supervisor-0");
    supervisor.takes_up();
    supervisor.judges(true, "zq-fine");
    stage.person.looks_for("the person's turn", is_ready);
    let shim = tool::shim(stage.person.pid());
    agent.quits(0);
    wait_until("the agent is away", || !shim.is_there());
    stage.person.resizes(101, 31);
    stage.person.looks_for("the new size", |picture| picture.rows.len() == 31);
    stage.person.sends("zq-more");
    let next = stage.client("agent-1");
    assert_eq!(stage.room.seen("agent-0/size").trim(), "24 80");
    wait_until("the next agent knows its size", || {
        stage.room.seen("agent-1/size").trim() == "31 101"
    });
    drop(next);
}

/// Prints without an end, to a terminal or a pipe that nobody reads.
const FLOOD: &str = r#"#!/bin/sh
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$\|^--resume$/{n;p;q}')
echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
echo up >"$ROOM/up"
while :; do
  echo '{"type":"assistant","message":{"content":[{"type":"text","text":"zq-flood zq-flood zq-flood zq-flood zq-flood zq-flood zq-flood zq-flood"}]}}'
done
"#;

/// Waits until it does not get on: no more of its output is recorded, if any ever was.
fn is_stuck(room: &Room) {
    wait_until("the flood has begun", || room.path("seen/up").exists());
    let mut last = (0, Instant::now());
    wait_until("nothing moves", || {
        let sessions = room.path("project/.claude/ccc/sessions");
        let size = std::fs::read_dir(sessions).into_iter().flatten().flatten();
        let size = size.filter_map(|dir| dir.path().join("agent.jsonl").metadata().ok());
        let size = size.map(|file| file.len()).sum();
        if size != last.0 {
            last = (size, Instant::now());
        }
        last.1.elapsed() > Duration::from_secs(2)
    });
}

#[test]
fn signals_end_a_session_whose_terminal_nobody_reads() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let room = Room::supervised();
        room.client(FLOOD);
        let ccc = Path::new(env!("CARGO_BIN_EXE_ccc"));
        let mut window = Window::open(&opening().command(&room, ccc, &["--supervisor", "zq-task"]));
        is_stuck(&room);
        let pid = window.child.process_id().expect("a number").cast_signed();
        tool::signal(pid, signal);
        assert_eq!(window.leaves().cast_signed(), 128 + signal as i32);
    }
}

#[test]
fn signals_end_a_session_whose_pipe_nobody_reads() {
    for format in ["text", "stream-json"] {
        let room = Room::supervised();
        room.client(FLOOD);
        let args = ["--supervisor", "-p", "zq-task", "--output-format", format];
        let mut command = room.ccc(&args).into_command();
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("ccc starts");
        is_stuck(&room);
        tool::signal(child.id().cast_signed(), Signal::SIGTERM);
        let status = wait_within(SECONDS, || child.try_wait().expect("a child"));
        if status.is_none() {
            let _ = child.kill();
        }
        assert_eq!(status.and_then(|status| status.code()), Some(143), "{format}");
    }
}
