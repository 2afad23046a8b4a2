//! Keys: they stand where the person put them, reach the client that they are for, and go nowhere
//! else.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::room::{Room, value_of};

const KEY: &str = "made-up-key-0123456789";
const OTHER: &str = "made-up-other-9876543210";

fn room() -> Room {
    let room = Room::supervised();
    room.config(&json!({"providers": {
        "kimi": {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/kimi",
                         "ANTHROPIC_AUTH_TOKEN": "${KIMI_KEY}"}},
        "glm": {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/glm",
                        "ANTHROPIC_API_KEY": "${GLM_KEY}"}},
    }}));
    room
}

/// Files below a directory that hold a text.
fn holding(dir: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_key_that_is_only_named_is_written_nowhere() {
    let room = room();
    for args in [
        &["kimi"][..],
        &["--supervisor=hook", "kimi"],
        &["--supervisor", "kimi", "-p", "x"],
        &["kimi", "--settings", r#"{"model":"m"}"#],
    ] {
        room.ccc(args).env("KIMI_KEY", KEY).env("GLM_KEY", OTHER).run().code(0);
    }
    for agent in ["agent-0.env", "agent-2.env", "supervisor-0.env"] {
        let env = room.seen(agent);
        assert!(env.contains(&format!("ANTHROPIC_AUTH_TOKEN={KEY}\n")), "{agent}: {env}");
    }
    for dir in ["home", "project"] {
        assert_eq!(holding(&room.path(dir), KEY), [""; 0]);
        assert_eq!(holding(&room.path(dir), OTHER), [""; 0]);
    }
}

/// A key of the user's own `settings.json` is not copied into the judge's settings either.
#[test]
fn a_key_in_the_users_settings_stays_there() {
    let room = Room::supervised();
    let own = json!({"env": {"ANTHROPIC_API_KEY": KEY}}).to_string();
    room.write("home/.claude/settings.json", &own);
    room.ccc(&["--supervisor", "-p", "x"]).run().code(0);
    let held = holding(&room.path("home"), KEY);
    assert_eq!(held, [room.path("home/.claude/settings.json").display().to_string()]);
    assert!(room.seen("supervisor-0.env").contains(&format!("ANTHROPIC_API_KEY={KEY}\n")));
}

#[test]
fn the_keys_of_other_providers_are_not_handed_on() {
    let room = room();
    room.ccc(&["--supervisor", "kimi", "-p", "x"])
        .env("KIMI_KEY", KEY)
        .env("GLM_KEY", OTHER)
        .run()
        .code(0);
    for client in ["agent-0.env", "supervisor-0.env"] {
        let env = room.seen(client);
        assert!(env.contains(KEY) && !env.contains(OTHER), "{client}: {env}");
    }
    // Each of two providers has its own, and neither has the other's.
    let mut config = room.json("home/.claude/ccc.json");
    config["supervisor"] = json!({"provider": "glm"});
    room.config(&config);
    room.ccc(&["--supervisor", "kimi", "-p", "x"])
        .env("KIMI_KEY", KEY)
        .env("GLM_KEY", OTHER)
        .run()
        .code(0);
    let (agent, judge) = (room.seen("agent-1.env"), room.seen("supervisor-1.env"));
    assert!(agent.contains(KEY) && !agent.contains(OTHER), "{agent}");
    assert!(judge.contains(OTHER) && !judge.contains(KEY), "{judge}");
}

#[test]
fn nothing_of_a_provider_is_left_behind() {
    let generated = |room: &Room| {
        let all = fs::read_dir(room.path("home/.claude")).expect("a directory").flatten();
        let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("settings-kimi")).collect::<Vec<_>>()
    };
    for change in [&["provider", "rename", "kimi", "moon"][..], &["provider", "remove", "kimi"]] {
        let room = room();
        for args in [&["kimi"][..], &["kimi", "--settings", r#"{"model":"m"}"#]] {
            room.ccc(args).env("KIMI_KEY", KEY).run().code(0);
        }
        assert_eq!(generated(&room).len(), 4, "{:?}", generated(&room));
        room.ccc(change).run().code(0);
        assert_eq!(generated(&room), [""; 0]);
    }
}

#[test]
fn broken_settings_are_not_quoted() {
    let room = room();
    let broken = format!(r#"{{"env":{{"ANTHROPIC_AUTH_TOKEN":"{KEY}"}}"#);
    for args in [&["kimi", "--settings", &broken][..], &["--supervisor", "--settings", &broken]] {
        let done = room.ccc(args).args(&["-p", "x"]).env("KIMI_KEY", "x").run().code(1);
        assert!(done.err().contains("--settings is not JSON"), "{}", done.err());
        assert!(!done.err().contains(KEY), "{}", done.err());
    }
}

#[test]
fn no_two_providers_share_a_generated_file() {
    let room = Room::supervised();
    let provider = |token: &str| {
        json!({"model": token, "env": {"ANTHROPIC_BASE_URL": format!("http://127.0.0.1:1/{token}"),
                                       "ANTHROPIC_AUTH_TOKEN": token}})
    };
    room.config(&json!({"providers": {"a/b": provider("one"), "a_b": provider("two")}}));
    room.ccc(&["a/b"]).run().code(0);
    room.ccc(&["a_b"]).run().code(0);
    for (agent, token) in [("agent-0", "one"), ("agent-1", "two")] {
        let settings = value_of(&room.seen(&format!("{agent}.args")), "--settings");
        assert!(settings.contains(&format!("127.0.0.1:1/{token}")), "{settings}");
        assert!(room.seen(&format!("{agent}.env")).contains(&format!("_TOKEN={token}\n")));
    }
}

/// The client would lay a key of the same name in one of these files over the environment's.
#[test]
fn a_key_of_another_file_does_not_take_the_place_of_the_providers() {
    for file in ["home/.claude/settings.json", "project/.claude/settings.local.json"] {
        let room = room();
        room.write(file, json!({"env": {"ANTHROPIC_AUTH_TOKEN": OTHER}}).to_string());
        room.ccc(&["kimi"]).env("KIMI_KEY", KEY).run().code(0);
        let settings = room.json("home/.claude/settings-kimi.json");
        assert_eq!(settings["env"]["ANTHROPIC_AUTH_TOKEN"], "", "blank, which beats the file");
        let helper = settings["apiKeyHelper"].as_str().expect("a helper").to_owned();
        let shell = room.run_program(Path::new("/bin/sh")).args(&["-c", &helper]);
        let env = room.seen("agent-0.env");
        let handed = env.lines().find_map(|line| line.strip_prefix("CCC_PROVIDER_KEY="));
        let printed = shell.env("CCC_PROVIDER_KEY", handed.expect("the key")).run().code(0);
        assert_eq!(printed.out(), KEY);
    }
}

#[test]
fn keys_that_others_may_read_are_told_at_the_start() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::supervised();
    room.config(&json!({"providers": {"kimi": {"env": {"ANTHROPIC_AUTH_TOKEN": KEY}}}}));
    assert_eq!(room.ccc(&["kimi"]).run().code(0).err(), "");
    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(room.path("home/.claude/ccc.json"), open).expect("permissions");
    for args in [&["kimi"][..], &["--supervisor", "kimi", "-p", "x"]] {
        let told = room.ccc(args).run().code(0).err();
        assert!(told.contains("other users of this machine can read it; `chmod 600`"), "{told}");
    }
}
