//! What the supervisor printed, kept as it came, and its words where a person sees them.

use serde_json::{Value, json};

use crate::room::{Room, STATE_DIR, value_of, verdict};

const OUTPUT: &str = "supervisor-abc123-output.jsonl";

fn room() -> Room {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room
}

/// What the client printed for its review: without the shim's line about the case, which differs from
/// machine to machine, and without its answer to the request that comes before the review.
fn output(room: &Room) -> String {
    let all = room.read(&format!("{STATE_DIR}/{OUTPUT}"));
    let told = |line: &&str| !line.contains("\"ccc_case\"") && !line.contains("ccc-initialize");
    all.split_inclusive('\n').filter(told).collect()
}

fn text(text: &str) -> String {
    let message = json!({"content": [{"type": "text", "text": text}]});
    format!("{}\n", json!({"type": "assistant", "message": message}))
}

/// Scenarios 000 «输出文件创建», «输出文件内容», 002 «保存 stream-json 输出», 003 «输出文件结构»
#[test]
fn scenario_000_the_supervisors_lines_are_kept_as_they_came() {
    let room = room();
    let first = format!("{{ \"type\" : \"system\",\t\"subtype\":\"init\" }}\n{}", text("I look."));
    let first = first + &verdict(false, "more");
    room.supervisor_prints(&first);
    room.hook("abc123").run().blocks("more");
    assert_eq!(output(&room), first, "white space and all");

    let second = verdict(true, "");
    room.supervisor_prints(&second);
    room.hook("abc123").run().allows("confirmed");
    assert_eq!(output(&room), first + &second, "appended");
}

#[test]
fn a_launch_that_is_not_recorded_keeps_neither_the_reviews_nor_the_persons_words() {
    let room = Room::supervised();
    room.ccc(&["--supervisor=hook", "--no-record"]).run().code(0);
    let (settings, id) =
        (room.launch_settings(), value_of(&room.seen("agent-0.args"), "--session-id"));
    room.supervisor_prints(&verdict(false, "more"));
    let told = settings["env"]["CCC_NO_RECORD"].as_str().unwrap_or_default();
    room.hook_of(&settings, &id).env("CCC_NO_RECORD", told).run().blocks("more");
    let kept = |name: &str| room.path(&format!("{STATE_DIR}/{name}")).exists();
    assert!(!kept("sessions") && !kept(&format!("supervisor-{id}-output.jsonl")));
    assert!(kept(&format!("supervisor-{id}.json")), "the count is no recording");
}

/// Scenario 000 «输出文件用途»
#[test]
fn scenario_000_the_output_file_tells_how_the_decision_was_made() {
    let room = room();
    let tool = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}});
    let looks = json!({"type": "assistant", "message": {"content": [tool]}});
    room.supervisor_prints(&format!("{looks}\n{}{}", text("No tests."), verdict(false, "tests")));
    room.hook("abc123").run().blocks("tests");
    let lines: Vec<Value> =
        output(&room).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["message"]["content"][0]["input"]["command"], "ls");
    assert_eq!(lines[1]["message"]["content"][0]["text"], "No tests.");
    assert_eq!(lines[2]["structured_output"], json!({"completed": false, "feedback": "tests"}));
}

#[test]
fn what_is_no_json_is_wrapped_so_that_the_file_stays_jsonl() {
    let room = room();
    let odd = "npm warn \"x\"\n\u{1b}[1mbold\u{1b}[0m\n{\"half\":\n\n";
    room.supervisor_prints(&format!("{odd}{}", verdict(true, "")));
    room.hook("abc123").run().allows("confirmed");
    for line in output(&room).lines() {
        let value: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(value["type"].is_string(), "{line}");
    }
    assert!(output(&room).contains(r#"npm warn \"x\""#));
}

#[test]
fn a_supervisor_that_fails_is_on_record_too() {
    let room = room();
    room.client(
        "#!/bin/sh\necho '{\"type\":\"system\",\"subtype\":\"init\"}'; echo oh no >&2; exit 1\n",
    );
    room.hook("abc123").run().allows("exited with code 1");
    assert!(output(&room).contains("init") && output(&room).contains("oh no"), "{}", output(&room));
}

/// Scenarios 002 «原始输出到 stderr», 003 «Stream-JSON 处理»
#[test]
fn scenario_002_the_supervisors_text_goes_to_standard_error() {
    let room = room();
    room.supervisor_prints(&format!(
        "{}{}{}",
        text("我在看\u{1b}]0;title\u{7}"),
        text("Tests are missing."),
        verdict(false, "add tests")
    ));
    let done = room.hook("abc123").run().blocks("add tests");
    let err = done.err();
    assert!(err.contains("我在看\n") && err.contains("Tests are missing.\n"), "{err}");
    assert!(!err.contains('\u{1b}'), "no escapes of a model on a person's screen: {err:?}");
    assert!(!done.out().contains("Tests are missing."));
}
