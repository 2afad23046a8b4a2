//! The client that ccc starts: says what the test says, when the test says it, and keeps every byte
//! that it is told.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::patience::{PATIENCE, wait_within};
use crate::room::Room;

/// Its output comes from a FIFO, and whoever ends what reads that ends the client; so does the end of
/// its input. The FIFO is open on this side from the start, so that nothing said is lost. `pid` is
/// there when all else is. What reads the input must not hold the terminal that it writes to.
pub const SCRIPT: &str = r#"#!/bin/sh
role=agent
for arg; do [ "$arg" = --fork-session ] && role=supervisor; done
n=0
until mkdir "$ROOM/$role-$n" 2>/dev/null; do n=$((n + 1)); done
me=$ROOM/$role-$n
printf '%s\n' "$@" >"$me/args"
mkfifo "$me/says"
exec 3<&0 4<>"$me/says"
cat <&4 3<&- &
voice=$!
{ cat <&3 >"$me/heard"; kill $voice; } >/dev/null 2>&1 &
exec 3<&-
echo $voice >"$me/voice"
echo $$ >"$me/pid.new"
mv "$me/pid.new" "$me/pid"
wait $voice
exit "$(cat "$me/exit" 2>/dev/null || echo 0)"
"#;

/// One process of it, from the test's side.
pub struct Client {
    dir: PathBuf,
    voice: Sender<String>,
    pub session: String,
    /// So many of the messages it was sent have been taken up.
    taken: usize,
}

impl Client {
    /// Waits until the one of this name runs: `agent-0`, `supervisor-1`.
    #[track_caller]
    pub fn started(room: &Room, name: &str) -> Self {
        let dir = room.path("seen").join(name);
        let running = wait_within(PATIENCE, || dir.join("pid").exists().then_some(()));
        assert!(running.is_some(), "{name} was not started");
        let mut fifo = OpenOptions::new()
            .read(true)
            .write(true)
            .open(dir.join("says"))
            .expect("the client's voice");
        let (voice, lines) = channel::<String>();
        // A thread of its own, so that a ccc that does not read cannot hold the test.
        thread::spawn(move || {
            for line in lines {
                fifo.write_all(line.as_bytes()).expect("the client reads");
            }
        });
        let args = fs::read_to_string(dir.join("args")).expect("its arguments");
        let session = args
            .lines()
            .skip_while(|arg| !matches!(*arg, "--session-id" | "--resume"))
            .nth(1)
            .expect("a session id")
            .to_owned();
        Self { dir, voice, session, taken: 0 }
    }

    pub fn pid(&self) -> i32 {
        self.number("pid")
    }

    pub fn says(&self, line: &Value) {
        self.says_raw(&format!("{line}\n"));
    }

    pub fn says_raw(&self, text: &str) {
        self.voice.send(text.to_owned()).expect("a voice");
    }

    fn number(&self, name: &str) -> i32 {
        let number = fs::read_to_string(self.dir.join(name)).expect("a file");
        number.trim().parse().expect("a number")
    }

    /// Ends by itself. What it said last must have been seen.
    pub fn quits(&self, code: i32) {
        fs::write(self.dir.join("exit"), code.to_string()).expect("a file");
        kill(Pid::from_raw(self.number("voice")), Signal::SIGTERM).expect("a process of ours");
    }

    /// Every byte that it was told.
    pub fn heard(&self) -> Vec<u8> {
        fs::read(self.dir.join("heard")).unwrap_or_default()
    }

    fn lines(&self) -> Vec<Value> {
        let heard = self.heard();
        let whole = heard.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = heard[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("a line of JSON")).collect()
    }

    /// Waits until it has been told something like that.
    #[track_caller]
    pub fn hears(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = wait_within(PATIENCE, || self.lines().into_iter().find(|line| wanted(line)));
        found.unwrap_or_else(|| panic!("never told {what}, but {:#?}", self.lines()))
    }

    pub fn was_told(&self, wanted: impl Fn(&Value) -> bool) -> bool {
        self.lines().iter().any(wanted)
    }

    /// Waits for the next message, begins a turn with it, and returns its text.
    #[track_caller]
    pub fn takes_up(&mut self) -> String {
        let messages = || {
            let lines = self.lines().into_iter().filter(|line| line["type"] == "user");
            lines.collect::<Vec<_>>()
        };
        let message = wait_within(PATIENCE, || messages().into_iter().nth(self.taken));
        let message = message.expect("another message");
        self.taken += 1;
        let session = &self.session;
        self.says(
            &json!({"type": "system", "subtype": "init", "model": "fake", "session_id": session}),
        );
        self.says(&json!({
            "type": "user", "isReplay": true, "uuid": message["uuid"], "session_id": session,
        }));
        let content = &message["message"]["content"];
        content.as_str().or_else(|| content[0]["text"].as_str()).expect("a text").to_owned()
    }

    /// A text begins to come.
    pub fn begins_text(&self) {
        self.event(&json!({"type": "message_start", "message": {}}));
        self.event(&json!({
            "type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""},
        }));
    }

    pub fn writes(&self, text: &str) {
        self.event(&json!({
            "type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text},
        }));
    }

    fn event(&self, event: &Value) {
        self.says(&json!({"type": "stream_event", "event": event, "session_id": self.session}));
    }

    /// A whole message.
    pub fn answers(&self, text: &str) {
        self.assistant(&json!({"type": "text", "text": text}));
    }

    pub fn uses_tool(&self, id: &str, name: &str, input: &Value) {
        self.assistant(&json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }

    fn assistant(&self, block: &Value) {
        self.says(&json!({
            "type": "assistant", "session_id": self.session, "message": {"content": [block]},
        }));
    }

    pub fn tool_answers(&self, id: &str, output: &str) {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        self.says(&json!({
            "type": "user", "session_id": self.session, "message": {"content": [block]},
        }));
    }

    pub fn asks(&self, request_id: &str, tool: &str, input: &Value) {
        let suggestions = json!([{
            "type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [{"toolName": tool}],
        }]);
        self.says(&json!({
            "type": "control_request", "request_id": request_id,
            "request": {
                "subtype": "can_use_tool", "tool_name": tool, "input": input,
                "permission_suggestions": suggestions,
            },
        }));
    }

    /// Waits for the answer to a question.
    #[track_caller]
    pub fn is_answered(&self, request_id: &str) -> Value {
        let answers = |line: &Value| {
            line["type"] == "control_response" && line["response"]["request_id"] == request_id
        };
        self.hears(&format!("the answer to {request_id}"), answers)["response"]["response"].clone()
    }

    pub fn ends_turn(&self) {
        self.says(&json!({
            "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
            "result": "", "total_cost_usd": 0.25, "session_id": self.session,
        }));
    }

    pub fn fails_turn(&self, error: &str) {
        self.says(&json!({
            "type": "result", "subtype": "success", "is_error": true, "num_turns": 1,
            "result": error, "total_cost_usd": 0.25, "session_id": self.session,
        }));
    }

    pub fn is_asked_to_stop(&self) -> bool {
        self.was_told(is_interrupt)
    }

    /// Waits for an interrupt, and obeys.
    #[track_caller]
    pub fn is_interrupted(&self) {
        let request = self.hears("to stop", is_interrupt);
        self.says(&json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": request["request_id"]},
        }));
        self.says(&json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true,
            "num_turns": 1, "total_cost_usd": 0.25, "session_id": self.session,
        }));
    }

    /// A supervisor's last word.
    pub fn judges(&self, completed: bool, feedback: &str) {
        let verdict = json!({"completed": completed, "feedback": feedback});
        self.says(&json!({
            "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
            "result": verdict.to_string(), "structured_output": verdict, "total_cost_usd": 0.125,
        }));
    }
}

fn is_interrupt(line: &Value) -> bool {
    line["type"] == "control_request" && line["request"]["subtype"] == "interrupt"
}
