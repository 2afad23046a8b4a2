//! What the person wants from the client: permission modes, another model, work in the background.

use super::*;
use crate::client::stream::{Introduction, RateLimit};
use crate::event::Wish;
use crate::machine::Modes;

pub fn wish(text: &str) -> Wish {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "next-mode" => Wish::NextMode,
        "mode" => Wish::Mode(PermissionMode::from(rest.to_owned())),
        "model" => Wish::Model(rest.to_owned()),
        "context" => Wish::Context,
        "background" => Wish::Background,
        other => panic!("no such wish: {other}"),
    }
}

/// "2.1.325 default"
pub fn introduction(text: &str) -> Message {
    let (version, mode) = text.split_once(' ').unwrap_or((text, ""));
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Message::Introduced(Box::new(Introduction {
        version: some(version),
        mode: some(mode).map(PermissionMode::from),
        ..Introduction::default()
    }))
}

fn rules(modes: Modes) -> Rules {
    Rules { modes: Modes { told: true, ..modes }, ..Rules::default() }
}

const STARTED: (&str, &str) = ("start", "start agent; →Waiting");

#[test]
fn the_key_asks_for_the_next_mode_and_the_clients_answer_counts() {
    check_with(
        rules(Modes::default()),
        &[
            STARTED,
            ("introduces 2.1.325 default", "mode ask; client Settings"),
            ("wants next-mode", "client Mode(AcceptEdits)"),
            ("mode acceptEdits", "mode accept edits"),
            // Two quick presses of the key.
            ("wants next-mode, wants next-mode", "client Mode(Plan); client Mode(Ask)"),
            ("mode plan, mode default", "mode plan; mode ask"),
            ("wants mode plan", "client Mode(Plan)"),
            (
                "refuses no such mode",
                "refused \"change its permission mode to plan\": no such mode",
            ),
            ("wants next-mode", "client Mode(AcceptEdits)"),
        ],
    );
}

#[test]
fn the_bypass_mode_can_be_returned_to_only_if_it_was_allowed() {
    let rows = [
        STARTED,
        ("introduces 2.1.325 bypassPermissions", "mode skip permissions; client Settings"),
        ("wants next-mode, mode default", "client Mode(Ask); mode ask"),
        ("wants mode plan, mode plan", "client Mode(Plan); mode plan"),
        ("wants next-mode", "client Mode(Bypass)"),
    ];
    check_with(rules(Modes::default()), &rows);
    let rows = [
        STARTED,
        ("introduces 2.1.325 plan", "mode plan; client Settings"),
        ("wants next-mode", "client Mode(Bypass)"),
    ];
    check_with(rules(Modes { bypass: true, ..Modes::default() }), &rows);
}

#[test]
fn a_session_begins_in_the_mode_of_the_clients_own_screen() {
    let unchosen = Modes { unchosen: true, auto: true, ..Modes::default() };
    for (modes, told, wanted) in [
        (unchosen.clone(), "2.1.325 default", "mode ask; client Mode(Auto); client Settings"),
        (unchosen.clone(), "2.2.0 default", "mode ask; client Mode(Auto); client Settings"),
        // An older client asks, and the user's own choice counts.
        (unchosen.clone(), "2.1.260 default", "mode ask; client Settings"),
        (unchosen.clone(), "", ""),
        (unchosen.clone(), "2.1.325 acceptEdits", "mode accept edits; client Settings"),
        (
            Modes { unchosen: false, ..unchosen.clone() },
            "2.1.325 default",
            "mode ask; client Settings",
        ),
        // The provider has no check for auto mode.
        (Modes { auto: false, ..unchosen.clone() }, "2.1.325 default", "mode ask; client Settings"),
    ] {
        check_with(rules(modes), &[STARTED, (&format!("introduces {told}"), wanted)]);
    }
}

#[test]
fn a_new_process_gets_the_mode_that_the_old_one_had() {
    check_with(
        rules(Modes::default()),
        &[
            ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
            ("mode plan, init, taken", "mode plan"),
            (
                "dies 1",
                "agent gone \"boom\"; resume S; client Mode(Plan); send \"The client was restarted in the \
                 middle of your work. Check what is done already, then continue from there.\"",
            ),
        ],
    );
}

#[test]
fn a_wish_is_refused_while_the_client_is_not_running() {
    check_with(
        rules(Modes::default()),
        &[
            ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
            ("init, taken, result x", "→Reviewing; review 1/10 of S [do it]"),
            ("dies 1", "agent gone \"boom\""),
            (
                "wants context",
                "refused \"say what fills its context\": \
                 claude is not running; your next message starts it",
            ),
        ],
    );
}

#[test]
fn a_chosen_model_is_shown_before_its_first_turn() {
    let machine = check_with(
        rules(Modes::default()),
        &[STARTED, ("wants model opus, grants", "client Model(\"opus\")")],
    );
    assert_eq!(machine.status().model, "opus");
    let machine = check_with(
        rules(Modes::default()),
        &[
            ("start, said x", "start agent; →Waiting; send \"x\"; →Working"),
            ("wants model opus, grants, init", "client Model(\"opus\")"),
        ],
    );
    assert_eq!(machine.status().model, "m");
}

#[test]
fn only_a_running_tool_goes_to_the_background() {
    check_with(
        rules(Modes::default()),
        &[
            ("start", "start agent; →Waiting"),
            ("wants background", "refused \"send anything to the background\": nothing is running"),
            ("said x, init, taken", "send \"x\"; →Working"),
            (
                "wants background",
                "refused \"send anything to the background\": no command has run for a few seconds yet",
            ),
            ("slow-command t, wants background, grants", "client Background; backgrounded"),
            ("wants background", "client Background"),
            ("refuses busy", "refused \"send anything to the background\": busy"),
        ],
    );
}

#[test]
fn the_limit_of_a_subscription_is_kept_for_the_status_line() {
    let mut machine = check_with(Rules::default(), &[STARTED]);
    let limit = RateLimit { kind: "five_hour".into(), used: Some(0.5), ..RateLimit::default() };
    let message = Message::RateLimit(limit.clone());
    let envelope = Envelope { session_id: None, parent: None, message };
    assert!(machine.step(Event::Agent(envelope), Duration::ZERO).is_empty());
    assert_eq!(machine.status().limit, Some(limit));
}

#[test]
fn the_starting_mode_is_known_before_the_client_reports_it() {
    let begins = Some(PermissionMode::Bypass);
    let machine = check_with(
        rules(Modes { begins, ..Modes::default() }),
        &[
            ("start", "mode skip permissions; start agent; →Waiting"),
            ("mode bypassPermissions", ""),
        ],
    );
    assert_eq!(machine.status().mode, Some(PermissionMode::Bypass));
}
