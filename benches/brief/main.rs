//! `cargo bench --bench brief`: what the brief and the looking up of evidence add to a turn, checks aside,
//! in a git repository of 100,000 files and after a conversation of 200 MB, beside `git status` in the
//! same run. Prints tables; never fails because something was slow.

#[path = "../peers/table.rs"]
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ccc::brief::activity::Activity;
use ccc::brief::{Facts, brief};
use ccc::client::stream::{Line, Part};
use ccc::event::ReviewRequest;
use ccc::review::commands::Commands;
use ccc::review::evidence::verify;
use ccc::review::lookup::Lookup;
use ccc::review::requirement::Evidence;
use ccc::session::Workplace;
use table::Table;

/// What the agent says last: a claim that is held against the facts.
const ANSWER: &str = "All tests pass.";
const FILES: usize = 100_000;
const RECORD: usize = 200 << 20;
const TURNS: usize = 40;
/// What a turn changes, and what a verdict rests on.
const CHANGED: usize = 20;
const EVIDENCE: usize = 20;

fn main() {
    let dir = tempfile::tempdir().expect("a directory");
    let project = dir.path();
    println!("  a repository of {FILES} files is made …");
    repository(project);
    println!("  a conversation of {} MB is heard …", RECORD >> 20);
    let empty = memory();
    let record = Record::heard();
    let heard = memory();

    let workplace = Workplace::of(project).expect("a project");
    let base = workplace.look();
    let mut times = [const { Vec::new() }; 5];
    let mut told = String::new();
    for turn in 0..TURNS {
        for at in 0..CHANGED {
            let text = format!("def work():\n    return {turn}\n");
            fs::write(project.join(path(at * 4_999)), text).expect("a file");
        }
        let mut step = |which: usize, happens: &mut dyn FnMut()| {
            let began = Instant::now();
            happens();
            times[which].push(began.elapsed());
        };
        step(0, &mut || status(project));
        let mut examined = None;
        step(1, &mut || {
            examined = Some(workplace.compare(Some(&base), &workplace.look(), ANSWER).0);
        });
        let examined = examined.expect("it was looked at");
        step(2, &mut || {
            told = brief(&Facts {
                examined: &examined,
                checks: &[],
                activity: &record.activity,
                last_answer: ANSWER,
                background: &[],
            });
        });
        // Before the last words of the judge count.
        step(3, &mut || drop(base.changes(&workplace.look())));
        step(4, &mut || record.verify(project));
    }
    report(times, &told, memory().saturating_sub(heard), heard.saturating_sub(empty));
}

fn report(times: [Vec<Duration>; 5], told: &str, later: u64, heard: u64) {
    let names = [
        "git status (the peer)",
        "files compared, changed lines read",
        "the brief",
        "files compared again before the verdict",
        "evidence looked up",
    ];
    let sum = |of: &[Vec<Duration>]| -> Vec<Duration> {
        (0..TURNS).map(|turn| of.iter().map(|one| one[turn]).sum()).collect()
    };
    let (before, after) = (sum(&times[1..3]), sum(&times[3..]));
    let [status, ..] = &times;
    let peer = percentile(status, 50);
    let mut table = Table::new(&["a turn", "p50 ms", "p99 ms", "× git status", "target"]);
    for (name, times) in names.iter().zip(&times) {
        table.row(&row(name, times, peer, ""));
    }
    table.row(&row("while the judge's client starts", &before, peer, ""));
    table.row(&row("after the judge's last words", &after, peer, "< 150 ms"));
    table.print();
    println!(
        "\n  A turn takes longer by what comes after the judge's last words. What comes before its message \
         is done\n  while its client starts (about 800 ms), and adds only as much as it takes longer than that."
    );
    // About four bytes of English are a token.
    println!(
        "\n  the brief: {} bytes, about {} tokens; the conversation: about {} million tokens\n  \
         memory: {} MB for the record of it, {} MB more after {TURNS} turns",
        told.len(),
        told.len() / 4,
        RECORD / 4 / 1_000_000,
        heard >> 20,
        later >> 20
    );
}

fn row(name: &str, times: &[Duration], peer: Duration, target: &str) -> [String; 5] {
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    let ratio = percentile(times, 50).as_secs_f64() / peer.as_secs_f64();
    [
        name.to_owned(),
        ms(percentile(times, 50)),
        ms(percentile(times, 99)),
        format!("{ratio:.2}"),
        target.to_owned(),
    ]
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn path(at: usize) -> String {
    format!("src/{:03}/{:02}/file_{at}.py", at / 1_000, at / 100 % 10)
}

fn repository(dir: &Path) {
    for at in 0..FILES {
        let file = dir.join(path(at));
        if at % 100 == 0 {
            fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        }
        fs::write(file, format!("def number():\n    return {at}\n")).expect("a file");
    }
    git(dir, &["init", "-q"]);
    git(dir, &["add", "-A"]);
    git(dir, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]);
}

fn status(dir: &Path) {
    git(dir, &["status", "--porcelain=v2", "-z", "--untracked-files=all"]);
}

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(args)
        .current_dir(dir)
        .stdout(Stdio::null())
        .status()
        .expect("git is there");
    assert!(done.success(), "git {args:?}");
}

/// What a session keeps of all that its agent said and ran.
struct Record {
    commands: Commands,
    activity: Activity,
}

impl Record {
    fn heard() -> Self {
        let mut record = Self { commands: Commands::default(), activity: Activity::default() };
        let mut output = String::new();
        for at in 0..400 {
            let _ = write!(output, "test number {at} of the module ... ok\\n");
        }
        let (mut heard, mut at) = (0, 0);
        while heard < RECORD {
            let call = format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t{at}","name":"Bash","input":{{"command":"pytest -q tests/{at}"}}}}]}}}}"#
            );
            let result = format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t{at}","content":"{output}{at} passed"}}]}}}}"#
            );
            for raw in [call, result] {
                heard += raw.len();
                record.hear(&Line::decode(raw.into_bytes()));
            }
            at += 1;
        }
        record
    }

    fn hear(&mut self, line: &Line) {
        self.commands.line(line);
        for part in &line.parts {
            if let Part::Message(envelope) = part {
                self.activity.saw(&envelope.message);
            }
        }
    }

    /// Half of it is in files, half in what was run.
    fn verify(&self, project: &Path) {
        let last = self.commands.iter().last().expect("a command").command.clone();
        let number = last.rsplit('/').next().expect("a number").to_owned();
        let evidence: Vec<_> = (0..EVIDENCE)
            .map(|at| match at % 2 {
                0 => Evidence::Command { command: last.clone(), quote: format!("{number} passed") },
                _ => {
                    let quote = "def work():".to_owned();
                    Evidence::File { path: path(at * 4_999), line: Some(1), quote }
                }
            })
            .collect();
        let (judge, request) = (Commands::default(), ReviewRequest::default());
        let lookup = Lookup {
            agent: &self.commands,
            earlier: None,
            judge: &judge,
            roots: &[project.to_owned()],
            state_dir: None,
            request: &request,
            old: None,
            check: &|_| None,
        };
        let findings = verify(&evidence, true, &lookup);
        let missing: Vec<_> = findings.iter().flatten().collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// Of this process, in bytes; 0 where nobody says.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let number = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    number.unwrap_or(0) << 10
}
