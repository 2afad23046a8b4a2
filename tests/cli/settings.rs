//! `ccc [provider] [claude args…]`: the generated settings, and the plain client that gets them.

mod commands;
mod launch;
mod second_opinion;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::room::{Ccc, Room, hook_command, value_of, verdict};

const MAIN: &str = "home/.claude/settings-kimi.json";
const SUPERVISORS: &str = "home/.claude/settings-kimi-supervisor.json";

fn providers() -> Value {
    json!({
        "settings": {
            "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
            "env": {"BOTH": "shared", "SHARED": "1"},
            "hooks": {
                "Stop": [{"hooks": [{"type": "command", "command": "mine"}]}],
                "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "look"}]}],
            },
        },
        "providers": {
            "kimi": {
                "model": "k2",
                "permissions": {"deny": ["WebFetch"]},
                "env": {
                    "BOTH": "kimi",
                    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/kimi",
                    "ANTHROPIC_AUTH_TOKEN": "made-up",
                },
            },
            "glm": {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/glm"}},
        },
    })
}

fn room() -> Room {
    let room = Room::supervised();
    room.config(&providers());
    room
}

/// Runs the Stop hook of generated settings as the client does: by a shell.
fn stop(room: &Room, settings: &str, id: &str) -> Ccc {
    room.hook_of(&room.json(settings), id)
}

/// Scenarios 002 «生成带 Hook 的 Settings», 003 «Settings 文件结构»; the design puts it into a file per
/// provider, and the user's `settings.json` is not touched.
#[test]
fn scenario_002_the_settings_have_the_stop_hook_beside_the_users_own() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    let settings = room.json(MAIN);
    assert_eq!(settings["model"], "k2");
    assert_eq!(settings["permissions"], json!({"allow": ["Bash(ls:*)"], "deny": ["WebFetch"]}));
    // Nothing is loaded into the hook that was not loaded into ccc.
    let mut env = settings["env"].clone();
    env.as_object_mut().expect("env").retain(|_, value| value != "");
    assert_eq!(
        (&settings["env"]["LD_PRELOAD"], &settings["disableAllHooks"]),
        (&json!(""), &json!(false))
    );
    assert_eq!(
        env,
        json!({
            "BOTH": "kimi", "SHARED": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/kimi",
            "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "11",
        })
    );
    let configured = providers()["settings"]["hooks"].clone();
    assert_eq!(settings["hooks"]["PreToolUse"], configured["PreToolUse"]);
    let stops = settings["hooks"]["Stop"].as_array().expect("Stop hooks");
    assert_eq!(stops.len(), 2);
    assert_eq!(stops[0], configured["Stop"][0]);
    let command = hook_command(&settings);
    let supervisors = room.path(SUPERVISORS).to_string_lossy().into_owned();
    let ends = format!(" supervisor-hook --settings {supervisors} --state-dir .claude/ccc");
    assert!(command.ends_with(&ends), "{command}");
}

/// Scenarios 002 «生成 Supervisor 专用 Settings», 000 «Supervisor Settings 隔离»
#[test]
fn scenario_002_the_supervisors_settings_are_the_same_without_hooks() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    let (mut main, mut supervisors) = (room.json(MAIN), room.json(SUPERVISORS));
    assert_eq!(supervisors["disableAllHooks"], true);
    assert!(supervisors.get("hooks").is_none());
    let env = main["env"].as_object_mut().expect("env");
    env.remove("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
    env.retain(|_, value| value != "");
    for name in ["hooks", "disableAllHooks"] {
        main.as_object_mut().expect("settings").remove(name);
    }
    // What keeps the judge to itself is its own.
    for name in ["disableAllHooks", "autoMemoryEnabled", "crossSessionInbound", "claudeMdExcludes"]
    {
        assert!(supervisors.as_object_mut().expect("settings").remove(name).is_some(), "{name}");
    }
    assert_eq!(main, supervisors);

    // And the review runs with them.
    room.enable("abc123", 0);
    stop(&room, MAIN, "abc123").run().allows("confirmed");
    let args = room.seen("supervisor-0.args");
    assert_eq!(judged_with(&args), room.json(SUPERVISORS));
}

/// The settings that a judge was given: as text, because the agent could write a file. Without those that are
/// there only so that nobody sets them while the judge runs.
fn judged_with(args: &str) -> Value {
    let text = value_of(args, "--settings");
    let mut given: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let env = given["env"].as_object_mut().expect("variables");
    assert!(env.contains_key("LD_PRELOAD") && env.contains_key("HTTPS_PROXY"), "{text}");
    env.retain(|name, value| value != "" && name != "PATH");
    given
}

/// Scenario 002 «Hook 命令绝对路径»
#[test]
fn scenario_002_the_hook_names_ccc_by_its_absolute_path() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    let command = hook_command(&room.json(MAIN));
    assert!(command.starts_with(concat!(env!("CARGO_BIN_EXE_ccc"), " ")), "{command}");
}

#[test]
fn the_hook_works_from_a_path_that_a_shell_would_take_apart() {
    let room = room();
    let ccc = copied_ccc(&room, "it's a \"dir\" $HOME `x` *");
    room.run_program(&ccc).args(&["kimi"]).run().code(0);
    room.enable("abc123", 0);
    room.supervisor_prints(&verdict(false, "more"));
    stop(&room, MAIN, "abc123").run().blocks("more");
}

/// A home may have spaces too.
#[test]
fn the_hook_works_with_a_config_dir_that_a_shell_would_take_apart() {
    let room = Room::supervised();
    let dir = "home/it's $HOME";
    room.write(&format!("{dir}/ccc.json"), providers().to_string());
    room.ccc(&["kimi"]).env("CCC_CONFIG_DIR", room.path(dir)).run().code(0);
    room.enable("abc123", 0);
    let stop = stop(&room, &format!("{dir}/settings-kimi.json"), "abc123");
    stop.env("CCC_CONFIG_DIR", room.path(dir)).run().allows("confirmed");
    let supervisors = room.json(&format!("{dir}/settings-kimi-supervisor.json"));
    assert_eq!(judged_with(&room.seen("supervisor-0.args")), supervisors);
}

/// claude does not know `CCC_CONFIG_DIR`: what it reads and what it is to find stays in its own directory.
#[test]
fn only_cccs_own_files_move_to_another_config_dir() {
    let room = Room::supervised();
    room.write("elsewhere/ccc.json", providers().to_string());
    room.write("home/.claude/settings.json", r#"{"env": {"ANTHROPIC_API_KEY": "theirs"}}"#);
    room.ccc(&["kimi"]).env("CCC_CONFIG_DIR", room.path("elsewhere")).run().code(0);
    for command in ["supervisor", "supervisoroff"] {
        assert!(room.path(&format!("home/.claude/commands/{command}.md")).exists(), "{command}");
    }
    let settings = room.json("elsewhere/settings-kimi.json");
    assert_eq!(settings["env"]["ANTHROPIC_API_KEY"], "", "the user's key is not for this endpoint");
}

/// By another process, for the reason that `Room::program` has.
fn copied_ccc(room: &Room, dir: &str) -> std::path::PathBuf {
    let dir = room.path(dir);
    fs::create_dir_all(&dir).expect("a directory");
    let copied = std::process::Command::new("/bin/cp")
        .args([env!("CARGO_BIN_EXE_ccc").as_ref(), dir.as_os_str()])
        .status();
    assert!(copied.expect("cp runs").success());
    dir.join("ccc")
}

/// The client drops a hook at its timeout, and overrules one that blocks too often.
#[test]
fn the_clients_own_limits_are_above_those_of_ccc() {
    for (config, args, seconds, rounds) in [
        (json!({}), &[][..], 0, 10),
        (json!({"timeout_seconds": 1800, "max_iterations": 25}), &[], 1800, 25),
        (json!({"timeout_seconds": 0.5}), &["--max-iterations", "300"], 0, 300),
    ] {
        let room = Room::new();
        let mut whole = providers();
        whole["supervisor"] = config;
        room.config(&whole);
        room.ccc(args).args(&["--supervisor=hook", "kimi"]).run().code(0);
        let settings = room.json(MAIN);
        let timeout = settings["hooks"]["Stop"][1]["hooks"][0]["timeout"].as_u64();
        // Without a word about it, the review has five minutes at least.
        let least = if whole["supervisor"].as_object().is_some_and(serde_json::Map::is_empty) {
            300
        } else {
            seconds
        };
        assert!(timeout.is_some_and(|timeout| timeout > least), "{timeout:?}");
        let cap = settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"].as_str().expect("a text");
        assert!(cap.parse::<u32>().expect("a number") > rounds, "{cap}");
    }
}

#[test]
fn generated_settings_are_private() {
    let room = room();
    // Also where an older version, or somebody else, left one for all to read.
    room.write(MAIN, "{}");
    room.ccc(&["kimi"]).run().code(0);
    for file in [MAIN, SUPERVISORS] {
        let mode = room.path(file).metadata().expect(file).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn the_users_own_settings_are_not_touched() {
    let room = room();
    let own = "{ \"env\":{\"ANTHROPIC_BASE_URL\" : \"http://127.0.0.1:1/own\"},\r\n\t\"x\": 1 }";
    room.write("home/.claude/settings.json", own);
    let changed = |name: &str| room.path(name).metadata().expect(name).modified().expect("a time");
    let before = changed("home/.claude/settings.json");
    room.ccc(&["kimi"]).run().code(0);
    room.ccc(&["--supervisor", "glm", "-p", "x"]).run().code(0);
    room.ccc(&["--supervisor=hook", "glm"]).run().code(0);
    assert_eq!(room.read("home/.claude/settings.json"), own);
    assert_eq!(changed("home/.claude/settings.json"), before);
}

/// A client that runs with the file is not told of a change where there is none.
#[test]
fn unchanged_settings_are_not_written_again() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    let written = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        room.path(name).metadata().expect(name).ino()
    };
    let before = (written(MAIN), written(SUPERVISORS));
    room.ccc(&["kimi"]).run().code(0);
    assert_eq!((written(MAIN), written(SUPERVISORS)), before);
}

#[test]
fn without_a_config_the_client_still_gets_the_hook() {
    let room = Room::supervised();
    room.ccc(&[]).run().code(0);
    let settings = room.json("home/.claude/settings-default.json");
    assert!(hook_command(&settings).contains("supervisor-hook"));
    assert!(settings["env"].get("ANTHROPIC_BASE_URL").is_none());
    room.enable("abc123", 0);
    stop(&room, "home/.claude/settings-default.json", "abc123").run().allows("confirmed");
}

#[test]
fn secrets_may_stay_in_the_environment() {
    let room = Room::new();
    room.config(&json!({"providers": {"kimi": {"env": {"ANTHROPIC_AUTH_TOKEN": "${KIMI_KEY}"}}}}));
    room.ccc(&["kimi"]).env("KIMI_KEY", "made-up-2").run().code(0);
    assert!(room.seen("agent-0.env").contains("ANTHROPIC_AUTH_TOKEN=made-up-2\n"));
    for file in [MAIN, SUPERVISORS, "home/.claude/ccc.json"] {
        assert!(!room.read(file).contains("made-up-2"), "{file}");
    }
    for args in
        [&["kimi"][..], &["--supervisor=hook", "kimi"], &["--supervisor", "kimi", "-p", "x"]]
    {
        room.write("project/SUPERVISOR.md", "BE STRICT");
        let done = room.ccc(args).run().code(1);
        assert!(done.err().contains("KIMI_KEY"), "{}", done.err());
    }
    assert_eq!(fs::read_dir(room.path("seen")).expect("a directory").count(), 3, "nothing started");
}
