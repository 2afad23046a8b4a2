//! What a tool may do: the person at the terminal decides; without one it is denied with a reason.

use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(
    without_a_person_it_is_denied_with_a_reason,
    what_the_person_allows_is_done,
    what_the_person_denies_is_not_done_and_the_agent_is_told,
    what_is_always_allowed_is_asked_once,
);

/// An agent that wants to run this, and then is content.
fn api(commands: &[&str]) -> Api {
    let tools = commands.iter().map(|command| {
        Rule::any().when(is_agents).tool("Bash", json!({"command": command})).times(1)
    });
    let mut rules = vec![confirms()];
    rules.extend(tools);
    Api::start(rules)
}

/// A session in which the question comes up and is answered with `key`.
fn answer(key: &str, room: &CleanRoom, client: &Path, api: &Api) {
    let mut terminal = Ccc::new(room).client(client).api(api).interactive().on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-build-it");
    terminal.wait_for("Allow Bash?");
    // Keys count only once they are offered.
    terminal.wait_for("1. Yes, once");
    assert!(terminal.screen().contains("touch made-by-the-tool"), "{}", terminal.screen());
    assert!(!room.project().join("made-by-the-tool").exists());
    terminal.keys(key);
    terminal.wait_for("Confirmed complete in round 1");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
}

fn what_the_person_allows_is_done(client: &Path) {
    let room = CleanRoom::new();
    let api = api(&["touch made-by-the-tool"]);
    answer("1\r", &room, client, &api);
    assert!(room.project().join("made-by-the-tool").exists());
}

fn what_the_person_denies_is_not_done_and_the_agent_is_told(client: &Path) {
    let room = CleanRoom::new();
    let api = api(&["touch made-by-the-tool"]);
    answer("\x1b", &room, client, &api);
    assert!(!room.project().join("made-by-the-tool").exists());
    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let told = agents.last().expect("a request of the agent").recent_text();
    assert!(told.contains("The user does not allow this."), "{told}");
}

fn what_is_always_allowed_is_asked_once(client: &Path) {
    let room = CleanRoom::new();
    let api = api(&["touch made-by-the-tool", "touch made-by-the-tool"]);
    // A second question would get no answer, and the session no end.
    answer("2\r", &room, client, &api);
    assert!(room.project().join("made-by-the-tool").exists());
    assert_eq!(only(&api.requests(), is_agents).len(), 3);
    // The next session asks again.
    assert!(!room.project().join(".claude/settings.local.json").exists());
}

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
    let reason = "No one can be asked for permission to use Bash.";
    assert!(told.recent_text().contains(reason), "{}", told.recent_text());
    assert_eq!(only(&requests, begins_review).len(), 1, "{done}");
}
