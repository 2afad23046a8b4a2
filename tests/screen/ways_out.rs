//! However a session ends, the terminal is as it was found, the exit code says how it went, and
//! nobody is left behind.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::client::Client;
use crate::picture::Picture;
use crate::stage::{Stage, is_ready, is_working, opening};

/// The session is over, with this code, and all is as it was.
#[track_caller]
fn ended(stage: &mut Stage, code: u32) -> Picture {
    let (left, picture) = stage.person.leaves();
    assert_eq!(left, code, "{}", picture.text());
    stage.person.has_a_sane_terminal();
    // Nothing is left of the live area: what is printed next stands at the start of an empty line.
    assert_eq!(picture.cursor.1, 0, "{}", picture.text());
    assert_eq!(picture.rows[picture.cursor.0], "", "{}", picture.text());
    assert_eq!(picture.count("working"), 0, "{}", picture.text());
    picture
}

fn by_signal(signal: Signal) {
    let (mut stage, agent) = opening().working();
    stage.person.types("a draft");
    stage.person.sees("a draft");
    stage.person.signal(signal);
    ended(&mut stage, 128 + u32::try_from(signal as i32).expect("a number"));
    assert!(kill(Pid::from_raw(agent.pid()), None).is_err(), "the client is still there");
}

#[test]
fn sigterm() {
    by_signal(Signal::SIGTERM);
}

#[test]
fn sighup() {
    by_signal(Signal::SIGHUP);
}

#[test]
fn sigint_from_outside() {
    by_signal(Signal::SIGINT);
}

#[test]
fn a_normal_end() {
    let (mut stage, agent, supervisor) = opening().reviewing();
    supervisor.judges(true, "zq-fine");
    stage.person.looks_for("the person's turn", is_ready);
    stage.person.types("\x04");
    let picture = ended(&mut stage, 0);
    assert!(picture.text().contains(&agent.session), "{}", picture.text());
}

#[test]
fn no_client() {
    let mut stage = opening().env("CCC_CLAUDE", "/zq/there/is/none").start();
    let picture = ended(&mut stage, 1);
    assert!(picture.text().contains("/zq/there/is/none"), "{}", picture.text());
}

#[test]
fn a_client_that_fails_before_its_first_word() {
    let (mut stage, agent) = opening().ready();
    agent.says_raw("zq-reason\n");
    stage.person.sees("zq-reason");
    agent.quits(7);
    let picture = ended(&mut stage, 1);
    assert!(picture.text().contains("code 7"), "{}", picture.text());
}

/// Resumed after its first death; after the second one soon after it is the person who decides.
#[test]
fn a_client_that_is_killed_twice_costs_the_turn_and_not_the_terminal() {
    let (mut stage, agent) = opening().working();
    agent.answers("zq-first");
    stage.person.sees("zq-first");
    stage.person.types("a draft");
    stage.person.looks_for("the draft", |picture| picture.input() == Some("a draft"));
    let dies = |agent: &Client| {
        kill(Pid::from_raw(agent.pid()), Signal::SIGKILL).expect("a process of ours");
    };
    dies(&agent);
    let mut second = stage.client("agent-1");
    second.takes_up();
    second.answers("zq-second");
    stage.person.sees("zq-second");
    let picture = stage.person.picture();
    assert!(is_working(&picture) && picture.input() == Some("a draft"), "{}", picture.text());
    dies(&second);
    let picture = stage.person.looks_for("the person's turn", is_ready);
    assert_eq!(picture.input(), Some("a draft"), "{}", picture.text());
    stage.person.types("\x15");
    stage.person.looks_for("no text", |picture| picture.input() == Some(""));
    stage.person.types("\x04");
    ended(&mut stage, 0);
}

/// Gone without a word, so nobody can tidy up; but its clients do not outlive it.
#[test]
fn sigkill_leaves_no_client_behind() {
    let (mut stage, agent) = opening().working();
    stage.person.signal(Signal::SIGKILL);
    stage.person.is_gone();
    crate::patience::wait_until("the client is gone", || {
        kill(Pid::from_raw(agent.pid()), None).is_err()
    });
}
