//! What runs in a room: how it is started, what it printed, and how it ended.

use std::ffi::OsStr;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::dispositions::with_default_signals;
use crate::patience::{PATIENCE, wait_within};

#[must_use]
pub struct Ccc {
    command: Command,
    input: Option<Vec<u8>>,
}

impl Ccc {
    pub fn new(mut command: Command) -> Self {
        with_default_signals(&mut command);
        Self { command, input: None }
    }

    pub fn args(mut self, args: &[impl AsRef<OsStr>]) -> Self {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    pub fn input(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.input = Some(text.into());
        self
    }

    pub fn run(self) -> Done {
        self.start().finish()
    }

    /// Starts it and hands over its input, as far as it wants it.
    pub fn start(mut self) -> Started {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("ccc starts");
        let stdin = child.stdin.take();
        let started = Started::new(child);
        if let (Some(text), Some(mut stdin)) = (self.input, stdin) {
            // One that does not care what it is told may be gone already.
            let _ = stdin.write_all(&text);
        }
        started
    }

    /// For a test that wants its own streams.
    pub fn into_command(self) -> Command {
        self.command
    }
}

/// Running. Its output is read all the time, so that it never waits for a reader.
pub struct Started {
    child: Child,
    readers: [JoinHandle<Vec<u8>>; 2],
}

impl Started {
    fn new(mut child: Child) -> Self {
        let readers = [
            read_all(child.stdout.take().expect("its output")),
            read_all(child.stderr.take().expect("its errors")),
        ];
        Self { child, readers }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("a process of ours");
    }

    pub fn finish(self) -> Done {
        self.finish_within(PATIENCE)
    }

    #[track_caller]
    pub fn finish_within(self, patience: Duration) -> Done {
        self.finish_then(patience, || ())
    }

    /// `ended` is called when it has ended, and its process number is still its own.
    #[track_caller]
    pub fn finish_then(mut self, patience: Duration, ended: impl FnOnce()) -> Done {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let pid = nix::unistd::Pid::from_raw(self.pid());
        let peek = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        wait_within(patience, || {
            (waitid(Id::Pid(pid), peek).expect("a child") != WaitStatus::StillAlive).then_some(())
        });
        ended();
        let status = self.child.try_wait().expect("ccc ends");
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let pid = self.pid();
        let [stdout, stderr] = self.readers.map(|reader| reader.join().expect("a reader"));
        let status = status.unwrap_or_else(|| {
            panic!("not ended within {patience:?}; err:\n{}", String::from_utf8_lossy(&stderr))
        });
        Done { pid, output: Output { status, stdout, stderr } }
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

pub struct Done {
    pub pid: i32,
    output: Output,
}

impl Done {
    pub fn status(&self) -> std::process::ExitStatus {
        self.output.status
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// What a session without a person told as it went on: it is beside the answer.
    pub fn transcript(&self) -> String {
        self.err()
    }

    #[track_caller]
    pub fn code(self, wanted: i32) -> Self {
        assert_eq!(
            self.output.status.code(),
            Some(wanted),
            "out:\n{}\nerr:\n{}",
            self.out(),
            self.err()
        );
        self
    }

    /// A hook that lets the client stop: no decision for it, and the reason for a person.
    #[track_caller]
    pub fn allows(self, reason: &str) -> Self {
        let done = self.code(0);
        if !done.out().is_empty() {
            let answer: Value = serde_json::from_str(&done.out()).expect("one line of JSON");
            let names: Vec<_> = answer.as_object().expect("an object").keys().collect();
            assert_eq!(names, ["systemMessage"], "err:\n{}", done.err());
        }
        assert!(done.err().contains(reason), "{reason}: {}", done.err());
        done
    }

    /// What the hook tells the person on the client's own screen.
    #[track_caller]
    pub fn tells(&self, text: &str) {
        let answer: Value = serde_json::from_str(&self.out()).unwrap_or_default();
        let told = answer["systemMessage"].as_str().unwrap_or_default();
        assert!(told.contains(text), "{text}: {} {}", self.out(), self.err());
    }

    /// A hook that makes the client go on: one line, and no other.
    #[track_caller]
    pub fn blocks(self, feedback: &str) -> Self {
        let done = self.code(0);
        let line = format!("{}\n", json!({"decision": "block", "reason": feedback}));
        assert_eq!(done.out(), line, "err:\n{}", done.err());
        done
    }
}
