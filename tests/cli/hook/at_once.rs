//! Many hooks on one state file at the same moment.

use serde_json::json;

use crate::room::{Done, Room, Started, verdict};

/// Answers without reading, and leaves nothing in the room: a hundred of them would be in their own way.
fn room() -> Room {
    let room = Room::supervised();
    room.client(&format!("#!/bin/sh\ncat <<'END'\n{}END\n", verdict(false, "more")));
    room.enable("abc123", 0);
    room
}

fn at_once(room: &Room, count: usize, limit: &str) -> Vec<Done> {
    let start = |_| room.hook("abc123").env("CCC_MAX_ITERATIONS", limit).start();
    let started: Vec<Started> = (0..count).map(start).collect();
    started.into_iter().map(|hook| hook.finish().code(0)).collect()
}

/// Scenario 000 «状态文件并发处理»
#[test]
fn scenario_000_a_hundred_hooks_at_once_lose_no_count() {
    let room = room();
    for done in at_once(&room, 100, "1000") {
        // Nothing changes between them, and so most of them find the task stuck.
        assert!(done.out().contains("more") || done.err().contains("stuck"), "{}", done.err());
    }
    assert_eq!(room.state("abc123")["count"], 100);
    let lines = room.read("project/.claude/ccc/supervisor-abc123-output.jsonl");
    // Beside the shim's line about the case.
    let lines: String =
        lines.split_inclusive('\n').filter(|line| !line.contains("\"ccc_case\"")).collect();
    assert_eq!(lines, verdict(false, "more").repeat(100), "no line is torn");
}

#[test]
fn the_limit_holds_when_they_come_at_once() {
    let room = room();
    let at_the_limit = |done: &&Done| done.err().contains("the limit of 15 reviews is reached");
    assert_eq!(at_once(&room, 40, "15").iter().filter(at_the_limit).count(), 25);
    assert_eq!(room.state("abc123")["count"], 15);
}

/// A switch in the middle of it is not undone by a hook that read the state before.
#[test]
fn switching_off_among_running_hooks_stays_off() {
    let room = room();
    room.config(&json!({"supervisor": {"max_iterations": 1000}}));
    let hooks: Vec<Started> = (0..20).map(|_| room.hook("abc123").start()).collect();
    room.ccc(&["supervisor-mode", "--session", "abc123", "off"]).run().code(0);
    hooks.into_iter().for_each(|hook| drop(hook.finish().code(0)));
    assert_eq!(room.state("abc123")["enabled"], false);
    room.hook("abc123").run().allows("supervision is off");
}
