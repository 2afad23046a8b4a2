//! `supervisor.provider` and `supervisor.model`: another endpoint judges than works, in both paths.

use serde_json::{Value, json};

use super::{MAIN, SUPERVISORS, judged_with, providers, stop};
use crate::room::{Room, value_of};

fn room(supervisor: Value) -> Room {
    let room = Room::supervised();
    let mut config = providers();
    config["supervisor"] = supervisor;
    room.config(&config);
    room
}

/// A review in the supervised session (`false`), and at the Stop hook (`true`).
fn review(room: &Room, hook: bool) {
    if hook {
        room.ccc(&["kimi"]).run().code(0);
        room.enable("abc123", 0);
        // The client hands the `env` of its settings on to its hooks.
        let stop = stop(room, MAIN, "abc123").env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/kimi");
        let stop = stop.env("ANTHROPIC_AUTH_TOKEN", "made-up").env("BOTH", "kimi");
        stop.run().allows("confirmed");
    } else {
        room.ccc(&["--supervisor", "kimi", "-p", "do it"]).run().code(0);
        let agents = value_of(&room.seen("agent-0.args"), "--settings");
        assert!(agents.ends_with("settings-kimi.json"), "{agents}");
    }
}

#[test]
fn the_supervisors_own_provider_and_model_are_used() {
    for hook in [false, true] {
        let room = room(json!({"provider": "glm", "model": "judge-1"}));
        review(&room, hook);
        let args = room.seen("supervisor-0.args");
        let settings = room.json("home/.claude/settings-glm-supervisor.json");
        assert_eq!(judged_with(&args), settings, "hook: {hook}");
        assert_eq!(value_of(&args, "--model"), "judge-1", "hook: {hook}");
        let env = room.seen("supervisor-0.env");
        assert!(!env.contains("ANTHROPIC_"), "hook: {hook}, {env}");
    }
}

#[test]
fn without_one_the_agents_provider_and_model_are_used() {
    for hook in [false, true] {
        let room = room(json!({}));
        let line = json!({"type": "assistant", "message": {"model": "fake", "content": []}});
        room.write("transcript.jsonl", line.to_string());
        review(&room, hook);
        let args = room.seen("supervisor-0.args");
        assert_eq!(judged_with(&args), room.json(SUPERVISORS), "hook: {hook}");
        assert_eq!(value_of(&args, "--model"), "fake", "hook: {hook}");
    }
}

/// The agent's model means nothing to another endpoint.
#[test]
fn another_provider_chooses_its_own_model() {
    for hook in [false, true] {
        let room = room(json!({"provider": "glm"}));
        let line = json!({"type": "assistant", "message": {"model": "fake", "content": []}});
        room.write("transcript.jsonl", line.to_string());
        review(&room, hook);
        let args = room.seen("supervisor-0.args");
        assert!(!args.contains("--model\n"), "hook: {hook}, {args}");
    }
}

/// A provider without an endpoint is the user's own login, whatever the agent works with.
#[test]
fn the_users_own_login_may_judge() {
    for hook in [false, true] {
        let room = Room::supervised();
        let mut config = providers();
        config["providers"]["own"] = json!({});
        config["supervisor"] = json!({"provider": "own", "model": "judge-1"});
        room.config(&config);
        review(&room, hook);
        let env = room.seen("supervisor-0.env");
        assert!(!env.contains("/kimi") && !env.contains("made-up"), "hook: {hook}, {env}");
    }
}

#[test]
fn a_provider_that_is_not_there_is_an_error() {
    for args in
        [&["kimi"][..], &["--supervisor=hook", "kimi"], &["--supervisor", "kimi", "-p", "x"]]
    {
        let room = room(json!({"provider": "nobody"}));
        let done = room.ccc(args).run().code(1);
        assert!(done.err().contains("\"nobody\""), "{}", done.err());
        assert!(!room.path("seen/agent-0.args").exists(), "nothing started");
    }
}
