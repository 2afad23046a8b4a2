//! `cargo bench --bench soak`: one supervised session of many rounds and many bytes, with faults: broken
//! lines, escapes, unknown messages, an agent that dies, judges that fail, die or talk. At the end every
//! byte that the agent printed stands in the recording, in order, and memory, descriptors and threads of ccc
//! are what they were. `-- --rounds 2000 --megabytes 10240` is the whole of it: it needs three times that
//! on the disk, and takes it from the temporary directory. `--ccc FILE` tries another build. Fails when something does not hold.

#[path = "../peers/table.rs"]
mod table;

mod client;
mod watch;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use ring::digest::{Context, SHA256};

use table::Table;
use watch::Watch;

fn main() {
    if client::play() {
        return;
    }
    let args: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: u64| {
        let at = args.iter().position(|arg| arg == name);
        at.and_then(|at| args.get(at + 1)).map_or(default, |text| text.parse().expect("a number"))
    };
    let (rounds, megabytes) = (number("--rounds", 200), number("--megabytes", 200));
    let room = tempfile::tempdir().expect("a directory");
    let project = room.path().join("project");
    fs::create_dir(&project).expect("a directory");
    fs::write(project.join("SUPERVISOR.md"), "---\nproof: off\n---\nJudge.\n").expect("a file");
    let began = Instant::now();
    let other = args.iter().position(|arg| arg == "--ccc").and_then(|at| args.get(at + 1));
    let mut ccc = Command::new(other.map_or(env!("CARGO_BIN_EXE_ccc"), String::as_str))
        .args(["--supervisor", "--max-iterations", &(rounds + 1).to_string()])
        .args(["-p", "zq-soak", "--output-format", "stream-json"])
        .current_dir(&project)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", room.path())
        .env("TMPDIR", std::env::temp_dir())
        .env("CCC_CLAUDE", std::env::current_exe().expect("this program"))
        .env(client::ROOM, room.path())
        .env(client::ROUNDS, rounds.to_string())
        .env(client::BYTES, (megabytes * (1 << 20) / rounds.max(1)).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ccc starts");
    let mut output = ccc.stdout.take().expect("its output");
    let watch = Watch::of(ccc.id());
    // What ccc prints is read and dropped, but for its last line.
    let (mut last, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    while let Ok(read) = output.read(&mut buffer) {
        if read == 0 {
            break;
        }
        last.extend_from_slice(&buffer[..read]);
        last.drain(..last.len().saturating_sub(64 << 10));
    }
    let code = ccc.wait().expect("an end").code();
    let seconds = began.elapsed().as_secs_f64();
    let samples = watch.end();
    let printed = client::printed(room.path());
    let recorded = recorded(&project.join(".claude/ccc/sessions"));
    let (turns, judged) =
        (client::count(room.path(), "turns"), client::count(room.path(), "judged"));

    let mut table = Table::new(&["", "", "holds"]);
    let mut all = true;
    let mut row = |what: &str, figure: String, holds: bool| {
        all &= holds;
        let holds = if holds { "yes" } else { "NO" };
        table.row(&[what.to_owned(), figure, holds.to_owned()]);
    };
    row("exit code", format!("{code:?}"), code == Some(0));
    row("turns of the agent", turns.to_string(), turns >= rounds);
    row("reviews, those that failed included", judged.to_string(), judged >= rounds / 2);
    row("seconds", format!("{seconds:.0}"), true);
    row("printed by the agent", format!("{} MB", printed.1 >> 20), printed.1 >> 20 >= megabytes);
    row("recorded, byte for byte", format!("{} MB", recorded.1 >> 20), recorded == printed);
    for (what, first, later, flat) in samples.compared() {
        row(what, format!("{first} → {later}"), flat);
    }
    row("left behind", client::left(room.path()), client::left(room.path()) == "nobody");
    table.print();
    if !all {
        eprintln!("{}", String::from_utf8_lossy(&last[last.len().saturating_sub(2000)..]));
        std::process::exit(1);
    }
}

/// Checksum and length of what the agent's file has.
fn recorded(sessions: &Path) -> (String, u64) {
    let entry = fs::read_dir(sessions).ok().and_then(|mut entries| entries.next());
    let Some(Ok(entry)) = entry else { return (String::new(), 0) };
    let mut file = fs::File::open(entry.path().join("agent.jsonl")).expect("the recording");
    let (mut context, mut length, mut buffer) = (Context::new(&SHA256), 0, vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer).expect("it can be read");
        if read == 0 {
            return (format!("{:?}", context.finish()), length);
        }
        context.update(&buffer[..read]);
        length += read as u64;
    }
}
