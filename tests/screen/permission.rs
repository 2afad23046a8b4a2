//! Questions: each is answered by the person, by a key that was meant for it, and one after the other.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::client::Client;
use crate::person::Person;
use crate::picture::Picture;
use crate::stage::{Stage, opening};

/// The keys are the question's now.
fn offers(tool: &str) -> impl Fn(&Picture) -> bool {
    move |picture| {
        let status = picture.status().join(" ");
        status.contains(tool) && status.contains("1. Yes, once")
    }
}

/// It is asked, but the keys are still the text's.
fn asks(tool: &str) -> impl Fn(&Picture) -> bool {
    move |picture| picture.status().join(" ").contains(tool)
}

fn asked() -> (Stage, Client, Value) {
    let (mut stage, agent) = opening().working();
    let input = json!({"command": "make zq-target"});
    agent.asks("q-1", "Bash", &input);
    stage.person.sees("make zq-target");
    stage.person.looks_for("the offer", offers("Bash"));
    (stage, agent, input)
}

#[track_caller]
fn is_done(person: &mut Person) {
    person.looks_for("no question", |picture| !asks("Bash?")(picture));
}

#[test]
fn enter_allows_once() {
    let (mut stage, agent, input) = asked();
    stage.person.types("\r");
    let answer = agent.is_answered("q-1");
    assert_eq!((&answer["behavior"], &answer["updatedInput"]), (&json!("allow"), &input));
    assert!(answer.get("updatedPermissions").is_none(), "{answer}");
    is_done(&mut stage.person);
}

#[test]
fn two_keys_allow_from_now_on() {
    let (mut stage, agent, _) = asked();
    stage.person.types("2");
    stage.person.looks_for("the choice", |picture| picture.status().join(" ").contains("❯ 2."));
    assert!(!agent.was_told(|line| line["type"] == "control_response"));
    stage.person.types("\r");
    let answer = agent.is_answered("q-1");
    assert_eq!(answer["behavior"], "allow");
    assert_eq!(answer["updatedPermissions"][0]["rules"][0]["toolName"], "Bash", "{answer}");
    is_done(&mut stage.person);
}

#[test]
fn escape_denies() {
    let (mut stage, agent, _) = asked();
    stage.person.types("\x1b");
    assert_eq!(agent.is_answered("q-1")["behavior"], "deny");
    is_done(&mut stage.person);
}

#[test]
fn a_no_for_a_reason_that_the_agent_reads() {
    let (mut stage, agent, _) = asked();
    stage.person.types("4\r");
    stage.person.looks_for("a place for it", |picture| picture.cursor_shown);
    stage.person.types("y is not 你好 enough");
    stage.person.sees("y is not 你好 enough");
    assert!(!agent.was_told(|line| line["type"] == "control_response"));
    stage.person.types("\r");
    let answer = agent.is_answered("q-1");
    assert_eq!(answer["behavior"], "deny");
    assert_eq!(answer["message"], "y is not 你好 enough");
    is_done(&mut stage.person);
}

/// The words begin with what was "always, all edits" once, and with what was "yes".
#[test]
fn words_at_an_open_question_are_a_message() {
    for words in ["actually use another file", "yes, but not now", "1 or 2 files are wrong"] {
        let (mut stage, mut agent, _) = asked();
        stage.person.types(words);
        stage.person.looks_for("the words", |picture| picture.input() == Some(words));
        assert!(!agent.was_told(|line| line["type"] == "control_response"));
        stage.person.types("\r");
        assert_eq!(agent.takes_up(), words);
        assert!(!agent.was_told(|line| line["type"] == "control_response"));
    }
}

#[test]
fn a_question_stays_in_sight_while_text_streams_by() {
    let (mut stage, agent, _) = asked();
    stage.person.watches(|picture| (!offers("Bash")(picture)).then(|| picture.text()));
    agent.begins_text();
    for line in 0..100 {
        agent.writes(&format!("line-{line:03}\n\n"));
    }
    agent.writes("last-word");
    stage.person.sees("last-word");
    stage.person.has_no_complaints();
    stage.person.watches(|_| None);
    stage.person.types("\r");
    assert_eq!(agent.is_answered("q-1")["behavior"], "allow");
}

#[test]
fn the_second_question_comes_after_the_answer_to_the_first() {
    let (mut stage, agent, _) = asked();
    agent.asks("q-2", "WebFetch", &json!({"url": "http://zq.invalid/"}));
    agent.answers("said-after-both");
    let picture = stage.person.sees("said-after-both");
    assert!(offers("Bash")(&picture) && !asks("WebFetch")(&picture), "{}", picture.text());
    stage.person.types("3\r");
    assert_eq!(agent.is_answered("q-1")["behavior"], "deny");
    stage.person.sees("http://zq.invalid/");
    stage.person.looks_for("the second offer", offers("WebFetch"));
    assert!(!agent.was_told(|line| line["response"]["request_id"] == "q-2"));
    stage.person.types("\r");
    assert_eq!(agent.is_answered("q-2")["behavior"], "allow");
}

#[test]
fn whoever_is_typing_answers_nothing_by_accident() {
    let (mut stage, mut agent) = opening().working();
    let person = &mut stage.person;
    person.types("really, a");
    person.sees("really, a");
    agent.asks("q-1", "Bash", &json!({"command": "make zq-target"}));
    person.looks_for("the question", asks("Bash"));
    person.types("nd yes, and no");
    person
        .looks_for("all of the text", |picture| picture.input() == Some("really, and yes, and no"));
    assert!(!agent.was_told(|line| line["type"] == "control_response"));
    person.types("\r");
    assert_eq!(agent.takes_up(), "really, and yes, and no");
    // The way from the text to the question is a key of its own.
    person.looks_for("the question", asks("Bash"));
    person.types("\t");
    person.looks_for("the offer", offers("Bash"));
    person.types("\r");
    assert_eq!(agent.is_answered("q-1")["behavior"], "allow");
}

#[test]
fn a_key_that_was_on_its_way_when_the_question_came_is_text() {
    let (mut stage, agent) = opening().working();
    // While ccc stands still both arrive, so it finds them at the same moment.
    stage.person.signal(Signal::SIGSTOP);
    agent.asks("q-1", "Bash", &json!({"command": "make zq-target"}));
    stage.person.types("y");
    stage.person.signal(Signal::SIGCONT);
    stage.person.looks_for("both", |picture| asks("Bash")(picture) && picture.input() == Some("y"));
    assert!(!agent.was_told(|line| line["type"] == "control_response"));
}

/// A path of the project is short, a long command stays inside its block, and a no is told as one.
#[test]
fn what_is_asked_is_told_as_the_person_would_write_it() {
    let (mut stage, agent) = opening().working();
    let file = stage.room.path("project").join("zq-notes.txt");
    let file = file.canonicalize().unwrap_or(file);
    let edit = json!({"file_path": file, "content": "one\n"});
    agent.uses_tool("t-1", "Write", &edit);
    agent.asks("q-1", "Write", &edit);
    let picture = stage.person.looks_for("the offer", offers("Write"));
    assert!(
        picture.text().contains("wants to use Write zq-notes.txt  +1 -0"),
        "{}",
        picture.text()
    );
    stage.person.types("3\r");
    assert_eq!(agent.is_answered("q-1")["behavior"], "deny");
    agent.tool_answers("t-1", "The user does not allow this.");
    let picture = stage.person.sees("└ not run: denied");
    assert!(picture.text().contains("  → denied Write\n"), "{}", picture.text());
    let long = "zq-word ".repeat(20);
    agent.asks("q-2", "Bash", &json!({"command": long.trim()}));
    let picture = stage.person.looks_for("the offer", offers("Bash"));
    let row = picture.text().lines().filter(|row| row.starts_with("zq-word")).count();
    assert_eq!(row, 0, "{}", picture.text());
}
