//! `ccc --supervisor` from the outside: the scenarios of the loop that no other file shows.

use std::fs;

use serde_json::{Value, json};

use crate::person::Person;
use crate::room::{Room, STATE_DIR, value_of, verdict};

/// Scenario 001 «supervisor 循环启动»
#[test]
fn scenario_001_the_loop_says_that_it_starts_and_the_agent_works_first() {
    let room = Room::supervised();
    let out = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0).transcript();
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("no {text:?}: {out}"));
    assert!(at("Supervisor mode enabled") < at("all done here"), "{out}");
    assert!(at("all done here") < at("Confirmed complete"), "{out}");
}

/// Scenario 001 «启动 Agent pty»; its input is a pipe inside the PTY, because the client refuses a
/// terminal there.
#[test]
fn scenario_001_the_agent_is_started_on_a_pty() {
    let room = Room::supervised();
    room.client(
        r#"#!/bin/sh
printf '%s\n' "$@" >"$ROOM/args"
exec 3>"$ROOM/streams"
for fd in 0 1 2; do [ -t $fd ] && echo $fd >&3; done
(: </dev/tty) && echo controlling >&3
"#,
    );
    room.ccc(&["--supervisor", "-p", "do it"]).run();
    assert_eq!(room.seen("streams"), "1\n2\ncontrolling\n");
    assert!(room.seen("args").starts_with("--print\n--output-format\nstream-json\n"));
}

/// Scenario 001 «解析 stream-json»
#[test]
fn scenario_001_the_agents_lines_are_understood_and_shown() {
    let room = Room::supervised();
    let args = ["--supervisor", "-p", "do it", "--output-format", "json"];
    let report: Value = serde_json::from_str(&room.ccc(&args).run().code(0).out()).expect("JSON");
    let id = value_of(&room.seen("agent-0.args"), "--session-id");
    assert_eq!((&report["session_id"], &report["result"]), (&id.into(), &"all done here".into()));
    let room = Room::supervised();
    let out = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0).transcript();
    assert!(out.contains("all done here") && !out.contains("\"type\":\"assistant\""), "{out}");
}

/// Scenarios 001 «捕获用户输入», «Agent Phase → Supervisor Phase», «Supervisor Phase → 结束（已完成）»
#[test]
fn scenario_001_what_is_typed_reaches_the_agent_and_the_review() {
    let room = Room::supervised();
    let mut person = Person::runs(&room, &["--supervisor"]);
    person.sees("ready").types("build it");
    person.sees("build it").types("\r");
    person.sees("Confirmed complete in round 1").sees("ready").types("and test it");
    person.sees("and test it").types("\r");
    // Two answers and no end: the session is the user's again each time.
    person.sees("Confirmed complete in round 1").sees("ready").types("\x04");
    assert_eq!(person.leaves().0, 0);
    let sent = room.seen("agent-0.input");
    assert!(
        sent.contains(r#""content":"build it""#) && sent.contains(r#""content":"and test it""#)
    );
    assert!(room.seen("supervisor-0.input").contains(r"Message 1:\n> build it\n"));
    let second = room.seen("supervisor-1.input");
    assert!(second.contains(r"> build it\n") && second.contains(r"> and test it\n"), "{second}");
    let id = value_of(&room.seen("agent-0.args"), "--session-id");
    assert_eq!(value_of(&room.seen("supervisor-0.args"), "--resume"), id);
    let recorded = room.path(&format!("{STATE_DIR}/sessions/{id}"));
    assert!(fs::read_dir(recorded).is_ok_and(|files| files.count() >= 2));
}

/// Scenario 001 «检测 Agent 停止»: a result is a stop; words in between are none.
#[test]
fn scenario_001_an_idle_agent_is_noticed() {
    let room = Room::supervised();
    let out = room
        .ccc(&["--supervisor", "-p", "do it", "--output-format", "stream-json"])
        .run()
        .code(0)
        .out();
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("no {text}: {out}"));
    assert!(at(r#""type":"assistant""#) < at(r#""type":"result""#));
    assert!(at(r#""type":"result""#) < at(r#""event":"review_started""#), "{out}");
    assert_eq!(room.reviews(), 1);
}

/// Scenarios 001 «Supervisor Phase → Agent Phase（未完成）», «捕获 Supervisor 反馈», «检测完成标记»
#[test]
fn scenario_001_feedback_goes_back_to_the_agent() {
    let room = Room::supervised();
    room.supervisor_prints_in(0, &verdict(false, "add tests"));
    let marker = r#"{"type":"result","num_turns":1,"result":"Fine.\n[TASK_COMPLETED]"}"#;
    room.supervisor_prints_in(1, &format!("{marker}\n"));
    let out = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0).transcript();
    assert!(out.contains("Confirmed complete in round 2"), "{out}");
    let sent = room.seen("agent-0.input");
    let lines: Vec<&str> = sent.lines().collect();
    assert_eq!(lines.len(), 2, "{sent}");
    assert!(lines[1].contains("add tests"), "{sent}");
    assert_eq!(room.reviews(), 2);
    assert!(!room.path("seen/agent-1.args").exists(), "the same process goes on");
}

/// Scenario 001 «Fork session 调用 Supervisor»
#[test]
fn scenario_001_the_supervisor_is_called_as_a_fork() {
    let room = Room::supervised();
    room.config(&json!({"supervisor": {"review": "schema"}}));
    room.ccc(&["--supervisor", "-p", "do it"]).run().code(0);
    let id = value_of(&room.seen("agent-0.args"), "--session-id");
    let args = room.seen("supervisor-0.args");
    for part in [
        "--print\n--output-format\nstream-json\n",
        &format!("--fork-session\n--resume\n{id}\n"),
        "--system-prompt\nBE STRICT\n",
    ] {
        assert!(args.contains(part), "{part}: {args}");
    }
    assert!(room.seen("supervisor-0.input").contains("> do it"));
}

/// A client that takes its message up, prints what the test wants, and keeps its supervisor's arguments.
/// Its session has another id than the one it was given.
fn client(prints: &str) -> String {
    let lines = r#"#!/bin/sh
for arg; do [ "$arg" = --fork-session ] && {
  printf '%s\n' "$@" >"$ROOM/supervisor-0.args"
  echo '{"type":"result","num_turns":1,"result":"[TASK_COMPLETED]"}'
  exit
}; done
read -r line
uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
echo '{"type":"system","subtype":"init","model":"fake","session_id":"from-the-stream"}'
echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"from-the-stream\"}"
"#;
    format!("{lines}{prints}\ncat >/dev/null\n")
}

/// Scenario 001 «解析错误处理»
#[test]
fn scenario_001_broken_lines_of_the_agent_are_passed_over() {
    let room = Room::supervised();
    room.client(&client(
        r#"printf '{"type":"assistant",\n\033[1mnpm warn\n\377\376\n[]\n{"type":"tomorrow"}\n'
echo '{"type":"assistant","session_id":"from-the-stream","message":{"content":[{"type":"text","text":"still here"}]}}'
echo '{"type":"result","num_turns":1,"result":"still here","session_id":"from-the-stream"}'"#,
    ));
    let out = room.ccc(&["--supervisor", "-p", "do it"]).run().code(0).transcript();
    assert!(out.contains("still here") && out.contains("Confirmed complete"), "{out}");
    assert!(room.read(&format!("{STATE_DIR}/ccc.log")).contains("WARN"));
}

/// Scenarios 001 «解析 `session_id`», «解析消息类型»
#[test]
fn scenario_001_ids_and_types_are_taken_from_the_stream() {
    let room = Room::supervised();
    room.client(&client(r#"echo '{"result":"done","num_turns":1,"type":"result"}'"#));
    room.ccc(&["--supervisor", "-p", "do it"]).run().code(0);
    assert_eq!(value_of(&room.seen("supervisor-0.args"), "--resume"), "from-the-stream");

    // An error is no work that could be judged.
    let room = Room::supervised();
    let error = r#"{"type":"result","is_error":true,"num_turns":1,"result":"no credit"}"#;
    room.client(&client(&format!("echo '{error}'")));
    let done = room.ccc(&["--supervisor", "-p", "do it"]).run().code(1);
    assert!(done.transcript().contains("no credit"), "{}", done.transcript());
    assert_eq!(room.reviews(), 0);
}

/// Scenario 001 «读取项目级 SUPERVISOR.md»
#[test]
fn scenario_001_the_projects_own_instructions_are_the_system_prompt() {
    let room = Room::supervised();
    room.write("home/.claude/SUPERVISOR.md", "GLOBAL RULES");
    room.config(&json!({"supervisor": {"review": "schema"}}));
    room.ccc(&["--supervisor", "-p", "do it"]).run().code(0);
    assert_eq!(value_of(&room.seen("supervisor-0.args"), "--system-prompt"), "BE STRICT");
}

/// A client whose supervisor changes the project before it confirms.
const CHANGES_SOMETHING: &str = r#"#!/bin/sh
for arg; do [ "$arg" = --fork-session ] && judge=1; done
while read -r line; do
  case $line in *'"subtype":"initialize"'*) continue ;; esac
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  if [ -n "$judge" ]; then
    # Not before the project has been looked at.
    sleep 1
    echo changed > by-the-judge
    echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":"fine"}}'
  else
    echo '{"type":"system","subtype":"init","model":"fake","session_id":"abc"}'
    echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"abc\"}"
    echo '{"type":"result","num_turns":1,"result":"done","session_id":"abc"}'
  fi
done
"#;

#[test]
fn what_a_review_changes_in_the_project_is_an_alarm() {
    let room = Room::supervised();
    room.client(CHANGES_SOMETHING);
    room.config(&json!({"supervisor": {"sandbox": "off", "proof": "off"}}));
    let args = ["--supervisor", "-p", "do it", "--output-format", "stream-json"];
    let out = room.ccc(&args).run().code(0).out();
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let told: Vec<_> = lines.filter(|line| line["type"] == "ccc").collect();
    let place = |event: &str| told.iter().position(|line| line["event"] == event);
    let alarm = place("tree_changed").unwrap_or_else(|| panic!("no alarm: {out}"));
    assert!(alarm < place("verdict").expect("a verdict"), "{out}");
    let files = json!([{"path": "by-the-judge", "kind": "added"}]);
    assert_eq!(told[alarm]["files"], files, "{out}");
    let id = told.iter().find(|line| line["event"] == "session").expect("a session");
    let id = id["session_id"].as_str().expect("an id");
    let shown = room.ccc(&["sessions", "show", id]).run().code(0).out();
    let alarm = "While the review ran, 1 file of the project changed: by-the-judge (added)";
    assert!(shown.replace('\n', " ").contains(alarm), "{shown}");

    fs::remove_file(room.path("project/by-the-judge")).expect("a file");
    room.enable("abc123", 0);
    let done = room.hook("abc123").run();
    assert!(done.err().contains("files of the project changed: by-the-judge"), "{}", done.err());

    // In a case there is nothing to be alarmed about.
    fs::remove_file(room.path("project/by-the-judge")).expect("a file");
    room.config(&json!({"supervisor": {"proof": "off"}}));
    let out = room.ccc(&args).run().code(0).transcript();
    if out.contains(r#""event":"review_case","round":1,"held":"overlay""#) {
        assert!(!out.contains("tree_changed") && !room.path("project/by-the-judge").exists());
    }
}
