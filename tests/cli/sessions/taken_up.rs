//! Sessions that are taken up again.

use std::fs;

use serde_json::Value;

use super::{ID, OTHER, record, recording};
use crate::person::Person;
use crate::room::{Room, value_of};

#[test]
fn a_resumed_session_goes_on_where_it_was() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    let args = ["--supervisor", "--resume", "abcdef", "-p", "and document it"];
    let out = room.ccc(&args).run().code(0).transcript();
    assert!(out.contains("Resumed: after round 1 of 10, 1 message, $0.26"), "{out}");
    assert!(out.contains("Confirmed complete in round 2"), "{out}");
    assert_eq!(value_of(&room.seen("agent-0.args"), "--resume"), ID);
    let review = room.seen("supervisor-0.input");
    assert!(review.contains(r"Message 1:\n> build it\n"), "{review}");
    assert!(review.contains(r"Message 2:\n> and document it\n"), "{review}");
    let events = fs::read_to_string(recording(&room, ID).join("events.jsonl")).expect("a file");
    assert!(events.contains("and document it"), "it is recorded in the same place: {events}");
}

#[test]
fn after_a_confirmed_task_the_next_one_starts_anew() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", true);
    let args = ["--supervisor", "--resume", "-p", "another thing"];
    let out = room.ccc(&args).run().code(0).transcript();
    assert!(out.contains("Resumed: 1 message, $0.26"), "{out}");
    assert!(out.contains("Confirmed complete in round 1"), "{out}");
    let review = room.seen("supervisor-0.input");
    assert!(review.contains("> build it") && review.contains("> another thing"), "{review}");
}

#[test]
fn continue_finds_out_from_the_client_which_session_it_is() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    record(&room, OTHER, "2026-01-02T05:00:00Z", true);
    room.client(&format!(
        r#"#!/bin/sh
read -r line
for arg; do [ "$arg" = --fork-session ] && {{
  read -r line
  printf '%s\n' "$line" >"$ROOM/review"
  echo '{{"type":"result","num_turns":1,"result":"[TASK_COMPLETED]"}}'
  exit
}}; done
printf '%s\n' "$@" >"$ROOM/args"
uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
echo '{{"type":"system","subtype":"init","model":"fake","session_id":"{ID}"}}'
echo "{{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\"}}"
echo '{{"type":"result","num_turns":1,"result":"done"}}'
cat >/dev/null
"#
    ));
    let out = room.ccc(&["--supervisor", "--continue", "-p", "go on"]).run().code(0).transcript();
    assert!(room.seen("args").contains("--continue\n"));
    assert!(out.contains("Resumed: after round 1 of 10, 1 message, $0.26"), "{out}");
    assert!(out.contains("Confirmed complete in round 2"), "{out}");
    let review = room.seen("review");
    assert!(review.contains("> build it") && review.contains("> go on"), "{review}");
}

#[test]
fn a_person_is_asked_which_session_to_go_on_with() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    record(&room, OTHER, "2026-01-02T05:00:00Z", true);
    // With an arrow, by a search, and by a number where nothing may be drawn over.
    for (at, (plain, keys)) in
        [(false, "\x1b[B\r"), (false, "abcdef\r"), (true, "2\r")].into_iter().enumerate()
    {
        let args = ["--supervisor", "--resume", "--plain"];
        let args =
            if plain { ["--plain", "--supervisor", "--resume"].as_slice() } else { &args[..2] };
        let mut person = Person::runs(&room, args);
        if plain {
            person.sees(" 1 ").sees("abcd0000").sees(" 2 ").sees("abcdef01").sees("[1]: ");
        } else {
            person.sees("Which session do you want to resume?").sees("abcd0000").sees("abcdef01");
            person.sees("Esc to cancel");
        }
        person.types(keys).sees("Resumed: after round 1 of 10").sees("build it").types("\x04");
        assert_eq!(person.leaves().0, 0);
        assert_eq!(value_of(&room.seen(&format!("agent-{at}.args")), "--resume"), ID);
    }
    let mut person = Person::runs(&room, &["--supervisor", "--resume"]);
    person.sees("Esc to cancel").types("\x03");
    assert_eq!(person.leaves().0, 1, "nothing was started");
}

#[test]
fn what_one_run_recorded_the_next_one_goes_on_with() {
    let room = Room::supervised();
    let overloaded = r#"{"type":"result","is_error":true,"num_turns":1,"result":"overloaded"}"#;
    room.supervisor_prints(&format!("{overloaded}\n"));
    room.ccc(&["--supervisor", "-p", "build it"]).run().code(4);
    let id = value_of(&room.seen("agent-0.args"), "--session-id");
    let outcome = || {
        let json = room.ccc(&["sessions", "show", "--json"]).run().code(0).out();
        let story: Value = serde_json::from_str(&json).expect("JSON");
        (story["outcome"].clone(), story["runs"].clone(), story["rounds"].clone())
    };
    assert_eq!(outcome(), ("no_verdict".into(), 1.into(), Value::Array(Vec::new())));

    fs::remove_file(room.path("supervisor.prints")).expect("a file");
    let out = room.ccc(&["--supervisor", "-r", "-p", "go on"]).run().code(0).transcript();
    assert!(out.contains("Resumed: after round 1 of 10, 1 message, $0.25"), "{out}");
    assert!(out.contains("Confirmed complete in round 2"), "{out}");
    let (ended, runs, rounds) = outcome();
    assert_eq!((ended, runs, &rounds[0]["round"]), ("completed".into(), 2.into(), &2.into()));

    // The third one starts a task of its own, and knows of both messages.
    let args = ["--supervisor", "--resume", &id[..7], "-p", "another thing"];
    let out = room.ccc(&args).run().code(0).transcript();
    assert!(out.contains("Resumed: 2 messages"), "{out}");
    assert!(out.contains("Confirmed complete in round 1"), "{out}");
    let list = room.ccc(&["sessions"]).run().code(0).out();
    let row = list.lines().nth(1).expect("a row");
    assert!(row.contains("  confirmed  2 ") && row.ends_with("  build it"), "{list}");
}
