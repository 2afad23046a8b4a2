//! A paste reaches the agent whole.

use crate::client::Client;
use crate::person::Person;
use crate::stage::opening;

/// Pastes, waits until the end of it is to be seen, and sends it.
#[track_caller]
fn paste_and_send(person: &mut Person, agent: &mut Client, text: &str, end: &str) -> String {
    person.pastes(text);
    person.looks_for("the paste in the input", |picture| {
        picture.rows[picture.cursor.0].ends_with(end)
    });
    person.types("\r");
    agent.takes_up()
}

#[test]
fn a_megabyte_arrives_byte_for_byte_and_takes_no_more_room_than_a_line() {
    let (mut stage, mut agent) = opening().ready();
    let line = "0123456789 äöü 你好 👩‍👩‍👧 \\ \" { } end of this line\n";
    let mut text = line.repeat(1_000_000 / line.len() + 1);
    text.push_str("the last line");
    // A terminal sends it in pieces, whatever the program does meanwhile.
    stage.person.pastes(&text);
    let rows = stage.person.picture().rows.len();
    let picture = stage.person.looks_for("the paste in the input", |picture| {
        picture.input().is_some_and(|input| !input.is_empty())
    });
    assert!(picture.above().len() < rows / 2, "{}", picture.text());
    stage.person.types(" and more");
    stage.person.looks_for("what is typed after it", |picture| {
        picture.input().is_some_and(|input| input.ends_with("and more"))
    });
    stage.person.types("\r");
    assert!(agent.takes_up() == format!("{text} and more"), "not what was pasted");
}

#[test]
fn line_ends_of_every_kind_are_line_ends() {
    let (mut stage, mut agent) = opening().ready();
    let sent = paste_and_send(&mut stage.person, &mut agent, "one\r\ntwo\rthree\nfour", "four");
    assert_eq!(sent, "one\ntwo\nthree\nfour");
}

#[test]
fn control_characters_in_a_paste_neither_act_nor_arrive() {
    let (mut stage, mut agent) = opening().ready();
    let text = "a\x03b\x04c\x1bd\x1b[2Je\x07f\x7fg\th\x1a";
    let sent = paste_and_send(&mut stage.person, &mut agent, text, "h");
    assert!(sent.chars().all(|c| c == '\t' || !c.is_control()), "{sent:?}");
    let plain: String = sent.chars().filter(|c| *c != '\t').collect();
    assert!(plain.starts_with("abc") && plain.ends_with("efgh"), "{sent:?}");
}
