//! Work that goes on after a turn: judged when it is over, not before.

use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, count, is_agents, only};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::PATIENCE;

on_each_client!(the_review_waits_for_a_background_task_and_the_turn_it_wakes);

fn the_review_waits_for_a_background_task_and_the_turn_it_wakes(client: &Path) {
    let room = CleanRoom::new();
    let task = Held::new(&room, "task");
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it")
            .tool("Bash", json!({"command": task.command(), "run_in_background": true}))
            .times(1),
        Rule::on("task-notification").text("zq-task-is-over."),
        Rule::any().text("zq-task-runs."),
    ]);
    let running = Ccc::new(&room)
        .client(client)
        .api(&api)
        .supervised("zq-build-it")
        .args(["--output-format", "stream-json", "--allowedTools=Bash"])
        .start();
    task.wait_started();
    running.wait_for_line(r#""event":"waiting_for_background""#);
    assert_eq!(count(&api.requests(), begins_review), 0);
    assert_eq!(count(&api.requests(), is_agents), 2);

    task.let_go();
    api.wait_for(|requests| count(requests, begins_review) > 0, PATIENCE);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    let [review] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    assert!(review.messages_text().contains("zq-task-is-over."), "{done}");
    assert!(review.recent_text().contains("\n> zq-task-is-over.\n"), "{}", review.recent_text());
}
