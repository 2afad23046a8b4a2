//! Permission modes, plans and what else is asked of the client itself, at a terminal.

use serde_json::{Value, json};

use crate::client::Client;
use crate::stage::{is_working, opening};

/// One that begins by asking, on its own screen too.
const OLDER: &str = "2.1.200";

fn is_request(subtype: &'static str) -> impl Fn(&Value) -> bool {
    move |line| line["request"]["subtype"] == subtype
}

/// The client grants what it was asked for.
fn grants(agent: &Client, request: &Value, response: &Value) {
    agent.says(&json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": request["request_id"], "response": response,
    }}));
}

fn introduces_itself(agent: &Client, version: &str) {
    let request = agent.hears("to introduce itself", is_request("initialize"));
    let models = json!([
        {"value": "zq-opus", "displayName": "Opus", "resolvedModel": "zq-opus-5", "description": "big"},
        {"value": "zq-haiku", "displayName": "Haiku", "resolvedModel": "zq-haiku-5", "description": "small"},
    ]);
    grants(
        agent,
        &request,
        &json!({
            "commands": [], "models": models, "claude_code_version": version,
            "current_permission_mode": "default",
        }),
    );
    let request = agent.hears("for its settings", is_request("get_settings"));
    grants(agent, &request, &json!({"applied": {"model": "zq-opus-5"}}));
}

fn tells_mode(agent: &Client, mode: &str) {
    agent.says(&json!({"type": "system", "subtype": "status", "permissionMode": mode}));
}

#[test]
fn the_start_says_where_one_is() {
    let (mut stage, agent) = opening().ready();
    introduces_itself(&agent, OLDER);
    let picture = stage.person.looks_for("the client", |picture| {
        picture.rows.iter().any(|row| row == "  claude 2.1.200 · zq-opus-5 · permissions: ask")
    });
    let text = picture.text();
    assert!(text.contains("/project") && text.contains("SUPERVISOR.md · no checks"), "{text}");
    let status = picture.status().join(" ");
    assert!(status.contains("ask mode · zq-opus-5"), "{status}");
}

/// As on the client's own screen, where nobody chose a mode and the provider is Anthropic.
#[test]
fn a_newer_client_begins_in_auto_mode() {
    let (mut stage, agent) = opening().ready();
    introduces_itself(&agent, "9.8.7");
    let request = agent.hears("the mode", is_request("set_permission_mode"));
    assert_eq!(request["request"]["mode"], "auto");
    tells_mode(&agent, "auto");
    stage.person.looks_for("it", |picture| picture.status().join(" ").contains("on · auto mode ·"));
}

#[test]
fn shift_tab_goes_through_the_modes() {
    let (mut stage, agent) = opening().ready();
    introduces_itself(&agent, OLDER);
    for (mode, words) in [
        ("acceptEdits", "accept edits"),
        ("plan", "plan mode"),
        ("auto", "auto mode"),
        ("default", "ask mode"),
    ] {
        stage.person.types("\x1b[Z");
        let wanted = mode.to_owned();
        agent.hears("the next mode", move |line| line["request"]["mode"] == wanted.as_str());
        tells_mode(&agent, mode);
        stage.person.looks_for(words, |picture| {
            picture.status().join(" ").contains(&format!("supervisor on · {words} ·"))
        });
    }
}

#[test]
fn skipped_permissions_are_seen_all_the_time() {
    let (mut stage, agent) = opening().working();
    tells_mode(&agent, "bypassPermissions");
    let loud =
        |picture: &crate::picture::Picture| picture.text().contains("PERMISSIONS ARE SKIPPED");
    stage.person.looks_for("the alarm", |picture| loud(picture) && is_working(picture));
    // Whatever else stands there.
    agent.asks(
        "q-1",
        "AskUserQuestion",
        &json!({"questions": [
            {"question": "Which?", "options": [{"label": "A", "description": "a"}]},
        ]}),
    );
    stage.person.looks_for("both", |picture| loud(picture) && picture.text().contains("1. A"));
}

#[test]
fn a_plan_is_approved_with_its_edits() {
    let (mut stage, agent) = opening().working();
    agent.asks(
        "q-1",
        "ExitPlanMode",
        &json!({"plan": "# Zq-plan\n\n1. **First** this\n2. Then that"}),
    );
    let picture = stage
        .person
        .looks_for("the plan", |picture| picture.text().contains("3. No, and say what to change"));
    let text = picture.text();
    assert!(text.contains("  Zq-plan") && text.contains("1. First this"), "{text}");
    stage.person.types("2\r");
    let answer = agent.is_answered("q-1");
    let permissions = &answer["updatedPermissions"];
    assert_eq!(
        *permissions,
        json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
    );
    stage.person.sees("Plan approved.");
}

#[test]
fn a_plan_that_is_not_approved_says_why() {
    let (mut stage, agent) = opening().working();
    agent.asks("q-1", "ExitPlanMode", &json!({"plan": "Zq-plan"}));
    stage.person.looks_for("the offer", |picture| picture.text().contains("3. No, and say"));
    stage.person.types("3\rwithout b");
    stage.person.looks_for("what is asked", |picture| {
        picture.text().contains("What should change? without b\nEnter to send, Esc to go back")
    });
    stage.person.types("\r");
    let answer = agent.is_answered("q-1");
    assert_eq!(answer["behavior"], "deny");
    assert_eq!(answer["message"], "without b");
    stage.person.sees("Plan not approved: without b");
}

#[test]
fn a_model_is_picked() {
    let (mut stage, agent) = opening().ready();
    introduces_itself(&agent, OLDER);
    stage.person.sees("zq-opus-5");
    stage.person.types("/model\r");
    stage.person.looks_for("the list", |picture| {
        picture.text().contains("❯ 1. Opus (current)  big")
            && picture.text().contains("2. Haiku  small")
    });
    stage.person.types("\x1b[B\r");
    let request = agent.hears("the model", is_request("set_model"));
    assert_eq!(request["request"]["model"], "zq-haiku");
    grants(&agent, &request, &json!({"model": "zq-haiku-5"}));
    stage.person.looks_for("its name", |picture| picture.status().join(" ").contains("zq-haiku-5"));
}

#[test]
fn what_fills_the_context_is_drawn() {
    let (mut stage, agent) = opening().ready();
    stage.person.types("/context\r");
    let request = agent.hears("for it", is_request("get_context_usage"));
    let categories = json!([
        {"name": "Zq-messages", "tokens": 50_000}, {"name": "Free space", "tokens": 150_000},
    ]);
    grants(&agent, &request, &json!({"categories": categories, "maxTokens": 200_000}));
    let picture = stage.person.looks_for("it", |picture| picture.text().contains("Zq-messages"));
    assert!(picture.text().contains("Context  50k of 200k tokens  25%"), "{}", picture.text());
}

#[test]
fn what_runs_goes_to_the_background_and_the_list_is_shown() {
    let (mut stage, agent) = opening().working();
    agent.uses_tool("t-1", "Bash", &json!({"command": "sleep 99"}));
    stage.person.sees("sleep 99");
    stage.person.types("\x02");
    stage.person.sees("claude did not send anything to the background");
    agent.says(&json!({
        "type": "system", "subtype": "task_started", "task_id": "b-1", "tool_use_id": "t-1",
        "is_backgrounded": false, "description": "Zq-wait",
    }));
    agent.answers("Zq-known");
    stage.person.sees("Zq-known");
    stage.person.types("\x02");
    let request = agent.hears("for it", is_request("background_tasks"));
    grants(&agent, &request, &json!({}));
    stage.person.sees("Sent to the background.");
    let todos = json!({"todos": [
        {"content": "Zq-first", "status": "completed"}, {"content": "Zq-next", "status": "pending"},
    ]});
    agent.uses_tool("t-2", "TodoWrite", &todos);
    agent.tool_answers("t-2", "Todos have been modified");
    let shown = |picture: &crate::picture::Picture| picture.text().contains("  ○ Zq-next");
    stage.person.looks_for("the list", shown);
    stage.person.types("\x14");
    stage.person.looks_for("no list", |picture| !shown(picture));
    stage.person.types("\x14");
    stage.person.looks_for("the list again", shown);
}

#[test]
fn the_prompt_has_the_keys_of_vi_when_asked() {
    let (mut stage, mut agent) = opening().ready();
    stage.person.types("/vim\r");
    stage.person.sees("vi keys are on.");
    stage.person.types("one two");
    stage.person.looks_for("the text", |picture| picture.input() == Some("one two"));
    stage.person.types("\x1b");
    stage
        .person
        .looks_for("the other mode", |picture| picture.rows.iter().any(|row| row == ": one two"));
    stage.person.types("0cwzq-three");
    stage.person.looks_for("the change", |picture| picture.input() == Some("zq-three two"));
    stage.person.types("\r");
    assert_eq!(agent.takes_up(), "zq-three two");
}
