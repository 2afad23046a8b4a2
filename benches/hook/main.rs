//! `cargo bench --bench hook`: what the Stop hook costs a session that is not supervised, and what
//! its lock costs one that is, beside their peers in the same run. Prints tables; never fails
//! because something was slow.

#[path = "../peers/table.rs"]
mod table;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ccc::hook::state::StateFile;
use table::Table;

const RUNS: usize = 400;
const WRITERS: usize = 100;
/// Tells this program to be one of the writers.
const ROLE: &str = "CCC_BENCH_WRITER";

fn main() {
    if let Ok(role) = std::env::var(ROLE) {
        return write_once(&role, Path::new(&std::env::args().nth(1).expect("a directory")));
    }
    let dir = tempfile::tempdir().expect("a directory");
    disabled_path(dir.path());
    state_updates(dir.path());
}

struct Program {
    name: &'static str,
    command: Vec<PathBuf>,
    target: &'static str,
}

fn disabled_path(dir: &Path) {
    let event = dir.join("event.json");
    let text = format!(
        r#"{{"session_id":"abc","cwd":"{}","hook_event_name":"Stop","stop_hook_active":false}}"#,
        dir.display()
    );
    fs::write(&event, text).expect("an event");
    let hook = |ccc: PathBuf| vec![ccc, "supervisor-hook".into()];
    let program = |name, words: &[&str]| Program {
        name,
        command: words.iter().map(PathBuf::from).collect(),
        target: "",
    };
    let mut programs = vec![program("/bin/true", &["/bin/true"])];
    let builds = [
        ("ccc, cargo build --release", release_build(), "≤ 3"),
        ("ccc, static", static_build(), "≤ 1.3"),
    ];
    for (name, ccc, target) in builds {
        match ccc {
            Ok(ccc) => programs.push(Program { name, command: hook(ccc), target }),
            Err(reason) => println!("  {name}: not available: {reason}"),
        }
    }
    programs.push(program("bash -c :", &["/bin/bash", "-c", ":"]));
    programs.push(program("python3 -c pass", &["/usr/bin/python3", "-c", "pass"]));

    let mut times: Vec<Vec<Duration>> = programs.iter().map(|_| Vec::new()).collect();
    // In turns, so that a busy moment of the machine does not hit one of them alone.
    for _ in 0..RUNS {
        for (program, times) in programs.iter().zip(&mut times) {
            times.push(run(&program.command, &event, dir));
        }
    }
    let mut table = Table::new(&[
        "hook of a session that is not supervised",
        "ms",
        "× true",
        "instructions",
        "relocations",
        "target",
    ]);
    let base = median(&mut times[0]);
    for (program, times) in programs.iter().zip(&mut times) {
        let time = median(times);
        table.row(&[
            program.name.to_owned(),
            format!("{:.2}", time.as_secs_f64() * 1e3),
            format!("{:.2}", time.as_secs_f64() / base.as_secs_f64()),
            instructions(&program.command, &event, dir),
            relocations(&program.command[0]),
            program.target.to_owned(),
        ]);
    }
    table.print();
    println!(
        "  wall time from start to exit, median of {RUNS}; instructions as valgrind counts them;\n  \
         relocations are addresses in the program that the loader puts right before it begins\n"
    );
}

fn command(words: &[PathBuf], event: &Path, dir: &Path) -> Command {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", dir)
        .current_dir(dir)
        .stdin(File::open(event).expect("the event"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn run(words: &[PathBuf], event: &Path, dir: &Path) -> Duration {
    let mut command = command(words, event, dir);
    let start = Instant::now();
    let status = command.status().expect("the program runs");
    let time = start.elapsed();
    assert!(status.success(), "{words:?}: {status}");
    time
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn instructions(words: &[PathBuf], event: &Path, dir: &Path) -> String {
    let mut valgrind: Vec<PathBuf> =
        ["/usr/bin/env", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
            .map(PathBuf::from)
            .to_vec();
    valgrind.extend_from_slice(words);
    let output = command(&valgrind, event, dir).stderr(Stdio::piped()).output();
    let text = output
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        .unwrap_or_default();
    let count = text
        .lines()
        .find_map(|line| line.split_once("Collected : ").map(|(_, count)| count.trim().to_owned()));
    count.unwrap_or_else(|| "–".to_owned())
}

fn relocations(program: &Path) -> String {
    match Command::new("readelf").arg("--relocs").arg("--wide").arg(program).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().filter(|line| line.contains("_RELATIVE ")).count().to_string()
        }
        _ => "–".to_owned(),
    }
}

/// What `cargo build --release` makes. The `ccc` that comes with this benchmark is another: what
/// the crates of the tests ask of a crate that both of them use is in it too.
fn release_build() -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    build(cargo(target).arg("--release"))?;
    Ok(target.join("release/ccc"))
}

/// The release build as it would be shipped: one file, nothing to link at start-up. The target is
/// named, because its flags must not reach build scripts and macros.
fn static_build() -> Result<PathBuf, String> {
    let version = Command::new("rustc").arg("-vV").output().map_err(|error| error.to_string())?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc does not name its host")?;
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("static");
    build(
        cargo(&target)
            .args(["--profile", "dist", "--target", host])
            .env("RUSTFLAGS", "-C target-feature=+crt-static -C relocation-model=static"),
    )?;
    Ok(target.join(host).join("dist/ccc"))
}

fn cargo(target: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    // What the outer cargo tells of itself would make build scripts run again, here and there.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
        .args(["build", "--quiet", "--locked", "--bin", "ccc", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo
}

fn build(cargo: &mut Command) -> Result<(), String> {
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo build: {status}")),
        Err(error) => Err(error.to_string()),
    }
}

fn state_updates(dir: &Path) {
    let mut table = Table::new(&[
        "100 processes change one state file at once",
        "ms",
        "× unlocked",
        "lost",
        "target",
    ]);
    let mut base = None;
    for role in ["unlocked", "locked"] {
        let mut times = Vec::new();
        let mut lost = 0;
        for round in 0..5 {
            let dir = dir.join(format!("{role}-{round}"));
            fs::create_dir(&dir).expect("a directory");
            write_once("locked", &dir);
            let start = Instant::now();
            let writers: Vec<_> = (0..WRITERS).map(|_| writer(role, &dir)).collect();
            for mut writer in writers {
                assert!(writer.wait().expect("a writer").success());
            }
            times.push(start.elapsed());
            let count = state(&dir).load().expect("a state").map_or(0, |state| state.task.count);
            lost += WRITERS + 1 - usize::try_from(count).unwrap_or(0);
        }
        let time = median(&mut times).as_secs_f64() * 1e3;
        let unlocked = *base.get_or_insert(time);
        table.row(&[
            role.to_owned(),
            format!("{time:.0}"),
            format!("{:.2}", time / unlocked),
            format!("{lost} of {}", 5 * WRITERS),
            if role == "locked" { "≤ 2, none".to_owned() } else { String::new() },
        ]);
    }
    table.print();
    println!(
        "  wall time until the last one is done, median of 5; the same write, with and without the lock\n"
    );
}

fn writer(role: &str, dir: &Path) -> std::process::Child {
    let me = std::env::current_exe().expect("this program");
    Command::new(me).arg(dir).env(ROLE, role).spawn().expect("a writer")
}

fn state(dir: &Path) -> StateFile {
    StateFile::new(dir, "abc").expect("a harmless id")
}

fn write_once(role: &str, dir: &Path) {
    if role == "locked" {
        state(dir).change(|state| state.task.count += 1).expect("a change");
    } else if let Ok(Some(mut read)) = state(dir).load() {
        read.task.count += 1;
        let text = serde_json::to_vec_pretty(&read).expect("JSON");
        ccc::files::replace(&state(dir).path(), &text).expect("a write");
    }
}
