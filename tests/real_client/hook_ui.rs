//! The plain client's full-screen UI, with a person who switches the supervision on and off.

mod person;

use std::path::Path;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only, rejects};
use crate::support::api::{Api, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::terminal::Terminal;

on_each_client!(scenario_004_slash_commands_switch_supervision_on_and_off);

/// A turn of the agent; the UI also asks for a title and the like, without tools.
fn is_turn(request: &Request) -> bool {
    is_agents(request) && request.tool_names().contains(&"Bash")
}

/// Waits for the end of so many turns. After each the client says how long it took: «✻ Brewed for 0s».
#[track_caller]
fn wait_for_turns(terminal: &Terminal, turns: usize) {
    let ends = |line: &str| line.starts_with('✻') && line.contains(" for ") && !line.contains('…');
    terminal.wait_until(&format!("{turns} turns"), |screen| {
        screen.lines().filter(|line| ends(line.trim_start())).count() == turns
    });
}

/// Scenarios 004 «用户使用 /supervisor 命令», «用户使用 /supervisoroff 命令»
fn scenario_004_slash_commands_switch_supervision_on_and_off(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-first-thing").text("zq-first-done."),
        Rule::on("zq-second-thing").text("zq-second-done."),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
        Rule::on("zq-third-thing").text("zq-third-done."),
        Rule::on("zq-fourth-thing").text("zq-fourth-done."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).instructions(INSTRUCTIONS);
    let mut terminal = ccc.args(["--permission-mode", "default"]).on_terminal();
    terminal.wait_for("❯");
    terminal.say("zq-first-thing");
    terminal.wait_for("zq-first-done.");
    wait_for_turns(&terminal, 1);
    terminal.say("/supervisor zq-second-thing");
    terminal.wait_for("zq-tested.");
    wait_for_turns(&terminal, 2);
    terminal.say("/supervisoroff zq-third-thing");
    terminal.wait_for("zq-third-done.");
    wait_for_turns(&terminal, 3);
    terminal.say("zq-fourth-thing");
    terminal.wait_for("zq-fourth-done.");
    wait_for_turns(&terminal, 4);
    let screen = terminal.screen();
    // «Stop hook says: …», «Stop hook feedback: …» before 2.1.327.
    let told = |line: &str| line.contains("Stop hook ") && line.ends_with(": zq-tests-are-missing");
    assert!(screen.lines().any(|line| told(line.trim_end())), "{screen}");
    for error in ["error", "validation failed", "requires approval", "non-blocking"] {
        assert!(!screen.to_lowercase().contains(error), "{screen}");
    }

    let requests = api.requests();
    let order: Vec<_> = requests
        .iter()
        .filter(|request| is_turn(request) || begins_review(request))
        .map(|request| if begins_review(request) { "review" } else { "turn" })
        .collect();
    assert_eq!(order, ["turn", "turn", "review", "turn", "review", "turn", "turn"], "{screen}");
    let turns = only(&requests, is_turn);
    for (turn, text) in turns.iter().zip([
        "zq-first-thing",
        "zq-second-thing",
        "zq-tests-are-missing",
        "zq-third-thing",
        "zq-fourth-thing",
    ]) {
        assert!(turn.recent_text().contains(text), "{text}: {}", turn.recent_text());
    }
}
