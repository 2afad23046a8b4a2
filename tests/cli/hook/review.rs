//! The review inside the hook: the supervisor's command line, environment and message.

use serde_json::{Value, json};

use crate::patience::{PATIENCE, wait_within};
use crate::room::{ANSWER, Room, value_of, verdict};

fn reviewed() -> Room {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room
}

/// Scenarios 000 «Supervisor 使用 Fork Session», 002 «调用 Supervisor», 003 «Supervisor 调用命令»
#[test]
fn scenario_000_the_supervisor_is_a_fork_of_the_session() {
    let room = reviewed();
    room.config(&json!({"supervisor": {"review": "schema"}}));
    room.hook("abc123").run().allows("confirmed");
    let args = room.seen("supervisor-0.args");
    for part in [
        "--print\n--output-format\nstream-json\n",
        "--verbose\n",
        "--fork-session\n--resume\nabc123\n",
        "--json-schema\n{",
        "--system-prompt\nBE STRICT\n",
        "--disallowedTools\nEdit,Write,NotebookEdit\n",
    ] {
        assert!(args.contains(part), "{part}: {args}");
    }
    // The prompt is nothing for `ps`, and one argument may be too small for it.
    assert!(!args.contains("all done here"), "{args}");
    assert_eq!(room.state("abc123")["count"], 1);
}

/// Scenario 000 «JSON Schema 格式要求»
#[test]
fn scenario_000_the_schema_asks_for_completed_and_feedback() {
    let room = reviewed();
    room.config(&json!({"supervisor": {"review": "schema"}}));
    room.hook("abc123").run().allows("confirmed");
    let schema = value_of(&room.seen("supervisor-0.args"), "--json-schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["completed", "feedback"]));
    assert_eq!(schema["properties"]["completed"]["type"], "boolean");
    assert_eq!(schema["properties"]["feedback"]["type"], "string");
}

/// Scenario 004 «正常 Hook 调用（使用 Claude Agent SDK）»; the design overrules the Go library: the
/// client's own protocol, with the same options.
#[test]
fn scenario_004_the_review_speaks_the_clients_protocol() {
    let room = reviewed();
    room.hook("abc123").run().allows("confirmed");
    let args = room.seen("supervisor-0.args");
    assert_eq!(value_of(&args, "--input-format"), "stream-json");
    assert_eq!(value_of(&args, "--resume"), "abc123");
    let sent = room.seen("supervisor-0.input");
    let message: Value = serde_json::from_str(sent.trim_end()).expect("one line of JSON");
    assert_eq!((&message["type"], &message["message"]["role"]), (&json!("user"), &json!("user")));
}

/// Scenarios 000 «读取 Supervisor Prompt», 003 «Supervisor Prompt»
#[test]
fn scenario_000_the_instructions_come_from_supervisor_md() {
    let room = Room::new();
    room.enable("abc123", 0);
    room.config(&json!({"supervisor": {"review": "schema"}}));
    room.write("home/.claude/SUPERVISOR.md", "GLOBAL RULES");
    room.hook("abc123").run().allows("confirmed");
    assert_eq!(value_of(&room.seen("supervisor-0.args"), "--system-prompt"), "GLOBAL RULES");
    // Newer clients drop a system prompt on a resumed session, so the message has it too; and the form
    // of the answer, whether the file describes it or not.
    let message = room.seen("supervisor-0.input");
    assert!(message.contains("GLOBAL RULES") && message.contains(r#"\"required\":[\"completed\""#));
    room.write("project/SUPERVISOR.md", "RULES OF THE PROJECT");
    room.hook("abc123").run().allows("confirmed");
    let args = room.seen("supervisor-1.args");
    assert_eq!(value_of(&args, "--system-prompt"), "RULES OF THE PROJECT");
}

/// Scenario 000 «默认 Supervisor Prompt»
#[test]
fn scenario_000_the_default_instructions_are_written_where_there_are_none() {
    let room = Room::new();
    room.enable("abc123", 0);
    // The default wants proof, and this supervisor has none.
    room.hook("abc123").run().allows("gave no proof");
    let default = include_str!("../../../SUPERVISOR.example.md");
    assert_eq!(room.read("home/.claude/SUPERVISOR.md"), default);
    assert!(!room.path("project/SUPERVISOR.md").exists());
    let input = room.seen("supervisor-0.input");
    let first = input.lines().next().expect("a line");
    let message: Value = serde_json::from_str(first).expect("JSON");
    let message = message["message"]["content"].as_str().expect("a text").to_owned();
    let (_, told) = default.split_once("\n---\n").expect("front matter");
    assert!(message.contains(told.trim_end()), "{message}");
    assert!(default.contains("You review the work") && default.contains("\"completed\": false"));
    // Now it is the user's.
    room.write("home/.claude/SUPERVISOR.md", "MINE");
    room.hook("abc123").run().allows("confirmed");
    assert_eq!(room.read("home/.claude/SUPERVISOR.md"), "MINE");
}

#[test]
fn instructions_that_cannot_be_read_are_reported_and_kept() {
    let room = reviewed();
    room.write("project/SUPERVISOR.md", " \n");
    room.hook("abc123").run().allows("it is empty");
    room.write("project/SUPERVISOR.md", [0xff, 0xfe]);
    room.hook("abc123").run().allows("cannot read");
    assert!(!room.path("home/.claude/SUPERVISOR.md").exists());
    assert_eq!(room.reviews(), 0);
}

/// After its first `cd` the agent, and with it the hook, is somewhere else; the project is not, and
/// the client keeps its sessions by the directory they began in.
#[test]
fn the_review_is_the_projects_wherever_the_agent_is() {
    let room = reviewed();
    room.write("project/sub/file", "");
    let mut event = room.event("abc123");
    event["cwd"] = json!(room.path("project/sub"));
    let hook = room.hook("abc123").input(event.to_string()).dir(room.path("project/sub"));
    hook.env("CLAUDE_PROJECT_DIR", room.path("project")).run().allows("confirmed");
    assert!(room.seen("supervisor-0.input").contains("BE STRICT"));
    assert!(!room.path("home/.claude/SUPERVISOR.md").exists());
    let project = room.path("project").canonicalize().expect("a path");
    assert_eq!(room.seen("supervisor-0.dir").trim_end(), project.to_string_lossy());
}

#[test]
fn the_review_knows_what_was_said_and_by_whom() {
    let room = reviewed();
    room.write(
        "transcript.jsonl",
        [
            json!({"type": "user", "message": {"content": "build it"}}),
            json!({"type": "assistant", "message": {"model": "m-1", "content": []}}),
            json!({"type": "user", "isMeta": true, "message": {"content": "Stop hook feedback:\nx"}}),
            json!({"type": "user", "message": {"content": [{"type": "text", "text": "and test it"}]}}),
        ]
        .map(|line| format!("{line}\n"))
        .concat()
            + ANSWER,
    );
    room.hook("abc123").run().allows("confirmed");
    let message: Value = serde_json::from_str(&room.seen("supervisor-0.input")).expect("JSON");
    let text = message["message"]["content"].as_str().expect("text");
    for part in [
        "Message 1:\n> build it\n\nMessage 2:\n> and test it\n",
        "# The agent's last message\n\n> all done here\n",
        "This is review 1 of at most 10.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Stop hook feedback:\n> x") && !text.contains("Message 3"), "{text}");
    assert_eq!(value_of(&room.seen("supervisor-0.args"), "--model"), "m-1");
}

/// The client runs its hook before the transcript is on disk; the last answer tells what is missing.
#[test]
fn a_transcript_that_is_a_moment_late_is_waited_for() {
    let room = reviewed();
    let said = json!({"type": "user", "message": {"content": "build it"}}).to_string();
    room.write("transcript.jsonl", "");
    let hook = room.hook("abc123").start();
    let log = room.path("project/.claude/ccc/ccc.log");
    let waits =
        || std::fs::read_to_string(&log).unwrap_or_default().contains("not written to its end");
    wait_within(PATIENCE, || waits().then_some(())).expect("that it waits");
    let text = json!([{"type": "text", "text": "all done here"}]);
    let answered = json!({"type": "assistant", "message": {"model": "m-1", "content": text}});
    room.write("transcript.jsonl", format!("{said}\n{answered}\n"));
    hook.finish().allows("confirmed");
    assert!(room.seen("supervisor-0.input").contains(r"Message 1:\n> build it\n"));
    assert_eq!(value_of(&room.seen("supervisor-0.args"), "--model"), "m-1");
}

/// `/supervisor TEXT` is how a task may begin; the client notes it like this.
#[test]
fn text_after_a_slash_command_is_the_users_own() {
    let room = reviewed();
    let command = "<command-message>supervisor</command-message>\n\
        <command-name>/supervisor</command-name>\n<command-args>build <it> \"now\"</command-args>";
    let said = [
        json!({"type": "user", "message": {"content": command}}),
        json!({"type": "user", "isMeta": true, "message": {"content": "build <it> \"now\""}}),
    ];
    room.write("transcript.jsonl", said.map(|line| format!("{line}\n")).concat() + ANSWER);
    room.hook("abc123").run().allows("confirmed");
    let message: Value = serde_json::from_str(&room.seen("supervisor-0.input")).expect("JSON");
    let text = message["message"]["content"].as_str().expect("text");
    assert!(text.contains("build <it> \"now\"\n\n# The agent's last message"), "{text}");
}

/// What the client writes in front of a hook's feedback is not what the session's own loop writes.
#[test]
fn the_review_can_tell_feedback_from_the_users_words() {
    let room = reviewed();
    room.hook("abc123").run().allows("confirmed");
    assert!(room.seen("supervisor-0.input").contains("Stop hook feedback:"));
}

#[test]
fn the_supervisor_knows_what_it_is_and_belongs_to_no_session() {
    let room = reviewed();
    let hook = room.hook("abc123").env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    let hook = hook.env("CLAUDE_CODE_SESSION_ID", "abc123").env("CLAUDE_CODE_USE_BEDROCK", "1");
    hook.run().allows("confirmed");
    let env = room.seen("supervisor-0.env");
    let has = |start: &str| env.lines().any(|line| line.starts_with(start));
    assert!(has("CCC_SUPERVISOR_HOOK=1") && has("CLAUDE_CODE_USE_BEDROCK=1"), "{env}");
    assert!(!has("CLAUDECODE=") && !has("CLAUDE_CODE_ENTRYPOINT="), "{env}");
    assert!(!has("CLAUDE_CODE_SESSION_ID="), "{env}");
}

#[test]
fn what_the_supervisor_may_use_and_think_with_is_configured() {
    let room = reviewed();
    let tools = json!(["Bash(cargo test:*)", "WebFetch"]);
    room.config(&json!({"supervisor": {"model": "judge-1", "allowed_tools": tools}}));
    room.hook("abc123").run().allows("confirmed");
    let args = room.seen("supervisor-0.args");
    assert_eq!(value_of(&args, "--model"), "judge-1");
    assert_eq!(value_of(&args, "--allowedTools"), "Bash(cargo test:*),WebFetch");
}

/// What nobody can allow is refused, with the way to allow it, instead of waiting for ever.
#[test]
fn a_question_of_the_supervisor_is_refused() {
    let room = reviewed();
    let ask = json!({
        "type": "control_request", "request_id": "R1",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}},
    });
    room.client(&format!(
        "#!/bin/sh\nread -r initialize\nread -r prompt\necho '{ask}'\nread -r answer\nprintf '%s' \"$answer\" >\"$ROOM/answer\"\n\
         echo '{{\"type\":\"result\",\"num_turns\":1,\"result\":\"[TASK_COMPLETED]\"}}'\n"
    ));
    room.hook("abc123").run().allows("confirmed");
    let answer: Value = serde_json::from_str(&room.seen("answer")).expect("JSON");
    assert_eq!(answer["response"]["request_id"], "R1");
    let response = &answer["response"]["response"];
    assert_eq!(response["behavior"], "deny");
    assert!(response["message"].as_str().is_some_and(|text| text.contains("allowed_tools")));
}

/// What no rule allows does not run: asked before each tool, the hook decides by itself.
#[test]
fn a_tool_is_decided_on_before_it_runs() {
    let room = reviewed();
    let ask = |id: &str, tool: &str, input: Value| {
        json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "hook_callback", "callback_id": "ccc",
            "input": {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input},
        }})
    };
    let asks = [
        ask("R1", "Write", json!({"file_path": "x"})),
        ask("R2", "Bash", json!({"command": "git push"})),
        ask("R3", "Read", json!({"file_path": "x"})),
        json!({"type": "control_request", "request_id": "R4", "request": {"subtype": "hook_callback"}}),
    ];
    let asks = asks
        .map(|ask| format!("echo '{ask}'; read -r answer; echo \"$answer\" >>\"$ROOM/answers\"\n"));
    room.client(&format!(
        "#!/bin/sh\nread -r initialize\nread -r prompt\n{}\
         echo '{{\"type\":\"result\",\"num_turns\":1,\"result\":\"[TASK_COMPLETED]\"}}'\n",
        asks.concat()
    ));
    room.hook("abc123").run().allows("confirmed");
    let answers = room.seen("answers");
    let decided: Vec<_> = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["response"].clone())
        .map(|response| {
            assert_eq!(response["subtype"], "success", "an error would let the tool run");
            let output = &response["response"]["hookSpecificOutput"];
            output["permissionDecision"].as_str().unwrap_or_default().to_owned()
        })
        .collect();
    assert_eq!(decided, ["deny", "deny", "allow", "deny"], "{answers}");
}

/// What the hook judged stands in `ccc sessions` like every session.
#[test]
fn a_session_that_the_hook_judges_is_among_the_sessions() {
    let room = reviewed();
    let said = json!({"type": "user", "message": {"content": "build it"}});
    room.write("transcript.jsonl", format!("{said}\n{ANSWER}\n"));
    room.supervisor_prints(&verdict(false, "the tests are missing"));
    room.hook("abc123").run().blocks("the tests are missing");
    let listed = room.ccc(&["sessions"]).run().code(0).out();
    assert!(listed.contains("hook-abc") && listed.contains("build it"), "{listed}");
    let shown = room.ccc(&["sessions", "show", "abc123"]).run().code(0).out();
    assert!(shown.contains("build it") && shown.contains("the tests are missing"), "{shown}");
    let json = room.ccc(&["sessions", "show", "abc123", "--json"]).run().code(0).out();
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["rounds"][0]["feedback"], "the tests are missing", "{json}");
    room.ccc(&["sessions", "rm", "abc123", "--yes"]).run().code(0);
    assert!(!room.path("project/.claude/ccc/sessions/hook-abc123").exists());
    assert!(!room.path("project/.claude/ccc/supervisor-abc123.json").exists());
}
