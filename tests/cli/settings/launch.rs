//! The plain client: started in ccc's place, with what was typed.

use serde_json::json;

use super::{MAIN, room};
use crate::room::{Ccc, Done, Room, hook_command, state_file, value_of, verdict};

fn args(room: &Room) -> Vec<String> {
    room.seen("agent-0.args").lines().map(str::to_owned).collect()
}

/// The client's arguments behind the settings.
#[track_caller]
fn typed(room: &Room, settings: &str) -> Vec<String> {
    let args = args(room);
    assert_eq!(args[0], "--settings");
    // Those of the launch are the provider's, with what is its own.
    let (launch, provider) = (room.launch_settings(), room.json(settings));
    for (name, value) in provider["env"].as_object().into_iter().flatten() {
        assert_eq!(launch["env"][name], *value, "{name}");
    }
    assert_eq!(launch.get("permissions"), provider.get("permissions"));
    args[2..].to_vec()
}

/// Runs the hook of those settings.
fn stop(room: &Room, id: &str) -> Ccc {
    room.hook_of(&room.launch_settings(), id)
}

#[test]
fn ccc_becomes_the_client() {
    let room = room();
    room.client("#!/bin/sh\necho $$ >\"$ROOM/pid\"\ncat\necho done >&2\nexit 7\n");
    let done: Done = room.ccc(&["kimi"]).input("what is typed").run().code(7);
    assert_eq!(room.seen("pid").trim(), done.pid.to_string());
    assert_eq!((done.out().as_str(), done.err().as_str()), ("what is typed", "done\n"));
}

#[test]
fn arguments_of_the_client_are_not_touched() {
    for words in [
        &["--model", "opus", "-p", "do it", "--output-format", "json", "--help", "--version"][..],
        &["--supervisor", "--max-iterations", "3", "", "a\tb", "--", "-x"],
        &["glm", "kimi"],
        &["init"],
    ] {
        let room = room();
        room.ccc(&["kimi"]).args(words).run().code(0);
        assert_eq!(typed(&room, MAIN), words);
    }
}

#[test]
fn a_first_word_that_is_no_provider_is_the_clients() {
    let room = room();
    room.ccc(&["mcp", "list", "--help"]).run().code(0);
    assert_eq!(typed(&room, MAIN), ["mcp", "list", "--help"]);
    let room = Room::new();
    room.ccc(&["fix the bug"]).run().code(0);
    assert_eq!(typed(&room, "home/.claude/settings-default.json"), ["fix the bug"]);
}

/// Without `--supervisor`, ccc's own words for a session without a person are the client's.
#[test]
fn options_in_front_of_the_provider_reach_the_client_too() {
    let room = room();
    room.ccc(&["-p", "do it", "--output-format", "json", "kimi", "--model", "opus"]).run().code(0);
    let args = typed(&room, MAIN).join(" ");
    assert!(args.contains("--model opus") && args.contains("--output-format json"), "{args}");
    assert!(args.contains("--print do it"), "{args}");
}

#[test]
fn configured_arguments_come_before_those_that_are_typed() {
    let room = Room::new();
    room.config(&json!({"claude_args": ["--verbose", "--model", "x"], "providers": {"kimi": {}}}));
    room.ccc(&["kimi", "--model", "y"]).run().code(0);
    assert_eq!(typed(&room, MAIN), ["--verbose", "--model", "x", "--model", "y"]);
}

#[test]
fn the_current_provider_is_taken_else_the_first() {
    let room = room();
    room.ccc(&[]).run().code(0);
    assert!(typed(&room, MAIN).is_empty());
    let room = self::room();
    let mut config = super::providers();
    config["current_provider"] = "glm".into();
    room.config(&config);
    room.ccc(&[]).run().code(0);
    assert!(typed(&room, "home/.claude/settings-glm.json").is_empty());
}

#[test]
fn an_inherited_key_is_not_sent_to_a_providers_endpoint() {
    let room = room();
    let ccc = room.ccc(&["kimi"]).env("ANTHROPIC_API_KEY", "made-up-3").env("OTHER", "1");
    ccc.env("ANTHROPIC_MODEL", "x").env("CLAUDECODE", "1").run().code(0);
    let env = room.seen("agent-0.env");
    let endpoint: Vec<_> = env.lines().filter(|line| line.starts_with("ANTHROPIC_")).collect();
    assert_eq!(endpoint, ["ANTHROPIC_AUTH_TOKEN=made-up"], "{env}");
    assert!(env.contains("OTHER=1") && !env.contains("CLAUDECODE"), "{env}");
    assert!(env.contains(&format!("CCC_STATE_DIR={}", state_dir(&room))), "{env}");
    assert!(!env.contains("CCC_SUPERVISOR"), "{env}");

    // Without a provider it is the user's own login.
    let room = Room::new();
    room.ccc(&[]).env("ANTHROPIC_API_KEY", "made-up-3").run().code(0);
    assert!(room.seen("agent-0.env").contains("ANTHROPIC_API_KEY=made-up-3"));
}

fn state_dir(room: &Room) -> String {
    let project = room.path("project").canonicalize().expect("a path");
    project.join(".claude/ccc").to_string_lossy().into_owned()
}

/// Scenarios 000 «首次启动 Supervisor Mode», 002 «启用 Supervisor Mode»
#[test]
fn scenario_000_the_first_stop_of_a_supervised_session_is_round_1() {
    let room = room();
    room.supervisor_prints(&verdict(false, "more"));
    room.ccc(&["--supervisor=hook"]).run().code(0);
    let id = value_of(&room.seen("agent-0.args"), "--session-id");
    assert_eq!(id.len(), 36);
    let state = room.state(&id);
    assert_eq!((&state["enabled"], &state["count"]), (&true.into(), &0.into()));
    stop(&room, &id).run().blocks("more");
    assert_eq!(room.state(&id)["count"], 1);
    assert_eq!(room.reviews(), 1);
}

/// The state is there before the client is.
#[test]
fn supervision_is_on_before_the_client_starts() {
    let room = room();
    room.client("#!/bin/sh\ncat .claude/ccc/supervisor-*.json\n");
    let done = room.ccc(&["--supervisor=hook", "kimi"]).run().code(0);
    assert!(done.out().contains("\"enabled\": true"), "{}", done.out());
}

#[test]
fn a_plain_session_is_not_supervised() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    assert!(!room.path("project/.claude").exists());
    assert!(!room.seen("agent-0.args").contains("--session-id"));
}

/// Scenarios 002 «Supervisor Mode 指定提供商», «解析 --supervisor 与提供商»
#[test]
fn scenario_002_a_supervised_session_on_a_named_provider() {
    for (args, n) in [
        (&["--supervisor=hook", "glm", "-p", "x"][..], 0),
        (&["--supervisor", "glm", "-p", "x"], 1),
    ] {
        let room = room();
        room.ccc(args).run().code(0);
        let settings = "home/.claude/settings-glm.json";
        let given = value_of(&room.seen("agent-0.args"), "--settings");
        if n == 0 {
            typed(&room, settings);
        } else {
            assert_eq!(given, room.path(settings).to_string_lossy());
        }
        assert!(hook_command(&room.json(settings)).contains("settings-glm-supervisor.json"));
        assert_eq!(room.reviews(), n, "{args:?}");
    }
}

/// Scenario 002 «解析 --supervisor»
#[test]
fn scenario_002_the_option_alone_is_the_supervised_session() {
    let room = room();
    let done = room.ccc(&["--supervisor"]).input("do it").run().code(0);
    assert!(done.transcript().contains("Supervisor mode enabled"), "{}", done.transcript());
    let given = value_of(&room.seen("agent-0.args"), "--settings");
    assert_eq!(given, room.path(MAIN).to_string_lossy(), "the first provider");
    let done = room.ccc(&["--supervisor=nowhere"]).run().code(2);
    assert!(done.err().contains("hook"), "{}", done.err());
}

#[test]
fn the_session_that_is_named_is_the_one_that_is_supervised() {
    for words in [
        &["--session-id", "3d5f2c9e-0000-4000-8000-000000000001"][..],
        &["--resume", "3d5f2c9e-0000-4000-8000-000000000001"],
        &["-r", "3d5f2c9e-0000-4000-8000-000000000001"],
        &["--resume=3d5f2c9e-0000-4000-8000-000000000001"],
    ] {
        let room = room();
        room.ccc(&["--supervisor=hook", "kimi"]).args(words).run().code(0);
        let state = room.state("3d5f2c9e-0000-4000-8000-000000000001");
        assert_eq!(state["enabled"], true);
        assert_eq!(typed(&room, MAIN), words, "nothing is added");
    }
}

#[test]
fn a_session_id_in_one_word_is_seen() {
    let room = room();
    let id = "3d5f2c9e-0000-4000-8000-000000000001";
    room.ccc(&["--supervisor=hook", "kimi", &format!("--session-id={id}")]).run().code(0);
    assert!(room.path(&state_file(id)).exists(), "{:?}", args(&room));
    assert_eq!(typed(&room, MAIN), [format!("--session-id={id}")]);
}

/// A fork has another id than the session it comes from.
#[test]
fn the_fork_of_a_session_is_supervised() {
    let room = room();
    let id = "3d5f2c9e-0000-4000-8000-000000000001";
    room.ccc(&["--supervisor=hook", "kimi", "--resume", id, "--fork-session"]).run();
    let forked = value_of(&room.seen("agent-0.args"), "--session-id");
    assert_eq!(room.state(&forked)["enabled"], true);
    assert!(!room.path(&state_file(id)).exists());
}

#[test]
fn what_is_no_session_id_is_a_usage_error() {
    let room = room();
    for words in [&["--resume", "../x"][..], &["--session-id", "-rf"]] {
        let done = room.ccc(&["--supervisor=hook", "kimi"]).args(words).run().code(2);
        assert!(done.err().contains("session"), "{words:?}: {}", done.err());
    }
    assert!(!room.path("seen/agent-0.args").exists() && !room.path("project/.claude").exists());
}

/// Supervision belongs to the launch: which session it is, the first stop tells; and another one after
/// a `/clear` or `/resume` is supervised too.
#[test]
fn whatever_session_the_client_takes_up_is_supervised() {
    for words in [&["--continue"][..], &["--resume"], &["--bg", "do it"]] {
        let room = room();
        room.supervisor_prints(&verdict(false, "more"));
        room.ccc(&["--supervisor=hook", "kimi"]).args(words).run().code(0);
        assert_eq!(typed(&room, MAIN), words, "nothing is added");
        for id in ["3d5f2c9e-0000-4000-8000-000000000001", "3d5f2c9e-0000-4000-8000-000000000002"] {
            stop(&room, id).run().blocks("more");
            assert_eq!(room.state(id)["count"], 1);
        }
        assert_eq!(room.reviews(), 2);
        // Another launch is none of its business.
        stop_without_launch(&room, "elsewhere").run().allows("not supervised");
    }
}

/// Client 2.1.197 hands a session to the background with the key of its environment and without the
/// address that the key is for. Settings go with the session.
#[test]
fn the_endpoint_of_the_environment_is_not_lost_in_the_background() {
    const HERE: &str = "http://127.0.0.1:9/here";
    let started = |room: &Room, url: &str| {
        room.ccc(&["--supervisor=hook", "--bg", "do it"]).env("ANTHROPIC_BASE_URL", url).run()
    };
    let room = Room::new();
    started(&room, HERE).code(0);
    assert_eq!(room.launch_settings()["env"]["ANTHROPIC_BASE_URL"], HERE);
    // Other settings win over the environment.
    for file in ["home/.claude/settings.json", "project/.claude/settings.local.json"] {
        let room = Room::new();
        room.write(file, json!({"env": {"ANTHROPIC_BASE_URL": "http://there"}}).to_string());
        started(&room, HERE).code(0);
        assert_eq!(room.launch_settings()["env"].get("ANTHROPIC_BASE_URL"), None, "{file}");
    }
    // A login is for nobody's eyes, and settings stand on the command line.
    for (version, code) in [("2.1.197", 1), ("2.1.260", 0)] {
        let room = Room::new();
        room.client(&format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo '{version} (Claude Code)' && exit\n\
             printf '%s\\n' \"$@\" > \"$ROOM/agent-0.args\"\n"
        ));
        let done = started(&room, "http://me:secret@127.0.0.1:9/").code(code);
        if code == 0 {
            assert!(!room.seen("agent-0.args").contains("secret"));
        } else {
            let told = done.err();
            assert!(
                told.contains("claude 2.1.197") && told.contains("ANTHROPIC_BASE_URL"),
                "{told}"
            );
            assert!(!told.contains("secret") && !room.path("seen/agent-0.args").exists(), "{told}");
        }
    }
}

fn stop_without_launch(room: &Room, id: &str) -> Ccc {
    super::stop(room, MAIN, id)
}

/// They win over the project's, which the agent can write.
#[test]
fn what_the_hook_goes_by_stands_in_the_settings_of_the_launch() {
    let room = room();
    room.ccc(&["--supervisor=hook", "--max-iterations", "3", "kimi"]).run().code(0);
    let (first, settings) =
        (value_of(&room.seen("agent-0.args"), "--settings"), room.launch_settings());
    let env = &settings["env"];
    let text = |name: &str| env[name].as_str().unwrap_or("nothing").to_owned();
    assert_eq!((text("CCC_STATE_DIR"), text("CCC_MAX_ITERATIONS")), (state_dir(&room), "3".into()));
    assert!(text("CCC_CLAUDE").ends_with("/claude") && text("PATH").contains("/bin"), "{env}");
    for unset in
        ["CCC_NO_CHECKS", "CCC_NO_RECORD", "CCC_SUPERVISOR_HOOK", "CCC_SUPERVISOR_PTY", "BASH_ENV"]
    {
        assert_eq!(text(unset), "", "{unset}");
    }
    assert_eq!(settings["disableAllHooks"], false);
    assert_eq!(env["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"], "4");
    let launch = text("CCC_LAUNCH");
    assert!(hook_command(&settings).ends_with(&format!(" --launch {launch}")));
    assert!(!settings.to_string().contains("made-up"), "no key");
    // Another launch leaves them as they are.
    room.ccc(&["--supervisor=hook", "kimi"]).run().code(0);
    assert_ne!(value_of(&room.seen("agent-1.args"), "--settings"), first);
    assert_eq!(room.launch_settings(), settings);
}

/// The limit of the command line reaches the hook through the client.
#[test]
fn the_limit_of_the_launch_is_the_hooks() {
    let room = room();
    room.ccc(&["--supervisor=hook", "--max-iterations", "3", "kimi"]).run().code(0);
    assert!(room.seen("agent-0.env").contains("CCC_MAX_ITERATIONS=3\n"));
}

#[test]
fn where_there_is_no_pty_the_hook_supervises_and_a_line_says_so() {
    let room = room();
    let done =
        room.ccc(&["--supervisor", "kimi", "-p", "do it"]).env("CCC_NO_PTY", "1").run().code(0);
    assert!(
        done.err().contains("cannot open a PTY") && done.err().contains("Stop hook"),
        "{}",
        done.err()
    );
    assert_eq!(done.err().lines().count(), 1);
    let id = value_of(&room.seen("agent-0.args"), "--session-id");
    assert_eq!(room.state(&id)["enabled"], true);
    assert!(typed(&room, MAIN).join(" ").ends_with("-p do it"), "{:?}", args(&room));
    stop(&room, &id).run().allows("confirmed complete in round 1");
}

#[test]
fn a_client_that_is_not_there_is_an_error() {
    let room = room();
    let done = room.ccc(&["kimi"]).env("CCC_CLAUDE", "/nowhere").run().code(1);
    assert!(done.err().contains("CCC_CLAUDE names /nowhere"), "{}", done.err());
}
