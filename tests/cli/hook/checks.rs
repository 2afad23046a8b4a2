//! Checks in the Stop hook: before the judge, within its time.

use serde_json::json;

use crate::room::{CLIENT, Room};

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

/// Its supervisor does something in the project before it answers.
fn supervisor_does(room: &Room, what: &str) {
    room.config(&json!({"supervisor": {"sandbox": "off"}}));
    let begin = "if [ $role = supervisor ]; then\n";
    assert!(CLIENT.contains(begin));
    room.client(&CLIENT.replace(begin, &format!("{begin}    {what}\n")));
}

#[test]
fn a_confirmation_is_repeated_if_files_changed_during_the_review() {
    let room = room("proof: off\nchecks:\n  - { name: count, run: \"echo ran >>../ran\" }");
    supervisor_does(&room, "[ $n = 1 ] || echo 'a = 1' >\"$ROOM/../project/x.py\"");
    let done = room.hook("abc123").env("CCC_TRUST_CHECKS", "1").run();
    let done = done.allows("confirmed complete in round 1");
    assert!(done.err().contains("judged again"), "{}", done.err());
    assert_eq!((room.read("ran").lines().count(), room.reviews()), (2, 2));
    assert_eq!(room.state("abc123")["count"], 1, "it is one round");

    // Without a check a change is told, as in a session.
    let room = self::room("proof: off");
    supervisor_does(&room, "echo 'a = 1' >\"$ROOM/../project/x.py\"");
    room.hook("abc123").run().allows("files of the project changed");
    assert_eq!(room.reviews(), 1);
}

#[test]
fn what_changes_all_the_time_is_judged_twice_and_no_more() {
    let room = room("proof: off\nchecks: [\"true\"]");
    supervisor_does(&room, "echo \"a = $n\" >\"$ROOM/../project/x.py\"");
    let hook = room.hook("abc123").env("CCC_TRUST_CHECKS", "1").run();
    hook.allows("confirmed complete in round 1");
    assert_eq!(room.reviews(), 2);
}

#[test]
fn what_is_typed_while_the_judge_looks_goes_first_although_checks_ran() {
    let room = room("checks: [\"true\"]");
    let queued = r#"{"type":"queue-operation","operation":"enqueue","content":"wait"}"#;
    let typed = format!("echo '{queued}' >>\"$ROOM/../transcript.jsonl\"; sleep 600");
    supervisor_does(&room, &typed);
    let hook = room.hook("abc123").env("CCC_TRUST_CHECKS", "1").run();
    hook.allows("your message goes first");
    assert_eq!(room.state("abc123")["count"], 0, "nobody waits for it, and it is no round");
}
