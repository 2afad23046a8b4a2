//! Resumed sessions.

use super::*;
use crate::event::{Ending, Outcome, Stood};

#[test]
fn a_resumed_session_continues() {
    let said = |text: &str| Said { text: text.into(), earlier: false, ..Said::default() };
    let carried =
        Carried { round: 2, said: vec![said("do it")], cost_usd: 0.5, ..Carried::default() };
    let rules =
        Rules { resume: Some("S".into()), carried: Some(carried.clone()), ..Rules::default() };
    let machine = check_with(
        rules.clone(),
        &[
            (
                "start, said go on",
                "resumed 2, 1, $0.5; resume S; →Waiting; send \"go on\"; →Working",
            ),
            ("init, taken, result done", "→Reviewing; review 3/10 of S [do it|go on]"),
        ],
    );
    assert!(machine.status().cost_usd >= 0.5);
    assert_eq!(machine.carried().round, 2, "the review has no verdict yet");
    let rules = Rules { carried: Some(Carried { fresh: true, ..carried }), ..rules };
    check_with(
        rules,
        &[
            ("start, said next", "resumed 0, 1, $0.5; resume S; →Waiting; send \"next\"; →Working"),
            ("init, taken, result done", "→Reviewing; review 1/10 of S [·|next]"),
        ],
    );
}

#[test]
fn a_recorded_session_that_the_agent_names_continues() {
    let start = [
        ("start, said go on", "start agent; →Waiting; send \"go on\"; →Working"),
        ("init, taken, restored", "resumed 2, 1, $0.5"),
    ];
    let rows = |rest: &[(&'static str, &'static str)]| {
        start.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>()
    };
    let machine = check_with(
        Rules::default(),
        &rows(&[
            ("restored", ""),
            ("result done", "→Reviewing; review 3/10 of S [before|go on]"),
            ("rejects not yet", "stop review; send \"not yet\"; →Working"),
            ("init, taken, result done", "→Reviewing; review 4/10 of S [before|go on]"),
        ]),
    );
    assert!((machine.status().cost_usd - 0.5).abs() < 1e-9);
    // `/clear` starts from nothing.
    check(&rows(&[
        ("result done", "→Reviewing; review 3/10 of S [before|go on]"),
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ("said /clear", "send \"/clear\"; →Working"),
        ("clear, taken, command-result", "→Waiting"),
        (
            "said anew, init, taken, result done",
            "send \"anew\"; →Working; →Reviewing; review 1/10 of S2 [anew]",
        ),
    ]));
}

#[test]
fn a_task_confirmed_in_an_earlier_run_is_an_earlier_task() {
    check(&[
        ("start, said next", "start agent; →Waiting; send \"next\"; →Working"),
        ("init, taken, restored done", "resumed 0, 1, $0.5"),
        ("result done", "→Reviewing; review 1/10 of S [·|next]"),
    ]);
    // The agent wakes by itself before the person has sent a message.
    check(&[
        ("start, init, restored done", "start agent; →Waiting; →Working; resumed 0, 1, $0.5"),
        ("interrupt, result", "interrupt agent; interrupted; →Waiting"),
        (
            "said next, init, taken, result done",
            "send \"next\"; →Working; →Reviewing; review 1/10 of S [·|next]",
        ),
    ]);
}

#[test]
fn nothing_is_restored_after_a_review() {
    check(&after_review(&[
        ("restored", ""),
        ("rejects not yet", "stop review; send \"not yet\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 2/10 of S [do it]"),
    ]));
}

#[test]
fn a_run_continues_with_what_the_last_one_left() {
    let machine = check_with(
        Rules::default(),
        &after_review(&[("rejects not yet", "stop review; send \"not yet\"; →Working")]),
    );
    let carried = machine.carried();
    let said = vec![Said { text: "do it".into(), earlier: false, ..Said::default() }];
    let ending = Ending { message: "do it".into(), answer: "done".into(), stood: Stood::Open(0) };
    assert_eq!(carried, Carried { round: 1, said, ending: Some(ending), ..Carried::default() });
    let next = Machine::new(Rules { carried: Some(carried.clone()), ..Rules::default() });
    assert_eq!(next.carried(), carried);
}

#[test]
fn a_resumed_session_is_announced_once() {
    let mut machine = Machine::new(Rules { resume: Some("S".into()), ..Rules::default() });
    let init = || {
        let message = Message::Init(Init::default());
        Event::Agent(Envelope { session_id: Some("S".into()), parent: None, message })
    };
    let named = |actions: Vec<Action>| {
        actions
            .iter()
            .filter(|action| matches!(action, Action::Say(Notice::Session { .. })))
            .count()
    };
    machine.step(Event::Start { prompt: None }, Duration::ZERO);
    assert_eq!(named(machine.step(init(), Duration::ZERO)), 1);
    assert_eq!(named(machine.step(init(), Duration::ZERO)), 0);
}

#[test]
fn a_session_that_could_not_be_resumed_has_no_id() {
    let mut machine = Machine::new(Rules { resume: Some("S".into()), ..Rules::default() });
    machine.step(Event::Start { prompt: None }, Duration::ZERO);
    let id = |machine: &Machine, outcome| machine.report(outcome, Duration::ZERO).session_id;
    assert_eq!(id(&machine, Outcome::Failed("no such session".into())), None);
    // A person who leaves before the first turn can resume the session.
    assert_eq!(id(&machine, Outcome::Ended).as_deref(), Some("S"));
    let message = Message::Init(Init::default());
    let envelope = Envelope { session_id: Some("S".into()), parent: None, message };
    machine.step(Event::Agent(envelope), Duration::ZERO);
    assert_eq!(id(&machine, Outcome::Failed("later".into())).as_deref(), Some("S"));
}
