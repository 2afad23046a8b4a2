//! A message that is typed while the agent works reaches it in the same turn.

use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::support::held::Held;

on_each_client!(a_message_during_a_tool_call_is_taken_up_in_the_same_turn);

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
    terminal.wait_for("❯ zq-turn-left");
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
