//! Editing text that is not ASCII: the cursor stands where the text says, and what is sent is what
//! was typed.

use crate::person::Person;
use crate::stage::opening;

const LEFT: &str = "\x1b[D";
const RIGHT: &str = "\x1b[C";
const UP: &str = "\x1b[A";
const HOME: &str = "\x1b[H";
const END: &str = "\x1b[F";
const DELETE: &str = "\x1b[3~";
const BACKSPACE: &str = "\x7f";
/// One cluster of five characters, two cells wide.
const FAMILY: &str = "👨‍👩‍👧";
/// Two cells in front of the text.
const PROMPT: usize = 2;

/// Presses a key and waits until the input is so, with the cursor in that cell of it.
#[track_caller]
fn after(person: &mut Person, keys: &str, text: &str, cell: usize) {
    person.types(keys);
    person.looks_for(&format!("{text:?} with the cursor in {cell}"), |picture| {
        picture.input() == Some(text) && picture.cursor.1 == PROMPT + cell && picture.cursor_shown
    });
}

#[test]
fn wide_characters_are_two_cells_and_one_step() {
    let (mut stage, mut agent) = opening().ready();
    let person = &mut stage.person;
    after(person, "你好世界", "你好世界", 8);
    after(person, LEFT, "你好世界", 6);
    after(person, BACKSPACE, "你好界", 4);
    after(person, HOME, "你好界", 0);
    after(person, RIGHT, "你好界", 2);
    after(person, "x", "你x好界", 3);
    after(person, DELETE, "你x界", 3);
    after(person, END, "你x界", 5);
    after(person, "!", "你x界!", 6);
    person.types("\r");
    assert_eq!(agent.takes_up(), "你x界!");
}

#[test]
fn a_cluster_is_one_step_and_one_backspace() {
    let (mut stage, mut agent) = opening().ready();
    let person = &mut stage.person;
    // The emulator gives a family the cells of its members; the cursor goes by what it should be.
    person.types(&format!("a{FAMILY}b"));
    person.looks_for("the end of it", |picture| picture.cursor.1 == PROMPT + 4);
    person.types(LEFT);
    person.looks_for("in front of b", |picture| picture.cursor.1 == PROMPT + 3);
    person.types(LEFT);
    person.looks_for("in front of the family", |picture| picture.cursor.1 == PROMPT + 1);
    person.types(RIGHT);
    person.looks_for("in front of b", |picture| picture.cursor.1 == PROMPT + 3);
    after(person, BACKSPACE, "ab", 1);
    // A letter, then its accent: one cell, taken away together.
    after(person, "e\u{301}", "ae\u{301}b", 2);
    after(person, LEFT, "ae\u{301}b", 1);
    after(person, RIGHT, "ae\u{301}b", 2);
    after(person, BACKSPACE, "ab", 1);
    after(person, "o\u{308}\u{304}", "ao\u{308}\u{304}b", 2);
    person.types(FAMILY);
    person.looks_for("behind the family", |picture| picture.cursor.1 == PROMPT + 4);
    person.types("\r");
    assert_eq!(agent.takes_up(), format!("ao\u{308}\u{304}{FAMILY}b"));
}

#[test]
fn a_wide_character_is_never_cut_by_the_edge() {
    // Room for seven cells behind the prompt and in front of the cursor's own.
    let (mut stage, mut agent) = opening().size(10, 24).ready();
    let person = &mut stage.person;
    let text = "一二三四五六七八";
    person.types(text);
    let picture = person.looks_for("three rows", |picture| {
        let top = picture.cursor.0.saturating_sub(2);
        picture.rows[top] == "❯ 一二三"
            && picture.rows[top + 1] == "  四五六"
            && picture.rows[top + 2] == "  七八"
            && picture.cursor.1 == PROMPT + 4
    });
    let last = picture.cursor.0;
    person.types(UP);
    person.looks_for("a row up", |picture| picture.cursor == (last - 1, PROMPT + 4));
    person.types("中");
    let picture = person.looks_for("it in the middle", |picture| {
        picture.rows[last - 1] == "  四五中" && picture.rows[last] == "  六七八"
    });
    // Behind a full row is in front of the next one.
    assert_eq!(picture.cursor, (last, PROMPT), "{}", picture.text());
    person.types("\r");
    assert_eq!(agent.takes_up(), "一二三四五中六七八");
}
