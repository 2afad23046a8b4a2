//! `ccc doctor` and `ccc completions`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::person::Person;
use crate::room::Room;

/// Says its version, in almost no environment, and who it would work for.
const CLIENT: &str = r#"#!/bin/sh
if [ "$*" = --version ]; then
    [ -z "$SECRET" ] || exit 8
    echo '2.1.325 (Claude Code)'
    exit
fi
read -r request
case $request in *'"initialize"'*) ;; *) exit 9 ;; esac
echo "{\"response\":{\"response\":{\"account\":${ACCOUNT:-{\"apiKeySource\":\"ANTHROPIC_API_KEY\"\}}}}}"
"#;

fn checks(room: &Room, code: i32) -> Value {
    let out = room.ccc(&["doctor", "--json"]).env("SECRET", "x").run().code(code).out();
    serde_json::from_str(&out).expect("JSON")
}

#[track_caller]
fn state(report: &Value, name: &str) -> (String, String, String) {
    let checks = report["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no {name}: {report}"));
    let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("text"), text("advice"))
}

#[test]
fn a_healthy_place_is_well() {
    let room = Room::supervised();
    room.client(CLIENT);
    let report = checks(&room, 0);
    assert_eq!(report["well"], true);
    for check in report["checks"].as_array().expect("a list") {
        // A machine may give none, and says so; a place is no less healthy for it.
        if check["name"] == "glass case" && check["state"] == "odd" {
            continue;
        }
        assert_eq!(check["state"], "well", "{check}");
    }
    let (_, claude, _) = state(&report, "claude");
    assert_eq!(claude, format!("2.1.325, {}", room.path("claude").display()));
    let out = room.ccc(&["doctor"]).run().code(0).out();
    assert!(out.contains("✔  claude          2.1.325, "), "{out}");
    assert!(!room.path("project/.claude").exists(), "nothing is left behind");
}

#[test]
fn what_is_broken_is_named_with_what_to_do() {
    let room = Room::new();
    room.client("#!/bin/sh\nexit 1\n");
    room.write("home/.claude/ccc.json", "{ not json");
    room.write("project/SUPERVISOR.md", " \n");
    let report = checks(&room, 1);
    assert_eq!(report["well"], false);
    for name in ["claude", "ccc.json", "SUPERVISOR.md"] {
        let (state, text, advice) = state(&report, name);
        assert_eq!(state, "broken", "{name}");
        assert!(!text.is_empty() && !advice.is_empty(), "{name}");
    }
    let out = room.ccc(&["doctor"]).run().code(1).out();
    assert!(out.contains("✘  claude") && out.contains("→ "), "{out}");

    room.client("#!/bin/sh\nprintf '2.1.100 (Claude Code) \\033[2J\\n'\n");
    let (state, text, advice) = state(&checks(&room, 1), "claude");
    assert_eq!(state, "broken");
    assert!(text.contains("2.1.100, ") && text.contains("2.1.197 or newer"), "{text}");
    assert!(advice.contains("claude update"), "{advice}");
    let done = room.ccc(&["doctor"]).env("CCC_CLAUDE", "/nowhere").run().code(1);
    assert!(done.out().contains("/nowhere"), "{}", done.out());
}

/// Whose settings and hooks it would skip, provider and reviews included.
#[test]
fn a_claude_that_is_too_old_is_refused_before_it_starts() {
    let room = Room::supervised();
    let too_old = |err: &str| {
        assert!(err.contains("claude 2.1.100 is too old"), "{err}");
        assert!(err.contains("2.1.197 or newer") && err.contains("claude update"), "{err}");
    };
    room.client("#!/bin/sh\n[ $* = --version ] && echo 2.1.100 && exit\n: >\"$ROOM/started\"\n");
    for args in [&["--supervisor=hook"][..], &["-v"]] {
        too_old(&room.ccc(args).run().code(1).err());
    }
    // As claude's own installer names it.
    room.program("2.1.100", "#!/bin/sh\n: >\"$ROOM/started\"\n");
    let old = |args: &[&str]| room.ccc(args).env("CCC_CLAUDE", room.path("2.1.100"));
    for args in [
        &["--supervisor", "-p", "do it"][..],
        &["supervisor-mode", "--session", "abc123", "on"],
        &["judge", "--yes"],
    ] {
        too_old(&old(args).run().code(1).err());
    }
    room.enable("abc123", 0);
    let hook = room.hook("abc123").env("CCC_CLAUDE", room.path("2.1.100"));
    too_old(&hook.run().allows("is too old").err());
    assert!(!room.path("seen/started").exists());
}

#[test]
fn what_is_odd_is_no_failure() {
    let room = Room::new();
    room.client(CLIENT);
    room.write("home/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    room.write("home/.claude/commands/supervisor.md", "mine");
    room.config(&json!({"supervisor": {"max_iteration": 3}}));
    let report = checks(&room, 0);
    for (name, part) in [
        ("Stop hook", "disableAllHooks"),
        ("slash commands", "/supervisor was not written by ccc"),
        ("SUPERVISOR.md", "none found"),
        ("ccc.json", "did you mean supervisor.max_iterations?"),
    ] {
        let (state, text, advice) = state(&report, name);
        assert_eq!(state, "odd", "{name}: {text}");
        assert!(text.contains(part) && !advice.is_empty(), "{name}: {text}");
    }
    let done = room.ccc(&["doctor"]).env("CCC_NO_PTY", "1").run().code(0);
    assert!(done.out().contains("!  PTY"), "{}", done.out());
    // Whoever starts a session is told, too.
    let err = room.ccc(&["-p", "hi"]).run().err();
    assert_eq!(err.matches("supervisor.max_iteration (did you mean").count(), 1, "{err}");
}

#[test]
fn providers_are_named_and_no_key_is_printed() {
    let room = Room::supervised();
    room.client(CLIENT);
    room.config(&json!({
        "current_provider": "kimi",
        "providers": {
            "glm": {"env": {"ANTHROPIC_AUTH_TOKEN": "sk-very-secret-1234567890"}},
            "kimi": {"env": {"ANTHROPIC_AUTH_TOKEN": "${KIMI_KEY}"}},
        },
    }));
    let config = room.path("home/.claude/ccc.json");
    fs::set_permissions(&config, Permissions::from_mode(0o644)).expect("a file");
    let out = room.ccc(&["doctor"]).run().code(0).out();
    for part in
        ["kimi (used unless you name another): key from KIMI_KEY, which is not set", "chmod 600"]
    {
        assert!(out.contains(part), "{part}: {out}");
    }
    fs::set_permissions(&config, Permissions::from_mode(0o600)).expect("a file");
    let done = room.ccc(&["doctor", "--json"]).env("KIMI_KEY", "other-secret").run().code(0);
    let report: Value = serde_json::from_str(&done.out()).expect("JSON");
    assert_eq!(state(&report, "providers").0, "well", "{report}");
    assert_eq!(state(&report, "ccc.json").0, "well", "{report}");
    for text in [out, done.out()] {
        assert!(!text.contains("secret") && !text.contains("7890"), "{text}");
    }
}

#[test]
fn no_key_and_no_login_is_broken_and_says_what_to_do() {
    let room = Room::supervised();
    room.client(CLIENT);
    let doctor = |account: &str, code| {
        let doctor = room.ccc(&["doctor", "--json"]).env("ACCOUNT", account);
        let report: Value = serde_json::from_str(&doctor.run().code(code).out()).expect("JSON");
        state(&report, "login")
    };
    let (is, text, advice) = doctor(r#"{"tokenSource":"none"}"#, 1);
    assert_eq!((is.as_str(), text.as_str()), ("broken", "claude has neither a login nor a key"));
    assert!(advice.contains("claude /login") && advice.contains("ccc provider add"), "{advice}");
    let (is, text, _) = doctor(r#"{"email":"a@b.c","tokenSource":"claude.ai"}"#, 0);
    assert_eq!((is.as_str(), text.as_str()), ("well", "logged in as a@b.c"));
    // A provider brings its own key.
    room.config(&json!({"providers": {"a": {"env": {"ANTHROPIC_AUTH_TOKEN": "x"}}}}));
    assert_eq!(doctor(r#"{"tokenSource":"none"}"#, 0).1, "not needed: claude runs on a");
    room.config(&json!({"current_provider": "none", "providers": {"a": {}}}));
    assert_eq!(doctor(r#"{"tokenSource":"none"}"#, 1).0, "broken");
}

#[test]
fn a_terminal_is_described() {
    let room = Room::supervised();
    room.client(CLIENT);
    let mut person = Person::runs(&room, &["doctor"]);
    person.sees("xterm 200x50, colours, Unicode");
    assert_eq!(person.leaves().0, 0);
}

#[test]
fn completions_for_three_shells() {
    let room = Room::new();
    for (shell, part) in [("bash", "_ccc()"), ("zsh", "#compdef ccc"), ("fish", "complete -c ccc")]
    {
        let out = room.ccc(&["completions", shell]).run().code(0).out();
        assert!(out.contains(part) && out.contains("sessions"), "{shell}: {out}");
    }
    room.ccc(&["completions", "tcsh"]).run().code(2);
    room.ccc(&["completions"]).run().code(2);
}

#[test]
fn the_glass_case_is_tried_and_named() {
    let room = Room::supervised();
    room.client(CLIENT);
    let (_, text, _) = state(&checks(&room, 0), "glass case");
    let known = ["an overlay over the project", "Landlock", "none: "];
    assert!(known.iter().any(|known| text.starts_with(known)), "{text}");
    room.config(&json!({"supervisor": {"sandbox": "off"}}));
    let (is, text, _) = state(&checks(&room, 0), "glass case");
    assert!(is == "odd" && text.contains("turned off"), "{text}");
    // The client's own directory is the one place that no case can cover.
    room.write("project/ccc.json", json!({"supervisor": {"sandbox": "required"}}).to_string());
    let doctor = room.ccc(&["doctor", "--json"]).env("CLAUDE_CONFIG_DIR", room.path("project"));
    let report: Value = serde_json::from_str(&doctor.run().code(1).out()).expect("JSON");
    let (is, text, advice) = state(&report, "glass case");
    assert!(is == "broken" && text.contains("requires one") && !advice.is_empty(), "{text}");
}
