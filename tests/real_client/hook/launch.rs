//! What belongs to the launch: a goal of the client's own beside it, and what the project's settings cannot
//! change.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{assert_stopped, supervised};
use crate::on_each_client;
use crate::script::{begins_review, confirms, count, is_review, only, rejects};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::patience::{PATIENCE, wait_within};

on_each_client!(
    a_goal_beside_the_supervision_is_told_and_not_inherited,
    a_hook_sees_what_ccc_wrote_and_not_what_the_project_says,
);
/// The client asks its own model whether a goal is reached.
fn asks_about_the_goal(request: &Request) -> bool {
    request.recent_text().contains("stopping condition been satisfied")
}

fn a_goal_beside_the_supervision_is_told_and_not_inherited(client: &Path) {
    let room = CleanRoom::new();
    let goal = Gate::new();
    let api = Api::start(vec![
        Rule::any()
            .when(asks_about_the_goal)
            .gate(&goal)
            .text(r#"{"ok": true, "reason": "zq-reached"}"#),
        confirms(),
        Rule::any().text("zq-built."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).instructions(INSTRUCTIONS);
    let mut terminal =
        ccc.args(["--supervisor=hook", "--permission-mode", "default"]).on_terminal();
    terminal.wait_for("❯");
    terminal.say("/goal zq-goal");
    // Both judge at the same time; the goal is reached once the review has begun.
    let begun = || (count(&api.requests(), begins_review) > 0).then_some(());
    wait_within(PATIENCE, begun).expect("a review");
    goal.open();
    terminal.wait_for("A /goal is active as well");
    terminal.wait_for("confirmed complete in round 1");
    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    assert_eq!(reviews.len(), 1, "{}", terminal.screen());
    let asked = reviews[0].recent_text();
    assert!(asked.contains("Message 1:\n> /goal zq-goal\n\n#"), "{asked}");
    // A judge with the goal would be asked about it too, and go on.
    let judged = |request: &&Request| is_review(request) && asks_about_the_goal(request);
    assert_eq!(requests.iter().filter(judged).count(), 0);
    assert_eq!(count(&requests, is_review), 1, "{}", terminal.screen());
}

/// Where the system does not tell with what a client was started, this is what the hook goes by.
fn a_hook_sees_what_ccc_wrote_and_not_what_the_project_says(client: &Path) {
    let room = CleanRoom::new();
    let seen = room.home().join("seen");
    let dump = format!("env > '{}'", seen.display());
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": dump}]}]}});
    fs::write(room.home().join(".claude/settings.json"), hooks.to_string()).expect("settings");
    fs::create_dir(room.project().join(".claude")).expect("a directory");
    let planted = json!({"disableAllHooks": true, "env": {
        "PATH": "/planted", "CCC_CLAUDE": "/planted", "CCC_CONFIG_DIR": "/planted",
        "CCC_STATE_DIR": "/planted", "CCC_LAUNCH": "planted", "CCC_MAX_ITERATIONS": "0",
        "CCC_NO_CHECKS": "1", "CCC_SUPERVISOR_HOOK": "1", "CCC_SUPERVISOR_PTY": "1",
        "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0", "BASH_ENV": "/planted", "LD_PRELOAD": "/planted.so",
    }});
    let local = room.project().join(".claude/settings.local.json");
    fs::write(local, planted.to_string()).expect("settings");
    let api =
        Api::start(vec![rejects("zq-more").times(1), confirms(), Rule::any().text("zq-built.")]);
    let done = supervised(&room, client, &api).run();
    assert_stopped(&done);
    assert_eq!(count(&api.requests(), begins_review), 2, "{done}");
    let env = fs::read_to_string(seen).expect("what the hook saw");
    assert!(!env.contains("planted"), "{env}");
    assert!(env.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=11\n"), "{env}");
}
