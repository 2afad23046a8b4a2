//! This program in its other roles: the client that ccc starts, the same stream for a plain
//! recorder, and the two plainest readers there can be.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::PathBuf;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use super::lines::{Lines, SESSION};
use super::measure::{cpu, now};
use super::place::{BYTES, DIR, LONG, PART, ROLE, TURNS};
use super::prose::{ORDINARY, Prose};
use super::{bare, echo, hour, stamps};

/// Plays the role that the environment names. `None`: it is the benchmark itself.
pub fn play() -> Option<io::Result<()>> {
    let started = now();
    let role = std::env::var(ROLE).ok()?;
    let review = std::env::args().any(|arg| arg == "--fork-session");
    Some(match role.as_str() {
        "emitter" => emitter(),
        "echo" => echo::child::play(),
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
    make_raw(io::stdout())?;
    report()?;
    if std::env::var(PART).as_deref() == Ok("hold") {
        say(&init())?;
        stamps::add(&dir(), "agent", &[("ready", now())])?;
        // Until the terminal is taken away.
        return io::copy(&mut io::stdin(), &mut io::sink()).map(drop);
    }
    stream("none")
}

/// A client with its own screen tells ccc which session it is when something is typed.
fn report() -> io::Result<()> {
    let mut args = std::env::args().skip_while(|arg| arg != "--settings").skip(1);
    let Some(settings) = args.next() else { return Ok(()) };
    let settings: Value = serde_json::from_str(&settings)?;
    let hook = &settings["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    let url = hook["url"].as_str().unwrap_or_default();
    let address = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let secret = std::env::var("CCC_HOOK_SECRET").unwrap_or_default();
    let body =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": SESSION, "prompt": "go"});
    let body = body.to_string();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {secret}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    io::copy(&mut stream, &mut io::sink()).map(drop)
}

pub fn make_raw(terminal: impl AsFd) -> io::Result<()> {
    if let Ok(mut modes) = tcgetattr(&terminal) {
        cfmakeraw(&mut modes);
        tcsetattr(&terminal, SetArg::TCSANOW, &modes)?;
    }
    Ok(())
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
            Ok("stream" | "prose") => stream(uuid)?,
            Ok("hour") => {
                say(&init())?;
                say(&taken(uuid))?;
                hour::work(&mut output()?)?;
                say(&result())?;
            }
            Ok(part @ ("hold" | "flood")) => {
                say(&init())?;
                say(&taken(uuid))?;
                stamps::add(&dir(), "agent", &[("ready", now())])?;
                if part == "flood" {
                    let mut count = Count::default();
                    return Prose::new(ORDINARY).flood(&mut output()?, |bytes| count.add(bytes));
                }
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
    if std::env::var(PART).as_deref() == Ok("hour") {
        hour::review(&mut output()?)?;
    }
    let spoke = now();
    // First the file: after its verdict ccc ends a supervisor that does not end by itself.
    stamps::add(&dir, "supervisor", &[("started", started), ("verdict", spoke)])?;
    say(&line)
}

fn stream(uuid: &str) -> io::Result<()> {
    let mixed = Lines::new();
    let prose = (std::env::var(PART).as_deref() == Ok("prose")).then(|| Prose::new(number(LONG)));
    let mut out = output()?;
    let first = now();
    say(&init())?;
    say(&taken(uuid))?;
    let bytes = match &prose {
        Some(prose) => prose.write(number(BYTES), &mut out)?,
        None => mixed.write(number(BYTES), &mut out)?,
    };
    say(&result())?;
    let last = now();
    drop((mixed, prose));
    let spent = cpu(getrusage(UsageWho::RUSAGE_SELF)?);
    let made = [("first", first), ("last", last), ("bytes", bytes), ("cpu", spent)];
    stamps::add(&dir(), "agent", &made)
}

/// The file behind it, not the line buffer of `stdout`, which would cut the lines.
pub fn output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// How much a flood has come to, put on record now and then.
#[derive(Default)]
pub struct Count {
    told: u64,
    bytes: u64,
}

impl Count {
    pub fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        if self.bytes - self.told >= 1 << 17 {
            self.told = self.bytes;
            // A figure that is missing is seen in the table.
            let _ = stamps::add(&dir(), "flood", &[("at", now()), ("bytes", self.bytes)]);
        }
    }
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
