//! The agent's process, its shim, and what they leave behind.

use nix::sys::signal::Signal;

use crate::patience::wait_until;
use crate::processes::{is_there, wait_for};
use crate::room::Room;
use crate::tool::{self, SECONDS, Tool, at_work, shim, signal};

/// A process whose parent is gone becomes the shim's, and the shim is to see it off.
#[test]
fn an_orphan_that_ends_is_seen_off_while_the_agent_works() {
    let room = Room::supervised();
    room.client(
        r#"#!/bin/sh
(sh -c 'echo $$ >"$ROOM/orphan.new"; mv "$ROOM/orphan.new" "$ROOM/orphan"' &)
exec cat >/dev/null
"#,
    );
    let running = room.ccc(&["--supervisor", "-p", "zq-task"]).start();
    wait_until("the orphan ran", || room.path("seen/orphan").exists());
    let orphan = room.seen("orphan").trim().parse().expect("a number");
    let gone = crate::patience::wait_within(SECONDS, || (!is_there(orphan)).then_some(()));
    assert!(gone.is_some(), "the orphan is a zombie");
    signal(running.pid(), Signal::SIGTERM);
    running.finish().code(143);
}

#[test]
fn a_killed_shim_leaves_nobody() {
    let room = tool::room();
    let (running, tool) = at_work(&room);
    signal(shim(running.pid()).pid, Signal::SIGKILL);
    tool.is_gone();
    signal(running.pid(), Signal::SIGTERM);
    let _ = running.finish();
}

/// A check may kill its parent, too.
#[test]
fn a_killed_shim_of_a_check_leaves_nobody() {
    let room = Room::supervised();
    room.program("check", tool::CLIENT);
    room.write(
        "project/SUPERVISOR.md",
        "---\nchecks: [\"exec $ROOM/../check </dev/zero\"]\n---\nx",
    );
    for args in [&["check", "--trust-checks"][..], &["--supervisor", "--trust-checks", "-p", "zq"]]
    {
        let _ = std::fs::remove_file(room.path("seen/tool"));
        let running = room.ccc(args).start();
        let tool = Tool::running(&room);
        let shim = wait_for(running.pid(), |process| {
            process.has_arg("agent-shim") && process.has_arg("-c")
        });
        signal(shim.pid, Signal::SIGKILL);
        tool.is_gone();
        signal(running.pid(), Signal::SIGTERM);
        let _ = running.finish();
    }
}

/// As claude 2.1.197 does: it catches SIGTERM, exits with its code, and leaves its tool running.
#[test]
fn a_client_that_exits_because_of_a_signal_leaves_nobody() {
    let room = Room::supervised();
    let begins = tool::client().replace("exec cat >/dev/null\n", "");
    let ends = "until [ -e \"$ROOM/go\" ]; do sleep 0.01; done\nexit 143\n";
    let resumed = "case \"$*\" in *--resume*) exit 1;; esac\n";
    room.client(&format!("{}{ends}", begins.replacen('\n', &format!("\n{resumed}"), 1)));
    let (running, tool) = at_work(&room);
    std::fs::write(room.path("seen/go"), "").expect("the client reads it");
    running.finish_within(SECONDS).code(1);
    tool.is_gone();
}

#[test]
fn a_stopped_shim_holds_nothing_up_and_leaves_nobody() {
    let room = tool::room();
    let (running, tool) = at_work(&room);
    let shim = shim(running.pid());
    signal(shim.pid, Signal::SIGSTOP);
    signal(running.pid(), Signal::SIGTERM);
    running.finish_within(SECONDS).code(143);
    tool.is_gone();
}

#[test]
fn a_clients_exit_code_is_told_as_it_is() {
    let room = Room::supervised();
    room.client("#!/bin/sh\nexit 255\n");
    let done = room.ccc(&["--supervisor", "-p", "zq-task"]).run().code(1);
    let told = done.out() + &done.err();
    assert!(told.contains("exited with code 255"), "{told}");
}
