//! Ctrl-C: the turn ends, nobody judges it, and the session goes on.

use std::path::Path;

use crate::on_each_client;
use crate::script::{begins_review, confirms, count, is_agents, only, session_id};
use crate::support::api::{Api, Gate, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::support::patience::PATIENCE;

on_each_client!(an_interrupted_turn_is_not_reviewed_and_the_session_goes_on);

fn an_interrupted_turn_is_not_reviewed_and_the_session_goes_on(client: &Path) {
    let room = CleanRoom::new();
    let gate = Gate::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-other-thing").text("zq-other-done."),
        Rule::on("zq-build-it").gate(&gate).text("never seen").times(1),
    ]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-build-it");
    gate.wait_reached(PATIENCE);
    terminal.ctrl_c();
    terminal.wait_for("Interrupted.");
    terminal.wait_for("ready");

    terminal.say("zq-other-thing");
    let requests = api.wait_for(|requests| count(requests, is_agents) == 2, PATIENCE);
    assert_eq!(count(&requests, begins_review), 0, "the interrupted turn was reviewed");
    terminal.wait_for("Confirmed complete in round 1");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [interrupted, next] = agents.as_slice() else { panic!("{} turns", agents.len()) };
    assert_eq!(session_id(interrupted), session_id(next));
    assert!(next.messages_text().contains("zq-build-it"));
    assert_eq!(count(&requests, begins_review), 1);
}
