//! A hundred thousand lines: the screen is right at the end of them, and ccc has not kept them.

use std::fmt::Write as _;

use crate::client::Client;
use crate::stage::{Stage, opening};

const IN_A_MESSAGE: usize = 100;

/// Has the agent say so many lines; the most memory that ccc has ever had, in kB.
fn flooded(lines: usize) -> (Stage, Client, u64) {
    let (mut stage, agent) = opening().working();
    stage.person.types("draft");
    stage.person.looks_for("the text", |picture| picture.input() == Some("draft"));
    let mut text = String::new();
    for first in (0..lines).step_by(IN_A_MESSAGE) {
        text.clear();
        for line in first..first + IN_A_MESSAGE {
            let _ = write!(text, "line-{line:06} which says no more than others do\n\n");
        }
        agent.answers(&text);
    }
    let last = format!("line-{:06}", lines - 1);
    stage.person.looks_for("the last line", |picture| picture.last_above().starts_with(&last));
    let status = std::fs::read_to_string(format!("/proc/{}/status", stage.person.pid()));
    let status = status.expect("a process");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
    let most = most.trim().trim_end_matches(" kB").parse().expect("a number");
    (stage, agent, most)
}

#[test]
fn a_hundred_thousand_lines_leave_a_right_screen_and_no_trace_in_memory() {
    let (_, _, few) = flooded(1_000);
    let (mut stage, mut agent, many) = flooded(100_000);
    println!("at most {few} kB with 1,000 lines, {many} kB with 100,000");
    assert!(many < few + 30_000, "{few} kB became {many} kB");
    let picture = stage.person.picture();
    assert_eq!((picture.input(), picture.status().len()), (Some("draft"), 1), "{}", picture.text());
    let lines: Vec<_> = picture.above().iter().filter(|row| !row.is_empty()).collect();
    let first = 100_000 - lines.len();
    for (at, row) in lines.iter().enumerate() {
        assert!(row.starts_with(&format!("line-{:06}", first + at)), "{}", picture.text());
    }
    stage.person.types("ed\r");
    assert_eq!(agent.takes_up(), "drafted");
}
