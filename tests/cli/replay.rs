//! `ccc replay` on recordings and directories, and `ccc fixture`.

mod conversion;
mod large;
mod recordings;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ccc::record::read::{EVENTS, Recording};
use ccc::record::rerun;
use recordings::{SESSION, edit, fixture, fixtures, record};

/// A project with a state directory, and a home that is nobody's.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("home")).expect("a home");
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn recorded(&self, name: &str, id: &str) -> PathBuf {
        let dir = self.path(".claude/ccc/sessions").join(id);
        record(&fixture(name), &dir);
        dir
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ccc"));
        command.args(args).current_dir(self.dir.path()).env_clear();
        command.env("HOME", self.path("home")).env("LC_ALL", "C.UTF-8").env("USER", "somebody");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    fn ccc(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("ccc runs")
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn differences(dir: &Path) -> Vec<String> {
    let recording = Recording::open(dir).expect("a recording");
    rerun::check(&recording).expect("it can be run").differences
}

#[test]
fn a_recorded_fixture_is_decided_the_same_again() {
    let dir = tempfile::tempdir().expect("a directory");
    for file in fixtures() {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let recorded = dir.path().join(&name);
        record(&fixture(&name), &recorded);
        assert_eq!(differences(&recorded), [""; 0], "{name}");
        let recording = Recording::open(&recorded).expect("a recording");
        let events = recording.event_lines().expect("events").count();
        assert!(events > 4, "{name}: {events}");
    }
}

#[test]
fn whatever_a_killed_session_left_is_a_beginning() {
    let dir = tempfile::tempdir().expect("a directory");
    let whole = dir.path().join("whole");
    record(&fixture("rejected_then_confirmed"), &whole);
    let events = fs::read_to_string(whole.join(EVENTS)).expect("events");
    let lines: Vec<&str> = events.lines().collect();
    for kept in 2..lines.len() {
        let half = &lines[kept][..lines[kept].len() / 2];
        let cut = format!("{}\n{half}", lines[..kept].join("\n"));
        fs::write(whole.join(EVENTS), cut).expect("events");
        assert_eq!(differences(&whole), [""; 0], "{kept} lines");
    }
    // The story may also be further than the client's lines.
    fs::write(whole.join(EVENTS), lines[..lines.len() - 1].join("\n") + "\n").expect("events");
    edit(&whole, "agent.jsonl", |text| text[..text.len() / 2].to_owned());
    assert_eq!(differences(&whole), [""; 0]);
    // But not of a session that came to its end.
    fs::write(whole.join(EVENTS), &events).expect("events");
    let error = rerun::check(&Recording::open(&whole).expect("a recording")).expect_err("damage");
    assert!(error.to_string().contains("more lines than the recording has"), "{error}");
}

#[test]
fn a_difference_is_named_with_its_entry() {
    let project = Project::new();
    let dir = project.recorded("rejected_then_confirmed", SESSION);
    project.recorded("interrupt", "another");
    let junit = project.path("reports/junit.xml");
    let args = ["replay", "--check", ".claude/ccc/sessions", "--junit", "reports/junit.xml"];

    let fine = project.ccc(&args);
    assert_eq!(fine.status.code(), Some(0), "{}{}", out(&fine), err(&fine));
    assert!(out(&fine).contains("2 of 2 passed"), "{}", out(&fine));
    assert!(out(&fine).contains("recording"), "{}", out(&fine));

    edit(&dir, EVENTS, |text| text.replacen("\"did\":\"send\"", "\"did\":\"unask\"", 1));
    let number = fs::read_to_string(dir.join(EVENTS))
        .expect("events")
        .lines()
        .position(|line| line.contains("\"did\":\"unask\""))
        .expect("the changed line");
    let failed = project.ccc(&args);
    assert_eq!(failed.status.code(), Some(1));
    let errors = err(&failed);
    let wanted = format!(
        "{SESSION}: entry {}: the recorded decision is {{\"did\":\"unask\"}}, but now it is {{\"did\":\"send\"",
        number + 1
    );
    assert!(errors.contains(&wanted), "{wanted}\n{errors}");
    assert!(out(&failed).contains("FAILED") && out(&failed).contains("1 of 2 passed"));
    let xml = fs::read_to_string(&junit).expect("the report");
    assert_eq!(xml.matches("<testcase ").count(), 2, "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 1, "{xml}");
    assert!(xml.contains("{&quot;did&quot;:&quot;unask&quot;}"), "{xml}");

    // Without --check it is shown all the same, and the difference is told.
    let shown = project.ccc(&["replay", "--instant", &SESSION[..6]]);
    assert_eq!(shown.status.code(), Some(0), "{}", err(&shown));
    assert!(err(&shown).contains("1 of "), "{}", err(&shown));
    assert!(err(&shown).contains("decisions differ"), "{}", err(&shown));
}

#[test]
fn a_notice_and_an_outcome_are_decisions_too() {
    let dir = tempfile::tempdir().expect("a directory");
    for (at, (from, to, part)) in [
        ("\"completed\":true", "\"completed\":false", "\"event\":\"verdict\""),
        ("\"round\":1", "\"round\":2", "\"round\":2"),
        (
            "\"did\":\"finish\",\"outcome\":\"ended\"",
            "\"did\":\"finish\",\"outcome\":\"limit\"",
            "\"outcome\":\"limit\"",
        ),
        ("\"result\":\"", "\"result\":\"not ", "the report was "),
    ]
    .into_iter()
    .enumerate()
    {
        let recorded = dir.path().join(at.to_string());
        record(&fixture("rejected_then_confirmed"), &recorded);
        edit(&recorded, EVENTS, |text| {
            assert!(text.contains(from), "{from}: {text}");
            text.replacen(from, to, 1)
        });
        let found = differences(&recorded);
        assert!(found.first().is_some_and(|first| first.contains(part)), "{part}: {found:?}");
    }
}

#[test]
fn a_line_that_cannot_be_read_is_no_pass() {
    let project = Project::new();
    let dir = project.recorded("interrupt", "one");
    edit(&dir, EVENTS, |text| text.replacen('\n', "\n{\"v\":9,\"new\":1}\n", 1));
    let output = project.ccc(&["replay", "--check", "one"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("cannot read 1 of its lines"), "{}", err(&output));
}

#[test]
fn a_session_that_was_resumed_has_several_runs() {
    let project = Project::new();
    let dir = project.recorded("interrupt", "twice");
    project.recorded("rejected_then_confirmed", "twice");
    assert_eq!(differences(&dir), [""; 0]);
    let shown = project.ccc(&["replay", "--instant", "twice"]);
    assert_eq!(out(&shown).matches("Session ended").count(), 2, "{}", out(&shown));
    for (run, part) in [("1", "build it"), ("2", "slugify")] {
        let fixture = project.ccc(&["fixture", "twice", "--run", run]);
        assert_eq!(fixture.status.code(), Some(0), "{}", err(&fixture));
        assert!(out(&fixture).contains(part), "{}", out(&fixture));
    }
    let none = project.ccc(&["fixture", "twice", "--run", "3"]);
    assert_eq!(none.status.code(), Some(2));
    edit(&dir, EVENTS, |text| text.replacen("\"did\":\"finish\"", "\"did\":\"unask\"", 2));
    assert!(differences(&dir)[0].starts_with("run 1, entry "), "{:?}", differences(&dir));
}

#[test]
fn nothing_to_check_is_an_error() {
    let project = Project::new();
    fs::create_dir_all(project.path("empty/below")).expect("a directory");
    fs::create_dir_all(project.path("torn")).expect("a directory");
    fs::write(project.path("torn/events.jsonl"), "{\"v\":2").expect("a file");
    fs::write(project.path("text.jsonl"), "no fixture\n").expect("a file");
    for (target, part) in [
        ("empty", "empty contains no fixture and no recording"),
        ("nowhere", "or a recorded session"),
        ("torn", "contains no recording"),
        ("text.jsonl", "a fixture must begin with its header"),
    ] {
        let output = project.ccc(&["replay", "--check", target]);
        assert_eq!(output.status.code(), Some(1), "{target}: {}", out(&output));
        assert!(err(&output).contains(part), "{target}: {}", err(&output));
    }
}

#[test]
fn the_fixtures_of_this_repository_are_checked_in_one_go() {
    let project = Project::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let output = project.ccc(&["replay", "--check", &dir.to_string_lossy()]);
    let count = fixtures().len();
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    assert!(out(&output).contains(&format!("{count} of {count} passed")), "{}", out(&output));
}
