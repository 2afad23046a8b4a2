//! The main screens, as they are. A change of them is wanted or a mistake; `main.rs` says how to keep
//! a wanted one.

mod snapshot;

use serde_json::json;

use crate::stage::{Opening, is_ready, opening};
use snapshot::is_as_kept;

/// Every main screen on a terminal of this size; `name` is that of the kept pictures.
fn all_screens(name: &str, opening: impl Fn() -> Opening) {
    let kept = |screen: &str, person: &crate::person::Person| {
        is_as_kept(&format!("{name}-{screen}"), &person.picture());
    };

    let (mut stage, mut agent) = opening().ready();
    let person = &mut stage.person;
    person.looks_for("the status", is_ready);
    kept("1-start", person);

    person.sends("Make the parser faster.");
    agent.takes_up();
    agent.begins_text();
    agent.writes("I will look at the parser first, and then measure where its time goes.\n\n");
    agent.answers("I will look at the parser first, and then measure where its time goes.");
    agent.uses_tool("t-1", "Bash", &json!({"command": "cargo bench --bench parser"}));
    agent.begins_text();
    agent.writes("Most of the time is spent in ");
    person.sees("spent in");
    person.types("and keep it simple");
    person.looks_for("the text", |picture| picture.input() == Some("and keep it simple"));
    kept("2-streaming", person);
    person.types("\x15");
    person.looks_for("no text", |picture| picture.input() == Some(""));
    agent.tool_answers("t-1", "parse  12.3 ms\nlex     4.5 ms\ntotal  16.8 ms\n");
    agent.answers("Most of the time is spent in `next_token`.");

    agent.asks(
        "q-1",
        "Bash",
        &json!({"command": "rm -r target/criterion", "description": "Clean"}),
    );
    person.looks_for("the offer", |picture| picture.status().join(" ").contains("1. Yes, once"));
    kept("3-question", person);
    person.types("\r");
    agent.is_answered("q-1");
    agent.answers("It is twice as fast now.");
    agent.ends_turn();

    let mut supervisor = stage.client("supervisor-0");
    supervisor.takes_up();
    supervisor.uses_tool("s-1", "Bash", &json!({"command": "cargo test"}));
    supervisor.tool_answers("s-1", "test result: ok. 12 passed");
    let person = &mut stage.person;
    person.sees("12 passed");
    kept("4-review", person);

    supervisor.judges(false, "There is no test for the empty input.\n\n- add one\n- run it");
    assert!(agent.takes_up().contains("no test for the empty input"));
    person.looks_for("the next round", |picture| {
        picture.count("add one") > 0 && picture.status().join(" ").contains("2/10")
    });
    kept("5-not-complete", person);

    agent.fails_turn("API Error: 429 rate limit exceeded");
    person.looks_for("the failure", |picture| picture.count("429") > 0 && is_ready(picture));
    kept("6-failed-turn", person);

    person.sends("Try again.");
    agent.takes_up();
    agent.answers("The test is there, and it passes.");
    agent.ends_turn();
    stage.client("supervisor-1").judges(true, "All of it is done.");
    let person = &mut stage.person;
    person.looks_for("the verdict", |picture| {
        picture.count("All of it is done.") > 0 && is_ready(picture)
    });
    kept("7-complete", person);

    person.types("\x04");
    assert_eq!(person.leaves().0, 0);
    kept("8-summary", person);
}

#[test]
fn small() {
    all_screens("80x24", || opening().size(80, 24));
}

#[test]
fn large() {
    all_screens("200x50", || opening().size(200, 50));
}

#[test]
fn ascii() {
    all_screens("ascii-80x24", || opening().size(80, 24).env("LANG", "C"));
}
