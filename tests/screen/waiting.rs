//! Nobody has to wonder whether something still happens: what takes long is seen to move.

use serde_json::json;

use crate::picture::Picture;
use crate::stage::{is_working, opening};

/// Waits until the row with `text` has been seen in so many forms.
#[track_caller]
fn forms(
    person: &mut crate::person::Person,
    what: &str,
    wanted: usize,
    form: impl Fn(&Picture) -> Option<String>,
) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    person.looks_for(what, |picture| {
        seen.extend(form(picture).filter(|form| seen.last() != Some(form)));
        seen.len() >= wanted
    });
    seen
}

fn row(picture: &Picture, text: &str) -> Option<String> {
    picture.rows.iter().find(|row| row.contains(text)).cloned()
}

/// The first clock in a row, in seconds.
fn clock(row: &str) -> Option<u64> {
    row.split_whitespace().find_map(|word| {
        let (minutes, seconds) = word.split_once(':')?;
        Some(minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?)
    })
}

#[test]
fn the_status_moves_while_the_client_is_silent() {
    let (mut stage, _agent) = opening().working();
    let frames = forms(&mut stage.person, "a spinner that moves", 3, |picture| {
        is_working(picture).then(|| picture.status()[0].chars().take(1).collect())
    });
    assert!(frames.iter().all(|frame| !frame.trim().is_empty()), "{frames:?}");
    let clocks = forms(&mut stage.person, "a clock that goes", 2, |picture| {
        Some(clock(picture.status().first()?)?.to_string())
    });
    let clocks: Vec<u64> = clocks.iter().map(|clock| clock.parse().expect("a number")).collect();
    assert!(clocks.is_sorted(), "{clocks:?}");
}

#[test]
fn a_running_tool_tells_for_how_long() {
    let (mut stage, agent) = opening().working();
    agent.uses_tool("t-1", "Bash", &json!({"command": "make zq-target"}));
    stage.person.sees("make zq-target");
    let clocks = forms(&mut stage.person, "its time", 2, |picture| {
        Some(clock(&row(picture, "make zq-target")?)?.to_string())
    });
    let clocks: Vec<u64> = clocks.iter().map(|clock| clock.parse().expect("a number")).collect();
    assert!(clocks[0] < clocks[1], "{clocks:?}");
    agent.tool_answers("t-1", "zq-output");
    let picture = stage.person.sees("zq-output");
    assert_eq!(picture.count("make zq-target"), 1, "{}", picture.text());
}

#[test]
fn a_retry_counts_down() {
    let (mut stage, agent) = opening().working();
    agent.says(&json!({
        "type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 10,
        "retry_delay_ms": 90_000, "error_status": 429, "error": "rate_limit",
    }));
    let left = forms(&mut stage.person, "the seconds left", 3, |picture| {
        let row = row(picture, "2/10")?;
        row.split_whitespace().rev().find(|word| word.parse::<u64>().is_ok()).map(str::to_owned)
    });
    let left: Vec<u64> = left.iter().map(|word| word.parse().expect("a number")).collect();
    assert!(left.is_sorted_by(|a, b| a > b) && left[0] <= 90, "{left:?}");
    agent.answers("zq-at-last");
    let picture = stage.person.sees("zq-at-last");
    assert_eq!(picture.count("2/10"), 0, "{}", picture.text());
}
