//! What is around the review: the user's own hooks, and an agent that goes elsewhere.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{assert_stopped, state, supervised};
use crate::on_each_client;
use crate::script::{begins_review, confirms, count, is_agents, is_review, judged, rejects};
use crate::support::api::{Api, Rule};
use crate::support::ccc::INSTRUCTIONS;
use crate::support::client::CleanRoom;

on_each_client!(
    scenario_000_the_supervisor_runs_no_hooks,
    the_review_finds_the_session_after_the_agent_went_elsewhere,
);

/// Scenarios 000 «Supervisor 使用 Fork Session», «Supervisor Settings 隔离», 003 «防止 Hook 死循环»
fn scenario_000_the_supervisor_runs_no_hooks(client: &Path) {
    let room = CleanRoom::new();
    let ran = room.home().join("hooks-that-ran");
    let hook = |name: &str| {
        let command = format!("echo {name} \"$CCC_SUPERVISOR_HOOK\" >> '{}'", ran.display());
        json!([{"hooks": [{"type": "command", "command": command}]}])
    };
    let names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    let hooks: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), hook(name))).collect();
    let settings = json!({"hooks": hooks, "permissions": {"allow": ["Bash"]}});
    fs::write(room.home().join(".claude/settings.json"), settings.to_string()).expect("settings");
    let look = json!({"command": "echo zq-look"});
    let api = Api::start(vec![
        Rule::any().when(begins_review).tool("Bash", look.clone()),
        judged(Rule::any().when(is_review), true, ""),
        Rule::on("zq-build-it").tool("Bash", look).times(1),
        Rule::any().text("zq-built."),
    ]);
    let done = supervised(&room, client, &api).run();
    assert_stopped(&done);
    let looked = |request: &crate::support::api::Request| {
        is_review(request) && request.recent_text().contains("zq-look")
    };
    assert!(api.requests().iter().any(looked), "the supervisor used no tool\n{done}");
    let ran = fs::read_to_string(ran).expect("the hooks that ran");
    let ran: Vec<_> = ran.lines().map(str::trim).collect();
    assert_eq!(ran, names, "once each, by the agent");
}

/// The client keeps a session under the directory it began in, and the agent's `cd` moves its hooks.
fn the_review_finds_the_session_after_the_agent_went_elsewhere(client: &Path) {
    let room = CleanRoom::new();
    fs::create_dir(room.project().join("sub")).expect("a directory");
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-build-it").tool("Bash", json!({"command": "cd sub && pwd"})).times(1),
        Rule::any().text("zq-built."),
    ]);
    let done = supervised(&room, client, &api).arg("--allowedTools=Bash").run();
    assert_stopped(&done);
    let requests = api.requests();
    assert_eq!(count(&requests, begins_review), 2, "{done}");
    assert_eq!(count(&requests, is_agents), 3, "{done}");
    assert!(
        requests
            .iter()
            .filter(|it| begins_review(it))
            .all(|review| { review.recent_text().contains(INSTRUCTIONS) })
    );
    assert_eq!(state(&room)["count"], 2);
    assert!(!room.project().join("sub/.claude").exists());
}
