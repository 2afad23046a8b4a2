//! The judge's client starts while the files are still looked at. It is told nothing before they are,
//! and if the review does not come, it is told nothing at all.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::patience::wait_until;
use crate::room::{Room, Started};
use crate::tool::signal;

/// A git project in which the look at the files waits as soon as the agent has answered.
fn looked_at_slowly() -> Room {
    let room = Room::supervised();
    let done = Command::new("git").args(["init", "-q"]).current_dir(room.path("project")).status();
    assert!(done.expect("git is there").success());
    let hold = room.path("seen/hold");
    let git = format!(
        "#!/bin/sh\ncase \" $* \" in *' ls-files '*) [ -p '{0}' ] && cat '{0}' ;; esac\n\
         exec /usr/bin/git \"$@\"\n",
        hold.display()
    );
    fs::create_dir(room.path("bin")).expect("a directory");
    room.program("bin/git", &git);
    let script = crate::room::CLIENT
        .replace("  else\n    echo", "  else\n    mkfifo \"$ROOM/hold\"\n    echo");
    assert_ne!(script, crate::room::CLIENT, "the agent's part has moved");
    room.client(&script);
    room
}

fn judge_waits(room: &Room) -> Started {
    let path = format!("{}:/usr/bin:/bin", room.path("bin").display());
    let running = room.ccc(&["--supervisor", "-p", "go"]).env("PATH", path).start();
    wait_until("the judge has started", || room.path("seen/supervisor-0.initialize").exists());
    assert!(room.path("seen/hold").exists(), "the files are still looked at");
    running
}

/// Whoever waits at the pipe goes on, and nobody waits there any more.
fn release(room: &Room) {
    let open = fs::OpenOptions::new().read(true).write(true).open(room.path("seen/hold"));
    let mut pipe = open.expect("the pipe");
    fs::remove_file(room.path("seen/hold")).expect("the pipe");
    pipe.write_all(b"\n").expect("room in the pipe");
}

#[test]
fn a_judge_that_started_early_judges() {
    let room = looked_at_slowly();
    let running = judge_waits(&room);
    assert!(!room.path("seen/supervisor-0.input").exists());
    release(&room);
    let done = running.finish();
    assert_eq!(done.status().code(), Some(0), "{}", done.err());
    assert!(room.seen("supervisor-0.input").contains("BE STRICT"));
    assert_eq!(room.reviews(), 1, "no second process was needed");
}

#[test]
fn a_judge_whose_review_does_not_come_is_asked_nothing() {
    let room = looked_at_slowly();
    let running = judge_waits(&room);
    signal(running.pid(), Signal::SIGTERM);
    let done = running.finish();
    release(&room);
    assert_eq!(done.status().code(), Some(143), "{}", done.err());
    assert!(!room.path("seen/supervisor-0.input").exists());
    assert_eq!(room.reviews(), 1);
}
