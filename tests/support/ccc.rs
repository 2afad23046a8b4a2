//! Runs the ccc binary in a clean room, with an environment made for it and nothing of the test's own.
//!
//! ```ignore
//! let done = Ccc::new(&room).client(&client).api(&api).supervised("zq-build-it").run();
//! assert_eq!(done.code, Some(0), "{done}");
//! ```

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::api::Api;
use super::client::CleanRoom;
use super::dispositions::with_default_signals;
use super::patience::{PATIENCE, wait_within};

/// What a supervisor is told in tests; its words occur nowhere else.
pub const INSTRUCTIONS: &str = "zq-instructions: look at everything twice.";

/// How ccc is to be started.
#[must_use]
pub struct Ccc {
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(String, String)>,
    pub(super) project: PathBuf,
    pub(super) job: bool,
    config_dir: PathBuf,
}

impl Ccc {
    /// Without a client and without an API: both have to be named by those who need them.
    pub fn new(room: &CleanRoom) -> Self {
        Self {
            args: Vec::new(),
            // Nobody listens on port 1.
            env: room.env("http://127.0.0.1:1"),
            project: room.project(),
            job: false,
            config_dir: room.home().join(".claude"),
        }
    }

    pub fn client(self, client: &Path) -> Self {
        let client = client.to_str().expect("a path in UTF-8").to_owned();
        self.env("CCC_CLAUDE", client)
    }

    pub fn api(self, api: &Api) -> Self {
        self.env("ANTHROPIC_BASE_URL", api.url())
    }

    /// A variable; replaces one of the same name.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.into()));
        self
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub fn args<'a>(self, args: impl IntoIterator<Item = &'a str>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// A supervised session without a person. More arguments may follow.
    pub fn supervised(self, prompt: &str) -> Self {
        self.instructions(INSTRUCTIONS).args(["--supervisor", "-p", prompt])
    }

    /// A supervised session of a person at the terminal. More arguments may follow.
    pub fn interactive(self) -> Self {
        self.instructions(INSTRUCTIONS).arg("--supervisor")
    }

    /// Writes the project's SUPERVISOR.md.
    pub fn instructions(self, text: &str) -> Self {
        // A supervisor that is taken at its word, where the test is not about that.
        let front = if text.starts_with("---") { "" } else { "---\nproof: off\n---\n" };
        let text = format!("{front}{text}");
        fs::write(self.project.join("SUPERVISOR.md"), text).expect("write SUPERVISOR.md");
        self
    }

    /// Writes ccc.json.
    pub fn config(self, config: &Value) -> Self {
        let path = self.config_dir.join("ccc.json");
        fs::write(&path, config.to_string()).expect("write ccc.json");
        // As ccc itself writes it: it may hold keys, and ccc warns of a file that others can read.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a private file");
        self
    }

    /// On a terminal: as the job of a shell, which can stop it and continue it.
    pub fn below_a_shell(mut self) -> Self {
        self.job = true;
        self
    }

    /// Runs to the end.
    #[must_use]
    pub fn run(self) -> Finished {
        self.start().finish()
    }

    #[must_use]
    pub fn start(self) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ccc"));
        command
            .args(&self.args)
            .current_dir(&self.project)
            .env_clear()
            .envs(self.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        with_default_signals(&mut command);
        let mut child = command.spawn().expect("start ccc");
        let output = Arc::new(Output::default());
        let stdout = child.stdout.take().expect("ccc's output");
        let mut stderr = child.stderr.take().expect("ccc's errors");
        let sink = Arc::clone(&output);
        let lines = thread::spawn(move || read_lines(stdout, &sink));
        let errors = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            bytes
        });
        Running { child, output, readers: Some((lines, errors)) }
    }
}

/// A ccc that may still run. Killed when dropped.
pub struct Running {
    child: Child,
    output: Arc<Output>,
    readers: Option<(JoinHandle<()>, JoinHandle<Vec<u8>>)>,
}

impl Running {
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("signal ccc");
    }

    /// Waits until a line of its output holds `text`, and returns the line.
    #[track_caller]
    pub fn wait_for_line(&self, text: &str) -> String {
        let holds = |line: &&Vec<u8>| String::from_utf8_lossy(line).contains(text);
        let (state, _) = self
            .output
            .changed
            .wait_timeout_while(self.output.state(), PATIENCE, |state| {
                !state.ended && !state.lines.iter().any(|line| holds(&line))
            })
            .unwrap_or_else(PoisonError::into_inner);
        let found = state.lines.iter().find(holds);
        let found = found.map(|line| String::from_utf8_lossy(line).into_owned());
        let all = String::from_utf8_lossy(&state.lines.concat()).into_owned();
        drop(state);
        found.unwrap_or_else(|| panic!("no line with {text:?} in the output:\n{all}"))
    }

    /// Waits for its end.
    #[must_use]
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        let status = wait_within(PATIENCE, || self.child.try_wait().expect("wait for ccc"));
        if status.is_none() {
            let _ = self.child.kill();
        }
        let (lines, errors) = self.readers.take().expect("nobody has read it yet");
        lines.join().expect("the reader of ccc's output");
        let stderr = errors.join().expect("the reader of ccc's errors");
        let done = Finished {
            code: status.and_then(|status| status.code()),
            stdout: self.output.state().lines.concat(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        };
        assert!(status.is_some(), "ccc did not end within {PATIENCE:?}\n{done}");
        done
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a ccc that has ended left. Shown, it is the report of a failed assertion.
pub struct Finished {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Finished {
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The one object of `--output-format json`.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// ccc's own lines of `--output-format stream-json`.
    #[must_use]
    pub fn own_lines(&self) -> Vec<Value> {
        let lines = self.stdout.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
            .filter(|line| line["type"] == "ccc")
            .collect()
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stdout, stderr) = (self.text(), &self.stderr);
        write!(f, "exit code {:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", self.code)
    }
}

#[derive(Default)]
struct Output {
    state: Mutex<OutputState>,
    changed: Condvar,
}

#[derive(Default)]
struct OutputState {
    /// With their line ends.
    lines: Vec<Vec<u8>>,
    ended: bool,
}

impl Output {
    fn state(&self) -> MutexGuard<'_, OutputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_lines(stdout: ChildStdout, output: &Output) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
        output.state().lines.push(std::mem::take(&mut line));
        output.changed.notify_all();
    }
    output.state().ended = true;
    output.changed.notify_all();
}
