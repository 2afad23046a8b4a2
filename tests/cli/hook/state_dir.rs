//! Where the state is: a relative directory must mean the same wherever the agent has gone.

use serde_json::json;

use crate::room::{Room, trusting};

const ON: &str = r#"{"session_id":"abc123","enabled":true,"count":0}"#;

fn counted(room: &Room, dir: &str) -> bool {
    room.json(&format!("{dir}/supervisor-abc123.json"))["count"] == 1
}

/// Scenario 002 «解析 hook 参数»: a relative `--state-dir`, and the default.
#[test]
fn scenario_002_the_state_directory_is_relative_to_the_project() {
    for (args, dir) in [
        (&["supervisor-hook"][..], "project/.claude/ccc"),
        (&["supervisor-hook", "--state-dir", ".claude/ccc"], "project/.claude/ccc"),
        (&["supervisor-hook", "--state-dir=elsewhere/x"], "project/elsewhere/x"),
    ] {
        let room = Room::supervised();
        room.write(&format!("{dir}/supervisor-abc123.json"), ON);
        room.ccc(args).input(room.event("abc123").to_string()).run().allows("confirmed");
        assert!(counted(&room, dir), "{args:?}");
        assert!(room.path(&format!("{dir}/supervisor-abc123-output.jsonl")).exists());
    }
}

#[test]
fn an_absolute_directory_is_taken_as_it_is() {
    let room = Room::supervised();
    room.write("state/supervisor-abc123.json", ON);
    let dir = room.path("state").to_string_lossy().into_owned();
    let event = room.event("abc123").to_string();
    let hook = room.ccc(&["supervisor-hook", "--state-dir", &dir]).input(event);
    hook.env("CCC_STATE_DIR", room.path("other")).run().allows("confirmed");
    assert!(counted(&room, "state") && !room.path("other").exists());
}

/// `CCC_STATE_DIR`, then `CLAUDE_PROJECT_DIR`, then the event's `cwd`, then where the hook runs.
#[test]
fn the_first_that_is_known_counts() {
    let names = ["state", "of-project/.claude/ccc", "of-cwd/.claude/ccc", "here/.claude/ccc"];
    for first in 0..names.len() {
        let room = Room::new();
        room.write("home/.claude/SUPERVISOR.md", trusting("BE STRICT"));
        for name in names {
            room.write(&format!("{name}/supervisor-abc123.json"), ON);
        }
        let mut event = room.event("abc123");
        event["cwd"] = if first <= 2 { json!(room.path("of-cwd")) } else { json!(null) };
        let mut hook = room.ccc(&["supervisor-hook", "--state-dir", ".claude/ccc"]);
        hook = hook.input(event.to_string()).dir(room.path("here"));
        if first <= 1 {
            hook = hook.env("CLAUDE_PROJECT_DIR", room.path("of-project"));
        }
        if first == 0 {
            hook = hook.env("CCC_STATE_DIR", room.path("state"));
        }
        hook.run().allows("confirmed");
        for (at, name) in names.into_iter().enumerate() {
            assert_eq!(counted(&room, name), at == first, "{name}, wanted {}", names[first]);
        }
    }
}

#[test]
fn a_relative_or_empty_variable_is_no_place() {
    for (variable, value) in [
        ("CCC_STATE_DIR", ""),
        ("CCC_STATE_DIR", "state"),
        ("CLAUDE_PROJECT_DIR", ""),
        ("CLAUDE_PROJECT_DIR", "somewhere"),
    ] {
        let room = Room::supervised();
        room.write("home/.claude/SUPERVISOR.md", trusting("BE STRICT"));
        room.write("project/.claude/ccc/supervisor-abc123.json", ON);
        room.write("here/file", "");
        let hook = room.hook("abc123").dir(room.path("here")).env(variable, value);
        hook.run().allows("confirmed");
        assert!(counted(&room, "project/.claude/ccc"), "{variable}={value}");
    }
}

/// The switch and the hook have to look in the same place.
#[test]
fn what_is_switched_on_is_seen_by_the_hook() {
    for variable in ["", "CCC_STATE_DIR", "CLAUDE_PROJECT_DIR"] {
        let room = Room::supervised();
        room.write("home/.claude/SUPERVISOR.md", trusting("BE STRICT"));
        room.write("other/file", "");
        let place = |ccc: crate::room::Ccc| match variable {
            "" => ccc,
            name => ccc.env(name, room.path("other")),
        };
        place(room.ccc(&["supervisor-mode", "--session", "abc123", "on"])).run().code(0);
        place(room.hook("abc123")).run().allows("confirmed");
        room.typed("abc123", "supervisoroff");
        place(room.ccc(&["supervisor-mode", "--session", "abc123", "off"])).run().code(0);
        place(room.hook("abc123")).run().allows("supervision is off");
        assert_eq!(room.reviews(), 1, "{variable}");
    }
}
