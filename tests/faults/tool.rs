//! A session in the middle of a tool's work: the tool runs in a session of its own, as the client's
//! tools do, and nobody but its reaper can find it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::patience::wait_within;
use crate::processes::{Process, is_there, wait_for};
use crate::room::{Room, Started};

/// Long enough for every orderly way to end, and far from "for ever".
pub const SECONDS: std::time::Duration = std::time::Duration::from_secs(20);

/// Starts the tool and waits for the end of its input.
pub const CLIENT: &str = r#"#!/bin/sh
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$\|^--resume$/{n;p;q}')
echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
setsid sh -c 'echo $$ >"$ROOM/tool.new"; mv "$ROOM/tool.new" "$ROOM/tool"; exec sleep 1000' &
exec cat >/dev/null
"#;

pub struct Tool {
    pid: i32,
}

impl Tool {
    /// Waits until it runs.
    #[track_caller]
    pub fn running(room: &Room) -> Self {
        crate::patience::wait_until("the tool runs", || room.path("seen/tool").exists());
        let pid = room.seen("tool").trim().parse().expect("a number");
        assert!(is_there(pid));
        Self { pid }
    }

    #[track_caller]
    pub fn is_gone(&self) {
        let gone = wait_within(SECONDS, || (!is_there(self.pid)).then_some(()));
        assert!(gone.is_some(), "the tool, process {}, is still there", self.pid);
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        // A test that failed leaves it.
        if is_there(self.pid) {
            let _ = kill(Pid::from_raw(self.pid), Signal::SIGKILL);
        }
    }
}

/// The client, starting the tool only when it has the message of its turn: one that ccc ends before that
/// ends by itself, and may leave running what it likes.
pub fn client() -> String {
    let message = r#"while read -r line; do case $line in *'"type":"user"'*) break;; esac; done"#;
    CLIENT.replacen("setsid", &format!("{message}\nsetsid"), 1)
}

pub fn room() -> Room {
    let room = Room::supervised();
    room.client(&client());
    room
}

/// ccc without a person, at work.
#[track_caller]
pub fn at_work(room: &Room) -> (Started, Tool) {
    let running = room.ccc(&["--supervisor", "-p", "zq-task"]).start();
    let tool = Tool::running(room);
    (running, tool)
}

/// The shim in front of the agent.
#[track_caller]
pub fn shim(ccc: i32) -> Process {
    wait_for(ccc, |process| process.has_arg("agent-shim"))
}

pub fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).expect("a process of ours");
}
