//! Text comes in above while somebody types below.

use std::fmt::Write as _;

use crate::stage::{is_ready, opening};

const TYPED: &str = "what I type meanwhile";

#[test]
fn what_streams_in_and_what_is_typed_never_get_into_each_other() {
    let (mut stage, mut agent) = opening().working();
    stage.person.watches(|picture| {
        let whole = match picture.input() {
            Some(typed) => TYPED.starts_with(typed) && !picture.status().is_empty(),
            None => false,
        };
        let torn = picture.rows[picture.cursor.0..].iter().any(|row| row.contains("word-"));
        (!whole || torn).then(|| picture.text())
    });
    agent.begins_text();
    let mut whole = String::new();
    for (at, key) in TYPED.char_indices() {
        let mut piece = format!("word-{at:03}");
        piece.push(if at % 4 == 3 { '\n' } else { ' ' });
        agent.writes(&piece);
        whole.push_str(&piece);
        stage.person.types(&key.to_string());
        let (word, typed) = (format!("word-{at:03}"), &TYPED[..=at]);
        stage.person.looks_for("both", |picture| {
            picture.input() == Some(typed.trim_end()) && picture.above().join("\n").contains(&word)
        });
    }
    agent.answers(&whole);
    agent.ends_turn();
    stage.client("supervisor-0").judges(true, "fine");
    stage.person.looks_for("the end of the turn", is_ready);
    stage.person.has_no_complaints();
    let history = stage.person.history().join("\n");
    for at in 0..TYPED.len() {
        assert_eq!(history.matches(&format!("word-{at:03}")).count(), 1, "{at}:\n{history}");
    }
    stage.person.types("\r");
    assert_eq!(agent.takes_up(), TYPED);
}

#[test]
fn a_long_text_scrolls_off_line_by_line_and_all_of_it_can_be_scrolled_back_to() {
    let (mut stage, agent) = opening().working();
    stage.person.types("draft");
    stage.person.watches(|picture| {
        (!matches!(picture.input(), Some("" | "d" | "dr" | "dra" | "draf" | "draft")))
            .then(|| picture.text())
    });
    agent.begins_text();
    let mut whole = String::new();
    for line in 0..60 {
        let before = whole.len();
        let _ = write!(whole, "line-{line:03} of the text\n\n");
        agent.writes(&whole[before..]);
    }
    stage.person.sees("line-059");
    agent.answers(&whole);
    agent.ends_turn();
    stage.client("supervisor-0").judges(true, "fine");
    stage.person.looks_for("the end of the turn", is_ready);
    stage.person.has_no_complaints();
    let history = stage.person.history();
    let lines = history.iter().filter(|row| row.contains("line-")).map(|row| row.trim());
    let wanted: Vec<_> = (0..60).map(|line| format!("line-{line:03} of the text")).collect();
    assert_eq!(lines.collect::<Vec<_>>(), wanted, "{}", history.join("\n"));
    assert_eq!(stage.person.picture().input(), Some("draft"));
}
