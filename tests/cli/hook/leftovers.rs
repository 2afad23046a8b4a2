//! No process of a review outlives its hook, however either of them ends.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::patience::{PATIENCE, wait_within};
use crate::processes::{Process, descendants, wait_gone};
use crate::room::{Room, verdict};

/// The client gets 2 s to end by itself.
const SOON: Duration = Duration::from_secs(15);

/// A supervisor that has a tool running in a session of its own, then does `rest`.
fn room(rest: &str) -> Room {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.client(&format!(
        "#!/bin/sh\nsetsid sh -c 'exec sleep 1000' &\necho up >\"$ROOM/up\"\n{rest}\n"
    ));
    room
}

/// The review's processes once all of them are there.
fn running(room: &Room, hook: i32) -> Vec<Process> {
    let all = wait_within(PATIENCE, || {
        let all = descendants(hook);
        let has = |arg: &str| all.iter().any(|process| process.has_arg(arg));
        (room.path("seen/up").exists() && has("agent-shim") && has("1000")).then_some(all)
    });
    all.expect("the supervisor runs")
}

#[test]
fn a_killed_hook_leaves_no_supervisor_behind() {
    let room = room("sleep 1000");
    let mut hook = room.hook("abc123").start();
    let all = running(&room, hook.pid());
    assert!(all.len() >= 3, "a shim, a client and its tool: {all:#?}");
    hook.kill();
    wait_gone(&all, SOON);
}

#[test]
fn a_terminated_hook_leaves_no_supervisor_behind() {
    let room = room("sleep 1000");
    let hook = room.hook("abc123").start();
    let all = running(&room, hook.pid());
    kill(Pid::from_raw(hook.pid()), Signal::SIGTERM).expect("a process of ours");
    wait_gone(&all, SOON);
}

#[test]
fn a_killed_hook_ends_a_supervisor_that_does_not_listen() {
    let room = room("trap '' TERM HUP INT; while :; do sleep 1; done");
    let mut hook = room.hook("abc123").start();
    let all = running(&room, hook.pid());
    hook.kill();
    wait_gone(&all, SOON);
}

/// A client that was killed, or whose terminal was closed: nobody waits for the review any more.
#[test]
fn a_hook_whose_client_is_gone_leaves_no_supervisor_behind() {
    let room = room("trap '' TERM HUP INT; while :; do sleep 1; done");
    fs::write(room.path("event"), room.event("abc123").to_string()).expect("an event");
    let mut command = room.hook("abc123").into_command();
    command.stdin(fs::File::open(room.path("event")).expect("the event"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the hook");
    let all = running(&room, child.id().cast_signed());
    drop(child.stdout.take());
    child.wait().expect("the hook ends");
    wait_gone(&all, SOON);
}

#[test]
fn a_review_that_is_given_up_leaves_nothing_behind() {
    let room = room("trap '' TERM HUP INT; while :; do sleep 1; done");
    room.config(&json!({"supervisor": {"timeout_seconds": 2}}));
    let hook = room.hook("abc123").start();
    let all = running(&room, hook.pid());
    hook.finish().allows("no verdict within 2 s");
    wait_gone(&all, SOON);
}

/// A client that has said everything need not be waited for, and must not stay.
#[test]
fn a_supervisor_that_does_not_end_after_its_verdict_is_ended() {
    let go = "mkfifo \"$ROOM/go\"; read -r line <\"$ROOM/go\"";
    let answer = verdict(false, "more");
    let room = room(&format!("{go}\ncat <<'END'\n{answer}END\nsleep 1000"));
    let hook = room.hook("abc123").start();
    let all = running(&room, hook.pid());
    wait_within(PATIENCE, || room.path("seen/go").exists().then_some(())).expect("the FIFO");
    fs::write(room.path("seen/go"), "\n").expect("the supervisor reads");
    hook.finish().blocks("more");
    // The hook has waited for it.
    wait_gone(&all, Duration::from_secs(1));
}
