//! A place to run ccc in: its own home, project and client, and nothing of the outside.

// Each test binary uses its own part of this.
#![allow(dead_code)]

// An explicit path, so that it makes no difference that this file itself comes in by `#[path]`.
#[path = "room/started.rs"]
mod started;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

pub use started::*;

/// A client in a few lines of shell: takes every message up, answers "done", confirms every review
/// or prints what the test wants (`supervisor_prints`), and keeps its arguments, environment and
/// directory for the test to look at.
pub const CLIENT: &str = r#"#!/bin/sh
[ "$*" = --version ] && exit
role=agent
for arg; do [ "$arg" = --no-session-persistence ] && role=supervisor; done
n=$(ls "$ROOM" | grep -c "$role.*args")
for arg; do printf '%s\n' "$arg"; done >"$ROOM/$role-$n.args"
env >"$ROOM/$role-$n.env"
pwd >"$ROOM/$role-$n.dir"
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$\|^--resume$/{n;p;q}')
while read -r line; do
  case $line in *'"subtype":"initialize"'*)
    printf '%s\n' "$line" >>"$ROOM/$role-$n.initialize"
    echo '{"type":"control_response","response":{"subtype":"success","request_id":"ccc-initialize","response":{"commands":[{"name":"compact","description":"Make it short"}]}}}'
    continue
    ;;
  esac
  printf '%s\n' "$line" >>"$ROOM/$role-$n.input"
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  if [ $role = supervisor ]; then
    cat "$ROOM/../supervisor.prints.$n" 2>/dev/null ||
      cat "$ROOM/../supervisor.prints" 2>/dev/null ||
      echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":"fine"}}'
  else
    echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"slash_commands\":[\"compact\"],\"session_id\":\"$id\"}"
    echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"$id\"}"
    echo "{\"type\":\"assistant\",\"session_id\":\"$id\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"all done here\"}]}}"
    echo "{\"type\":\"result\",\"num_turns\":1,\"result\":\"all done here\",\"total_cost_usd\":0.25,\"session_id\":\"$id\"}"
  fi
done
"#;

pub const STATE_DIR: &str = "project/.claude/ccc";

/// What the session was about, unless a test says otherwise.
const TASK: &str = r#"{"type":"user","message":{"content":"do it"}}"#;
pub const ANSWER: &str =
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"all done here"}]}}"#;

pub struct Room {
    dir: tempfile::TempDir,
}

impl Room {
    pub fn new() -> Self {
        let room = Self { dir: tempfile::tempdir().expect("a directory") };
        for dir in ["home/.claude", "project", "seen"] {
            fs::create_dir_all(room.dir.path().join(dir)).expect("a directory");
        }
        room.client(CLIENT);
        room
    }

    /// With a SUPERVISOR.md, and a supervisor that is taken at its word.
    pub fn supervised() -> Self {
        let room = Self::new();
        room.write("project/SUPERVISOR.md", trusting("BE STRICT"));
        room
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Directories on the way are made.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    pub fn config(&self, config: &Value) {
        self.write("home/.claude/ccc.json", config.to_string());
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.path("home/.claude/ccc.json"), private).expect("permissions");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn client(&self, script: &str) {
        self.program("claude", script);
    }

    /// Written by another process: a descriptor of ours may be inherited by a child that another
    /// test starts at this moment, and a file that is open for writing cannot be run.
    pub fn program(&self, name: &str, script: &str) {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", r#"cat >"$1" && chmod 755 "$1""#, "sh"])
            .arg(self.path(name))
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut stdin = shell.stdin.take().expect("its input");
        stdin.write_all(script.as_bytes()).expect("it reads");
        drop(stdin);
        assert!(shell.wait().expect("it ends").success(), "{name}");
    }

    /// What the client has seen: `agent-0.args`, `supervisor-0.env`, `agent-0.input`, …
    pub fn seen(&self, name: &str) -> String {
        self.read(&format!("seen/{name}"))
    }

    /// What the supervisor prints from now on, instead of its consent.
    pub fn supervisor_prints(&self, lines: &str) {
        self.write("supervisor.prints", lines);
    }

    /// What it prints in one review, counted from 0.
    pub fn supervisor_prints_in(&self, review: usize, lines: &str) {
        self.write(&format!("supervisor.prints.{review}"), lines);
    }

    pub fn reviews(&self) -> usize {
        let seen = fs::read_dir(self.path("seen")).expect("a directory").flatten();
        seen.filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("supervisor-") && name.ends_with(".args")
        })
        .count()
    }

    /// A session that is supervised and has had `count` reviews.
    pub fn enable(&self, id: &str, count: u32) {
        let state = json!({
            "session_id": id, "enabled": true, "count": count,
            "created_at": "2024-01-15T10:30:00Z", "updated_at": "2024-01-15T10:35:00Z",
        });
        self.write(&state_file(id), state.to_string());
    }

    #[track_caller]
    pub fn state(&self, id: &str) -> Value {
        self.json(&state_file(id))
    }

    /// The event of a Stop hook, as the client tells it, with a transcript that is all there.
    pub fn event(&self, id: &str) -> Value {
        if !self.path("transcript.jsonl").exists() {
            self.write("transcript.jsonl", format!("{TASK}\n{ANSWER}\n"));
        }
        json!({
            "session_id": id, "transcript_path": self.path("transcript.jsonl"),
            "cwd": self.path("project"), "prompt_id": "p", "permission_mode": "default",
            "hook_event_name": "Stop", "stop_hook_active": false,
            "last_assistant_message": "all done here", "background_tasks": [], "session_crons": [],
        })
    }

    /// A slash command of the person's and the agent's answer, as the client writes them down in the
    /// transcript.
    pub fn typed(&self, id: &str, command: &str) {
        self.event(id);
        let line = json!({
            "type": "user", "timestamp": jiff::Timestamp::now().to_string(),
            "message": {"role": "user", "content": format!(
                "<command-message>{command}</command-message>\n<command-name>/{command}</command-name>\n<command-args></command-args>"
            )},
        });
        let before = self.read("transcript.jsonl");
        self.write("transcript.jsonl", format!("{before}{line}\n{ANSWER}\n"));
    }

    /// The Stop hook of a session, as the client runs it.
    pub fn hook(&self, id: &str) -> Ccc {
        self.ccc(&["supervisor-hook"]).input(self.event(id).to_string())
    }

    /// The settings that the client was launched with.
    pub fn launch_settings(&self) -> Value {
        let text = value_of(&self.seen("agent-0.args"), "--settings");
        serde_json::from_str(&text)
            .expect("the settings themselves, and no file that others could change")
    }

    /// The Stop hook of generated settings, as the client runs it: by a shell.
    pub fn hook_of(&self, settings: &Value, id: &str) -> Ccc {
        let shell = self.run_program("/bin/sh".as_ref()).args(&["-c", &hook_command(settings)]);
        shell.input(self.event(id).to_string())
    }

    pub fn ccc(&self, args: &[&str]) -> Ccc {
        self.run_program(Path::new(env!("CARGO_BIN_EXE_ccc"))).args(args)
    }

    /// Another program, in the same surroundings.
    pub fn run_program(&self, program: &Path) -> Ccc {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("CCC_CLAUDE", self.path("claude"))
            .env("ROOM", self.path("seen"))
            .current_dir(self.path("project"));
        Ccc::new(command)
    }
}

/// Instructions under which a yes needs no proof.
pub fn trusting(instructions: &str) -> String {
    format!("---\nproof: off\n---\n{instructions}")
}

/// The command of ccc's own Stop hook in generated settings.
pub fn hook_command(settings: &Value) -> String {
    let stops = settings["hooks"]["Stop"].as_array().expect("Stop hooks");
    let own = stops.last().expect("one of ours");
    assert_eq!(own["hooks"][0]["type"], "command");
    own["hooks"][0]["command"].as_str().expect("a command").to_owned()
}

pub fn state_file(id: &str) -> String {
    format!("{STATE_DIR}/supervisor-{id}.json")
}

/// The supervisor's last line, in the form it is asked for.
pub fn verdict(completed: bool, feedback: &str) -> String {
    let verdict = json!({"completed": completed, "feedback": feedback});
    let line = json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "result": verdict.to_string(), "structured_output": verdict,
    });
    format!("{line}\n")
}

/// Arguments as the client kept them: one per line.
pub fn value_of(args: &str, option: &str) -> String {
    let mut lines = args.lines().skip_while(|line| *line != option);
    lines.nth(1).unwrap_or_else(|| panic!("no {option} in {args}")).to_owned()
}
