use std::ffi::OsString;
use std::path::Path;

use super::*;
use crate::client::args::read_args;
use crate::event::Event;
use crate::machine::Rules;
use crate::record::sample::SampleRecording;

/// Three sessions; the last of them was cleared, and continues as another conversation.
fn place(home: &Path) -> Directories {
    let sample = |id: &str, began: &str, task: &str| {
        let dir = home.join("sessions").join(id);
        let mut sample = SampleRecording::begin(&dir, began, Rules::default());
        sample.event(Event::Start { prompt: None }).said(task).turn(id, "built", 0.25);
        sample.verdict(false, "more");
        sample
    };
    sample("abc-1", "2026-01-15T08:00:00Z", "first");
    sample("abd-2", "2026-01-15T09:00:00Z", "second");
    sample("xyz-3", "2026-01-15T10:00:00Z", "third")
        .said("/clear")
        .agent(r#"{"type":"system","subtype":"init","session_id":"new-4"}"#);
    all_in(home)
}

fn all_in(dir: &Path) -> Directories {
    let dir = || dir.to_owned();
    Directories { project: dir(), config_dir: dir(), client_dir: dir(), state_dir: dir() }
}

fn taken_up(place: &Directories, args: &str) -> Result<TakenUp> {
    let taken = read_args(args.split_whitespace().map(OsString::from).collect());
    take_up(place, &taken, false, false)
}

#[test]
fn a_session_is_known_by_all_its_names() {
    let home = tempfile::tempdir().unwrap();
    let place = place(home.path());
    for (args, resume, round) in [
        ("--resume abc-1", Some("abc-1"), Some(1)),
        ("--resume abd", Some("abd-2"), Some(1)),
        ("-r xyz-3", Some("new-4"), Some(0)),
        ("-r new", Some("new-4"), Some(0)),
        ("--resume", Some("new-4"), Some(0)),
        ("--resume elsewhere", Some("elsewhere"), None),
        ("--continue", None, None),
        ("fix it", None, None),
    ] {
        let up = taken_up(&place, args).unwrap();
        assert_eq!(up.resume.as_deref(), resume, "{args}");
        assert_eq!(up.carried.map(|carried| carried.round), round, "{args}");
        if let Some(id) = resume {
            assert_eq!(up.first, AgentStart::Resume { session_id: id.into() }, "{args}");
        }
    }
    assert_eq!(taken_up(&place, "--continue").unwrap().first, AgentStart::Continue);
    for args in ["--resume ab", "--resume ../x"] {
        assert!(taken_up(&place, args).unwrap_err().is::<Usage>(), "{args}");
    }
}

#[test]
fn a_fork_takes_the_task_along_and_not_the_costs() {
    let home = tempfile::tempdir().unwrap();
    let up = taken_up(&place(home.path()), "--resume abc-1 --fork-session").unwrap();
    let carried = up.carried.unwrap();
    assert_eq!((up.resume, carried.round, carried.said.len()), (None, 1, 1));
    assert!(carried.cost_usd.abs() < 1e-9);
}

#[test]
fn the_latest_conversation_is_known_before_the_client_names_it() {
    let home = tempfile::tempdir().unwrap();
    let place = place(home.path());
    let dir = place.conversations().unwrap();
    std::fs::create_dir_all(&dir).unwrap();
    let begun = std::time::SystemTime::now();
    let changed = |name: &str, seconds: u64| {
        let file = std::fs::File::create(dir.join(name)).unwrap();
        file.set_modified(begun + std::time::Duration::from_secs(seconds)).unwrap();
    };
    changed("abc-1.jsonl", 1);
    changed("new-4.jsonl", 2);
    changed("memory.md", 9);
    let up = taken_up(&place, "--continue").unwrap();
    assert_eq!((up.resume.as_deref(), up.carried.is_some()), (Some("new-4"), true));
    changed("elsewhere.jsonl", 3);
    assert_eq!(taken_up(&place, "--continue").unwrap().first, AgentStart::Continue);
}

#[test]
fn without_recordings_the_client_is_asked() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(taken_up(&all_in(home.path()), "--resume").unwrap().first, AgentStart::Continue);
}

#[test]
fn a_person_chooses_by_number() {
    let home = tempfile::tempdir().unwrap();
    let stories = story::all(&place(home.path()).state_dir);
    let now: Zoned = "2026-01-15T12:00:00Z[UTC]".parse().unwrap();
    for (typed, id) in [("\n", "xyz-3"), ("2\n", "abd-2"), ("0\nx\n4\n3\n", "abc-1")] {
        let mut questions = Questions { input: typed.as_bytes(), output: Vec::new() };
        assert_eq!(choose(&stories, &mut questions, &now, 80).unwrap().id, id, "{typed:?}");
        let shown = String::from_utf8(questions.output).unwrap();
        assert!(
            shown.starts_with(" 1  today 10:00       xyz-3  cut off        third\n"),
            "{shown}"
        );
    }
    let mut nobody = Questions { input: &b""[..], output: Vec::new() };
    assert!(choose(&stories, &mut nobody, &now, 20).is_err());
    let shown = String::from_utf8(nobody.output).unwrap();
    assert!(shown.starts_with(" 1  today 10:00    …\n"), "one line each: {shown}");
}
