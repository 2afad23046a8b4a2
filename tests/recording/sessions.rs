//! Sessions that go well: each file has all of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ccc::event::Event;
use ccc::record::read::{AGENT, CAST, EVENTS, SUPERVISOR};
use ccc::record::{ClientLines, Entry};

use crate::client::{NO, YES, room};
use crate::person::Person;
use crate::played::played;
use crate::rerun::rerun;
use crate::room::{Room, STATE_DIR};
use crate::trace::{Trace, files};

/// What both clients printed is on record byte for byte, and the loop decides the same again.
#[track_caller]
fn check(room: &Room, trace: &Trace) {
    let id = trace.id();
    assert_eq!(trace.text(AGENT), room.seen(&format!("{id}.agent.printed")));
    // What the shim says of its case is on record too.
    let judge = trace.text(SUPERVISOR);
    let judge: String =
        judge.split_inclusive('\n').filter(|line| !line.contains("\"ccc_case\"")).collect();
    assert_eq!(judge, room.seen(&format!("{id}.supervisor.printed")));
    assert!(!trace.check_lines());
    assert!(rerun(&trace.recording()) > 10);
    let events = trace.events();
    assert!(matches!(events.first().map(|line| &line.content), Some(Entry::Begun { .. })));
    assert!(matches!(events.last().map(|line| &line.content), Some(Entry::Ended { .. })));
}

#[test]
fn a_session_at_a_terminal() {
    let room = room(&[NO, YES]);
    let mut person = Person::runs(&room, &["--supervisor"]);
    person.sees("ready").types("fïx it").sees("fïx it").types("\r");
    person.sees("Not complete yet").sees("Confirmed complete in round 2").sees("ready");
    person.resizes(90, 40).sees("ready").types("x\x1b[D").sees("x").types("\x0b\x1bb");
    person.sees("ready").types("\x04");
    let (code, screen) = person.leaves();
    assert_eq!(code, 0);
    let trace = Trace::of(&room);
    check(&room, &trace);

    let (header, _) = trace.cast();
    assert_eq!((&header["version"], &header["title"]), (&2.into(), &"fïx it".into()));
    assert_eq!((&header["width"], &header["height"]), (&200.into(), &50.into()));
    let env = header["env"].as_object().expect("an environment");
    assert!(env["TERM"] == "xterm" && env.keys().all(|name| name == "TERM" || name == "SHELL"));
    // What is printed last is printed by a terminal that is no longer raw.
    assert_eq!(trace.cast_events("o").concat(), screen.replace("\r\r\n", "\r\n"));
    assert_eq!(trace.cast_events("i").concat(), "fïx it\rx\x1b[D\x0b\x1bb\x04");
    assert_eq!(trace.cast_events("r"), ["90x40"]);
    assert_eq!(
        trace.cast_events("m"),
        [
            "user: fïx it",
            "working 1/10",
            "reviewing 1/10",
            "not completed: tests are missing",
            "working 2/10",
            "reviewing 2/10",
            "completed",
        ]
    );
    if let Some(text) = played(&trace.path(CAST)) {
        for shown in ["fïx it", "all done here: größer, 完成 🎉", "Confirmed complete in round 2"]
        {
            assert!(text.contains(shown), "{shown}: {text}");
        }
    }
}

/// The lines of the flood between a message and its answer are counted, not told one by one.
#[test]
fn a_flood_of_partial_messages_costs_nearly_nothing() {
    let room = room(&[YES]);
    room.ccc(&["--supervisor", "-p", "go"]).env("PARTS", "2000").run().code(0);
    let trace = Trace::of(&room);
    check(&room, &trace);
    let events = trace.text(EVENTS);
    assert!(events.lines().count() < 40, "{events}");
    let counted = trace.events().into_iter().map(|line| match line.content {
        Entry::Lines(ClientLines::Agent { lines }) => lines,
        _ => 0,
    });
    assert_eq!(counted.sum::<u64>(), 2005);
}

#[test]
fn every_output_format_has_a_screen_to_look_at() {
    for format in ["text", "stream-json", "json"] {
        let room = room(&[NO, YES]);
        let done = room.ccc(&["--supervisor", "-p", "go", "--output-format", format]).run().code(0);
        let trace = Trace::of(&room);
        check(&room, &trace);
        let shown = trace.cast_events("o").concat();
        for text in ["❯ go\r\n", "all done here: größer, 完成 🎉", "Confirmed complete"] {
            assert!(shown.contains(text), "{format}: {text}: {shown}");
        }
        assert_eq!(done.transcript().replace('\n', "\r\n") == shown, format == "text");
        assert_eq!(trace.cast_events("m").len(), 7);
        if let Some(text) = played(&trace.path(CAST)) {
            assert!(text.contains("all done here: größer, 完成 🎉"), "{format}: {text}");
        }
    }
}

/// A task in the background ends, the agent does not wake: what follows hangs on the very moment of
/// lines that caused nothing by themselves.
#[test]
fn moments_that_nobody_sees_are_on_record() {
    let room = room(&[YES]);
    room.client(
        r#"#!/bin/sh
for arg; do [ "$arg" = --fork-session ] && exec "$ROOM/../reviewer" "$@"; done
read -r line
uuid=${line#*\"uuid\":\"}
system() { echo "{\"type\":\"system\",\"session_id\":\"s\",\"subtype\":\"$1\",\"task_id\":\"$2\"}"; }
system init
echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"${uuid%%\"*}\"}"
system task_started a
system task_started b
echo '{"type":"result","num_turns":1,"result":"done"}'
for task in a b b; do
  sleep 0.2
  system task_notification $task
  system other
  sleep 0.1
  system other
done
read -r line
"#,
    );
    room.program(
        "reviewer",
        r#"#!/bin/sh
read -r line
echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":""}}'
"#,
    );
    room.ccc(&["--supervisor", "-p", "go"]).run().code(0);
    let trace = Trace::of(&room);
    assert!(trace.events().iter().any(|line| line.content == Entry::Event(Event::Tick)));
    assert!(rerun(&trace.recording()) > 10);
}

/// A line that a tool asks for without echo is never recorded, since no tool can ask for one: the
/// agent's terminal is another one than the person's, and the supervisor has none.
#[cfg(target_os = "linux")]
#[test]
fn no_tool_can_ask_at_the_persons_terminal() {
    let room = room(&[YES]);
    room.client(
        r#"#!/bin/sh
for arg; do
  if [ "$arg" = --fork-session ]; then
    (: </dev/tty) 2>"$ROOM/supervisor.tty" && echo 'has one' >"$ROOM/supervisor.tty"
    read -r line
    echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":""}}'
    exit
  fi
done
tty <&1 >"$ROOM/agent.tty"
stty -a </dev/tty >"$ROOM/agent.modes"
while read -r line; do
  case $line in *'"subtype":"initialize"'*) continue ;; esac
  uuid=${line#*\"uuid\":\"}
  echo '{"type":"system","subtype":"init","session_id":"s"}'
  echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"${uuid%%\"*}\"}"
  echo '{"type":"result","num_turns":1,"result":"done"}'
done
"#,
    );
    let mut person = Person::runs(&room, &["--supervisor"]);
    person.sees("ready").types("go").sees("go").types("\r").sees("Confirmed complete");
    let own = person.terminal();
    person.sees("ready").types("\x04");
    assert_eq!(person.leaves().0, 0);
    let agents = room.seen("agent.tty");
    assert!(agents.starts_with("/dev/") && agents.trim() != own.to_string_lossy(), "{agents}");
    // Nobody has to switch the echo off: it is off, so that our own messages do not come back.
    assert!(room.seen("agent.modes").contains("-echo "), "{}", room.seen("agent.modes"));
    let supervisors = room.seen("supervisor.tty");
    assert!(supervisors.contains("/dev/tty"), "{supervisors}");
}

#[test]
fn everything_is_private() {
    let room = room(&[YES]);
    room.ccc(&["--supervisor", "-p", "go"]).run().code(0);
    let trace = Trace::of(&room);
    for name in [EVENTS, AGENT, SUPERVISOR, CAST] {
        assert!(trace.path(name).is_file(), "{name}");
    }
    for path in files(&room.path(STATE_DIR)) {
        let metadata = fs::metadata(&path).expect("a file");
        let mode = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn nobody_is_recorded_who_does_not_want_it_or_has_no_session() {
    for (args, code) in [
        (["--supervisor", "--no-record", "-p", "go"].as_slice(), 0),
        (&["--supervisor", "--no-record", "-p", "go", "--output-format", "json"], 0),
        (&["--supervisor", "-p", "go", "--", "--help"], 0),
    ] {
        let room = room(&[YES]);
        room.ccc(args).run().code(code);
        assert!(!room.path(STATE_DIR).join("sessions").exists(), "{args:?}");
    }
}
