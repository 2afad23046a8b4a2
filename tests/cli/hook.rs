//! `ccc supervisor-hook` from the outside: what goes in, what comes out, what is left on disk.

mod at_once;
mod checks;
mod failures;
mod halted;
mod input;
mod judges;
#[cfg(target_os = "linux")]
mod leftovers;
mod output_file;
mod review;
mod state_dir;

use crate::room::{Room, STATE_DIR, state_file, verdict};

/// Scenarios 000 «Supervisor 反馈继续工作», 000 and 002 «Supervisor 返回未完成», 003 «supervisor-hook 子命令»
#[test]
fn scenario_000_feedback_makes_the_client_go_on() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.supervisor_prints(&verdict(false, "需要添加错误处理"));
    let done = room.hook("abc123").run().code(0);
    assert_eq!(done.out(), "{\"decision\":\"block\",\"reason\":\"需要添加错误处理\"}\n");
    assert_eq!(room.state("abc123")["count"], 1);
    room.hook("abc123").run().blocks("需要添加错误处理");
    assert_eq!(room.state("abc123")["count"], 2);
}

#[test]
fn feedback_is_one_line_whatever_is_in_it() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    let feedback = "one\ntwo\r\n\"three\" \\ \u{1b}[31m {\"completed\":true} \u{2028} \t é 好";
    room.supervisor_prints(&verdict(false, feedback));
    let done = room.hook("abc123").run().blocks(feedback);
    assert_eq!(done.out().matches('\n').count(), 1);
}

/// Scenarios 000 «Supervisor 确认完成», 000 and 002 «Supervisor 返回完成»
#[test]
fn scenario_000_confirmed_work_may_stop() {
    let room = Room::supervised();
    for line in [
        verdict(true, ""),
        verdict(true, "任务已成功完成"),
        "{\"type\":\"result\",\"num_turns\":1,\"result\":\"{\\\"completed\\\":true}\"}\n".into(),
    ] {
        room.enable("abc123", 0);
        room.supervisor_prints(&line);
        room.hook("abc123").run().allows("confirmed complete in round 1");
    }
    assert_eq!(room.reviews(), 3);
}

/// Scenarios 000 «达到迭代限制», 002 «迭代次数限制», «迭代次数达到限制», 003 «迭代次数限制»
#[test]
fn scenario_000_at_the_limit_the_client_may_stop() {
    let room = Room::supervised();
    for count in [10, 11, u32::MAX] {
        room.enable("abc123", count);
        room.hook("abc123").run().allows("the limit of 10 reviews is reached");
        assert_eq!(room.state("abc123")["count"], count);
    }
    assert_eq!(room.reviews(), 0);
}

#[test]
fn the_limit_is_configured_in_the_file_and_overruled_by_the_launch() {
    let room = Room::supervised();
    room.supervisor_prints(&verdict(false, "more"));
    room.config(&serde_json::json!({"supervisor": {"max_iterations": 2}}));
    room.enable("abc123", 1);
    room.hook("abc123").run().blocks("more");
    room.hook("abc123").run().allows("the limit of 2 reviews is reached");
    room.hook("abc123").env("CCC_MAX_ITERATIONS", "3").run().blocks("more");
    let refused = room.hook("abc123").env("CCC_MAX_ITERATIONS", "3").run();
    refused.allows("the limit of 3 reviews is reached");
}

/// Scenarios 000 «状态文件持久化», 002 «更新迭代次数»
#[test]
fn scenario_002_every_stop_is_counted_and_dated() {
    let room = Room::supervised();
    room.enable("abc123", 3);
    room.supervisor_prints(&verdict(false, "more"));
    let mut last = room.state("abc123")["updated_at"].as_str().expect("a time").to_owned();
    for count in 4..7 {
        room.write("project/work", count.to_string());
        room.hook("abc123").run().blocks("more");
        let state = room.state("abc123");
        assert_eq!(state["count"], count);
        assert_eq!(state["created_at"], "2024-01-15T10:30:00Z");
        let updated = state["updated_at"].as_str().expect("a time").to_owned();
        assert!(updated > last && updated.ends_with('Z'), "{last}, {updated}");
        last = updated;
    }
}

/// Scenario 004 «State 文件 Enabled 为 true 时执行 Supervisor»
#[test]
fn scenario_004_enabled_means_reviewed() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.supervisor_prints(&verdict(false, "more"));
    room.hook("abc123").run().blocks("more");
    room.supervisor_prints(&verdict(true, ""));
    room.hook("abc123").run().allows("confirmed");
    assert_eq!(room.reviews(), 2);
}

/// Scenarios 004 «State 文件 Enabled 为 false 时跳过 Supervisor» and «State 文件 Enabled 为 false 时跳过».
/// The design overrules its `{"decision":"","":""}`, which the client rejects: nothing is printed.
#[test]
fn scenario_004_off_means_not_reviewed() {
    let room = Room::supervised();
    let off = r#"{"session_id":"abc123","enabled":false,"count":3}"#;
    room.write(&state_file("abc123"), off);
    room.hook("abc123").run().allows("supervision is off");
    assert_eq!(room.reviews(), 0);
    assert_eq!(room.read(&state_file("abc123")), off);
}

/// Scenario 004 «State 文件不存在时默认跳过»; again with nothing on standard output.
#[test]
fn scenario_004_no_state_means_not_reviewed() {
    let room = Room::supervised();
    room.hook("abc123").run().allows("not supervised");
    assert_eq!(room.reviews(), 0);
    assert!(!room.path("project/.claude").exists(), "a plain session leaves nothing behind");
}

/// Scenario 004 «加载旧 State 文件兼容性»
#[test]
fn scenario_004_an_old_state_file_is_off() {
    let room = Room::supervised();
    let old = r#"{"session_id":"abc123","count":3,"created_at":"2024-01-15T10:30:00Z"}"#;
    room.write(&state_file("abc123"), old);
    room.hook("abc123").run().allows("supervision is off");
    assert_eq!(room.read(&state_file("abc123")), old);
}

/// Scenarios 003 «防止 Hook 死循环», «环境变量检查»; 004 removes the variable as a switch, the design
/// keeps it as a guard.
#[test]
fn scenario_003_the_supervisor_itself_is_not_supervised() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    for (guard, reason) in [
        ("CCC_SUPERVISOR_HOOK", "this is the supervisor itself"),
        ("CCC_SUPERVISOR_PTY", "the surrounding session supervises"),
    ] {
        room.hook("abc123").env(guard, "1").run().allows(reason);
    }
    assert_eq!((room.reviews(), &room.state("abc123")["count"]), (0, &0.into()));
    // A variable that is there but says nothing is no guard.
    room.hook("abc123").env("CCC_SUPERVISOR_HOOK", "").run().allows("confirmed");
    assert_eq!(room.reviews(), 1);
}

/// Scenario 003 «整体架构»: `CCC_SUPERVISOR=1` switched everything on. 004 and the design overrule it:
/// only the state file does.
#[test]
fn scenario_003_the_environment_switches_nothing_on() {
    let room = Room::supervised();
    room.hook("abc123").env("CCC_SUPERVISOR", "1").run().allows("not supervised");
    assert_eq!(room.reviews(), 0);
}

/// A first stop has `stop_hook_active` false, a later one true: neither is a condition.
#[test]
fn both_first_and_later_stops_are_reviewed() {
    let room = Room::supervised();
    room.enable("abc123", 0);
    for active in [false, true] {
        let mut event = room.event("abc123");
        event["stop_hook_active"] = active.into();
        room.hook("abc123").input(event.to_string()).run().allows("confirmed");
    }
    assert_eq!(room.reviews(), 2);
}

#[test]
fn running_background_tasks_put_the_review_off() {
    let room = Room::supervised();
    room.enable("abc123", 4);
    let mut event = room.event("abc123");
    event["background_tasks"] = serde_json::json!([{"id": "b1", "status": "running"}]);
    room.hook("abc123").input(event.to_string()).run().allows("background tasks");
    assert_eq!((room.reviews(), &room.state("abc123")["count"]), (0, &4.into()));
    event["background_tasks"] = serde_json::json!([{"id": "b1", "status": "completed"}]);
    room.hook("abc123").input(event.to_string()).run().allows("confirmed");
}

#[test]
fn what_the_hook_writes_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::supervised();
    room.ccc(&["supervisor-mode", "--session", "abc123", "on"]).run().code(0);
    room.hook("abc123").run().allows("confirmed");
    let mode = |name: &str| room.path(name).metadata().expect(name).permissions().mode() & 0o777;
    assert_eq!(mode(STATE_DIR), 0o700);
    for file in ["supervisor-abc123.json", "supervisor-abc123-output.jsonl", ".gitignore"] {
        assert_eq!(mode(&format!("{STATE_DIR}/{file}")), 0o600, "{file}");
    }
}
