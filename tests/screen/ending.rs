//! The end takes as long as the client does: who waits sees it, and need not wait.

use std::path::Path;

use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::person::Person;
use crate::stage::{opening, room};

/// Neither the end of its input nor a polite signal makes it go.
const STUBBORN: &str = r#"#!/bin/sh
trap '' TERM HUP INT
echo $$ >"$ROOM/pid"
while :; do sleep 1; done
"#;

#[test]
fn a_client_that_does_not_go_is_waited_for_in_sight_until_the_person_has_enough() {
    let room = room();
    room.client(STUBBORN);
    let ccc = Path::new(env!("CARGO_BIN_EXE_ccc"));
    let command = opening().command(&room, ccc, &["--supervisor"]);
    let mut person = Person::runs(&command, (80, 24), false);
    person.looks_for("the input", |picture| picture.input() == Some(""));
    person.sends("zq-task");
    person.sees("working");
    person.types("\x03");
    person.types("\x03");
    person.looks_for("the person's turn", |picture| picture.count("ready") == 1);
    person.types("\x04");
    person.sees("Ctrl-C stops waiting");
    person.types("\x03");
    let (code, picture) = person.leaves();
    assert_eq!(code, 0, "{}", picture.text());
    assert!(picture.text().contains("Session ended"), "{}", picture.text());
    assert_eq!(picture.count("ending"), 0, "{}", picture.text());
    person.has_a_sane_terminal();
    let pid = room.seen("pid").trim().parse().expect("a pid");
    assert!(kill(Pid::from_raw(pid), None).is_err(), "the client is still there");
}
