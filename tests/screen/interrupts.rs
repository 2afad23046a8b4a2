//! Esc and Ctrl-C stop what is going on; at an empty prompt with nothing going on they lead out.

use crate::client::Client;
use crate::stage::{Stage, is_ready, is_working, opening};

const ESC: &str = "\x1b";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

fn stops_the_work(key: &str) {
    let (mut stage, agent) = opening().working();
    stage.person.types(key);
    agent.is_interrupted();
    stage.person.looks_for("the person's turn", is_ready);
    assert!(!stage.room.path("seen/supervisor-0").exists(), "a review of an interrupted turn");
}

#[test]
fn esc_interrupts_the_work() {
    stops_the_work(ESC);
}

#[test]
fn ctrl_c_interrupts_the_work() {
    stops_the_work(CTRL_C);
}

fn stops_the_review(key: &str) {
    let (mut stage, agent, supervisor) = opening().reviewing();
    let reviewer = supervisor.pid();
    stage.person.types(key);
    stage.person.looks_for("the person's turn", is_ready);
    crate::patience::wait_until("the supervisor is ended", || !runs(reviewer));
    assert!(!agent.is_asked_to_stop(), "the agent has nothing to do with it");
}

fn runs(pid: i32) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok()
}

#[test]
fn esc_drops_the_review() {
    stops_the_review(ESC);
}

#[test]
fn ctrl_c_drops_the_review() {
    stops_the_review(CTRL_C);
}

#[test]
fn ctrl_c_takes_the_text_away_before_it_interrupts() {
    let (mut stage, agent) = opening().working();
    stage.person.types("never mind");
    stage.person.looks_for("the text", |picture| picture.input() == Some("never mind"));
    stage.person.types(CTRL_C);
    let picture = stage.person.looks_for("no text", |picture| picture.input() == Some(""));
    assert!(is_working(&picture) && !agent.is_asked_to_stop(), "{}", picture.text());
    stage.person.types(CTRL_C);
    agent.is_interrupted();
}

#[track_caller]
fn left(stage: &mut Stage, agent: &Client) {
    let (code, picture) = stage.person.leaves();
    assert_eq!(code, 0, "{}", picture.text());
    stage.person.has_a_sane_terminal();
    assert!(!runs(agent.pid()), "the client is still there");
}

#[test]
fn ctrl_c_twice_at_the_empty_prompt_leaves_and_once_does_not() {
    let (mut stage, agent) = opening().ready();
    stage.person.types(CTRL_C);
    stage.person.looks_for("the way out", |picture| {
        picture.status().iter().any(|row| row.contains("Ctrl-C"))
    });
    // Anything else, and it was a single one again.
    stage.person.types("x");
    stage.person.looks_for("the text", |picture| picture.input() == Some("x"));
    stage.person.types(CTRL_C);
    stage.person.looks_for("no text", |picture| picture.input() == Some("") && is_ready(picture));
    stage.person.types(CTRL_C);
    stage.person.looks_for("the way out", |picture| !is_ready(picture));
    stage.person.types(CTRL_C);
    left(&mut stage, &agent);
}

#[test]
fn ctrl_d_leaves() {
    let (mut stage, agent) = opening().ready();
    stage.person.types(CTRL_D);
    left(&mut stage, &agent);
}

#[test]
fn ctrl_d_leaves_in_the_middle_of_the_work_as_well() {
    let (mut stage, agent) = opening().working();
    stage.person.types(CTRL_D);
    left(&mut stage, &agent);
}
