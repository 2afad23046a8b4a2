//! `!command`: in the person's shell, on the person's terminal, and for the agent's eyes as well.

use crate::stage::opening;

const SHOWN: &str = "The agent will see this with your next message.";

#[test]
fn what_a_command_prints_goes_to_the_agent_too() {
    let (mut stage, mut agent) = opening().ready();
    stage.person.sends("!echo zq-$((20 + 3)); printf '\\377zq-after'");
    stage.person.sees("zq-23");
    stage.person.sees(SHOWN);
    stage.person.sends("zq-look");
    let message = agent.takes_up();
    assert!(
        message.contains("zq-23\n\u{fffd}zq-after") && message.ends_with("zq-look"),
        "{message}"
    );
}

#[test]
fn the_exit_code_of_a_command_that_fails_is_named() {
    let (mut stage, mut agent) = opening().ready();
    stage.person.sends("!exit 3");
    stage.person.sees("[exit code 3]");
    stage.person.sees(SHOWN);
    stage.person.sends("zq-look");
    let message = agent.takes_up();
    assert!(message.contains("$ exit 3\n[exit code 3]"), "{message}");
}

/// Ctrl-C is for the command; what it has printed until then counts.
#[test]
fn a_command_that_is_interrupted_leaves_the_session_alone() {
    let (mut stage, mut agent) = opening().ready();
    stage.person.sends("!echo zq-$((20 + 3)); sleep 999");
    stage.person.sees("zq-23");
    stage.person.types("\x03");
    stage.person.sees(SHOWN);
    stage.person.looks_for("the input", |picture| picture.input() == Some(""));
    stage.person.sends("zq-look");
    let message = agent.takes_up();
    assert!(message.contains("zq-23") && message.ends_with("zq-look"), "{message}");
}

#[test]
fn a_pager_that_does_not_start_is_named() {
    let (mut stage, _agent) = opening().env("PAGER", "zq-no-such-pager").ready();
    stage.person.types("\x0f");
    stage.person.sees("zq-no-such-pager was not found");
    let picture = stage.person.looks_for("the input", |picture| picture.input() == Some(""));
    assert!(picture.text().contains("The pager failed: zq-no-such-pager"), "{}", picture.text());
}
