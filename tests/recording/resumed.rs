//! A session that goes on is one recording.

use std::fs::OpenOptions;
use std::io::Write as _;

use ccc::record::read::{AGENT, CAST, EVENTS, SUPERVISOR};
use ccc::record::{Begun, Entry};

use crate::client::{NO, YES, room};
use crate::person::Person;
use crate::played::played;
use crate::rerun::rerun;
use crate::trace::Trace;

fn runs(trace: &Trace) -> Vec<Begun> {
    let begun = trace.events().into_iter().filter_map(|line| match line.content {
        Entry::Begun { begun } => Some(*begun),
        _ => None,
    });
    begun.collect()
}

#[test]
fn a_resumed_session_goes_on_in_the_same_files() {
    let room = room(&[NO, YES]);
    room.ccc(&["--supervisor", "-p", "first"]).run().code(0);
    let trace = Trace::of(&room);
    let (id, last) = (trace.id(), trace.cast().1.last().map(|event| event.at));
    let before = [AGENT, SUPERVISOR, EVENTS, CAST].map(|name| trace.text(name));

    let mut person = Person::runs(&room, &["--supervisor", "--resume", &id]);
    person.sees("ready").types("second").sees("second").types("\r");
    person.sees("Confirmed complete").sees("ready").types("\x04");
    assert_eq!(person.leaves().0, 0);

    let trace = Trace::of(&room);
    for (name, before) in [AGENT, SUPERVISOR, EVENTS, CAST].iter().zip(before) {
        let text = trace.text(name);
        assert!(text.starts_with(&before) && text.len() > before.len(), "{name}");
    }
    assert_eq!(trace.text(AGENT), room.seen(&format!("{id}.agent.printed")));
    assert!(rerun(&trace.recording()) > 20);
    let runs = runs(&trace);
    assert_eq!((runs[0].agent_lines, runs[0].supervisor_lines), (0, 0));
    // Of the first run: two answers, two reviews, each with its case and the answer to ccc's request.
    assert_eq!((runs[1].agent_lines, runs[1].supervisor_lines), (50, 10));

    let (header, events) = trace.cast();
    assert_eq!(header["title"], "first");
    let resized = events.iter().find(|event| event.code == "r").expect("the new size");
    assert_eq!((resized.data.as_str(), Some(resized.at)), ("200x50", last));
    assert_eq!(events.iter().filter(|event| event.data == "user: second").count(), 1);
    if let Some(text) = played(&trace.path(CAST)) {
        assert!(text.contains("first") && text.contains("second"), "{text}");
    }
}

/// Half a line, as a killed ccc may leave it, does not spoil what follows.
#[test]
fn half_a_line_is_gone_before_more_is_written() {
    let room = room(&[YES]);
    room.ccc(&["--supervisor", "-p", "first"]).run().code(0);
    let trace = Trace::of(&room);
    for (name, half) in [
        (AGENT, r#"{"type":"assist"#),
        (SUPERVISOR, r#"{"type":"result","#),
        (EVENTS, r#"{"v":2,"time":"2026-01-02T03:0"#),
        (CAST, "[1.000001,\"o\",\"caf\u{fffd}"),
    ] {
        let mut file = OpenOptions::new().append(true).open(trace.path(name)).expect(name);
        file.write_all(half.as_bytes()).expect(name);
    }
    assert!(trace.check_lines());
    room.ccc(&["--supervisor", "-p", "second", "--resume", &trace.id()]).run().code(0);
    assert!(!trace.check_lines());
    assert!(rerun(&trace.recording()) > 20);
    assert_eq!(runs(&trace).len(), 2);
    if let Some(text) = played(&trace.path(CAST)) {
        assert!(text.contains("first") && text.contains("second"), "{text}");
    }
}
