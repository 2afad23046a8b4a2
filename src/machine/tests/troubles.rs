//! Failures, questions, deaths of the agent, `/supervisor`, and the end of a session.

use super::*;

#[test]
fn a_review_without_a_verdict_is_tried_once_more() {
    check(&after_review(&[
        (
            "supervisor-dies",
            "stop review; review failed \"the supervisor exited with code 1: boom\"; review 1/10 of S [do it]",
        ),
        ("verdict-failed no credit", "stop review; review failed \"no credit\"; →Waiting"),
    ]));
    check(&after_review(&[
        ("tick 599", ""),
        (
            "tick 1",
            "stop review; review failed \"no verdict within 600 s\"; review 1/10 of S [do it]",
        ),
        ("rejects more", "stop review; send \"more\"; →Working"),
    ]));
    check_headless(&[
        ("start do it", "start agent; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
        (
            "supervisor-dies, verdict-failed x",
            "stop review; review failed \"the supervisor exited with code 1: boom\"; \
          review 1/10 of S [do it]; stop review; review failed \"x\"; →Ended; finish NoVerdict(\"x\")",
        ),
    ]);
}

#[test]
fn a_message_that_the_agent_never_took_up_is_reported() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("said and this", "send \"and this\""),
        ("interrupt, interrupt", "interrupt agent; lost \"and this\"; interrupted; →Waiting"),
        ("said more", "send \"more\"; →Working"),
        ("leave", "lost \"more\"; →Ended; finish Ended"),
    ]);
}

#[test]
fn a_client_that_is_too_old_ends_the_session() {
    for rules in [Rules::default(), Rules { person: false, ..Rules::default() }] {
        let old = step_all(rules.clone(), &["start do it", "release 2.1.196", "result done"]);
        assert!(old.contains("→Ended; finish Failed(\"claude 2.1.196 is too old"), "{old}");
        assert!(!old.contains("review"), "{old}");
        let new = step_all(rules, &["start do it", "release 2.1.197", "taken", "result done"]);
        assert!(new.contains("review 1/10") && !new.contains("finish"), "{new}");
    }
}

/// Any program that the agent runs can write to its terminal.
#[test]
fn only_the_person_moves_the_agent_to_another_conversation() {
    let told = "failed \"the agent's output names another conversation (S2)";
    let headless = step_all(
        Rules { person: false, ..Rules::default() },
        &["start do it", "init", "taken", "clear", "result done"],
    );
    assert!(headless.contains(told) && headless.contains("finish Failed"), "{headless}");
    assert!(!headless.contains("review"), "{headless}");
    let working =
        step_all(Rules::default(), &["start", "said do it", "init", "taken", "clear", "failed x"]);
    assert!(
        working.contains(told) && working.ends_with("interrupt agent; interrupted; →Waiting"),
        "{working}"
    );
    let reviewing = step_all(
        Rules::default(),
        &["start", "said do it", "init", "taken", "result done", "clear"],
    );
    assert!(reviewing.contains("stop review") && reviewing.ends_with("→Waiting"), "{reviewing}");
}

/// Found by fuzzing: the review continued while it was the person's turn, and a second one could
/// begin.
#[test]
fn a_result_without_a_turn_does_not_disturb_a_review() {
    check(&after_review(&[
        ("failed x", ""),
        ("result something else", ""),
        ("said /supervisor", "supervision true"),
        ("rejects more", "stop review; send \"more\"; →Working"),
    ]));
}

#[test]
fn a_running_review_belongs_to_the_restarted_count() {
    check(&after_review(&[
        ("said /supervisor", "supervision true"),
        (
            "supervisor-dies",
            "stop review; review failed \"the supervisor exited with code 1: boom\"; review 1/10 of S [do it]",
        ),
    ]));
}

#[test]
fn a_change_during_a_review_is_reported_and_the_verdict_counts() {
    check(&after_review(&[
        ("tree-changes new.rs", "changed new.rs (added)"),
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        // The review is over, so changes are not reported any more.
        ("tree-changes more.rs", ""),
    ]));
}

#[test]
fn the_person_is_asked_for_permission_one_question_at_a_time() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("asks r1, asks r2", "ask r1"),
        ("allow", "allow; ask r2"),
        ("cancelled r2", "unask"),
        ("allow", ""),
        ("odd-request", "refuse tomorrow"),
    ]);
}

/// It may change what was asked for.
#[test]
fn an_answer_to_the_agents_question_is_among_the_persons_words() {
    let machine = check_with(
        Rules { person: true, ..Rules::default() },
        &[
            ("start, said do it, init", "start agent; →Waiting; send \"do it\"; →Working"),
            ("taken, asks r1", "ask r1"),
            ("chooses the blue one", "allow"),
            ("result done", "→Reviewing; review 1/10 of S [do it|the blue one]"),
        ],
    );
    let ending = machine.carried().ending.expect("a message");
    assert_eq!(ending.message, "do it", "an answer alone does not say what was asked for");
}

#[test]
fn without_a_person_permission_is_denied() {
    check_headless(&[
        ("start do it, init, taken", "start agent; send \"do it\"; →Working"),
        ("asks r1", "deny"),
    ]);
}

#[test]
fn the_persons_time_to_answer_does_not_count_against_the_review() {
    check(&after_review(&[
        ("supervisor-asks r1", "ask r1"),
        ("tick 1000", ""),
        ("allow", "allow"),
        ("tick 599", ""),
        (
            "tick 1",
            "stop review; review failed \"no verdict within 600 s\"; review 1/10 of S [do it]",
        ),
    ]));
}

#[test]
fn the_time_in_which_a_person_is_asked_is_neither_work_nor_review() {
    let machine = check_with(
        Rules { person: true, ..Rules::default() },
        &[
            ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
            ("init, taken, tick 5, asks r1", "ask r1"),
            ("tick 100, allow", "allow"),
            ("tick 2, result done", "→Reviewing; review 1/10 of S [do it]"),
            ("tick 3, supervisor-asks r2", "ask r2"),
            ("tick 1000, allow", "allow"),
            ("tick 4, verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ],
    );
    let report = machine.report(Outcome::Completed, Duration::from_secs(1114));
    let (reviewed, all) = (report.rounds[0].seconds, report.seconds);
    assert_eq!((reviewed, all.working, all.reviewing, all.total), (7.0, 7.0, 7.0, 1114.0));
}

#[test]
fn while_a_person_is_asked_no_other_deadline_ends_the_review() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task server, result started", "background"),
        ("tick 601", "→Reviewing; review 1/10 of S [do it]"),
        ("supervisor-asks r1", "ask r1"),
        ("tick 1000", ""),
        // The agent may wake for the ended task, and the loop waits for that.
        ("task-ended server", ""),
        ("tick 3", ""),
        ("allow", "allow"),
        ("tick 599", ""),
    ]);
}

#[test]
fn a_withdrawn_question_does_not_count_against_the_review() {
    check(&after_review(&[
        ("supervisor-asks r1", "ask r1"),
        ("tick 1000", ""),
        ("supervisor-cancels r1", "unask"),
        ("tick 599", ""),
        (
            "tick 1",
            "stop review; review failed \"no verdict within 600 s\"; review 1/10 of S [do it]",
        ),
    ]));
}

#[test]
fn a_question_ends_with_the_review_that_asked_it() {
    check(&after_review(&[
        ("supervisor-asks r1", "ask r1"),
        ("said never mind", "unask; stop review; send \"never mind\"; →Working"),
        ("allow", ""),
    ]));
}

#[test]
fn an_agent_that_dies_in_mid_turn_is_resumed_once() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        (
            "dies 1",
            "agent gone \"boom\"; resume S; send \"The client was restarted in the middle of your work. \
             Check what is done already, then continue from there.\"",
        ),
        ("dies 1", "agent gone \"boom\"; →Waiting"),
        ("said again", "resume S; send \"again\"; →Working"),
    ]);
    check_headless(&[
        ("start do it, init", "start agent; send \"do it\"; →Working"),
        ("dies 1", "agent gone \"boom\"; start agent; send \"do it\""),
        (
            "dies 1",
            "agent gone \"boom\"; lost \"do it\"; →Ended; finish Failed(\"claude exited with code 1: boom\")",
        ),
    ]);
}

#[test]
fn an_agent_that_dies_while_idle_is_resumed_with_the_next_message() {
    check(&after_review(&[
        ("dies 9", "agent gone \"boom\""),
        ("rejects more", "stop review; resume S; send \"more\"; →Working"),
    ]));
}

#[test]
fn a_client_that_never_spoke_failed_to_start() {
    let failed = "→Ended; finish Failed(\"claude exited with code 1: boom\")";
    check(&[("start", "start agent; →Waiting"), ("dies 1", failed)]);
    let silent = "→Ended; finish Failed(\"claude exited with code 0: boom\")";
    check(&[("start", "start agent; →Waiting"), ("dies 0", silent)]);
    let rules = Rules { client_may_leave: true, ..Rules::default() };
    check_with(
        rules,
        &[("start", "start agent; →Waiting"), ("dies 0", "→Ended; finish ClientLeft(0)")],
    );
}

#[test]
fn clear_starts_a_new_conversation() {
    check(&after_review(&[
        ("rejects more, init, taken", "stop review; send \"more\"; →Working"),
        ("said /clear, result done", "send \"/clear\""),
        ("clear, taken, command-result", "→Waiting"),
        ("said new", "send \"new\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S2 [new]"),
    ]));
}

#[test]
fn supervision_can_be_switched_off_and_on() {
    check(&[
        ("start, said /supervisoroff", "start agent; →Waiting; supervision false"),
        ("said do it", "send \"do it\"; →Working"),
        ("init, taken, result done", "→Waiting"),
        ("said /supervisor now check", "supervision true; send \"now check\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it|now check]"),
        ("said /supervisoroff", "supervision false; stop review; →Waiting"),
    ]);
}

#[test]
fn leaving_and_signals_end_the_session() {
    check(&after_review(&[("leave", "stop review; →Ended; finish Ended"), ("said x", "")]));
    check(&[("start, signal 15", "start agent; →Waiting; →Ended; finish Signal(15)")]);
}

#[test]
fn costs_add_up_over_processes_and_reviews() {
    let mut machine = Machine::new(Rules::default());
    for (total, sum) in [(1.0, 1.0), (1.5, 1.5), (0.25, 1.75)] {
        machine.spent.cost.agent(total);
        assert!((machine.status().cost_usd - sum).abs() < 1e-9);
    }
}

#[test]
fn message_ids_are_uuids_and_differ() {
    let mut machine = Machine::new(Rules { seed: 0x0123_4567_89ab_cdef, ..Rules::default() });
    let ids: std::collections::HashSet<_> = (0..70_000).map(|_| machine.next_id()).collect();
    assert_eq!(ids.len(), 70_000);
    assert!(
        ids.iter().all(|id| uuid::Uuid::parse_str(id).is_ok_and(|id| id.get_version_num() == 4))
    );
}
