//! Several judges in the Stop hook.

use serde_json::{Value, json};

use crate::room::{Room, value_of, verdict};

fn room(supervisor: &Value) -> Room {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.config(&json!({"supervisor": supervisor}));
    room
}

#[test]
fn a_no_of_the_second_blocks_the_stop() {
    let room = room(&json!({"judges": [{}, {"model": "zq-second"}]}));
    room.supervisor_prints_in(1, &verdict(false, "zq-not-yet"));
    let done = room.hook("abc123").run().blocks("zq-not-yet");
    let told = done.err();
    for part in ["the agent's model: complete", "zq-second: not complete"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(room.reviews(), 2);
    assert_eq!(value_of(&room.seen("supervisor-1.args"), "--model"), "zq-second");
    room.supervisor_prints_in(1, &verdict(true, ""));
    room.supervisor_prints_in(3, &verdict(true, ""));
    room.hook("abc123").run().allows("confirmed complete in round 2");
}

#[test]
fn a_no_of_the_first_spares_the_second_unless_all_are_to_be_asked() {
    for (ask, reviews) in [("confirm", 1), ("all", 2)] {
        let room = room(&json!({"judges": [{}, {"model": "zq-second"}], "judges_ask": ask}));
        room.supervisor_prints_in(0, &verdict(false, "zq-not-yet"));
        room.hook("abc123").run().blocks("zq-not-yet");
        assert_eq!(room.reviews(), reviews, "{ask}");
    }
}

#[test]
fn fresh_eyes_begin_a_conversation_of_their_own() {
    let room = room(&json!({"judges": [{"fresh": true}]}));
    room.write("project/work.txt", "zq-work");
    room.hook("abc123").run().allows("the agent's model (fresh eyes): complete");
    let args = room.seen("supervisor-0.args");
    assert!(!args.contains("--resume") && !args.contains("--fork-session"), "{args}");
    let told = room.seen("supervisor-0.input");
    assert!(told.contains("You are the supervisor of a coding agent"), "{told}");
}

#[test]
fn one_that_gives_no_verdict_is_no_confirmation_and_says_so() {
    let room = room(&json!({"judges": [{}, {"model": "zq-second"}]}));
    room.supervisor_prints_in(
        1,
        "{\"type\":\"result\",\"is_error\":true,\"result\":\"zq-no-credit\"}\n",
    );
    let done = room.hook("abc123").run();
    done.allows("zq-second gave no verdict (1 of 2 judges call it complete): ");
}

#[test]
fn a_yes_without_proof_is_told_as_that() {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", "BE STRICT");
    room.enable("abc123", 0);
    let done = room.hook("abc123").run().allows("confirmed complete in round 1, without proof");
    done.tells("confirmed complete in round 1, without proof");
}
