//! SUPERVISOR.md: found, missed, written.

use crate::person::Person;
use crate::room::Room;

/// Scenario 001 «SUPERVISOR.md 不存在»
#[test]
fn scenario_001_without_supervisor_md_the_error_names_init() {
    let room = Room::new();
    let done = room.ccc(&["--supervisor", "-p", "x"]).run().code(1);
    assert!(
        done.err().contains("ccc init") && done.err().contains("SUPERVISOR.md"),
        "{}",
        done.err()
    );
    assert!(!room.path("project/.claude").exists(), "nothing is left behind");
}

#[test]
fn init_writes_the_default_and_never_overwrites() {
    let room = Room::new();
    let told = room.ccc(&["init"]).run().code(0).out();
    assert!(told.contains("found no checks to propose"), "{told}");
    let default = include_str!("../../SUPERVISOR.example.md");
    assert_eq!(room.read("project/SUPERVISOR.md"), default);
    room.write("project/SUPERVISOR.md", "mine");
    let done = room.ccc(&["init"]).run().code(1);
    assert!(done.err().contains("already exists and was not changed"), "{}", done.err());
    assert_eq!(room.read("project/SUPERVISOR.md"), "mine");
    let told = room.ccc(&["init", "--global"]).run().code(0).out();
    assert!(told.ends_with("SUPERVISOR.md. Edit it to say what counts as done.\n"), "{told}");
    assert_eq!(room.read("home/.claude/SUPERVISOR.md"), default);
}

/// Scenario 001 «fallback 到全局 SUPERVISOR.md»
#[test]
fn scenario_001_the_global_file_is_used_when_the_project_has_none() {
    let room = Room::new();
    room.write("home/.claude/SUPERVISOR.md", "GLOBAL RULES");
    room.ccc(&["--supervisor", "-p", "x"]).run().code(0);
    assert!(room.seen("supervisor-0.input").contains("GLOBAL RULES"));
}

#[test]
fn init_proposes_the_checks_of_the_project_and_writes_them_after_a_yes() {
    let room = Room::new();
    room.write("project/Makefile", "test:\n\ttouch tested\n");
    let mut person = Person::runs(&room, &["init"]);
    person.sees("  - make test").sees("[Y/n]").types("\r").sees("Wrote");
    assert_eq!(person.leaves().0, 0);
    let text = room.read("project/SUPERVISOR.md");
    assert!(
        text.contains("\nchecks:\n  - make test\n") && text.contains("proof: required"),
        "{text}"
    );
    // The yes was for these commands: nobody is asked again.
    room.ccc(&["check"]).run().code(0);
    assert!(room.path("project/tested").exists());
}

#[test]
fn without_a_person_proposals_are_comments_unless_they_are_asked_for() {
    let room = Room::new();
    room.write("project/go.mod", "module x");
    room.ccc(&["init"]).run().code(0);
    let text = room.read("project/SUPERVISOR.md");
    assert!(text.contains("\n# checks:\n#   - go vet ./...\n#   - go test ./...\n"), "{text}");
    let again = room.ccc(&["init", "--yes"]).run().code(1);
    assert!(
        again.err().contains("already exists and was not changed")
            && again.err().contains("  - go test ./...")
    );
    std::fs::remove_file(room.path("project/SUPERVISOR.md")).expect("a file");
    room.ccc(&["init", "--yes"]).run().code(0);
    assert!(room.read("project/SUPERVISOR.md").contains("\nchecks:\n  - go vet ./...\n"));
    // Commands that nobody has looked at are not allowed by that.
    room.ccc(&["check"]).run().code(2);
}

#[test]
fn a_person_who_says_no_to_the_checks_gets_the_file_without_them() {
    let room = Room::new();
    room.write("project/Cargo.toml", "[package]");
    let mut person = Person::runs(&room, &["init"]);
    person.sees("  - cargo test").sees("[Y/n]").types("n\r").sees("Wrote");
    assert_eq!(person.leaves().0, 0);
    assert!(room.read("project/SUPERVISOR.md").contains("\n# checks:\n#   - cargo test\n"));
}
