//! A recording on the screen.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use ccc::record::read::{AGENT, EVENTS};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::recordings::{SESSION, edit};
use super::{Project, err, out};

#[test]
fn it_looks_as_the_session_did() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    let path = dir.to_string_lossy().into_owned();
    for target in [SESSION, &SESSION[..8], &path] {
        let output = project.ccc(&["replay", "--instant", target]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert_eq!(err(&output), "", "{target}");
        let text = out(&output);
        let mut rest = text.as_str();
        for part in [
            "❯ Write slugify",
            "I'll write the function first",
            "┃ Review 1/10",
            "✘ Not complete yet",
            "→ sent to the agent",
            "✔ Confirmed complete in round 2",
            "Session ended · 2 rounds",
        ] {
            let at = rest
                .find(part)
                .unwrap_or_else(|| panic!("{part} is missing or out of order:\n{text}"));
            rest = &rest[at..];
        }
    }
}

/// The README shows how its first command ends.
#[test]
fn the_readme_quotes_its_demonstration() {
    let project = Project::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let fixture = format!("{root}fixtures/rejected_then_confirmed.jsonl");
    let text = out(&project.ccc(&["replay", "--instant", &fixture]));
    let readme = fs::read_to_string(format!("{root}README.md")).expect("the README");
    let quoted: Vec<_> = readme.lines().filter(|line| line.starts_with('┃')).collect();
    assert!(quoted.len() > 2, "{quoted:?}");
    for line in quoted {
        assert!(text.lines().any(|shown| shown.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn the_other_formats_are_those_of_a_session() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    let output =
        project.ccc(&["replay", "--speed", "1000", "--output-format", "stream-json", SESSION]);
    let text = out(&output);
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(lines[0]["event"], "started");
    assert_eq!(lines.last().expect("a line")["event"], "finished");
    let agent = fs::read_to_string(dir.join(AGENT)).expect("lines");
    assert!(agent.lines().all(|line| text.lines().any(|shown| shown == line)), "byte for byte");

    let output = project.ccc(&["replay", "--instant", "--output-format", "json", SESSION]);
    let report: Value = serde_json::from_str(&out(&output)).expect("one object");
    assert_eq!((&report["outcome"], &report["session_id"]), (&"ended".into(), &SESSION.into()));
}

#[test]
fn a_killed_session_is_shown_as_far_as_it_goes() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    edit(&dir, EVENTS, |text| {
        text.lines().take(12).collect::<Vec<_>>().join("\n") + "\n{\"v\":2,\"ti"
    });
    let output = project.ccc(&["replay", "--instant", SESSION]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("❯ Write slugify"), "{}", out(&output));
    assert!(out(&output).contains("the recording stops here"), "{}", out(&output));
    let output = project.ccc(&["replay", "--check", SESSION]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("cut off"), "{}", out(&output));
}

#[test]
fn idle_time_is_cut_short() {
    let project = Project::new();
    let dir = project.recorded("interrupt", SESSION);
    // Whoever waited for these times would be here tomorrow.
    edit(&dir, EVENTS, |text| text.replace("\"at\":0.", "\"at\":9990."));
    let output = project.ccc(&["replay", "--idle-limit", "0.01", SESSION]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("Session ended"), "{}", out(&output));
}

#[test]
fn ctrl_c_stops_it_at_once() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    // The second half happens hours after the first, however long that took.
    edit(&dir, EVENTS, |text| {
        let half = text.lines().count() / 2;
        let line = |(at, line): (usize, &str)| {
            let later = if at < half { "" } else { "999" };
            line.replacen("\"at\":", &format!("\"at\":{later}"), 1) + "\n"
        };
        text.lines().enumerate().map(line).collect()
    });
    let mut command = project.command(&["replay", "--idle-limit", "9000", SESSION]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("ccc runs");
    let mut shown = BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    while !line.contains("❯ Write slugify") {
        line.clear();
        assert!(shown.read_line(&mut line).expect("its output") > 0, "it ended");
    }
    kill(Pid::from_raw(child.id().try_into().expect("a pid")), Signal::SIGINT).expect("a signal");
    let mut rest = String::new();
    shown.read_to_string(&mut rest).expect("its output");
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    assert!(!rest.contains("Session ended"), "{rest}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let project = Project::new();
    for args in [
        ["replay", "x", "--speed", "0"],
        ["replay", "x", "--speed", "NaN"],
        ["replay", "x", "--idle-limit", "-1"],
        ["replay", "x", "--junit", "f"],
    ] {
        let output = project.ccc(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", err(&output));
    }
}
