//! This program in its other roles: the client that ccc starts, the same stream for a plain
//! recorder, and the two plainest readers there can be.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use super::lines::{Lines, SESSION};
use super::measure::{cpu, now};
use super::place::{BYTES, DIR, PART, ROLE, TURNS};
use super::{bare, stamps};

/// Plays the role that the environment names. `None`: it is the benchmark itself.
pub fn play() -> Option<io::Result<()>> {
    let started = now();
    let role = std::env::var(ROLE).ok()?;
    let review = std::env::args().any(|arg| arg == "--fork-session");
    Some(match role.as_str() {
        "emitter" => emitter(),
        "reader" => bare::read_only(),
        "bare loop" => bare::turns(),
        "client" if review => supervisor(started),
        "client" => agent(),
        other => Err(io::Error::other(format!("no such role: {other}"))),
    })
}

pub fn dir() -> PathBuf {
    std::env::var_os(DIR).unwrap_or_default().into()
}

pub fn number(name: &str) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// The stream for a recorder that knows nothing of the protocol.
fn emitter() -> io::Result<()> {
    // As ccc does, so that the kernel has the same work with everybody's terminal.
    if let Ok(mut modes) = tcgetattr(io::stdout()) {
        cfmakeraw(&mut modes);
        tcsetattr(io::stdout(), SetArg::TCSANOW, &modes)?;
    }
    if std::env::var(PART).as_deref() == Ok("hold") {
        say(&init())?;
        stamps::add(&dir(), "agent", &[("ready", now())])?;
        // Until the terminal is taken away.
        return io::copy(&mut io::stdin(), &mut io::sink()).map(drop);
    }
    stream("none")
}

fn agent() -> io::Result<()> {
    let mut seen = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let read = now();
        let message: Value = serde_json::from_str(&line)?;
        if message["type"] != "user" {
            continue;
        }
        let uuid = message["uuid"].as_str().unwrap_or_default();
        match std::env::var(PART).as_deref() {
            Ok("stream") => stream(uuid)?,
            Ok("hold") => {
                say(&init())?;
                say(&taken(uuid))?;
                stamps::add(&dir(), "agent", &[("ready", now())])?;
            }
            _ => {
                say(&init())?;
                say(&taken(uuid))?;
                say(&json!({"type": "assistant", "session_id": SESSION, "message":
                    {"role": "assistant", "content": [{"type": "text", "text": "Done, I think."}]}}))?;
                seen.extend([("read", read), ("result", now())]);
                say(&result())?;
            }
        }
    }
    stamps::add(&dir(), "agent", &seen)
}

fn supervisor(started: u64) -> io::Result<()> {
    let mut review = String::new();
    io::stdin().read_line(&mut review)?;
    let dir = dir();
    let before = stamps::read(&dir, "supervisor").len() as u64 / 2;
    let completed = before + 1 >= number(TURNS);
    let verdict = json!({"completed": completed, "feedback": "Once more."});
    let line = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "session_id": "f0f0", "total_cost_usd": 0.0, "result": verdict.to_string(),
        "structured_output": verdict});
    let spoke = now();
    // First the file: after its verdict ccc ends a supervisor that does not end by itself.
    stamps::add(&dir, "supervisor", &[("started", started), ("verdict", spoke)])?;
    say(&line)
}

fn stream(uuid: &str) -> io::Result<()> {
    let lines = Lines::new();
    let first = now();
    say(&init())?;
    say(&taken(uuid))?;
    // The file behind it, not the line buffer of `stdout`, which would cut the lines.
    let mut out =
        std::fs::File::from(std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?);
    let bytes = lines.write(number(BYTES), &mut out)?;
    say(&result())?;
    let last = now();
    drop(lines);
    let spent = cpu(getrusage(UsageWho::RUSAGE_SELF)?);
    let made = [("first", first), ("last", last), ("bytes", bytes), ("cpu", spent)];
    stamps::add(&dir(), "agent", &made)
}

fn say(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{message}\n").as_bytes())?;
    out.flush()
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": SESSION, "model": "claude-bench",
        "permissionMode": "default", "tools": []})
}

fn taken(uuid: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "isReplay": true, "session_id": SESSION,
        "message": {"role": "user", "content": "go"}})
}

fn result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "session_id": SESSION, "total_cost_usd": 0.0, "result": "Done, I think."})
}
