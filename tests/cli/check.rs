//! `ccc check`: the project's checks, run by hand.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::patience::wait_until;
use crate::person::Person;
use crate::processes::descendants;
use crate::room::Room;

fn room(front: &str) -> Room {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", format!("---\n{front}\n---\nBE STRICT\n"));
    room
}

#[test]
fn all_green_is_0_one_red_is_1_with_the_end_of_its_output() {
    let room = room("checks:\n  - echo fine\n  - name: tests\n    run: echo broken; exit 3");
    let done = room.ccc(&["check", "--trust-checks"]).run().code(1);
    let out = done.out();
    for part in [
        "✔ echo fine  passed",
        "✘ tests      exited with code 3",
        "\n    broken\n",
        "1 passed · 1 failed",
    ] {
        assert!(out.contains(part), "{part}\n---\n{out}");
    }
    assert_eq!(room.read("project/.claude/ccc/checks/tests.log"), "broken\n", "whole, in a file");
    room.ccc(&["check", "--trust-checks", "echo fine"]).run().code(0);
}

#[test]
fn nothing_to_check_and_unknown_names_are_usage_errors() {
    let bare = Room::supervised();
    let done = bare.ccc(&["check"]).run().code(2);
    assert!(done.err().contains("at the top of"), "{}", done.err());
    std::fs::remove_file(bare.path("project/SUPERVISOR.md")).unwrap();
    let done = bare.ccc(&["check"]).run().code(2);
    assert!(done.err().contains("Run `ccc init`"), "{}", done.err());
    let room = room("checks: [make]");
    let done = room.ccc(&["check", "mkae"]).run().code(2);
    assert!(done.err().contains("(checks: make"), "{}", done.err());
}

#[test]
fn broken_front_matter_is_an_error_with_its_line_before_any_work() {
    let room = room("proof: required\nchecks:\n  - touch ran\n  - 3");
    for args in [&["check", "--trust-checks"][..], &["--supervisor", "-p", "x"]] {
        let done = room.ccc(args).run().code(1);
        assert!(
            done.err().contains("SUPERVISOR.md, line 5: a check must be a command"),
            "{}",
            done.err()
        );
    }
    assert!(!room.path("project/ran").exists() && !room.path("seen/agent-0.args").exists());
}

#[test]
fn the_projects_commands_do_not_run_until_somebody_allows_them() {
    let room = room("checks: [touch ran]");
    room.config(&json!({"supervisor": {"checks": [{"name": "own", "run": "touch own"}]}}));
    let done = room.ccc(&["check"]).run().code(2);
    assert!(done.out().contains("touch ran  skipped: nobody has allowed"), "{}", done.out());
    assert!(done.err().contains("--trust-checks"), "{}", done.err());
    assert!(!room.path("project/ran").exists(), "a command of the project ran");
    assert!(room.path("project/own").exists(), "the user's own needs no question");
}

#[test]
fn a_person_is_asked_once_for_the_same_commands() {
    let room = room("checks: [touch ran]");
    let mut no = Person::runs(&room, &["check"]);
    no.sees("    touch ran").sees("[y/N]").types("\r");
    assert_eq!(no.leaves().0, 2);
    assert!(!room.path("project/ran").exists());
    let mut yes = Person::runs(&room, &["check"]);
    yes.sees("[y/N]").types("y\r").sees("1 passed");
    assert_eq!(yes.leaves().0, 0);
    // Nobody is asked again, and nobody need be there.
    room.ccc(&["check"]).run().code(0);
    room.write("project/SUPERVISOR.md", "---\nchecks: [touch ran, touch more]\n---\n");
    room.ccc(&["check"]).run().code(2);
    assert!(!room.path("project/more").exists());
}

#[test]
fn only_checks_whose_files_changed_run() {
    let room = room(
        "checks:\n  - { run: touch rust, when: \"*.rs\" }\n  - { run: touch py, when: [\"*.py\"] }",
    );
    for args in [&["init", "-q"][..], &["add", "SUPERVISOR.md"]] {
        let git = std::path::Path::new("git");
        room.run_program(git).args(args).run().code(0);
    }
    room.write("project/deep/a.py", "");
    let done = room.ccc(&["check", "--trust-checks"]).run().code(0);
    assert!(done.out().contains("touch rust  skipped: no file"), "{}", done.out());
    assert!(room.path("project/py").exists() && !room.path("project/rust").exists());
    room.ccc(&["check", "--trust-checks", "--all"]).run().code(0);
    assert!(room.path("project/rust").exists());
}

#[test]
fn a_check_past_its_deadline_ends_with_all_it_started() {
    let front = "checks:\n  - { name: slow, timeout: 1, run: \"setsid sleep 611 & sleep 612 & sleep 613\" }";
    let room = room(front);
    let started = room.ccc(&["check", "--trust-checks", "--json"]).start();
    let pid = started.pid();
    wait_until("three sleep", || sleeping(pid).len() == 3);
    let below = sleeping(pid);
    let done = started.finish().code(1);
    let report: Value = serde_json::from_str(&done.out()).expect("JSON");
    assert_eq!(report["checks"][0]["outcome"], "timed_out", "{report}");
    wait_until("all are gone", || below.iter().all(|process| !process.is_there()));
}

#[test]
fn ctrl_c_ends_a_check_with_all_it_started() {
    let room = room("checks: [\"setsid sleep 621 & sleep 622\", touch after]");
    let started = room.ccc(&["check", "--trust-checks"]).start();
    let pid = started.pid();
    wait_until("two sleep", || sleeping(pid).len() == 2);
    let below = sleeping(pid);
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("a process of ours");
    let done = started.finish().code(130);
    assert!(done.err().contains("ended by a signal"), "{}", done.err());
    assert!(done.err().contains("not run: touch after"), "{}", done.err());
    wait_until("all are gone", || below.iter().all(|process| !process.is_there()));
    assert!(!room.path("project/after").exists());
}

fn sleeping(pid: i32) -> Vec<crate::processes::Process> {
    let mut found = descendants(pid);
    found.retain(|process| process.args.first().is_some_and(|program| program == "sleep"));
    found
}

#[test]
fn a_check_gets_no_input_and_nothing_of_a_surrounding_session() {
    let room = room("checks: [\"cat; env\"]");
    let done = room
        .ccc(&["check", "--trust-checks"])
        .env("CLAUDECODE", "1")
        .input("typed\n")
        .run()
        .code(0);
    assert!(done.out().contains("1 passed"));
    let printed = room.read("project/.claude/ccc/checks/cat__env.log");
    assert!(!printed.contains("typed") && !printed.contains("CLAUDECODE"), "{printed}");
}

#[test]
fn what_a_check_in_the_case_writes_does_not_stay() {
    let room = room("checks: [{ name: tests, run: echo hello; touch made, case: true }]");
    let done = room.ccc(&["check", "--trust-checks"]).run();
    assert!(!room.path("project/made").exists(), "{}", done.out());
    // Where there is no case to be had, it does not run in the tree instead.
    if done.out().contains("1 passed") {
        assert_eq!(room.read("project/.claude/ccc/checks/tests.log"), "hello\n");
    } else {
        done.code(1);
    }
}
