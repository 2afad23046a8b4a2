//! Ctrl-Z: while ccc stands still the terminal is the shell's, and afterwards everything is there
//! again.

use std::path::Path;

use nix::sys::signal::Signal;

use crate::patience::wait_until;
use crate::person::Person;
use crate::picture::Picture;
use crate::stage::{Opening, Stage, is_ready, is_working, opening, room};

const CTRL_Z: &str = "\x1a";
const CTRL_D: &str = "\x04";

fn state(pid: i32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, rest) = stat.rsplit_once(')').expect("a name in brackets");
    rest.trim_start().chars().next().expect("a state")
}

fn whole(picture: &Picture) -> bool {
    picture.input() == Some("draft") && is_working(picture) && picture.count("zq-words") == 1
}

/// At work, with something said and something typed.
fn at_work(opening: Opening) -> Stage {
    let (mut stage, agent) = opening.working();
    agent.answers("zq-words");
    stage.person.types("draft");
    stage.person.looks_for("all of it", whole);
    // The agent stays: its end is not what this is about.
    std::mem::forget(agent);
    stage
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_continuing_takes_it_again() {
    let mut stage = at_work(opening().below_a_shell());
    let raw = stage.person.modes();
    assert_eq!(stage.person.titles(), 1, "the window's title is kept while ccc has its own");
    for _ in 0..2 {
        stage.person.types(CTRL_Z);
        wait_until("ccc stands still", || state(stage.person.pid()) == 'T');
        stage.person.looks_for("no live area", |picture| picture.input().is_none());
        stage.person.has_a_sane_terminal();
        stage.person.signal(Signal::SIGCONT);
        stage.person.looks_for("all of it", whole);
        assert_eq!(stage.person.modes(), raw, "raw again");
        assert!(stage.person.screen().bracketed_paste());
        assert_eq!(stage.person.titles(), 1);
    }
    stage.person.types("ed");
    stage.person.looks_for("the keys", |picture| picture.input() == Some("drafted"));
}

#[test]
fn where_no_shell_could_continue_it_ctrl_z_says_so() {
    let mut stage = at_work(opening());
    stage.person.types(CTRL_Z);
    stage.person.sees("Cannot suspend: ccc was not started from a shell");
    stage.person.types("ed");
    stage.person.looks_for("the keys", |picture| picture.input() == Some("drafted"));
}

#[test]
fn a_stop_that_nobody_announced_is_repaired_as_well() {
    let mut stage = at_work(opening());
    let raw = stage.person.modes();
    stage.person.signal(Signal::SIGSTOP);
    wait_until("ccc stands still", || state(stage.person.pid()) == 'T');
    stage.person.signal(Signal::SIGCONT);
    stage.person.types("ed");
    stage.person.looks_for("the keys", |picture| picture.input() == Some("drafted"));
    assert_eq!(stage.person.modes(), raw, "still raw");
}

#[test]
fn a_shell_gets_its_terminal_and_fg_brings_ccc_back() {
    let room = room();
    let opening = opening().env("PS1", "shell> ").env("ENV", "/dev/null");
    let command = opening.command(&room, Path::new("/bin/sh"), &["-i"]);
    let mut person = Person::runs(&command, (80, 24), false);
    person.looks_for("the shell", |picture| picture.text().ends_with("shell>"));
    person.types("stty -g >before\r");
    let ccc = env!("CARGO_BIN_EXE_ccc");
    person.types(&format!("{ccc} --supervisor\r"));
    person.looks_for("ccc", |picture| picture.input() == Some("") && is_ready(picture));
    person.types("draft");
    person.looks_for("the text", |picture| picture.input() == Some("draft"));
    person.types(CTRL_Z);
    person.looks_for("the shell", |picture| picture.rows[picture.cursor.0].starts_with("shell>"));
    person.types("stty -g >stopped; echo zq-$((40 + 2))\r");
    person.sees("zq-42");
    assert_eq!(room.read("project/stopped"), room.read("project/before"));
    person.types("fg\r");
    person.looks_for("all of it", |picture| picture.input() == Some("draft") && is_ready(picture));
    person.types("\x15");
    person.looks_for("no text", |picture| picture.input() == Some(""));
    person.types(CTRL_D);
    person.looks_for("the shell", |picture| picture.rows[picture.cursor.0].starts_with("shell>"));
    person.types("stty -g >after; echo zq-$((50 + 2))\r");
    person.sees("zq-52");
    assert_eq!(room.read("project/after"), room.read("project/before"));
    person.types("exit\r");
    assert_eq!(person.leaves().0, 0);
}
