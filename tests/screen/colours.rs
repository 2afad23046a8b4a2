//! Colours are those of the person's own palette, never a background; with NO_COLOR there are none.

use serde_json::json;
use vt100::{Color, Screen};

use crate::client::Client;
use crate::stage::{Opening, Stage, is_ready, opening};

/// A bit of everything that has a colour somewhere, all of it on the screen at once.
fn colourful(opening: Opening) -> (Stage, Client) {
    let (mut stage, mut agent) = opening.size(120, 60).working();
    agent.answers(
        "# A heading\n\nText with `code`, **bold** and [a link](http://zq.invalid/).\n\n\
         ```rust\nfn main() { println!(\"{}\", 42); } // comment\n```\n\n- one\n- two\n",
    );
    agent.uses_tool("t-1", "Bash", &json!({"command": "make zq-target"}));
    agent.tool_answers("t-1", "all\nof\nit");
    agent.ends_turn();
    let supervisor = stage.client("supervisor-0");
    supervisor.judges(false, "zq-feedback");
    stage.person.sees("zq-feedback");
    agent.takes_up();
    agent.fails_turn("zq-failure");
    stage
        .person
        .looks_for("the failure", |picture| picture.count("zq-failure") > 0 && is_ready(picture));
    stage.person.sends("once more");
    agent.takes_up();
    agent.asks("q-1", "Bash", &json!({"command": "make zq-clean"}));
    stage.person.sees("make zq-clean");
    (stage, agent)
}

fn colours(screen: &Screen) -> Vec<(String, Color, Color)> {
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    cells
        .filter_map(|(row, column)| screen.cell(row, column))
        .map(|cell| (cell.contents().to_owned(), cell.fgcolor(), cell.bgcolor()))
        .collect()
}

#[test]
fn colours_are_of_the_sixteen_and_never_behind_the_text() {
    let (stage, _agent) = colourful(opening());
    let colours = colours(&stage.person.screen());
    for (text, front, behind) in &colours {
        assert!(matches!(front, Color::Default | Color::Idx(0..=15)), "{text:?} in {front:?}");
        assert_eq!(*behind, Color::Default, "behind {text:?}");
    }
    assert!(colours.iter().any(|(_, front, _)| *front != Color::Default), "no colour at all");
}

#[test]
fn no_color_means_no_colours() {
    let (stage, _agent) = colourful(opening().env("NO_COLOR", "1"));
    for (text, front, behind) in colours(&stage.person.screen()) {
        assert_eq!((front, behind), (Color::Default, Color::Default), "{text:?}");
    }
}
