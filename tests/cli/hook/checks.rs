//! Checks in the Stop hook: before the judge, within its time.

use serde_json::json;

use crate::room::Room;

fn room(front: &str) -> Room {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", format!("---\n{front}\n---\nBE STRICT\n"));
    room.enable("abc123", 0);
    room
}

#[test]
fn a_red_check_blocks_the_stop_without_a_judge() {
    let room = room("checks:\n  - { name: tests, run: \"echo broken; exit 3\" }");
    let done = room.hook("abc123").env("CCC_TRUST_CHECKS", "1").run().code(0);
    let out = done.out();
    assert!(out.contains("\"block\"") && out.contains("exited with code 3"), "{out}");
    assert!(out.contains("broken"), "{out}");
    assert_eq!(room.reviews(), 0, "no judge was asked");
}

#[test]
fn a_green_check_is_told_to_the_judge() {
    let room = room("checks: [\"true\"]");
    room.hook("abc123").env("CCC_TRUST_CHECKS", "1").run().allows("check true: passed");
    assert_eq!(room.reviews(), 1);
    assert!(room.seen("supervisor-0.input").contains("- true: passed"));
}

#[test]
fn commands_that_nobody_allowed_do_not_run_and_the_users_own_do() {
    let room = room("checks: [touch ran]");
    room.config(&json!({"supervisor": {"checks": ["touch own"]}}));
    room.hook("abc123").run().allows("nobody has allowed them");
    assert!(!room.path("project/ran").exists() && room.path("project/own").exists());
    let room = self::room("checks: [touch ran]");
    room.hook("abc123").env("CCC_TRUST_CHECKS", "1").env("CCC_NO_CHECKS", "1").run();
    assert!(!room.path("project/ran").exists());
}

#[test]
fn a_check_that_takes_too_long_leaves_time_for_the_judge() {
    let room = room("checks: [sleep 600]");
    room.config(&json!({"supervisor": {"timeout_seconds": 4}}));
    let hook = room.hook("abc123").env("CCC_TRUST_CHECKS", "1");
    hook.run().allows("the checks did not end within 2 s");
}
