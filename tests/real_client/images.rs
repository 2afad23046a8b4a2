//! An image that is dropped on the terminal reaches the model, and the judge.

use std::path::Path;

use serde_json::Value;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(a_dropped_image_is_sent_as_one);

/// One red pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
    \0\0\0\x0cIDATx\xdac\xf8\xcf\xc0\0\0\x03\x01\x01\0\xf7\x03AC\0\0\0\0IEND\xaeB`\x82";

fn images(body: &Value) -> usize {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    blocks.filter(|block| block["type"] == "image").count()
}

fn a_dropped_image_is_sent_as_one(client: &Path) {
    let room = CleanRoom::new();
    let shot = room.project().join("my shot.png");
    std::fs::write(&shot, PNG).unwrap();
    let api = Api::start(vec![confirms(), Rule::on("zq-look").text("zq-red.")]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    // As a terminal pastes a file that is dropped on it.
    terminal.keys(&format!("\x1b[200~'{}'\x1b[201~", shot.display()));
    terminal.wait_for("[Image #1]");
    terminal.say("zq-look");
    terminal.wait_for("Confirmed complete in round 1");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let sent = agents.first().expect("a request of the agent");
    assert_eq!(images(&sent.body), 1, "{}", sent.messages_text());
    assert!(sent.recent_text().contains("[Image #1] zq-look"), "{}", sent.recent_text());
    let reviews = only(&requests, begins_review);
    assert_eq!(images(&reviews.first().expect("a review").body), 1);
}
