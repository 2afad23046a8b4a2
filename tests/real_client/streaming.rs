//! What a person sees while the agent writes, and what they can still take back.

use std::path::Path;

use crate::on_each_client;
use crate::script::{confirms, count, is_agents};
use crate::support::api::{Api, Gate, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::PATIENCE;
use crate::support::terminal::Terminal;

on_each_client!(
    text_is_on_the_screen_before_the_answer_is_whole,
    text_that_is_interrupted_stays_on_the_screen,
    a_queued_message_is_taken_back_and_never_reaches_the_model,
);

const ANSWER: &str =
    "zq-first words of the answer, which come before the pause, and zq-last words after it.";

/// The agent has begun its answer, and the gate holds the rest of it back.
fn half_written(client: &Path) -> ((CleanRoom, Api), Gate, Terminal) {
    let room = CleanRoom::new();
    let gate = Gate::new();
    let api =
        Api::start(vec![confirms(), Rule::on("zq-go").text(ANSWER).chunks(30).gate_midway(&gate)]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-go");
    terminal.wait_for("zq-first words");
    ((room, api), gate, terminal)
}

fn text_is_on_the_screen_before_the_answer_is_whole(client: &Path) {
    let (_stage, gate, mut terminal) = half_written(client);
    assert!(!terminal.screen().contains("zq-last"), "{}", terminal.screen());
    // Typing goes on below it.
    terminal.keys("a draft");
    terminal.wait_for("a draft");
    gate.open();
    terminal.wait_for("Confirmed complete in round 1");
    let screen = terminal.screen();
    assert_eq!(screen.matches("zq-first").count(), 1, "{screen}");
    assert_eq!(screen.matches("zq-last").count(), 1, "{screen}");
    assert_eq!(screen.matches("a draft").count(), 1, "{screen}");
    // The first Ctrl-C takes the draft away.
    terminal.ctrl_c();
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0);
}

fn text_that_is_interrupted_stays_on_the_screen(client: &Path) {
    let (_stage, gate, mut terminal) = half_written(client);
    terminal.keys("\x1b");
    terminal.wait_for("Interrupted.");
    gate.open();
    let screen = terminal.screen();
    assert_eq!(screen.matches("zq-first").count(), 1, "{screen}");
    assert!(!screen.contains("zq-last"), "{screen}");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0);
}

fn a_queued_message_is_taken_back_and_never_reaches_the_model(client: &Path) {
    let room = CleanRoom::new();
    let held = Held::new(&room, "work");
    let api = Api::start(vec![
        confirms(),
        Rule::on("tool_result").text("zq-done."),
        Rule::on("zq-go").tool("Bash", serde_json::json!({"command": held.command()})),
    ]);
    let mut terminal = Ccc::new(&room)
        .client(client)
        .api(&api)
        .interactive()
        .args(["--allowedTools", "Bash"])
        .on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-go");
    held.wait_started();
    terminal.say("zq-second thought");
    terminal.wait_for("queued");
    terminal.keys("\x1b[A");
    terminal.wait_for("Taken back: ");
    // It is in the box again, to be edited.
    terminal.wait_until("the text in the box", |screen| {
        screen.lines().any(|line| line.starts_with("❯ zq-second thought"))
            && !screen.contains("queued")
    });
    terminal.ctrl_c();
    held.let_go();
    terminal.wait_for("Confirmed complete in round 1");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0);
    let requests = api.wait_for(|requests| count(requests, is_agents) >= 2, PATIENCE);
    let told = requests.iter().filter(|request| request.messages_text().contains("zq-second"));
    assert_eq!(told.count(), 0, "the model was told after all");
}
