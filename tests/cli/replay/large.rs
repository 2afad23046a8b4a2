//! A long recording costs time in proportion, and hardly any memory.
//!
//! `CCC_LARGE_MB=500 cargo test --release --test cli -- large --nocapture` measures a larger one.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use ccc::record::read::{AGENT, EVENTS};
use nix::sys::resource::{Resource, setrlimit};

use super::Project;
use super::recordings::{SESSION, edit};

/// In megabytes, unless the environment says otherwise.
const SIZE: usize = 24;
/// The recording that a fixture is made of.
const PART: &str = "part-of-it";
/// What a command may take, in megabytes, whatever the size.
const MEMORY: u64 = 100;

/// Makes the agent's first turn so many bytes longer; nothing is decided about the new lines.
fn lengthen(dir: &Path, size: usize) {
    let before = fs::read_to_string(dir.join(AGENT)).expect("lines");
    let line = |text: &str| {
        serde_json::json!({"type": "assistant", "session_id": SESSION, "message":
        {"role": "assistant", "content": [{"type": "text", "text": text}]}})
    };
    let words = "a line of the agent's, with `code` and more words than it needs; ".repeat(30);
    let result = serde_json::json!({"type": "user", "session_id": SESSION, "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_9", "content": words.repeat(3)}]}});
    let partial = serde_json::json!({"type": "stream_event", "session_id": SESSION, "event": {"type":
        "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "and more words"}}});
    let block = format!("{}\n{result}\n{partial}\n{partial}\n", line(&words));
    let blocks = size / block.len();

    // The last lines before the first review: the turn goes on until then.
    let (mut lines, mut entry) = (0, 0);
    let events = fs::read_to_string(dir.join(EVENTS)).expect("events");
    for (at, line) in events.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if value["did"] == "start_review" {
            break;
        }
        if value["saw"] == "agent" {
            (lines, entry) = (lines + value["lines"].as_u64().expect("a number"), at);
        }
    }
    let last: serde_json::Value =
        serde_json::from_str(events.lines().nth(entry).expect("a line")).expect("JSON");
    let own = last["lines"].as_u64().expect("a number");
    let mut more = last.clone();
    more["lines"] = (4 * blocks).into();
    edit(dir, EVENTS, |text| {
        let mut all: Vec<_> = text.lines().map(str::to_owned).collect();
        all.insert(entry, more.to_string());
        all.join("\n") + "\n"
    });
    let head = usize::try_from(lines - own).expect("a number");
    let mut file = BufWriter::new(File::create(dir.join(AGENT)).expect("a file"));
    for line in before.lines().take(head) {
        writeln!(file, "{line}").expect("a line");
    }
    for _ in 0..blocks {
        file.write_all(block.as_bytes()).expect("a block");
    }
    for line in before.lines().skip(head) {
        writeln!(file, "{line}").expect("a line");
    }
}

/// How it ended, how long it took, and the most memory that was seen, in megabytes. A command that
/// wants more than `MEMORY` does not get it, and fails.
fn measured(project: &Project, args: &[&str]) -> (Option<i32>, Duration, u64) {
    let began = Instant::now();
    let errors = File::create(project.path("stderr")).expect("a file");
    let mut command = project.command(args);
    command.stdout(Stdio::null()).stderr(errors);
    // SAFETY: one system call, which allocates nothing.
    unsafe {
        command.pre_exec(|| Ok(setrlimit(Resource::RLIMIT_DATA, MEMORY << 20, MEMORY << 20)?));
    }
    let mut child = command.spawn().expect("ccc");
    // Not what `wait4` tells: that begins with the memory of the process that started this one. A
    // command may be done before the first look, so this is only for whoever reads the figures.
    let peak = format!("/proc/{}/status", child.id());
    let mut memory: u64 = 0;
    let status = loop {
        let now = fs::read_to_string(&peak).unwrap_or_default();
        let now = now
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        memory = now.unwrap_or(memory);
        match child.try_wait().expect("a child") {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    (status.code(), began.elapsed(), memory >> 10)
}

#[test]
fn a_large_recording_is_read_without_much_memory() {
    let size = std::env::var("CCC_LARGE_MB").ok().and_then(|size| size.parse().ok());
    let size = size.unwrap_or(SIZE);
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    lengthen(&dir, size << 20);
    // Every word of it is looked at: without optimisation that takes its time.
    let part = if cfg!(debug_assertions) { size / 12 } else { size };
    lengthen(&project.recorded("rejected_then_confirmed", PART), part << 20);
    for args in [
        ["replay", "--check", SESSION].as_slice(),
        &["replay", "--instant", SESSION],
        &["sessions"],
        &["sessions", "show", SESSION],
        &["sessions", "show", "--json", SESSION],
        &["fixture", PART, "-o", "large.jsonl"],
    ] {
        let (code, time, memory) = measured(&project, args);
        let errors = fs::read_to_string(project.path("stderr")).expect("a file");
        println!("{size} MB, {}: {:.1} s, {memory} MB", args.join(" "), time.as_secs_f64());
        assert_eq!(code, Some(0), "{args:?}: {errors}");
    }
}
