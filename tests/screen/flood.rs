//! A hundred thousand lines: the screen is right at the end of them, and ccc has not kept them.

use std::fmt::Write as _;

use crate::client::Client;
use crate::picture::Picture;
use crate::stage::{Stage, opening};

const IN_A_MESSAGE: usize = 100;
/// How many lines have to come while a person is patient.
const STAGE: usize = 2_000;

fn last_line(picture: &Picture) -> Option<usize> {
    picture.last_above().strip_prefix("  line-")?.split(' ').next()?.parse().ok()
}

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
    // One after the other: how long all of it takes is the machine's business.
    for seen in (0..lines).step_by(STAGE).skip(1).chain([lines - 1]) {
        stage.person.looks_for(&format!("line {seen}"), |picture| last_line(picture) >= Some(seen));
    }
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
        assert!(row.starts_with(&format!("  line-{:06}", first + at)), "{}", picture.text());
    }
    stage.person.types("ed\r");
    assert_eq!(agent.takes_up(), "drafted");
}
