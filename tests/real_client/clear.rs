//! `/clear` begins a new conversation in the middle of a session.

use std::fs;
use std::path::Path;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only, session_id};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::support::patience::wait_until;

on_each_client!(after_clear_the_review_forks_the_new_conversation);

/// How often it was the person's turn, as recorded.
fn times_waiting(room: &CleanRoom) -> usize {
    let sessions = fs::read_dir(room.project().join(".claude/ccc/sessions"));
    let events =
        sessions.into_iter().flatten().flatten().map(|dir| dir.path().join("events.jsonl"));
    let lines = events.filter_map(|path| fs::read_to_string(path).ok()).collect::<String>();
    lines.matches(r#""phase":"waiting""#).count()
}

fn after_clear_the_review_forks_the_new_conversation(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-first-thing").text("zq-first-done."),
        Rule::on("zq-second-thing").text("zq-second-done."),
    ]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-first-thing");
    terminal.wait_for("Confirmed complete in round 1");
    terminal.wait_for("ready");
    terminal.say("/clear");
    // At the start, after the confirmation, and now.
    wait_until("the command is done", || times_waiting(&room) == 3);
    terminal.say("zq-second-thing");
    terminal.wait_until("second confirmation", |screen| {
        screen.matches("Confirmed complete in round 1").count() == 2
    });
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [first, second] = agents.as_slice() else { panic!("{} turns", agents.len()) };
    assert_ne!(session_id(first), session_id(second));
    let reviews = only(&requests, begins_review);
    let [_, review] = reviews.as_slice() else { panic!("{} reviews", reviews.len()) };
    let text = review.messages_text();
    assert!(text.contains("zq-second-thing") && text.contains("zq-second-done."), "{text}");
    assert!(!text.contains("zq-first"), "{text}");
    let said = "# What the user said, in order\n\nMessage 1:\n> zq-second-thing\n\n#";
    assert!(review.recent_text().contains(said), "{}", review.recent_text());
}
