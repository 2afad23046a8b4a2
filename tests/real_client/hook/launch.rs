//! What belongs to the launch: a session in the background, a goal of the client's own, and what the
//! project's settings cannot change.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{assert_stopped, supervised};
use crate::on_each_client;
#[cfg(target_os = "linux")]
use crate::on_the_newest_client;
use crate::script::{begins_review, confirms, count, is_review, only, rejects};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::patience::{PATIENCE, wait_within};

on_each_client!(
    a_goal_beside_the_supervision_is_told_and_not_inherited,
    a_hook_sees_what_ccc_wrote_and_not_what_the_project_says,
);
// The oldest release does not start sessions in the background without a person's login.
#[cfg(target_os = "linux")]
on_the_newest_client!(a_session_in_the_background_is_supervised);

#[cfg(target_os = "linux")]
/// The client's background service goes with the room: everything that was started with its home.
struct Service<'a>(&'a CleanRoom);

#[cfg(target_os = "linux")]
impl Drop for Service<'_> {
    fn drop(&mut self) {
        let home = format!("HOME={}", self.0.home().display());
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            let ours = environ.split(|byte| *byte == 0).any(|it| it == home.as_bytes());
            if let Some(pid) =
                entry.file_name().to_str().and_then(|it| it.parse().ok()).filter(|_| ours)
            {
                let pid = nix::unistd::Pid::from_raw(pid);
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn a_session_in_the_background_is_supervised(client: &Path) {
    let room = CleanRoom::new();
    let _service = Service(&room);
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
        Rule::any().text("zq-built."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).instructions(INSTRUCTIONS);
    let done = ccc.args(["--supervisor=hook", "--bg", "zq-build-it"]).run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(!done.text().contains("ignoring --session-id"), "{done}");
    let sessions = || {
        let mut ccc = Command::new(env!("CARGO_BIN_EXE_ccc"));
        ccc.args(["sessions", "--json"]).current_dir(room.project()).env_clear();
        let output = ccc.envs(room.env("http://127.0.0.1:1")).output().expect("ccc");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let confirmed = || {
        let sessions: Value = serde_json::from_str(&sessions()).unwrap_or_default();
        (sessions[0]["outcome"] == "completed").then_some(())
    };
    wait_within(PATIENCE, confirmed).unwrap_or_else(|| {
        let log = fs::read_to_string(room.home().join(".claude/daemon.log")).unwrap_or_default();
        panic!("{done}\n{}\n{} requests\n{log}", sessions(), api.requests().len())
    });
    let requests = api.requests();
    assert_eq!(count(&requests, begins_review), 2, "{done}");
    let review = only(&requests, begins_review)[0].recent_text();
    assert!(review.contains("Message 1:\n> zq-build-it\n\n#"), "{review}");
}

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
    terminal.wait_for("A /goal is active beside the supervision");
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
    for line in env.lines().filter(|line| line.contains("planted")) {
        panic!("{line}\n{env}");
    }
    assert!(env.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=11\n"), "{env}");
}
