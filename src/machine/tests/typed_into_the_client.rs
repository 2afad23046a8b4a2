//! Sessions in which the person types into the client's own screen, and the client reports it to
//! ccc.

use super::*;
use crate::machine::TypedInto;

#[track_caller]
fn check_native(rows: &[(&str, &str)]) {
    check_with(Rules { typed_into: TypedInto::Client, ..Rules::default() }, rows);
}

const TO_NATIVE_REVIEW: (&str, &str) = (
    "start, conversation S, said do it, init, result done",
    "start agent; →Waiting; →Working; →Reviewing; review 1/10 of S [do it]",
);

#[test]
fn a_message_typed_into_the_client_drops_the_review_and_is_not_sent() {
    check_native(&[
        TO_NATIVE_REVIEW,
        ("said and more", "stop review; →Working"),
        ("init, result done", "→Reviewing; review 1/10 of S [do it|and more]"),
        ("rejects add tests", "stop review; send \"add tests\"; →Working"),
    ]);
}

#[test]
fn the_session_ends_with_the_clients_exit_code() {
    for (happens, outcome) in [("dies 0", "Ended"), ("dies 3", "ClientLeft(3)")] {
        let end = format!("stop review; →Ended; finish {outcome}");
        check_native(&[TO_NATIVE_REVIEW, (happens, &end)]);
    }
}

#[test]
fn the_judge_is_denied_permission_without_a_screen_to_ask_on() {
    check_native(&[TO_NATIVE_REVIEW, ("supervisor-asks r", "deny")]);
}

#[test]
fn without_a_verdict_the_next_stop_is_reviewed() {
    check_native(&[
        TO_NATIVE_REVIEW,
        ("interrupt", "stop review; →Waiting"),
        ("said /supervisor", "supervision true"),
        ("init, result done", "→Working; →Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn another_conversation_has_its_own_messages_and_count() {
    check_native(&[
        TO_NATIVE_REVIEW,
        ("rejects add tests", "stop review; send \"add tests\"; →Working"),
        ("conversation S2, said anew", ""),
        ("init, result done", "→Reviewing; review 1/10 of S2 [anew]"),
    ]);
}

/// `/resume` in the middle of a session.
#[test]
fn a_known_conversation_continues() {
    check_native(&[
        TO_NATIVE_REVIEW,
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ("conversation S2, restored, said go on", "resumed 2, 1, $0.5; →Working"),
        ("init, result done", "→Reviewing; review 3/10 of S2 [before|go on]"),
    ]);
}

/// `/rewind`: the client reports only the next message; its transcript shows where the conversation
/// continues.
#[test]
fn messages_undone_by_a_rewind_leave_the_task() {
    let back = "back Conversation before \"and more\"";
    check_native(&[
        TO_NATIVE_REVIEW,
        ("said and more, said and that", "stop review; →Working"),
        ("said do it differently, unsaid and more|and that", back),
        ("init, said oops, unsaid oops", "back Conversation before \"oops\""),
        // Out of the client's queue: the agent never saw it, and the person need not be told.
        ("said never mind, unqueued never mind", ""),
        ("result done", "→Reviewing; review 1/10 of S [do it|do it differently]"),
    ]);
}

/// A schedule or a background task can wake the agent.
#[test]
fn work_after_a_confirmation_restarts_the_count() {
    check_native(&[
        TO_NATIVE_REVIEW,
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ("init, result done", "→Working; →Reviewing; review 1/10 of S [do it]"),
        ("rejects add tests", "stop review; send \"add tests\"; →Working"),
        ("result done", "→Reviewing; review 2/10 of S [do it]"),
    ]);
}
