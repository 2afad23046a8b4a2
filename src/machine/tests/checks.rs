//! Checks, which run before a judge is asked, and may replace it.

use super::*;
use crate::checks::Check;
use crate::machine::CheckingRules;

fn rules(checks: &[&str], untrusted: &[&str]) -> Rules {
    let all = |runs: &[&str]| runs.iter().map(|run| Check::command(run)).collect();
    let checking = CheckingRules { examines: true, checks: all(checks), untrusted: all(untrusted) };
    Rules { checking, ..Rules::default() }
}

const TO_CHECKS: [(&str, &str); 2] = [
    ("start do it", "start agent; note files; send \"do it\"; →Working"),
    ("init, taken, result done", "→Reviewing; look"),
];

fn after_stop(rows: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    TO_CHECKS.iter().chain(rows).copied().collect()
}

#[test]
fn checks_run_before_any_judge_is_asked() {
    let machine = check_with(
        rules(&["build", "test"], &[]),
        &after_stop(&[
            ("looked a", "check build"),
            ("check-exits 0", "build passed; check test"),
            ("check-exits 0", "test passed; look"),
            ("looked a", "review 1/10 of S [do it]"),
        ]),
    );
    assert_eq!((machine.check("test"), machine.check("lint")), (Some(true), None));
}

#[test]
fn a_green_check_is_void_once_files_change_during_the_review() {
    let mut machine = check_with(
        rules(&["test"], &[]),
        &after_stop(&[
            ("looked a", "check test"),
            ("check-exits 0", "test passed; look"),
            ("looked a", "review 1/10 of S [do it]"),
        ]),
    );
    assert_eq!(machine.check("test"), Some(true));
    let changed = Event::TreeChanged { review: 1, files: Vec::new(), more: 1 };
    machine.step(changed, Duration::ZERO);
    assert_eq!(machine.check("test"), Some(false));
}

#[test]
fn a_red_check_goes_to_the_agent_and_no_judge_is_asked() {
    let machine = check_with(
        rules(&["build", "test"], &[]),
        &after_stop(&[
            ("looked a, check-prints boom", "check build"),
            ("check-exits 3", "build exited with code 3; check test"),
            (
                "check-exits 0",
                "test passed; send \"Find the cause and fix it. The checks run again when you stop. \
                 If a check itself is wrong or cannot pass here, say so and explain why; do not work around it.\"; →Working",
            ),
            ("init, taken, result done", "→Reviewing; look"),
            ("looked b", "check build"),
        ]),
    );
    assert_eq!(machine.spent.rounds.len(), 1);
    assert!(machine.spent.rounds[0].verdict.feedback.contains("`build` exited with code 3"));
    assert!(machine.spent.rounds[0].verdict.feedback.contains("boom"));
}

#[test]
fn green_checks_do_not_run_again_while_no_file_changes() {
    let green = [
        ("looked a", "check test"),
        ("check-exits 0", "test passed; look"),
        ("looked a", "review 1/10 of S [do it]"),
        ("rejects say more", "stop review; send \"say more\"; →Working"),
        ("init, taken, result done", "→Reviewing; look"),
    ];
    let same = [&green[..], &[("looked a", "review 2/10 of S [do it]")]].concat();
    check_with(rules(&["test"], &[]), &after_stop(&same));
    let changed = [&green[..], &[("looked b", "check test")]].concat();
    check_with(rules(&["test"], &[]), &after_stop(&changed));
}

#[test]
fn a_confirmation_is_repeated_if_files_changed_during_the_review() {
    let again = "stop review; review failed \"files of the project changed while it ran, and the checks have to run \
                 again\"; look";
    check_with(
        rules(&["test"], &[]),
        &after_stop(&[
            ("looked a", "check test"),
            ("check-exits 0", "test passed; look"),
            ("looked a", "review 1/10 of S [do it]"),
            ("tree-changes x.py", "changed x.py (added)"),
            ("verdict [TASK_COMPLETED]", again),
            ("looked b", "check test"),
            ("check-exits 0", "test passed; look"),
            ("looked b", "review 1/10 of S [do it]"),
            ("tree-changes x.py", "changed x.py (added)"),
            ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ]),
    );
}

#[test]
fn a_red_check_runs_again_even_beside_checks_that_nobody_allowed() {
    let red = "test exited with code 1; send \"Find the cause and fix it. The checks run again when you stop. \
               If a check itself is wrong or cannot pass here, say so and explain why; do not work around it.\"; →Working";
    check_with(
        rules(&["test"], &["make"]),
        &[
            (
                "start do it",
                "make skipped: nobody has allowed this project's checks; start agent; note files; \
                 send \"do it\"; →Working",
            ),
            ("init, taken, result done", "→Reviewing; look"),
            ("looked a", "check test"),
            ("check-exits 1", red),
            ("init, taken, result done", "→Reviewing; look"),
            // No file has changed, but the check has not passed yet.
            ("looked a", "check test"),
        ],
    );
}

#[test]
fn a_check_that_changes_files_is_reported_and_its_result_holds() {
    check_with(
        rules(&["format"], &[]),
        &after_stop(&[
            ("looked a", "check format"),
            ("check-exits 0", "format passed; look"),
            ("looked b", "checks changed files; review 1/10 of S [do it]"),
            ("rejects more", "stop review; send \"more\"; →Working"),
            ("init, taken, result done, looked b", "→Reviewing; look; review 2/10 of S [do it]"),
        ]),
    );
}

#[test]
fn a_check_past_its_deadline_is_stopped_and_red() {
    let mut rules = rules(&["test"], &[]);
    rules.checking.checks[0].timeout = Duration::from_secs(5);
    let machine = check_with(
        rules,
        &after_stop(&[
            ("looked a", "check test"),
            ("tick 4", ""),
            ("tick 1", "stop check"),
            ("tick 1", ""),
            (
                "check-exits 143",
                "test did not end within 5 s; send \"Find the cause and fix it. The checks run again when you stop. \
                 If a check itself is wrong or cannot pass here, say so and explain why; do not work around it.\"; →Working",
            ),
        ]),
    );
    assert_eq!(machine.check("test"), Some(false));
}

#[test]
fn a_message_an_interrupt_and_the_end_drop_the_checks_like_a_review() {
    for (happens, wanted) in [
        ("said and more", "stop check; send \"and more\"; →Working"),
        ("interrupt", "stop check; →Waiting"),
        ("said /supervisoroff", "supervision false; stop check; →Waiting"),
        ("init", "stop check; →Working"),
        ("leave", "stop check; →Ended; finish Ended"),
    ] {
        let rows = [("looked a", "check test"), (happens, wanted)];
        let machine = check_with(rules(&["test"], &[]), &after_stop(&rows));
        assert_eq!(machine.task.round, 0, "{happens}: no round was spent");
    }
    let running = after_stop(&[("looked a", "check test")]);
    let machine = check_with(rules(&["test"], &[]), &running);
    assert_eq!(machine.carried().round, 0, "nor if ccc is killed while they run");
    // Also while the files are being examined, whose result is then ignored.
    check_with(
        rules(&["test"], &[]),
        &after_stop(&[("said and more, looked a", "send \"and more\"; →Working")]),
    );
}

#[test]
fn checks_that_nobody_allowed_are_reported_and_do_not_run() {
    let machine = check_with(
        rules(&[], &["rm -rf x"]),
        &[
            (
                "start do it",
                "rm -rf x skipped: nobody has allowed this project's checks; start agent; \
                 note files; send \"do it\"; →Working",
            ),
            ("init, taken, result done", "→Reviewing; look"),
            ("looked a", "review 1/10 of S [do it]"),
        ],
    );
    assert_eq!(machine.check("rm -rf x"), Some(false));
}
