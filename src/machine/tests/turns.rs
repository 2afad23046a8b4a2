//! Messages, turns and verdicts, when nothing goes wrong.

use super::*;

#[test]
fn scenario_001_the_loop_starts() {
    check(&[("start", "start agent; →Waiting")]);
    check(&[("start do it", "start agent; send \"do it\"; →Working")]);
    check(&[("start, said  ", "start agent; →Waiting")]);
}

#[test]
fn scenario_001_agent_phase_to_supervisor_phase() {
    check(&TO_REVIEW);
}

#[test]
fn scenario_001_supervisor_phase_to_agent_phase_when_not_completed() {
    check(&after_review(&[
        ("rejects add tests", "stop review; send \"add tests\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 2/10 of S [do it]"),
    ]));
}

#[test]
fn scenario_001_supervisor_phase_to_the_end_when_completed() {
    check(&after_review(&[
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ("said and more", "send \"and more\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [·|and more]"),
    ]));
    check_headless(&[
        ("start do it", "start agent; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
        ("verdict [TASK_COMPLETED]", "stop review; →Ended; finish Completed"),
    ]);
}

#[test]
fn only_the_final_words_of_a_review_count() {
    let asked = "tell \"Your last answer cannot be used as a verdict\"";
    check(&after_review(&[
        ("supervisor-says [TASK_COMPLETED]", ""),
        ("verdict bye", asked),
        ("verdict good bye", "stop review; send \"bye\"; →Working"),
    ]));
    check(&after_review(&[
        ("verdict bye", asked),
        ("said stop", "stop review; send \"stop\"; →Working"),
        ("verdict [TASK_COMPLETED]", ""),
    ]));
}

#[test]
fn a_message_while_working_steers_and_delays_the_review() {
    check(&[
        ("start, said one, init, taken", "start agent; →Waiting; send \"one\"; →Working"),
        ("said two", "send \"two\""),
        ("result done", ""),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [one|two]"),
    ]);
}

#[test]
fn a_message_while_reviewing_wins_over_the_verdict() {
    check(&after_review(&[
        ("said stop", "stop review; send \"stop\"; →Working"),
        ("rejects too late", ""),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it|stop]"),
    ]));
}

#[test]
fn at_the_limit_the_next_stop_is_not_reviewed() {
    let rules = Rules { max_iterations: 1, ..Rules::default() };
    let rows = [
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/1 of S [do it]"),
        ("rejects more", "stop review; send \"more\"; →Working"),
        ("init, taken, result done", "limit; →Waiting"),
        ("said go on", "send \"go on\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/1 of S [·|go on]"),
    ];
    check_with(rules.clone(), &rows);
    let headless = [
        ("start do it", "start agent; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/1 of S [do it]"),
        ("rejects more", "stop review; send \"more\"; →Working"),
        ("init, taken, result done", "limit; →Ended; finish Limit"),
    ];
    check_with(Rules { person: false, ..rules }, &headless);
}

#[test]
fn an_interrupt_by_the_user_is_not_reviewed() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("interrupt", "interrupt agent"),
        ("failed aborted", "interrupted; →Waiting"),
        ("interrupt", ""),
    ]);
}

#[test]
fn a_second_interrupt_gives_the_prompt_back_at_once() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("interrupt", "interrupt agent"),
        ("interrupt", "lost \"do it\"; interrupted; →Waiting"),
    ]);
}

#[test]
fn the_failed_end_of_an_abandoned_turn_is_not_reported() {
    let given_up = [
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("interrupt, interrupt", "interrupt agent; interrupted; →Waiting"),
    ];
    check(
        &[&given_up[..], &[("failed aborted", ""), ("said more", "send \"more\"; →Working")]]
            .concat(),
    );
    // A message sent in between gets its own turn, or becomes part of the abandoned one.
    let again = [("said more", "send \"more\"; →Working")];
    let own = [("failed aborted", ""), ("init, taken, failed again", "failed \"again\"; →Waiting")];
    check(&[&given_up[..], &again, &own].concat());
    let part = [("taken, failed again", "failed \"again\"; →Waiting")];
    check(&[&given_up[..], &again, &part].concat());
}

#[test]
fn an_interrupt_drops_a_review_and_the_person_can_ask_for_it_again() {
    check(&after_review(&[
        ("interrupt", "stop review; →Waiting"),
        ("said /supervisor", "supervision true; →Reviewing; review 1/10 of S [do it]"),
    ]));
}

#[test]
fn an_error_result_is_reported_and_not_reviewed() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("failed no credit", "failed \"no credit\"; →Waiting"),
    ]);
    check_headless(&[
        ("start do it", "start agent; send \"do it\"; →Working"),
        (
            "init, taken, failed no credit",
            "failed \"no credit\"; →Ended; finish Failed(\"no credit\")",
        ),
    ]);
}

#[test]
fn a_slash_command_is_neither_reviewed_nor_part_of_the_task() {
    // Some clients acknowledge a command, some do not.
    for turn in ["init, command-result", "init, taken, command-result"] {
        check(&[
            ("start, said /context", "start agent; →Waiting; send \"/context\"; →Working"),
            (turn, "→Waiting"),
            ("said do it", "send \"do it\"; →Working"),
            ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
        ]);
    }
}

#[test]
fn a_turn_that_used_a_tool_is_no_slash_command() {
    let start = ("start /cost", "start agent; send \"/cost\"; →Working");
    check_headless(&[start, ("init, command-result", "→Ended; finish Unreviewed")]);
    check_headless(&[
        start,
        (
            "init, uses Bash, command-result",
            "→Ended; finish NoVerdict(\"the agent's turn ended without any work that could be reviewed\")",
        ),
    ]);
}

#[test]
fn a_background_task_delays_the_review_until_the_agent_has_seen_its_end() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, result started", "background"),
        ("task-ended b", ""),
        ("init, result done", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn a_slash_command_during_the_wait_for_a_background_task_does_not_lose_the_review() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, result started", "background"),
        ("said /context, init, command-result", "send \"/context\"; background"),
        ("task-ended b, init, result done", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn a_task_that_ends_before_its_turn_still_wakes_the_agent() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, task-ended b, result started", ""),
        ("init, result done", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn work_is_reviewed_if_the_agent_does_not_wake() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, result started, task-ended b", "background"),
        ("tick 1", ""),
        ("tick 2", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn a_background_task_that_never_ends_does_not_hold_the_review_up_for_ever() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task server, result started", "background"),
        ("tick 599", ""),
        ("tick 2", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn an_agent_that_wakes_during_a_review_drops_it() {
    check(&after_review(&[
        ("init", "stop review; →Working"),
        ("result done", "→Reviewing; review 1/10 of S [do it]"),
    ]));
}

#[test]
fn a_message_that_the_agent_has_not_taken_up_can_be_taken_back() {
    let start = [
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        // The message that started the turn cannot be taken back, only interrupted.
        ("take-back, init, taken, take-back", ""),
        ("said also this, said and that", "send \"also this\"; send \"and that\""),
        ("take-back, take-back", "cancel message"),
    ];
    let rows = |rest: &[(&'static str, &'static str)]| {
        start.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>()
    };
    check(&rows(&[
        ("given-back", "give back \"and that\""),
        ("taken, result done", "→Reviewing; review 1/10 of S [do it|also this]"),
    ]));
    check(&rows(&[
        ("too-late", "too late"),
        ("taken, taken, result done", "→Reviewing; review 1/10 of S [do it|also this|and that]"),
    ]));
    // The turn is over before the answer comes.
    check(&rows(&[
        ("taken, result done", ""),
        ("given-back", "give back \"and that\"; →Reviewing; review 1/10 of S [do it|also this]"),
    ]));
}

#[test]
fn going_back_takes_the_task_with_the_conversation() {
    let mut rows = vec![
        ("start", "start agent; →Waiting"),
        ("said one", "send \"one\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [one]"),
        ("rejects not yet", "stop review; send \"not yet\"; →Working"),
        ("back-both 1", "not back Both: the agent is working: interrupt it first"),
        ("init, taken, result done", "→Reviewing; review 2/10 of S [one]"),
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ("said two", "send \"two\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [·|two]"),
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        // Rewinding only the files does not change the task.
        ("back-files 3", "rewind files"),
        ("went-back", "back Files before \"two\""),
        ("back-both 3", "rewind files; rewind conversation"),
        ("not-back No file checkpoint", "not back Files: No file checkpoint"),
        ("went-back", "back Conversation before \"two\"; give back \"two\""),
        (
            "back-conversation 4",
            "not back Conversation: that message is no longer part of this session",
        ),
    ];
    let machine = check_with(Rules::default(), &rows);
    assert_eq!(machine.status().points.len(), 2, "one, and its feedback");
    assert_eq!(machine.status().points[0].round, Some(1));
    // Before the feedback of round 1: the count continues from there, in the same task.
    rows.extend([
        ("back-conversation 2", "rewind conversation"),
        ("went-back", "back Conversation before \"not yet\""),
        ("said three", "send \"three\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 2/10 of S [one|three]"),
    ]);
    check_with(Rules::default(), &rows);
}

#[test]
fn a_better_earlier_round_is_reported_and_marked() {
    let mut script = Script::new(Rules::default());
    let mut reviewed = |verdict: &str, then: &[&str]| {
        let seen = script.step(&format!("verdict {verdict}")).join("; ");
        for line in then {
            script.step(line);
        }
        let machine = &script.machine;
        let last = machine.report(Outcome::Ended, Duration::ZERO).rounds.pop();
        let better = last.and_then(|round| round.verdict.better_round);
        let points = machine.status().points.into_iter();
        let marked: Vec<_> =
            points.filter_map(|point| point.round.filter(|_| point.better)).collect();
        (seen, better, machine.earlier_rounds(), marked)
    };
    let worse = |than: u32| {
        format!(r#"{{"completed": false, "feedback": "not {than}", "better_round": {than}}}"#)
    };
    let sent_back = |than: u32| format!("stop review; send \"not {than}\"; →Working");
    let turn = ["init", "taken", "result done"];
    reviewed("", &["start", "said one", "init", "taken", "result done"]);
    assert_eq!(reviewed(&worse(1), &turn), (sent_back(1), None, vec![1], vec![]), "itself");
    // The rounds of a confirmed task do not belong to the next one.
    reviewed("[TASK_COMPLETED]", &["said two", "init", "taken", "result done"]);
    assert_eq!(reviewed(&worse(1), &turn), (sent_back(1), None, vec![1], vec![]));
    assert_eq!(reviewed(&worse(7), &turn), (sent_back(7), None, vec![1, 2], vec![]), "not there");
    // The feedback is sent like any other.
    let interrupted = ["init", "taken", "interrupt", "failed stopped"];
    let (seen, better, _, marked) = reviewed(&worse(1), &interrupted);
    assert_eq!((seen, better, marked), (sent_back(1), Some(1), vec![1]));
    // The mark does not outlive the next review.
    reviewed("", &["said three", "init", "taken", "result done"]);
    let (_, better, _, marked) =
        reviewed(r#"{"completed": false, "feedback": "more"}"#, &interrupted);
    assert_eq!((better, marked), (None, vec![]));
}
