//! SUPERVISOR.md: found, missed, written.

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
    room.ccc(&["init"]).run().code(0);
    let default = include_str!("../../SUPERVISOR.example.md");
    assert_eq!(room.read("project/SUPERVISOR.md"), default);
    room.write("project/SUPERVISOR.md", "mine");
    let done = room.ccc(&["init"]).run().code(1);
    assert!(done.err().contains("left as it is"), "{}", done.err());
    assert_eq!(room.read("project/SUPERVISOR.md"), "mine");
    room.ccc(&["init", "--global"]).run().code(0);
    assert_eq!(room.read("home/.claude/SUPERVISOR.md"), default);
}

/// Scenario 001 «fallback 到全局 SUPERVISOR.md»
#[test]
fn scenario_001_the_global_file_is_used_when_the_project_has_none() {
    let room = Room::new();
    room.write("home/.claude/SUPERVISOR.md", "GLOBAL RULES");
    room.ccc(&["--supervisor", "-p", "x"]).run().code(0);
    assert!(room.seen("supervisor-0.input").contains("GLOBAL RULES"));
    assert!(room.seen("supervisor-0.args").contains("--system-prompt\nGLOBAL RULES"));
}
