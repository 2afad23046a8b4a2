//! This program as the client: an agent that prints much and fails at times, and judges of all kinds.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ring::digest::{Context, SHA256};
use serde_json::{Value, json};

pub const ROOM: &str = "SOAK_ROOM";
pub const ROUNDS: &str = "SOAK_ROUNDS";
pub const BYTES: &str = "SOAK_BYTES";

/// Plays the client, if that is what this process is.
pub fn play() -> bool {
    let Some(room) = std::env::var_os(ROOM).map(PathBuf::from) else { return false };
    let args: Vec<String> = std::env::args().collect();
    note(&room, "pids", &std::process::id().to_string());
    let done = if args.iter().any(|arg| arg == "--fork-session") {
        judge(&room)
    } else {
        let named = args.iter().position(|arg| arg == "--session-id" || arg == "--resume");
        agent(&room, named.and_then(|at| args.get(at + 1)).map_or("S", String::as_str))
    };
    // Whoever reads this may be gone.
    drop(done);
    true
}

fn note(room: &Path, name: &str, line: &str) {
    let mut file =
        OpenOptions::new().append(true).create(true).open(room.join(name)).expect("a file");
    writeln!(file, "{line}").expect("a line");
}

pub fn count(room: &Path, name: &str) -> u64 {
    fs::read_to_string(room.join(name)).map_or(0, |text| text.lines().count() as u64)
}

fn number(name: &str) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Every line goes to ccc and, as it is, to a file of ours, whose checksum is taken at the end.
struct Printer {
    to: io::StdoutLock<'static>,
    kept: io::BufWriter<File>,
}

impl Printer {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        // Ours first: what ccc has, it has from here.
        self.kept.write_all(line)?;
        self.kept.write_all(b"\n")?;
        self.to.write_all(line)?;
        self.to.write_all(b"\n")
    }

    fn json(&mut self, value: &Value) -> io::Result<()> {
        self.line(value.to_string().as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.kept.flush()?;
        self.to.flush()
    }
}

fn agent(room: &Path, session: &str) -> io::Result<()> {
    let kept = OpenOptions::new().append(true).create(true).open(room.join("printed"))?;
    let mut out = Printer { to: io::stdout().lock(), kept: io::BufWriter::new(kept) };
    let mut dice = Dice(count(room, "turns") * 7919 + 1);
    let bytes = number(BYTES);
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["type"] != "user" {
            continue;
        }
        note(room, "turns", "");
        let turn = count(room, "turns");
        // Who changes nothing goes in circles.
        fs::write("work.txt", turn.to_string())?;
        out.json(
            &json!({"type": "system", "subtype": "init", "model": "m", "session_id": session}),
        )?;
        out.json(&json!({"type": "user", "isReplay": true, "uuid": message["uuid"], "session_id": session}))?;
        let mut left = bytes;
        while left > 0 {
            let size = (dice.roll(1 << 14) + 1).min(left);
            left -= size;
            let text: String = (0..size).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
            match dice.roll(40) {
                0 => out.line(text.as_bytes())?,
                1 => out.line(format!("{{\"type\":\"assistant\",\"text\":\"{text}").as_bytes())?,
                2 => out.line(format!("\u{1b}[2J\u{1b}]0;t\u{7}{text}").as_bytes())?,
                3 => out.line(&[&[0xff, 0xfe, 0x00][..], text.as_bytes()].concat())?,
                4 => out.json(&json!({"type": "tomorrow", "text": text}))?,
                _ => out.json(&json!({"type": "assistant", "session_id": session,
                    "message": {"content": [{"type": "text", "text": text}]}}))?,
            }
        }
        // It dies now and then; ccc starts another, which goes on. Two deaths in a minute are an error.
        if dice.roll(50) == 0 && turn > 1 && !died_lately(room) {
            note(room, "deaths", "");
            out.flush()?;
            std::process::exit(3);
        }
        out.json(&json!({"type": "result", "num_turns": 1, "session_id": session,
            "result": format!("turn {turn}"), "total_cost_usd": 0.01}))?;
        out.flush()?;
    }
    Ok(())
}

fn died_lately(room: &Path) -> bool {
    let died = fs::metadata(room.join("deaths")).and_then(|meta| meta.modified());
    died.is_ok_and(|died| died.elapsed().is_ok_and(|age| age < Duration::from_secs(70)))
}

fn judge(room: &Path) -> io::Result<()> {
    note(room, "judged", "");
    let judged = count(room, "judged");
    let mut dice = Dice(judged * 104_729 + 3);
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["type"] != "user" {
            continue;
        }
        let completed = count(room, "turns") >= number(ROUNDS);
        let verdict =
            json!({"completed": completed, "feedback": format!("missing: number {judged}")});
        // Two failures in a row are a review without a verdict, and without a person that is the end.
        let may_fail = !completed && judged.is_multiple_of(2);
        match if may_fail { dice.roll(15) } else { 9 } {
            0 => std::process::exit(7),
            1 => writeln!(
                out,
                "{}",
                json!({"type": "result", "is_error": true, "result": "overloaded"})
            )?,
            2 => writeln!(
                out,
                "{}",
                json!({"type": "result", "num_turns": 1, "result": format!("Not done: {judged}.")})
            )?,
            _ => writeln!(
                out,
                "{}",
                json!({"type": "result", "num_turns": 1, "result": verdict.to_string()})
            )?,
        }
        out.flush()?;
    }
    Ok(())
}

/// Checksum and length of all that agents printed.
pub fn printed(room: &Path) -> (String, u64) {
    let mut file = File::open(room.join("printed")).expect("what was printed");
    let (mut context, mut length, mut buffer) = (Context::new(&SHA256), 0, vec![0; 1 << 20]);
    loop {
        let read = io::Read::read(&mut file, &mut buffer).expect("it can be read");
        if read == 0 {
            return (format!("{:?}", context.finish()), length);
        }
        context.update(&buffer[..read]);
        length += read as u64;
    }
}

/// Clients that still run.
pub fn left(room: &Path) -> String {
    let pids = fs::read_to_string(room.join("pids")).unwrap_or_default();
    let runs = |pid: &&str| {
        let command = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        memchr::memmem::find(&command, room.as_os_str().as_encoded_bytes()).is_some()
    };
    match pids.lines().filter(runs).count() {
        0 => "nobody".to_owned(),
        some => format!("{some} processes"),
    }
}
