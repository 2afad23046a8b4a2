//! The client's slash commands, from the first prompt on.

use serde_json::{Value, json};

use crate::client::Client;
use crate::stage::opening;

fn asks_for_commands(line: &Value) -> bool {
    line["request"]["subtype"] == "initialize"
}

/// As the client does before it has anything to do.
#[track_caller]
fn tells_its_commands(agent: &Client) {
    let request = agent.hears("to name its commands", asks_for_commands);
    agent.says(&json!({"type": "control_response", "response": {
        "subtype": "success",
        "request_id": request["request_id"],
        "response": {
            "commands": [
                {"name": "zq-clear", "description": "Start\nanew", "argumentHint": "[name]"},
                {"name": "zq-paint", "description": "Make it \u{1b}[31mred"},
            ],
            "account": {"email": "zq-somebody@example.com"},
        },
    }}));
}

#[test]
fn they_are_offered_at_the_first_prompt() {
    let (mut stage, mut agent) = opening().ready();
    let before = stage.person.history();
    tells_its_commands(&agent);
    stage.person.types("/zq");
    let picture = stage.person.looks_for("both", |picture| {
        picture.rows.iter().any(|row| row == "❯ /zq-clear  Start anew")
            && picture.rows.iter().any(|row| row == "  /zq-paint  Make it red")
    });
    assert!(!picture.text().contains("zq-somebody"), "{}", picture.text());
    assert!(!agent.was_told(|line| line["type"] == "user"), "nothing was said yet");
    stage.person.types("\t");
    stage.person.looks_for("the name", |picture| picture.input() == Some("/zq-clear"));
    // Away with it: what is left is what was there before.
    stage.person.types("\x15");
    stage.person.looks_for("an empty input", |picture| picture.input() == Some(""));
    assert_eq!(stage.person.history(), before);
    stage.person.sends("zq-task");
    assert_eq!(agent.takes_up(), "zq-task");
}

#[test]
fn whoever_types_first_sees_them_come() {
    let (mut stage, agent) = opening().ready();
    stage.person.types("/zq-p");
    stage.person.looks_for("the text", |picture| picture.input() == Some("/zq-p"));
    tells_its_commands(&agent);
    stage.person.looks_for("the one that fits", |picture| {
        picture.rows.iter().any(|row| row == "❯ /zq-paint  Make it red")
    });
}

#[test]
fn a_client_that_does_not_know_the_question_works_as_before() {
    let (mut stage, mut agent) = opening().ready();
    let request = agent.hears("to name its commands", asks_for_commands);
    agent.says(&json!({"type": "control_response", "response": {
        "subtype": "error", "request_id": request["request_id"],
        "error": "zq-unsupported control request subtype: initialize",
    }}));
    stage.person.sends("zq-task");
    assert_eq!(agent.takes_up(), "zq-task");
    agent.answers("zq-answer");
    stage.person.looks_for("the answer", |picture| picture.text().contains("zq-answer"));
    assert!(!stage.person.history().join("\n").contains("zq-unsupported"));
    stage.person.types("/supervisoro");
    stage.person.looks_for("ccc's own", |picture| picture.text().contains("turn reviews off"));
}

#[test]
fn a_misspelt_one_is_not_sent() {
    let (mut stage, mut agent) = opening().ready();
    tells_its_commands(&agent);
    stage.person.types("/zq");
    stage.person.looks_for("the list", |picture| picture.text().contains("/zq-paint"));
    stage.person.types("-cler");
    stage.person.looks_for("the text alone", |picture| !picture.text().contains("/zq-paint"));
    stage.person.types("\r");
    stage.person.looks_for("what was meant", |picture| {
        let text = picture.text();
        text.contains(
            "There is no command /zq-cler here, so nothing was sent. Did you mean /zq-clear?",
        ) && picture.input() == Some("")
    });
    assert!(!agent.was_told(|line| line["type"] == "user"), "nothing was said yet");
    stage.person.sends(" /zq-cler");
    assert_eq!(agent.takes_up(), " /zq-cler");
}
