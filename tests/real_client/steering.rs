//! Messages typed in between: the running turn takes them up, and a review gives way to them.

use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only, rejects};
use crate::support::api::{Api, Gate, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::PATIENCE;

on_each_client!(
    a_message_during_a_tool_call_is_taken_up_in_the_same_turn,
    a_message_during_a_review_beats_its_verdict,
);

fn a_message_during_a_tool_call_is_taken_up_in_the_same_turn(client: &Path) {
    let room = CleanRoom::new();
    let tool = Held::new(&room, "tool");
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it").tool("Bash", json!({"command": tool.command()})).times(1),
        Rule::on("zq-turn-left").text("zq-turned-left."),
        // The client may read the message a moment after the tool's end: the turn goes on until then.
        Rule::any().tool("Bash", json!({"command": "echo zq-still-here"})).times(100),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).interactive();
    let mut terminal = ccc.arg("--allowedTools=Bash").on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-build-it");
    tool.wait_started();
    terminal.say("zq-turn-left");
    terminal.wait_for("queued → zq-turn-left");
    tool.let_go();
    terminal.wait_for("Confirmed complete in round 1");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let steered = agents.last().expect("a request of the agent").recent_text();
    // The words by which the client hands on what was sent in the middle of a turn.
    assert!(steered.contains("sent a new message while you were working"), "{steered}");
    let reviews = only(&requests, begins_review);
    let [review] = reviews.as_slice() else { panic!("{} reviews", reviews.len()) };
    let said = "Message 1:\n> zq-build-it\n\nMessage 2:\n> zq-turn-left\n\n";
    assert!(review.recent_text().contains(said), "{}", review.recent_text());
    assert!(review.messages_text().contains("zq-turned-left."));
}

fn a_message_during_a_review_beats_its_verdict(client: &Path) {
    let room = CleanRoom::new();
    let gate = Gate::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").gate(&gate).times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-one-more-thing").text("zq-one-more-done."),
    ]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-build-it");
    gate.wait_reached(PATIENCE);
    terminal.say("zq-one-more-thing");
    terminal.wait_for("Review cancelled (you sent a message)");
    gate.open();
    terminal.wait_for("Confirmed complete in round 1");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [_, next] = agents.as_slice() else { panic!("{} turns", agents.len()) };
    assert!(next.recent_text().contains("zq-one-more-thing"), "{}", next.recent_text());
    assert!(!next.messages_text().contains("zq-tests-are-missing"));
    let reviews = only(&requests, begins_review);
    let [_, review] = reviews.as_slice() else { panic!("{} reviews", reviews.len()) };
    let said = "Message 1:\n> zq-build-it\n\nMessage 2:\n> zq-one-more-thing\n\n";
    assert!(review.recent_text().contains(said), "{}", review.recent_text());
}
