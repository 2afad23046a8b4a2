//! The client's slash commands are there before the first message, and cost no request.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::on_each_client;
use crate::script::{confirms, count, is_agents};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(
    commands_are_offered_before_the_first_message_and_no_request_is_made_for_them,
    without_a_person_nobody_asks_for_commands,
);

/// A room with a command of the project's own.
fn room() -> CleanRoom {
    let room = CleanRoom::new();
    let commands = room.project().join(".claude/commands");
    fs::create_dir_all(&commands).expect("a directory");
    let greet = "---\ndescription: zq-says a friendly word\n---\nzq-greeting for $ARGUMENTS\n";
    fs::write(commands.join("zq-greet.md"), greet).expect("a command");
    room
}

fn api() -> Api {
    Api::start(vec![confirms(), Rule::on("zq-greeting for all").text("zq-hello.")])
}

/// The lines of the agent that are on record.
fn agent_lines(room: &CleanRoom) -> Vec<Value> {
    let sessions = room.project().join(".claude/ccc/sessions");
    let mut dirs = fs::read_dir(sessions).expect("a recording").flatten();
    let dir = dirs.next().expect("a recording").path();
    let text = fs::read_to_string(dir.join("agent.jsonl")).expect("its lines");
    // At its end the client also prints escapes.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn names_commands(line: &Value) -> bool {
    line["response"]["response"]["commands"].is_array()
}

fn commands_are_offered_before_the_first_message_and_no_request_is_made_for_them(client: &Path) {
    let (room, api) = (room(), api());
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    // The popup comes to the word that is there already.
    terminal.keys("/zq-gr");
    terminal.wait_for("❯ /zq-greet  zq-says a friendly word");
    assert_eq!(api.requests().len(), 0, "{}", terminal.screen());
    terminal.keys("\t");
    terminal.wait_until("the command in the box", |screen| {
        screen.lines().any(|line| line.trim_end() == "❯ /zq-greet")
            && !screen.contains("zq-says a friendly word")
    });
    terminal.keys("all\r");
    terminal.wait_for("Confirmed complete in round 1");
    assert!(terminal.screen().contains("zq-hello."), "{}", terminal.screen());
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    assert_eq!(count(&api.requests(), is_agents), 1);
    let lines = agent_lines(&room);
    let (named, started) = (
        lines.iter().position(names_commands),
        lines.iter().position(|line| line["subtype"] == "init"),
    );
    assert!(named.is_some() && named < started, "{named:?} {started:?}");
    assert_eq!(lines.iter().filter(|line| names_commands(line)).count(), 1);
}

fn without_a_person_nobody_asks_for_commands(client: &Path) {
    let (room, api) = (room(), api());
    let finished = Ccc::new(&room).client(client).api(&api).supervised("/zq-greet all").run();
    assert_eq!(finished.code, Some(0), "{finished}");
    assert!(finished.text().contains("zq-hello."), "{finished}");
    assert!(!agent_lines(&room).iter().any(names_commands));
}
