//! The live area, and how its contents become part of the transcript.

use std::time::Duration;

use super::*;
use crate::event::{Notice, Outcome};
use crate::surface::sample;

const LIVE: Look = Look { live: true, ..LOOK };

/// The transcript, and the live area below it.
struct LiveTranscript {
    transcript: Transcript,
    settled: Vec<String>,
    now: Now,
}

impl LiveTranscript {
    fn new() -> Self {
        let mut transcript = Transcript::new(LIVE);
        transcript.set_width(40);
        Self { transcript, settled: Vec::new(), now: Now::ZERO }
    }

    fn agent(&mut self, raw: &str) -> &mut Self {
        let lines = self.transcript.agent(&line(raw));
        self.settled.extend(texts(&lines));
        let lines = self.transcript.settle();
        self.settled.extend(texts(&lines));
        self
    }

    fn delta(&mut self, text: &str) -> &mut Self {
        let text = serde_json::to_string(text).unwrap();
        self.agent(&format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"type":"text_delta","text":{text}}}}}}}"#
        ))
    }

    fn text_block(&mut self) -> &mut Self {
        self.agent(
            r#"{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text","text":""}}}"#,
        )
    }

    fn after(&mut self, seconds: u64) -> &mut Self {
        self.now += Duration::from_secs(seconds);
        self.transcript.set_now(self.now);
        self
    }

    fn live(&self) -> Vec<String> {
        texts(&self.transcript.live(10))
    }
}

#[test]
fn a_text_is_shown_as_it_is_written_and_once() {
    let mut watched = LiveTranscript::new();
    watched.text_block().delta("One.\n\nTw");
    assert_eq!(watched.live().last().map(String::as_str), Some("  Tw"));
    watched.delta("o.").agent(&assistant(r#"{"type":"text","text":"One.\n\nTwo."}"#));
    assert!(watched.live().is_empty(), "{:?}", watched.live());
    let text: Vec<_> = watched.settled.iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(text, ["  One.", "  Two."]);
}

#[test]
fn a_final_text_that_differs_is_shown_as_a_whole() {
    let mut watched = LiveTranscript::new();
    watched.text_block().delta("Fir").agent(&assistant(r#"{"type":"text","text":"Second."}"#));
    assert_eq!(watched.settled, ["  Second."]);
}

#[test]
fn an_answer_that_starts_over_is_shown_again() {
    let mut watched = LiveTranscript::new();
    watched.text_block().delta("Half a sen");
    watched.agent(r#"{"type":"stream_event","event":{"type":"message_start","message":{}}}"#);
    watched.text_block().delta("Half a sentence.");
    watched.agent(&assistant(r#"{"type":"text","text":"Half a sentence."}"#));
    let text: Vec<_> = watched.settled.iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(text, ["  Half a sen", "Cut off; the answer starts over.", "  Half a sentence."]);
    watched.agent(r#"{"type":"stream_event","event":{"type":"message_start","message":{}}}"#);
    assert_eq!(watched.settled.iter().filter(|line| line.starts_with("Cut off")).count(), 1);
}

#[test]
fn an_interrupted_text_stays() {
    let mut watched = LiveTranscript::new();
    watched.text_block().delta("Half a sen");
    watched.agent(
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1}"#,
    );
    assert_eq!(watched.settled, ["  Half a sen"]);
    assert!(watched.live().is_empty());
    let going_on = || {
        let mut watched = LiveTranscript::new();
        watched.agent(&tool("a", "Bash", r#"{"command":"ls"}"#));
        watched.text_block().delta("Half a sen");
        watched
    };
    let kept = ["  Half a sen", "", "● Bash ls"];
    // The person did not wait for the end of the turn, or left.
    let lines = going_on().transcript.notice(&Notice::Interrupted);
    assert_eq!(texts(&lines), [&kept[..], &["", "Interrupted."]].concat());
    let gone = Notice::AgentGone { how: "died".into(), last_words: String::new(), resuming: true };
    let lines = going_on().transcript.notice(&gone);
    assert_eq!(
        texts(&lines)[..5],
        [&kept[..], &["", "claude died – resuming the session"]].concat()
    );
    let lines = going_on().transcript.report(&sample::report(Outcome::Ended));
    assert_eq!(
        texts(&lines)[..5],
        [&kept[..], &["", "Session ended · 1 round · 2m 03s ·"]].concat()
    );
}

#[test]
fn a_thought_is_shown_live_and_then_becomes_one_line() {
    let mut watched = LiveTranscript::new();
    watched.agent(
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"Let me see.\nWell."}}}"#,
    );
    assert_eq!(watched.live(), ["  Let me see.", "  Well."]);
    watched.agent(&assistant(r#"{"type":"thinking","thinking":"Let me see.\nWell."}"#));
    assert!(watched.live().is_empty());
    assert_eq!(watched.settled, ["  Let me see. …"]);
}

#[test]
fn a_running_tool_is_in_the_live_area_with_its_time() {
    let mut watched = LiveTranscript::new();
    watched.agent(&tool("a", "Bash", r#"{"command":"ls"}"#));
    watched.agent(&tool("b", "Read", r#"{"file_path":"f"}"#));
    assert_eq!(watched.live(), ["● Bash ls", "● Read f"]);
    watched.after(72).agent(&outcome("b", "x", false));
    assert_eq!(watched.live(), ["● Bash ls  1:12"]);
    watched.after(1).agent(&outcome("a", "y", false));
    assert!(watched.live().is_empty());
    assert_eq!(watched.settled, ["● Read f  1:12", "  └ x", "● Bash ls  1:13", "  └ y"]);
}

#[test]
fn the_outcome_of_a_long_command_is_on_its_line() {
    let mut watched = LiveTranscript::new();
    let long = format!(r#"{{"command":"{}"}}"#, "word ".repeat(40));
    watched.agent(&tool("a", "Bash", &long));
    watched.after(72);
    let live = watched.live();
    assert!(live.len() == 1 && live[0].ends_with("…  1:12"), "{live:?}");
    watched.agent(&outcome("a", "Exit code 3\nno", true));
    assert!(watched.settled[0].ends_with("…  exit 3 1:12"), "{:?}", watched.settled);
    assert_eq!(watched.settled[1], "  └ no");
}

#[test]
fn a_denied_tool_is_shown_as_not_run() {
    let mut watched = LiveTranscript::new();
    watched.agent(&tool("a", "Bash", r#"{"command":"ls"}"#));
    let mut asked = question();
    asked.asked.input = r#"{"command":"ls"}"#.into();
    watched.transcript.question(&asked);
    let (asker, tool) = (asked.asker, "Bash".to_owned());
    let no = Notice::PermissionAnswered { asker, tool, allowed: false, reason: "use make".into() };
    assert_eq!(texts(&watched.transcript.notice(&no)), ["  → denied Bash: use make"]);
    watched.agent(&outcome("a", "use make", true));
    assert_eq!(watched.settled, ["", "● Bash ls", "  └ not run: denied"]);
}

#[test]
fn a_question_that_is_withdrawn_tells_of_no_tool_that_ran() {
    let stopped = "The user doesn't want to proceed with this tool use. The tool use was rejected";
    let asked = || {
        let mut watched = LiveTranscript::new();
        watched.agent(&tool("a", "Bash", r#"{"command":"ls"}"#));
        let mut question = question();
        question.asked.input = r#"{"command":"ls"}"#.into();
        let _ = watched.transcript.question(&question);
        watched.transcript.withdrawn();
        watched
    };
    let mut told = asked();
    told.agent(&outcome("a", stopped, true));
    assert_eq!(told.settled, ["", "● Bash ls", "  └ not run: denied"]);
    assert!(asked().transcript.end_activity().is_empty());
    let mut unasked = LiveTranscript::new();
    unasked.agent(&tool("a", "Bash", r#"{"command":"ls"}"#)).agent(&outcome("a", stopped, true));
    assert_eq!(unasked.settled, ["● Bash ls", "  └ interrupted"]);
}

fn question() -> crate::event::Question {
    crate::event::Question {
        before: None,
        asker: crate::event::Asker::Agent,
        request_id: "r".into(),
        asked: crate::client::stream::PermissionRequest {
            tool: "Bash".into(),
            ..Default::default()
        },
    }
}

#[test]
fn a_failure_is_on_the_tools_line_without_the_persons_time() {
    let mut watched = LiveTranscript::new();
    watched.agent(&tool("a", "Bash", r#"{"command":"make"}"#));
    let question = question();
    watched.after(1);
    let _ = watched.transcript.question(&question);
    watched.after(60);
    let _ = watched.transcript.notice(&Notice::PermissionAnswered {
        asker: crate::event::Asker::Agent,
        tool: "Bash".into(),
        allowed: true,
        reason: String::new(),
    });
    watched.settled.clear();
    watched.after(4).agent(&outcome("a", "Exit code 2\nno rule", true));
    assert_eq!(
        watched.settled[watched.settled.len() - 2..],
        ["● Bash make  exit 2 0:05", "  └ no rule"]
    );
}

fn of(parent: &str, raw: &str) -> String {
    raw.replacen('{', &format!(r#"{{"parent_tool_use_id":"{parent}","#), 1)
}

fn task(subtype: &str, id: &str, more: &str) -> String {
    format!(
        r#"{{"type":"system","subtype":"{subtype}","task_id":"x","tool_use_id":"{id}",{more}}}"#
    )
}

#[test]
fn sub_agents_are_a_tree_until_they_report() {
    let mut watched = LiveTranscript::new();
    watched.agent(&tool("p", "Task", r#"{"description":"look around","prompt":"P"}"#));
    watched.agent(&tool("q", "Agent", r#"{"description":"write tests","prompt":"P"}"#));
    assert_eq!(watched.live(), ["● 2 agents", "  ├ look around", "  └ write tests"]);
    // Their actions are counted, not shown; newer clients report a count.
    watched.agent(&of("p", &tool("i", "Bash", r#"{"command":"ls"}"#)));
    watched.agent(&of("p", &outcome("i", "a\nb", false)));
    watched.agent(&task(
        "task_progress",
        "q",
        r#""description":"Running make","usage":{"tool_uses":3}"#,
    ));
    watched.after(5);
    assert_eq!(
        watched.live(),
        [
            "● 2 agents",
            "  ├ look around  1 tool · 0:05",
            "  └ write tests  3 tools · 0:05 · Runni…"
        ]
    );
    assert!(watched.settled.is_empty(), "{:?}", watched.settled);
    watched.agent(&outcome(
        "p",
        "All is well.\nagentId: x (for SendMessage)\n<usage>1</usage>",
        false,
    ));
    assert_eq!(watched.settled, ["● Task look around  1 tool 0:05", "  └ All is well."]);
    assert_eq!(watched.live()[0], "● 1 agent");
}

#[test]
fn an_agent_in_the_background_reports_when_it_has_ended() {
    let mut watched = LiveTranscript::new();
    watched.agent(&tool("p", "Task", r#"{"description":"look","prompt":"P"}"#));
    let metadata =
        "Async agent launched successfully. (This tool result is internal metadata)\nagentId: x";
    watched.agent(&outcome("p", metadata, false));
    watched.agent(r#"{"type":"result","num_turns":1,"result":"ok"}"#);
    assert!(watched.settled.is_empty(), "{:?}", watched.settled);
    assert_eq!(watched.live(), ["● 1 agent", "  └ look  in the background"]);
    watched.agent(&of("p", &assistant(r#"{"type":"text","text":"Report: fine.\nMore."}"#)));
    let ended = r#""status":"completed","summary":"Report: fine.\nMore.""#;
    watched.agent(&task("task_notification", "p", ended));
    assert_eq!(watched.settled, ["● Agent look", "  └ Report: fine. …"]);
    assert!(watched.live().is_empty());
}

#[test]
fn the_todo_list_is_drawn_once_and_stays_after_the_turn() {
    let mut watched = LiveTranscript::new();
    watched.transcript.shows_todos = true;
    let todos = |first: &str| {
        format!(
            r#"{{"todos":[{{"content":"A","status":"{first}"}},{{"content":"B","status":"pending"}}]}}"#
        )
    };
    for (id, state) in [("1", "in_progress"), ("2", "completed")] {
        watched.agent(&tool(id, "TodoWrite", &todos(state)));
        watched.agent(&outcome(id, "Todos have been modified", false));
    }
    assert!(watched.settled.is_empty(), "{:?}", watched.settled);
    assert_eq!(watched.live(), ["Todo: 1 of 2 done", "  ✔ A", "  ○ B"]);
    watched.agent(r#"{"type":"result","num_turns":1,"result":"ok"}"#);
    assert_eq!(watched.settled, ["Todo: 1 of 2 done", "  ✔ A", "  ○ B"]);
    watched.agent(r#"{"type":"result","num_turns":1,"result":"ok"}"#);
    assert_eq!(watched.settled.len(), 3, "once");
}

#[test]
fn a_tool_does_not_outlast_its_turn() {
    let mut watched = LiveTranscript::new();
    watched.agent(&tool("a", "Bash", r#"{"command":"ls"}"#));
    watched.agent(r#"{"type":"result","is_error":true,"num_turns":1}"#);
    assert!(watched.live().is_empty());
    assert_eq!(watched.settled, ["● Bash ls"]);
}

#[test]
fn a_retry_counts_down_until_the_answer_comes() {
    let mut watched = LiveTranscript::new();
    watched.agent(
        r#"{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"retry_delay_ms":9000,"error":"rate_limit"}"#,
    );
    assert_eq!(watched.live(), ["rate limited, retry 3/10 in 9 s"]);
    assert_eq!(watched.after(7).live(), ["rate limited, retry 3/10 in 2 s"]);
    assert_eq!(watched.after(7).live(), ["rate limited, retry 3/10 now"]);
    watched.agent(&assistant(r#"{"type":"text","text":"Hi."}"#));
    assert!(watched.live().is_empty());
    for (error, expected) in [
        ("unknown", "the model did not answer, retry 1/9 now"),
        ("authentication_failed", "authentication failed, retry 1/9 now: c…"),
        ("server_error", "server error, retry 1/9 now"),
    ] {
        watched.agent(&format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":1,"max_retries":9,"retry_delay_ms":0,"error":"{error}"}}"#
        ));
        assert_eq!(watched.live(), ["", expected]);
    }
}

/// Otherwise it would be above words that were written before it.
#[test]
fn a_message_goes_below_the_paragraph_that_is_being_written() {
    let mut watched = LiveTranscript::new();
    watched.text_block().delta("One. ");
    let said = |text: &str| Notice::UserMessage { text: text.into() };
    assert!(watched.transcript.notice(&said("steer")).is_empty());
    assert!(watched.transcript.notice(&said("never mind")).is_empty());
    let back = Notice::TakenBack { text: "never mind".into(), too_late: false };
    assert!(watched.transcript.notice(&back).is_empty(), "not in the middle of the text");
    watched.delta("Two.").agent(&assistant(r#"{"type":"text","text":"One. Two."}"#));
    assert_eq!(watched.settled, ["  One. Two.", "Taken back: never mind", "", "❯ steer"]);
    let back = Notice::TakenBack { text: "steer\nit".into(), too_late: false };
    assert_eq!(texts(&watched.transcript.notice(&back)), ["Taken back: steer …"]);
}

/// Until the agent reads it, it is only among the queued messages.
#[test]
fn a_message_is_shown_when_the_agent_takes_it_up() {
    let mut watched = LiveTranscript::new();
    let queued = ["steer".to_owned(), "steer".to_owned()];
    assert!(watched.transcript.set_queued(true, &[]).is_empty());
    for text in &queued {
        assert!(watched.transcript.notice(&Notice::UserMessage { text: text.clone() }).is_empty());
    }
    assert!(watched.transcript.set_queued(true, &queued).is_empty());
    watched.agent(&tool("t", "Bash", r#"{"command":"make"}"#)).agent(&outcome("t", "made", false));
    let taken =
        r#"{"type":"user","isReplay":true,"uuid":"u","message":{"role":"user","content":"steer"}}"#;
    watched.agent(taken);
    watched.agent(&assistant(r#"{"type":"text","text":"Yes."}"#));
    assert_eq!(watched.settled, ["● Bash make", "  └ made", "", "❯ steer", "", "  Yes."]);
    // A message that starts its own turn, or whose receipt is missing.
    assert_eq!(texts(&watched.transcript.set_queued(true, &[])), ["", "❯ steer"]);
}

#[test]
fn the_marker_that_ends_a_review_is_not_shown() {
    let mut watched = LiveTranscript::new();
    let words = r#"{"type":"text","text":"All is well.\n\n[TASK_COMPLETED]"}"#;
    let lines = watched.transcript.supervisor(&sample::line(&assistant(words)));
    assert_eq!(texts(&lines), ["┃   All is well."]);
}

#[test]
fn a_cancelled_review_shows_nothing_more() {
    let mut watched = LiveTranscript::new();
    watched.transcript.notice(&Notice::ReviewStarted { round: 1, max: 3, attempt: 1, judge: None });
    let line = sample::line(&tool("s", "Bash", r#"{"command":"make test"}"#));
    watched.transcript.supervisor(&line);
    assert_eq!(watched.live(), ["┃ ● Bash make test"]);
    watched
        .transcript
        .notice(&Notice::ReviewDropped { round: 1, why: crate::event::Dropped::Interrupt });
    assert!(watched.live().is_empty());
    assert!(watched.transcript.supervisor(&sample::line(&outcome("s", "x", false))).is_empty());
    let end = texts(&watched.transcript.report(&sample::report(Outcome::Ended))).concat();
    assert!(!end.contains("make test"), "{end}");
    watched.transcript.notice(&Notice::ReviewStarted { round: 1, max: 3, attempt: 1, judge: None });
    watched.transcript.supervisor(&line);
    assert_eq!(watched.live(), ["┃ ● Bash make test"]);
}

#[test]
fn a_compaction_is_a_line_with_its_sizes() {
    let mut watched = LiveTranscript::new();
    watched.agent(r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":155000,"post_tokens":12345}}"#);
    assert_eq!(watched.settled, ["Conversation compacted automatically: 155k → 13k tokens"]);
    let judges = sample::line(
        r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":155000,"post_tokens":12345}}"#,
    );
    watched.transcript.notice(&Notice::ReviewStarted { round: 1, max: 3, attempt: 1, judge: None });
    assert_eq!(
        texts(&watched.transcript.supervisor(&judges)),
        [
            "┃   The review's copy of the conversation was compacted automatically: 155k → 13k tokens"
        ]
    );
}

#[test]
fn messages_kept_by_a_compaction_are_not_shown_again() {
    let says = |uuid: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","message":{{"content":[{{"type":"text","text":"It is {uuid}."}}]}}}}"#
        )
    };
    let mut watched = LiveTranscript::new();
    watched.agent(&says("old"));
    watched.agent(r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","preserved_messages":{"uuids":["old"]}}}"#);
    watched.agent(&says("old"));
    watched.agent(&says("new"));
    assert_eq!(watched.settled, ["  It is old.", "", "Conversation compacted", "", "  It is new."]);
}
