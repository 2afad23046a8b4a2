//! A place to run ccc in: its own home, project and client, and nothing of the outside.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A client in a few lines of shell: takes every message up, answers "done", confirms every review,
/// and keeps its arguments and environment for the test to look at.
const CLIENT: &str = r#"#!/bin/sh
role=agent
for arg; do [ "$arg" = --fork-session ] && role=supervisor; done
n=$(ls "$ROOM" | grep -c "$role.*args")
for arg; do printf '%s\n' "$arg"; done >"$ROOM/$role-$n.args"
env >"$ROOM/$role-$n.env"
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$\|^--resume$/{n;p;q}')
while read -r line; do
  printf '%s\n' "$line" >>"$ROOM/$role-$n.input"
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  if [ $role = supervisor ]; then
    echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":"fine"}}'
  else
    echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
    echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"$id\"}"
    echo "{\"type\":\"assistant\",\"session_id\":\"$id\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"all done here\"}]}}"
    echo "{\"type\":\"result\",\"num_turns\":1,\"result\":\"all done here\",\"total_cost_usd\":0.25,\"session_id\":\"$id\"}"
  fi
done
"#;

pub struct Room {
    dir: tempfile::TempDir,
}

#[must_use]
pub struct Ccc {
    command: Command,
    input: Option<String>,
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

    /// With a SUPERVISOR.md.
    pub fn supervised() -> Self {
        let room = Self::new();
        room.write("project/SUPERVISOR.md", "BE STRICT");
        room
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn client(&self, script: &str) {
        self.write("claude", script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path("claude"), mode).expect("a mode");
    }

    /// What the client has seen: `agent-0.args`, `supervisor-0.env`, `agent-0.input`, …
    pub fn seen(&self, name: &str) -> String {
        self.read(&format!("seen/{name}"))
    }

    pub fn ccc(&self, args: &[&str]) -> Ccc {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ccc"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("CCC_CLAUDE", self.path("claude"))
            .env("ROOM", self.path("seen"))
            .current_dir(self.path("project"));
        Ccc { command, input: None }
    }
}

impl Ccc {
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn input(mut self, text: &str) -> Self {
        self.input = Some(text.to_owned());
        self
    }

    pub fn run(mut self) -> Done {
        use std::io::Write;
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("ccc starts");
        if let (Some(text), Some(mut stdin)) = (self.input, child.stdin.take()) {
            stdin.write_all(text.as_bytes()).expect("ccc reads");
        }
        Done(child.wait_with_output().expect("ccc ends"))
    }
}

pub struct Done(Output);

impl Done {
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    #[track_caller]
    pub fn code(self, wanted: i32) -> Self {
        assert_eq!(
            self.0.status.code(),
            Some(wanted),
            "out:\n{}\nerr:\n{}",
            self.out(),
            self.err()
        );
        self
    }
}
