//! Checks in the supervised session: run by ccc whenever the agent stops, before any model is asked.

use std::path::Path;

use serde_json::Value;

use crate::patience::wait_until;
use crate::person::Person;
use crate::room::{Room, STATE_DIR};

/// Red the first time, green from then on.
const SECOND_TIME: &str = "test -e tried || { touch tried; echo not yet; exit 7; }";

fn room(checks: &str) -> Room {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", format!("---\nchecks:\n{checks}\n---\nBE STRICT\n"));
    room
}

#[test]
fn a_red_check_goes_to_the_agent_without_a_model_and_a_green_one_to_the_judge() {
    let room = room(&format!("  - {{ name: tests, run: \"{SECOND_TIME}\" }}"));
    let args = ["--supervisor", "--trust-checks", "-p", "do it"];
    let done = room.ccc(&args).run().code(0);
    let out = done.transcript();
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("no {text:?}:\n{out}"));
    assert!(at("✘ check tests  exited with code 7") < at("✔ check tests  passed"), "{out}");
    assert!(out.contains("not yet") && out.contains("Confirmed complete"), "{out}");
    assert_eq!(room.reviews(), 1, "no judge was asked while the check was red");
    let input = room.seen("agent-0.input");
    assert!(
        input.contains("Supervisor feedback:") && input.contains("exited with code 7"),
        "{input}"
    );
    assert!(
        !room.seen("supervisor-0.input").contains("checks:"),
        "the judge is told no front matter"
    );
}

#[test]
fn what_the_checks_did_is_on_record_and_decides_the_same_again() {
    let room = room(&format!("  - {{ name: tests, run: \"{SECOND_TIME}\" }}"));
    let args = ["--supervisor", "--trust-checks", "-p", "do it", "--output-format", "stream-json"];
    let out = room.ccc(&args).run().code(0).out();
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ended: Vec<_> = lines.filter(|line| line["event"] == "check_ended").collect();
    assert_eq!(ended.len(), 2, "{out}");
    assert_eq!((&ended[0]["outcome"], &ended[0]["code"]), (&"red".into(), &7.into()));
    assert_eq!(ended[1]["outcome"], "green");
    let sessions = room.path(&format!("{STATE_DIR}/sessions"));
    let session = std::fs::read_dir(sessions).expect("a directory").next().expect("a session");
    let session = session.expect("an entry").path();
    let events = std::fs::read_to_string(session.join("events.jsonl")).expect("a recording");
    assert!(events.contains(r#""saw":"check_printed""#) && events.contains("not yet"), "{events}");
    let name = session.display().to_string();
    room.ccc(&["replay", "--check", &name]).run().code(0);
    // All that it printed can be read again.
    let shown = |args: &[&str]| room.ccc(args).run().code(0).out();
    let whole: Value =
        serde_json::from_str(&shown(&["sessions", "show", "--checks", "--json"])).expect("JSON");
    let scenes = whole["scenes"].as_array().expect("scenes");
    assert!(scenes.iter().any(|one| one["what"] == "check_printed" && one["text"] == "not yet\n"));
}

/// As in CI: what ccc writes there during a review is no change of the project.
#[test]
fn the_files_that_ccc_prints_to_are_none_of_the_agents_changes() {
    let room = room("  - \"true\"");
    let options = "--supervisor --trust-checks -p 'do it' --output-format stream-json";
    let script = format!("\"$0\" {options} >run.jsonl 2>log.txt");
    let run = room.run_program(Path::new("/bin/sh")).args(&["-c", &script]);
    run.args(&[env!("CARGO_BIN_EXE_ccc")]).run().code(0);
    let lines = room.read("project/run.jsonl");
    assert!(
        lines.contains(r#""event":"check_ended""#) && !lines.contains("tree_changed"),
        "{lines}"
    );
    assert_eq!(room.reviews(), 1, "judged once more because of ccc's own output");
    assert!(!room.seen("supervisor-0.input").contains("run.jsonl"));
}

#[test]
fn all_that_a_check_printed_can_be_read_again() {
    let room = room("  - { name: loud, run: \"seq 1 500; printf end\" }");
    room.ccc(&["--supervisor", "--trust-checks", "-p", "do it"]).run().code(0);
    let shown = |args: &[&str]| room.ccc(args).run().code(0).out();
    let (short, long) = (shown(&["sessions", "show"]), shown(&["sessions", "show", "--checks"]));
    assert!(!short.contains("  17\n"), "{short}");
    let lines: Vec<_> = long.lines().map(str::trim_end).collect();
    let at = |text: &str| lines.iter().position(|line| line.ends_with(text));
    let first = at("   1").unwrap_or_else(|| panic!("{long}"));
    assert_eq!(at("   500"), Some(first + 499), "{long}");
    assert_eq!(at("   end"), Some(first + 500), "{long}");
}

#[test]
fn without_a_person_the_projects_checks_are_skipped_and_that_is_said() {
    let room = room("  - touch ran");
    let out = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0).transcript();
    assert!(out.contains("check touch ran  skipped: nobody has allowed"), "{out}");
    assert!(!room.path("project/ran").exists());
    let out = room.ccc(&["--supervisor", "--no-checks", "-p", "do it"]).run().code(0).transcript();
    assert!(!out.contains("check touch ran") && !room.path("project/ran").exists(), "{out}");
}

#[test]
fn a_person_sees_the_check_run_and_can_stop_it() {
    let room = room("  - { name: slow, run: \"echo compiling; sleep 600\" }");
    let mut person = Person::runs(&room, &["--supervisor"]);
    person.sees("sleep 600").sees("[y/N]").types("y\r");
    person.sees("ready").types("do it");
    person.sees("do it").types("\r");
    person.sees("check slow 0:0").sees(" of 10:00").sees("compiling").types("\u{1b}");
    person.sees("Review cancelled (interrupted)").sees("ready").types("\u{4}");
    assert_eq!(person.leaves().0, 0);
    assert_eq!(room.reviews(), 0);
    wait_until("nothing is left", || {
        crate::processes::descendants(std::process::id().cast_signed())
            .iter()
            .all(|process| !process.has_arg("600"))
    });
}

#[test]
fn the_judge_is_told_what_changed_and_a_person_can_read_it_later() {
    let room = room("  - \"true\"");
    // An agent that writes a stub and claims tests that it never ran.
    let client = crate::room::CLIENT.replace(
        "all done here\\\"}]}}\"",
        "Done, all tests pass.\\\"}]}}\"; echo 'raise NotImplementedError' >work.py",
    );
    assert_ne!(client, crate::room::CLIENT);
    let client = client.replace(
        "\\\"result\\\":\\\"all done here\\\"",
        "\\\"result\\\":\\\"Done, all tests pass.\\\"",
    );
    room.client(&client);
    room.ccc(&["--supervisor", "--trust-checks", "-p", "do it"]).run().code(0);
    // After the review's message the judge is asked for its proof, too.
    let input = room.seen("supervisor-0.input");
    let review = input.lines().find(|line| line.contains("\"type\":\"user\"")).expect("a message");
    let message: Value = serde_json::from_str(review).expect("JSON");
    let message = message["message"]["content"].to_string();
    for part in [
        "What ccc knows",
        "- true: passed",
        "work.py:1: a stub: `raise NotImplementedError`",
        "- added work.py",
        "says that tests pass, but no test command was seen",
    ] {
        assert!(message.contains(part), "{part}\n---\n{message}");
    }
    let shown = room.ccc(&["sessions", "show"]).run().code(0).out();
    assert!(shown.contains("work.py:1: a stub"), "{shown}");
}
