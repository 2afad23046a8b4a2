//! Nothing wakes up while nothing happens: a session is left alone with an agent that works and
//! says nothing, and with a person who does not type. Counted are the times that a thread of any of
//! its processes ran, and, where strace may look, their system calls.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::measure::{switches, tree};
use super::options::Options;
use super::place::{CCC, Place};
use super::stamps;
use super::subject::{Subject, argv};
use super::table::Table;
use super::terminal::{Terminal, end};

/// After the last thing that happens at a start.
const SETTLE: Duration = Duration::from_millis(1500);
const PATIENCE: Duration = Duration::from_secs(10);

struct Idle {
    wakeups: Option<u64>,
    calls: Result<u64, String>,
}

pub fn print(options: &Options, subjects: &[Subject]) -> io::Result<()> {
    let mut table = Table::new(&["idle", "times a thread ran", "system calls", "target"]);
    let seconds = Duration::from_secs(options.idle_seconds);
    let mut row = |name: &str, idle: io::Result<Idle>| {
        let mut cells = vec![name.to_owned()];
        match idle {
            Ok(idle) => {
                cells.push(idle.wakeups.map_or("–".into(), |count| count.to_string()));
                cells.push(idle.calls.map_or_else(|why| why, |count| count.to_string()));
                cells.push(if name.starts_with("ccc") { "0".into() } else { String::new() });
            }
            Err(reason) => cells.push(format!("not available: {reason}")),
        }
        table.row(&cells);
    };
    row("ccc at its prompt", at_the_prompt(seconds));
    row("ccc native, client idle", native(seconds));
    for subject in subjects {
        if subject.is_ccc() && *subject != Subject::Ccc("text") {
            continue;
        }
        let name = if subject.is_ccc() { "ccc text, agent works".into() } else { subject.name() };
        row(&name, working(subject, seconds));
    }
    table.print();
    println!("  watched for {} s, and again with strace; all processes\n", options.idle_seconds);
    Ok(())
}

fn working(subject: &Subject, seconds: Duration) -> io::Result<Idle> {
    let mut place = Place::new("hold")?;
    let mut child = subject.command(&mut place, true)?.spawn()?;
    let input = child.stdin.take();
    let idle = ready(&place).map(|()| watch(&place, child.id(), seconds));
    end(child.id());
    child.wait()?;
    drop(input);
    idle.ok_or_else(|| io::Error::other(format!("did not start: {}", place.errors())))
}

/// A client with its own screen that does nothing.
fn native(seconds: Duration) -> io::Result<Idle> {
    let mut place = Place::new("hold")?;
    let terminal = Terminal::start(Subject::Native.on_a_terminal(&mut place, true)?)?;
    let idle = ready(&place).map(|()| watch(&place, terminal.pid, seconds));
    terminal.end()?;
    idle.ok_or_else(|| io::Error::other("did not start"))
}

/// A person's session before the first message.
fn at_the_prompt(seconds: Duration) -> io::Result<Idle> {
    let place = Place::new("hold")?;
    let mut terminal = Terminal::start(place.on_a_terminal(&argv(CCC, &["--supervisor"])))?;
    thread::sleep(SETTLE);
    if let Some(status) = terminal.ended() {
        return Err(io::Error::other(format!("ccc ended at once ({status:?})")));
    }
    let idle = watch(&place, terminal.pid, seconds);
    terminal.end()?;
    Ok(idle)
}

fn ready(place: &Place) -> Option<()> {
    let deadline = Instant::now() + PATIENCE;
    while stamps::one(place.path(), "agent", "ready").is_none() {
        if Instant::now() > deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(SETTLE);
    Some(())
}

fn watch(place: &Place, pid: u32, seconds: Duration) -> Idle {
    let pids = tree(pid);
    let before = switches(&pids);
    thread::sleep(seconds);
    let wakeups = before.zip(switches(&pids)).map(|(before, after)| {
        let ended = before.keys().filter(|thread| !after.contains_key(*thread)).count() as u64;
        let ran = after.iter().map(|(thread, count)| count - before.get(thread).unwrap_or(&0));
        ran.sum::<u64>() + ended
    });
    Idle { wakeups, calls: strace(&place.path().join("calls"), &pids, seconds) }
}

fn strace(file: &Path, pids: &[u32], seconds: Duration) -> Result<u64, String> {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(file);
    for pid in pids {
        command.args(["-p", &pid.to_string()]);
    }
    let child = command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| format!("no strace: {error}"))?;
    thread::sleep(SETTLE);
    // What each thread is waiting in is noted at the start, and is none that was made since.
    let lines = || fs::read_to_string(file).map_or(0, |text| text.lines().count() as u64);
    let waiting = lines();
    if waiting == 0 {
        end(child.id());
        return Err(format!("strace: {}", last_words(child)));
    }
    thread::sleep(seconds);
    let made = lines() - waiting;
    end(child.id());
    child.wait().map_err(|error| error.to_string())?;
    Ok(made)
}

fn last_words(child: Child) -> String {
    let output = child.wait_with_output().map(|output| output.stderr).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    text.lines().next().unwrap_or("saw nothing").to_owned()
}
