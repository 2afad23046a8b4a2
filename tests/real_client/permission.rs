//! What a tool may do: the person at the terminal decides; without one it is denied with a reason.

use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(without_a_person_it_is_denied_with_a_reason);

fn without_a_person_it_is_denied_with_a_reason(client: &Path) {
    let room = CleanRoom::new();
    let file = room.project().join("made-by-the-tool");
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it").tool("Bash", json!({"command": "touch made-by-the-tool"})).times(1),
        Rule::any().text("zq-could-not."),
    ]);
    let done = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(!file.exists(), "{done}");

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [_, told] = agents.as_slice() else { panic!("{} requests\n{done}", agents.len()) };
    let reason = "Nobody is at the terminal to allow Bash.";
    assert!(told.recent_text().contains(reason), "{}", told.recent_text());
    assert_eq!(only(&requests, begins_review).len(), 1, "{done}");
}
