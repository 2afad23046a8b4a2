//! What an hour leaves on disk. A recording of the screen grows with the time that passes (a
//! picture for every piece of text, and for every move of the status line), so nothing is sped up:
//! some seconds are played as they would be, and counted as often as they fit into an hour.
//!
//! | in an hour | |
//! |---|---|
//! | 10 turns | 5 minutes of work and 1 of review |
//! | work, every 20 s | 10 s of text, 60 tokens/s of 4 bytes in partial messages of about 10; a tool that runs for 10 s and gives 8 KB |
//! | review, every 10 s | a tool that gives 8 KB; at the end the verdict |

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::fake::number;
use super::lines::SESSION;
use super::options::Options;
use super::place::{CCC, Place, REVIEW, TURNS, WORK};
use super::prose::{begin, delta, end, endless, event, line};
use super::stamps;
use super::subject::argv;
use super::table::Table;
use super::terminal::Terminal;
use super::whole_path::mega;

const HOUR: u64 = 3600;
const TURN: u64 = 360;
/// One step of work, and its share of a review.
const SHORTEST: u64 = 24;
const STEP: Duration = Duration::from_secs(20);
const REVIEW_STEP: Duration = Duration::from_secs(10);
const BYTES_PER_SECOND: f64 = 240.0;
const TOOL_RESULT: usize = 8 << 10;

pub fn print(options: &Options) -> io::Result<()> {
    let seconds = options.hour_seconds.clamp(SHORTEST, HOUR);
    let turns = (seconds / TURN).max(1);
    let turn = seconds * 1000 / turns;
    let mut place = Place::new("hour")?;
    place.set(TURNS, turns);
    place.set(WORK, turn * 5 / 6);
    place.set(REVIEW, turn / 6);
    let limit = turns.to_string();
    let args = argv(CCC, &["--supervisor", "--max-iterations", &limit, "go"]);
    let began = Instant::now();
    let mut terminal = Terminal::start(place.on_a_terminal(&args))?;
    while stamps::all(place.path(), "supervisor", "verdict").len() < limit.parse().unwrap_or(0) {
        if let Some(status) = terminal.ended() {
            return Err(io::Error::other(format!("the hour ended early: {status:?}")));
        }
        thread::sleep(Duration::from_millis(100));
    }
    let took = began.elapsed();
    let shown = terminal.end()?;

    let mut files = Vec::new();
    list(&place.state_dir(), Path::new(""), &mut files)?;
    files.sort();
    #[expect(clippy::cast_precision_loss, reason = "figures to read")]
    let times = HOUR as f64 / seconds as f64;
    let mut table = Table::new(&["an hour on disk", "KB as played", "MB in an hour"]);
    let mut row = |name: &str, bytes: u64| {
        let (kilo, mega) = (mega(bytes) * 1e3, mega(bytes) * times);
        table.row(&[name.to_owned(), format!("{kilo:.1}"), format!("{mega:.2}")]);
    };
    for (name, bytes) in &files {
        row(&name.replace(SESSION, "{id}"), *bytes);
    }
    row("together", files.iter().map(|(_, bytes)| bytes).sum());
    row("(written to the terminal)", shown.bytes);
    table.print();
    println!(
        "  played {:.0} s with {turns} review(s), × {times:.1}; assumed: 60 tokens/s of 4 bytes half \
         of the working time, in partial messages of about 10 bytes; a tool every 20 s, of 8 KB; 5 \
         minutes of work, 1 of review{}\n",
        took.as_secs_f64(),
        if turns == 1 { " (in a short play too many verdicts)" } else { "" }
    );
    Ok(())
}

fn list(dir: &Path, name: &Path, files: &mut Vec<(String, u64)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = name.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &name, files)?;
        } else {
            files.push((name.display().to_string(), entry.metadata()?.len()));
        }
    }
    Ok(())
}

/// The agent's part of a turn.
pub fn work(out: &mut File) -> io::Result<()> {
    let began = Instant::now();
    let work = Duration::from_millis(number(WORK));
    let mut step = Duration::ZERO;
    while step < work {
        write(out, began + (step + STEP / 2).min(work))?;
        tool(out, "Bash", &json!({"command": "cargo test stream:: 2>&1 | tail -50"}), || {
            wait_until(began + (step + STEP).min(work));
        })?;
        step += STEP;
    }
    Ok(())
}

/// A review's, without its verdict.
pub fn review(out: &mut File) -> io::Result<()> {
    let began = Instant::now();
    let review = Duration::from_millis(number(REVIEW));
    let mut step = Duration::ZERO;
    while step < review {
        tool(out, "Read", &json!({"file_path": "/project/src/stream/lines.rs"}), || {})?;
        step += REVIEW_STEP;
        wait_until(began + step.min(review));
    }
    Ok(())
}

fn write(out: &mut File, until: Instant) -> io::Result<()> {
    put(out, &begin())?;
    let mut text = String::new();
    let began = Instant::now();
    for piece in endless() {
        #[expect(clippy::cast_precision_loss, reason = "a few kilobytes")]
        let due = began + Duration::from_secs_f64(text.len() as f64 / BYTES_PER_SECOND);
        if due >= until {
            break;
        }
        wait_until(due);
        out.write_all(&delta(piece))?;
        text.push_str(piece);
    }
    put(out, &end(&json!({"type": "text", "text": text})))
}

fn tool(
    out: &mut File,
    name: &str,
    input: &serde_json::Value,
    run: impl FnOnce(),
) -> io::Result<()> {
    let id = format!("toolu_01hour{}", super::measure::now());
    out.write_all(&event(&json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}})))?;
    for piece in super::prose::pieces(&input.to_string()) {
        out.write_all(&event(&json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": piece}})))?;
    }
    put(out, &end(&json!({"type": "tool_use", "id": id, "name": name, "input": input})))?;
    run();
    let result: String = endless().flat_map(str::chars).take(TOOL_RESULT).collect();
    out.write_all(&line(json!({"type": "user", "message": {"role": "user", "content": [
        {"tool_use_id": id, "type": "tool_result", "content": result}]}})))
}

fn put(out: &mut File, lines: &[Vec<u8>]) -> io::Result<()> {
    lines.iter().try_for_each(|line| out.write_all(line))
}

fn wait_until(moment: Instant) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
}
