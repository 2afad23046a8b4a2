//! What goes wrong below the hook lets the client stop, with the reason, and costs nothing else.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::room::{Room, STATE_DIR, state_file, verdict};

/// Scenario 000 «Supervisor 调用失败»
#[test]
fn scenario_000_a_supervisor_that_fails_lets_the_client_stop() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.client("#!/bin/sh\necho 'unknown option --json-schema' >&2\nexit 1\n");
    let done = room.hook("abc123").run().allows("the supervisor exited with code 1");
    assert!(done.err().contains("unknown option --json-schema"), "{}", done.err());
    assert_eq!(room.state("abc123")["count"], 1, "it has been tried");
    assert!(room.read(&format!("{STATE_DIR}/ccc.log")).contains("the supervisor exited"));

    room.client("#!/bin/sh\nkill -9 $$\n");
    room.hook("abc123").run().allows("was ended by SIGKILL");
    room.client("#!/nowhere/sh\n");
    room.hook("abc123").run().allows("needs /nowhere/sh, which does not exist");
    room.client("#!/bin/sh\n");
    room.hook("abc123").run().allows("the supervisor exited with code 0");
    let missing = room.hook("abc123").env("CCC_CLAUDE", "/nowhere/claude").run();
    missing.allows("CCC_CLAUDE names /nowhere/claude");
}

/// Scenario 000 «JSON 解析失败»
#[test]
fn scenario_000_an_answer_without_a_verdict_lets_the_client_stop() {
    let room = Room::supervised();
    for (answer, reason) in [
        (json!({"result": "It looks fine to me."}), "the supervisor's answer cannot be used"),
        (json!({"result": "{\"completed\": \"yes\"}"}), "the supervisor's answer cannot be used"),
        (json!({"result": "{\"completed\": tru"}), "the supervisor's answer cannot be used"),
        (
            json!({"result": "[TASK_COMPLETED] is what I will say later"}),
            "the supervisor's answer cannot be used",
        ),
        (json!({"result": ""}), "it is empty"),
        (json!({"structured_output": {"completed": 1}}), "its JSON is not usable"),
        (json!({"structured_output": [true]}), "the supervisor's answer cannot be used"),
    ] {
        room.enable("abc123", 0);
        let mut line = json!({"type": "result", "subtype": "success", "num_turns": 1});
        for (key, value) in answer.as_object().expect("an object") {
            line[key] = value.clone();
        }
        room.supervisor_prints(&format!("{line}\n"));
        room.hook("abc123").run().allows(reason);
    }
}

#[test]
fn garbage_before_the_verdict_does_no_harm() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    let garbage = "\u{1b}[?25h\nnpm warn\n{\"type\":\n[1,2]\nnull\n{\"type\":\"tomorrow\"}\n{}\n";
    room.supervisor_prints(&format!("{garbage}{}", verdict(false, "more")));
    room.hook("abc123").run().blocks("more");
}

#[test]
fn an_api_error_is_no_verdict() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    let line = json!({
        "type": "result", "subtype": "success", "is_error": true, "api_error_status": 400,
        "num_turns": 1, "result": "Credit balance is too low",
    });
    room.supervisor_prints(&format!("{line}\n"));
    room.hook("abc123").run().allows("Credit balance is too low");
    let line = json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0,
        "errors": ["No conversation found with session ID: abc123"],
    });
    room.supervisor_prints(&format!("{line}\n"));
    room.hook("abc123").run().allows("No conversation found");
}

fn impatient() -> Room {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.config(&json!({"supervisor": {"timeout_seconds": 0.5}}));
    room
}

#[test]
fn a_supervisor_that_hangs_is_given_up_in_time() {
    let room = impatient();
    room.client("#!/bin/sh\nexec sleep 1000\n");
    let begin = Instant::now();
    room.hook("abc123").start().finish_within(Duration::from_secs(20)).allows("within 0.5 s");
    assert!(begin.elapsed() >= Duration::from_millis(500));
}

#[test]
fn a_supervisor_that_never_stops_talking_is_given_up_too() {
    let room = impatient();
    // The last of it is not read: without a pause there is always more.
    room.client("#!/bin/sh\nexec yes '{\"type\":\"system\",\"subtype\":\"status\"}'\n");
    room.hook("abc123").start().finish_within(Duration::from_secs(20)).allows("within 0.5 s");
}

#[test]
fn a_supervisor_that_ignores_its_end_does_not_hold_the_hook() {
    let room = impatient();
    room.client("#!/bin/sh\ntrap '' TERM HUP INT\nwhile :; do sleep 1; done\n");
    room.hook("abc123").start().finish_within(Duration::from_secs(20)).allows("within 0.5 s");
}

/// Scenario 000 «状态文件读写失败»
#[test]
fn scenario_000_an_unreadable_state_file_is_reported_and_kept() {
    let room = Room::supervised();
    // Permissions mean nothing to root, so it is a directory that cannot be read as a file.
    fs::create_dir_all(room.path(&state_file("abc123"))).expect("a directory");
    let done = room.hook("abc123").run().allows("cannot read");
    assert!(done.err().contains("supervisor-abc123.json"), "{}", done.err());
    assert!(room.path(&state_file("abc123")).is_dir());
    assert_eq!(room.reviews(), 0);
}

#[test]
fn a_broken_state_file_is_reported_and_kept_byte_for_byte() {
    let room = Room::supervised();
    for broken in [
        &b""[..],
        b"{",
        b"{\"session_id\":\"abc123\",\"enabled\":true,\"count\":-1}",
        b"{\"session_id\":\"abc123\",\"enabled\":\"yes\"}",
        b"{\"enabled\":true}",
        b"[true]",
        b"{\"session_id\":\"abc123\",\"enabled\":true}\xff",
    ] {
        room.write(&state_file("abc123"), broken);
        room.hook("abc123").run().allows("is broken; it was left as it is");
        assert_eq!(fs::read(room.path(&state_file("abc123"))).expect("the file"), broken);
    }
    assert_eq!(room.reviews(), 0);
}

/// Scenario 000 «状态文件读写失败»: the count cannot be kept, and the review goes on without it; the
/// client's own cap still ends the loop.
#[test]
fn scenario_000_a_count_that_cannot_be_written_does_not_prevent_the_review() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.supervisor_prints(&verdict(false, "more"));
    // A directory in the place of the lock: also root cannot open it for writing.
    fs::create_dir(room.path(&format!("{STATE_DIR}/supervisor-abc123.lock"))).expect("a directory");
    let done = room.hook("abc123").run().blocks("more");
    assert!(done.err().contains("the count could not be saved"), "{}", done.err());
    assert_eq!(room.state("abc123")["count"], 0);
}

#[test]
fn a_state_directory_that_cannot_be_means_off() {
    let room = Room::supervised();
    room.write("project/.claude", "a file in the way");
    room.hook("abc123").run().allows("cannot read");
    assert_eq!(room.read("project/.claude"), "a file in the way");
    assert_eq!(room.reviews(), 0);
}

#[test]
fn a_broken_config_is_reported_with_its_place_and_kept() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.write("home/.claude/ccc.json", "{\n  \"supervisor\": oops\n}");
    let done = room.hook("abc123").run().allows("ccc.json is broken");
    assert!(done.err().contains("line 2 column"), "{}", done.err());
    assert_eq!(room.read("home/.claude/ccc.json"), "{\n  \"supervisor\": oops\n}");
    room.config(&json!({"supervisor": {"timeout_seconds": -1}}));
    room.hook("abc123").run().allows("timeout_seconds");
}

#[test]
fn settings_that_are_gone_or_broken_let_the_client_stop() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    let event = room.event("abc123").to_string();
    let hook = || room.ccc(&["supervisor-hook", "--settings", "s.json"]).input(event.as_str());
    hook().run().allows("cannot read s.json");
    room.write("project/s.json", "{");
    hook().run().allows("s.json is broken");
    assert_eq!(room.reviews(), 0);
}

/// The client reads the exit code before anything else, also when nobody reads the rest.
#[test]
fn output_that_nobody_takes_changes_no_exit_code() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let run = |room: &Room| {
        room.write("event.json", room.event("abc123").to_string());
        let mut command = room.ccc(&["supervisor-hook"]).into_command();
        command.stdin(fs::File::open(room.path("event.json")).expect("the event"));
        command.stdout(full()).stderr(full()).status().expect("ccc runs").code()
    };
    let room = Room::supervised();
    assert_eq!(run(&room), Some(0), "off");
    room.enable("abc123", 0);
    assert_eq!(run(&room), Some(0), "confirmed");
    room.supervisor_prints(&verdict(false, "more"));
    assert_eq!(run(&room), Some(0), "blocked");
}
