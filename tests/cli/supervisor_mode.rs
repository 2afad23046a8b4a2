//! `ccc supervisor-mode`: the switch behind the slash commands.

use crate::room::{Ccc, Room, STATE_DIR, state_file};

fn mode(room: &Room, words: &[&str]) -> Ccc {
    room.ccc(&["supervisor-mode"]).args(words).env("CLAUDE_CODE_SESSION_ID", "abc123")
}

/// Scenarios 003 «状态文件结构», 004 «State 文件结构（更新）»
#[test]
fn scenario_004_switching_on_writes_the_whole_state() {
    let room = Room::new();
    let done = mode(&room, &["on"]).run().code(0);
    assert_eq!((done.out(), done.err()), (String::new(), String::new()));
    let state = room.state("abc123");
    assert_eq!((&state["session_id"], &state["enabled"]), (&"abc123".into(), &true.into()));
    assert_eq!(state["count"], 0);
    for stamp in ["created_at", "updated_at"] {
        let text = state[stamp].as_str().expect("a time");
        assert!(text.len() >= 20 && text.contains('T') && text.ends_with('Z'), "{text}");
    }
    assert_eq!(room.read(&format!("{STATE_DIR}/.gitignore")), "*\n");
}

/// Scenario 004 «用户使用 /supervisor 命令»: its words after `on` are for the agent.
#[test]
fn scenario_004_words_after_on_are_ignored() {
    let room = Room::supervised();
    for words in
        [&["on", "好，开始执行"][..], &["on", "off"], &["on", "--help", "-x", "$(false)", ""]]
    {
        mode(&room, &["off"]).run().code(0);
        let done = mode(&room, words).run().code(0);
        assert_eq!((done.out(), done.err()), (String::new(), String::new()), "{words:?}");
        assert_eq!(room.state("abc123")["enabled"], true, "{words:?}");
    }
    room.hook("abc123").run().allows("confirmed");
}

/// Scenario 004 «用户使用 /supervisoroff 命令»
#[test]
fn scenario_004_off_ends_the_reviews() {
    let room = Room::supervised();
    room.enable("abc123", 3);
    let done = mode(&room, &["off", "thank you"]).run().code(0);
    assert_eq!((done.out(), done.err()), (String::new(), String::new()));
    let state = room.state("abc123");
    assert_eq!((&state["enabled"], &state["count"]), (&false.into(), &3.into()));
    room.hook("abc123").run().allows("supervision is off");
    assert_eq!(room.reviews(), 0);
}

#[test]
fn on_begins_to_count_anew() {
    let room = Room::supervised();
    room.enable("abc123", 10);
    room.hook("abc123").run().allows("limit of 10");
    mode(&room, &["on"]).run().code(0);
    let state = room.state("abc123");
    assert_eq!(
        (&state["count"], &state["created_at"]),
        (&0.into(), &"2024-01-15T10:30:00Z".into())
    );
    room.hook("abc123").run().allows("confirmed complete in round 1");
}

#[test]
fn without_a_word_it_prints_which() {
    let room = Room::new();
    assert_eq!(mode(&room, &[]).run().code(0).out(), "off\n");
    assert!(!room.path("project/.claude").exists(), "asking leaves nothing behind");
    mode(&room, &["on"]).run().code(0);
    assert_eq!(mode(&room, &[]).run().code(0).out(), "on\n");
    mode(&room, &["off"]).run().code(0);
    assert_eq!(mode(&room, &[]).run().code(0).out(), "off\n");
}

#[test]
fn a_session_may_be_named() {
    let room = Room::new();
    mode(&room, &["--session", "other", "on"]).run().code(0);
    assert_eq!(room.state("other")["enabled"], true);
    assert!(!room.path(&state_file("abc123")).exists());
    assert_eq!(mode(&room, &["--session=other"]).run().code(0).out(), "on\n");
    assert_eq!(mode(&room, &[]).run().code(0).out(), "off\n");
}

#[test]
fn sessions_do_not_share_a_switch() {
    let room = Room::supervised();
    mode(&room, &["on"]).run().code(0);
    room.hook("other").run().allows("not supervised");
    room.hook("abc123").run().allows("confirmed");
}

#[test]
fn without_a_session_it_is_a_usage_error() {
    let room = Room::new();
    for words in [&["on"][..], &["off"], &[]] {
        let done = room.ccc(&["supervisor-mode"]).args(words).run().code(2);
        assert!(done.err().contains("--session"), "{}", done.err());
        assert_eq!(done.out(), "");
    }
    assert!(!room.path("project/.claude").exists());
}

#[test]
fn another_word_is_a_usage_error() {
    let room = Room::new();
    let done = mode(&room, &["perhaps"]).run().code(2);
    assert!(done.err().contains("on or off"), "{}", done.err());
    assert!(!room.path("project/.claude").exists());
}

#[test]
fn a_hostile_session_touches_nothing() {
    let room = Room::new();
    let long = "x".repeat(200);
    for id in ["", "../x", "a/b", "/etc/x", "-rf", "a b", "é", long.as_str()] {
        for words in [&["on"][..], &["off"], &[]] {
            let done = mode(&room, words).env("CLAUDE_CODE_SESSION_ID", id).run().code(2);
            assert!(done.err().contains("is not a session id"), "{id}: {}", done.err());
            assert_eq!(done.out(), "");
        }
    }
    assert!(!room.path("project/.claude").exists() && !room.path("project/x.json").exists());
}

#[test]
fn a_broken_state_file_is_reported_and_kept() {
    let room = Room::new();
    room.write(&state_file("abc123"), "{half");
    for words in [&["on"][..], &["off"], &[]] {
        let done = mode(&room, words).run().code(1);
        assert!(done.err().contains("left as it is"), "{}", done.err());
    }
    assert_eq!(room.read(&state_file("abc123")), "{half");
}
