//! `ccc sessions`: what it lists, shows and removes.

mod taken_up;

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use ccc::event::{Action, Event};
use ccc::machine::{Machine, Rules};
use ccc::record::{Begun, ClientLines, Entry, EventLine, VERSION};
use serde_json::Value;

use crate::patience::{PATIENCE, wait_within};
use crate::person::Person;
use crate::room::{Room, STATE_DIR, value_of};

const ID: &str = "abcdef01-2345";
const OTHER: &str = "abcd0000-6789";

/// A recording that stops after the first round, which said "add tests"; or after a confirmed one.
fn record(room: &Room, id: &str, began: &str, completed: bool) {
    let rules = Rules::default();
    let mut machine = Machine::new(rules.clone());
    machine.step(Event::Start { prompt: None }, Duration::ZERO);
    let sent = machine.step(Event::Said("build it".into()), Duration::ZERO);
    let uuid = sent.iter().find_map(|action| match action {
        Action::Send { uuid, .. } => Some(uuid.clone()),
        _ => None,
    });
    let uuid = uuid.expect("a message");
    let dir = format!("{STATE_DIR}/sessions/{id}");
    room.write(
        &format!("{dir}/agent.jsonl"),
        format!(
            r#"{{"type":"system","subtype":"init","model":"m","session_id":"{id}"}}
{{"type":"user","isReplay":true,"uuid":"{uuid}"}}
{{"type":"result","num_turns":1,"result":"built","total_cost_usd":0.25}}
"#
        ),
    );
    room.write(
        &format!("{dir}/supervisor.jsonl"),
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t","name":"Bash","input":{{"command":"cargo test"}}}}]}}}}
{{"type":"result","num_turns":1,"result":"","total_cost_usd":0.01,"structured_output":{{"completed":{completed},"feedback":"add tests"}}}}
"#
        ),
    );
    let begun = Box::new(Begun {
        ccc: "0.1.0".into(),
        project: room.path("project").display().to_string(),
        provider: None,
        rules,
        agent_lines: 0,
        supervisor_lines: 0,
    });
    let mut text = String::new();
    for content in [
        Entry::Begun { begun },
        Entry::Event(Event::Start { prompt: None }),
        Entry::Event(Event::Said("build it".into())),
        Entry::Notice(ccc::event::Notice::UserMessage { text: "build it".into() }),
        Entry::Lines(ClientLines::Agent { lines: 3 }),
        Entry::Lines(ClientLines::Supervisor { review: 1, lines: 2 }),
    ] {
        let line = EventLine { v: VERSION, time: began.parse().expect("a time"), at: 1.0, content };
        text += &(serde_json::to_string(&line).expect("JSON") + "\n");
    }
    room.write(&format!("{dir}/events.jsonl"), text);
}

fn recording(room: &Room, id: &str) -> std::path::PathBuf {
    room.path(&format!("{STATE_DIR}/sessions/{id}"))
}

/// Nothing was written to it for a year.
fn age(room: &Room, id: &str) {
    let file = File::options().append(true).open(recording(room, id).join("events.jsonl"));
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    file.and_then(|file| file.set_modified(SystemTime::now() - year)).expect("a file");
}

#[test]
fn a_session_can_be_looked_back_at() {
    let room = Room::supervised();
    let none = room.ccc(&["sessions"]).run().code(0).out();
    assert!(none.contains("ccc --supervisor"), "{none}");
    room.ccc(&["--supervisor", "-p", "fix the parser\nand more"]).run().code(0);
    let id = value_of(&room.seen("agent-0.args"), "--session-id");

    let list = room.ccc(&["sessions"]).run().code(0).out();
    let row = list.lines().nth(1).expect("a row");
    assert!(row.starts_with("today ") && row.ends_with("fix the parser"), "{list}");
    assert!(row.contains(&id[..8]), "{list}");
    assert_eq!(room.ccc(&["sessions", "list"]).run().code(0).out(), list);

    let json = room.ccc(&["sessions", "--json"]).run().code(0).out();
    let all: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&all[0]["id"], &all[0]["session_id"]), (&id.clone().into(), &id.clone().into()));
    assert_eq!(all[0]["task"], "fix the parser\nand more");
    assert_eq!(all[0]["rounds"][0]["completed"], true);

    let shown = room.ccc(&["sessions", "show"]).run().code(0).out();
    for part in [&format!("Session {id}\n"), "❯ fix the parser · ", "Confirmed complete in round 1"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let path = room.ccc(&["sessions", "path", &id[..6]]).run().code(0).out();
    assert_eq!(path.trim_end(), recording(&room, &id).display().to_string());

    // What the supervisor printed is kept once, under both names.
    let beside = room.path(&format!("{STATE_DIR}/supervisor-{id}-output.jsonl"));
    let file = |path: &std::path::Path| fs::metadata(path).expect("a file").ino();
    assert_eq!(file(&beside), file(&recording(&room, &id).join("supervisor.jsonl")));
    room.enable(&id, 1);
    room.write(&format!("{STATE_DIR}/supervisor-{id}.lock"), "");
    room.ccc(&["sessions", "rm", "--yes", &id]).run().code(0);
    assert!(!recording(&room, &id).exists());
    let left = fs::read_dir(room.path(STATE_DIR)).expect("the state directory");
    let left =
        left.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    assert_eq!(left.filter(|name| name.starts_with("supervisor-")).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(room.ccc(&["sessions"]).run().code(0).out(), none);
}

#[test]
fn what_the_supervisor_checked_is_shown() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    let shown = room.ccc(&["sessions", "show", "abcdef"]).run().code(0).out();
    for part in ["┃ ● Bash cargo test", "  built", "Cut off"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let json = room.ccc(&["sessions", "show", "--json"]).run().code(0).out();
    let story: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(story["outcome"], "broken_off");
    assert_eq!(story["rounds"][0]["feedback"], "add tests");
    assert!((story["cost_usd"].as_f64().expect("a number") - 0.26).abs() < 1e-9, "{json}");
}

#[test]
fn a_long_list_is_cut_unless_all_is_wanted() {
    let room = Room::supervised();
    for number in 10..42 {
        record(&room, &format!("id-{number}"), &format!("2026-01-02T03:{number}:05Z"), true);
    }
    let list = room.ccc(&["sessions"]).run().code(0).out();
    assert!(list.contains("id-41") && !list.contains("id-11"), "{list}");
    assert!(list.ends_with("\n2 more: ccc sessions --all\n"), "{list}");
    let list = room.ccc(&["sessions", "list", "--all"]).run().code(0).out();
    assert_eq!(list.lines().count(), 1 + 32, "{list}");
}

#[test]
fn what_is_typed_wrong_says_so_and_removes_nothing() {
    let room = Room::supervised();
    let done = room.ccc(&["sessions", "show"]).run().code(1);
    assert!(done.err().contains("no session is recorded"), "{}", done.err());
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    record(&room, OTHER, "2026-01-02T03:04:05Z", false);
    for (args, code) in [
        (&["show", "nothing"][..], 1),
        (&["show", "abcd"], 1),
        (&["path", ""], 2),
        (&["rm"], 2),
        (&["rm", ID], 2),
        (&["rm", "--yes", ID, "nothing"], 1),
        (&["rm", "--yes", "../sessions/abcdef01-2345"], 1),
        (&["prune"], 2),
        (&["prune", "--older-than", "soon"], 2),
        (&["prune", "--older-than", "1h", "--yes"], 0),
        (&["tomorrow"], 2),
    ] {
        let done = room.ccc(&[&["sessions"], args].concat()).run().code(code);
        assert!(code == 0 || !done.err().is_empty(), "{args:?}");
        assert!(recording(&room, ID).exists() && recording(&room, OTHER).exists(), "{args:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    for args in [
        &["sessions"][..],
        &["sessions", "show"],
        &["sessions", "show", "--json"],
        &["sessions", "--json"],
        &["sessions", "path"],
        &["replay", "--instant", ID],
        &["replay", "--check", ID],
        &["fixture", ID, "--force"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = room.ccc(args).into_command();
        let output = command.stdout(writer).stderr(Stdio::piped()).output().expect("ccc runs");
        let err = String::from_utf8_lossy(&output.stderr);
        // This recording does not tell what was decided: that is no matter of the pipe.
        let quiet = !err.contains("ipe") && !err.contains("panicked");
        assert!(quiet && output.status.code() != Some(101), "{args:?}: {err}");
        if args[0] == "sessions" {
            assert_eq!((output.status.code(), &*err), (Some(0), ""), "{args:?}");
        }
    }
}

#[test]
fn old_recordings_are_pruned_and_links_are_not_followed() {
    let room = Room::supervised();
    record(&room, ID, "2025-01-02T03:04:05Z", false);
    record(&room, OTHER, "2025-01-02T03:04:05Z", false);
    age(&room, ID);
    let prune = |more: &[&str]| {
        let args = ["sessions", "prune", "--older-than", "30d"];
        room.ccc(&[&args, more].concat()).run()
    };
    let done = prune(&["--dry-run"]).code(0);
    assert!(done.out().contains(ID) && !done.out().contains(OTHER), "{}", done.out());
    prune(&[]).code(2);
    assert!(recording(&room, ID).exists());
    prune(&["--yes"]).code(0);
    assert!(!recording(&room, ID).exists());
    assert!(recording(&room, OTHER).exists(), "it was written to a moment ago");
    assert!(prune(&["--yes"]).code(0).out().contains("Nothing is that old"));

    fs::rename(recording(&room, OTHER), room.path("elsewhere")).expect("a directory");
    std::os::unix::fs::symlink(room.path("elsewhere"), recording(&room, OTHER)).expect("a link");
    let done = room.ccc(&["sessions", "rm", "--yes", OTHER]).run().code(1);
    assert!(done.err().contains("no recorded session"), "{}", done.err());
    assert!(room.path("elsewhere/events.jsonl").exists() && recording(&room, OTHER).exists());

    // A link in the place of the directory that holds them all.
    let (sessions, foreign) = (room.path(STATE_DIR).join("sessions"), room.path("foreign"));
    fs::remove_file(recording(&room, OTHER)).expect("the link");
    record(&room, ID, "2025-01-02T03:04:05Z", false);
    age(&room, ID);
    fs::rename(&sessions, &foreign).expect("a directory");
    std::os::unix::fs::symlink(&foreign, &sessions).expect("a link");
    assert!(prune(&["--yes"]).code(0).out().contains("Nothing is that old"));
    assert!(foreign.join(ID).join("events.jsonl").exists());
}

/// Sessions of the plain client, which only its Stop hook knew of.
#[test]
fn what_the_stop_hook_left_is_pruned_too() {
    let room = Room::supervised();
    room.enable("old-one", 3);
    room.enable("new-one", 1);
    record(&room, ID, "2025-01-02T03:04:05Z", false);
    room.enable(ID, 1);
    let old = |id: &str| {
        let path = room.path(&format!("{STATE_DIR}/supervisor-{id}.json"));
        let year = Duration::from_secs(365 * 24 * 60 * 60);
        let file = File::options().append(true).open(path).expect("a file");
        file.set_modified(SystemTime::now() - year).expect("a time");
    };
    old("old-one");
    // One that belongs to a recording goes with that.
    old(ID);
    let args = ["sessions", "prune", "--older-than", "30d"];
    let shown = room.ccc(&[&args[..], &["--dry-run"]].concat()).run().code(0).out();
    assert!(shown.contains("old-one") && !shown.contains("new-one"), "{shown}");
    assert!(!shown.contains(ID), "{shown}");
    room.ccc(&[&args[..], &["--yes"]].concat()).run().code(0);
    let exists = |id: &str| room.path(&format!("{STATE_DIR}/supervisor-{id}.json")).exists();
    assert_eq!([exists("old-one"), exists("new-one"), exists(ID)], [false, true, true]);
}

/// The id that a person sees is the conversation's; a recording keeps the one that it began with.
#[test]
fn after_clear_both_ids_are_good() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    let dir = recording(&room, ID);
    let mut agent = fs::read_to_string(dir.join("agent.jsonl")).expect("lines");
    agent += "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"zz-cleared\"}\n";
    fs::write(dir.join("agent.jsonl"), agent).expect("a file");
    let mut events = fs::read_to_string(dir.join("events.jsonl")).expect("events");
    for content in [
        Entry::Lines(ClientLines::Agent { lines: 1 }),
        Entry::Notice(ccc::event::Notice::Session { session_id: "zz-cleared".into() }),
    ] {
        let time = "2026-01-02T03:05:05Z".parse().expect("a time");
        let line = EventLine { v: VERSION, time, at: 2.0, content };
        events += &(serde_json::to_string(&line).expect("JSON") + "\n");
    }
    fs::write(dir.join("events.jsonl"), events).expect("a file");
    let wanted = dir.display().to_string();
    for name in [ID, "abcdef", "zz-cleared", "zz"] {
        let path = room.ccc(&["sessions", "path", name]).run().code(0).out();
        assert_eq!(path.trim_end(), wanted, "{name}");
        room.ccc(&["sessions", "show", name]).run().code(0);
        let shown = room.ccc(&["replay", "--instant", name]).run().code(0);
        assert!(shown.out().contains("build it"), "{}", shown.out());
    }
    record(&room, OTHER, "2026-01-02T03:04:05Z", false);
    let several = room.ccc(&["sessions", "rm", "--yes", "abcd"]).run().code(1).err();
    assert!(several.contains(OTHER) && several.contains("(now zz-cleared)"), "{several}");
    // What stands beside the recording goes with it, under both ids, and nothing of another's does.
    let beside = |id: &str| {
        [".json", ".lock", "-output.jsonl"]
            .map(|end| room.path(&format!("{STATE_DIR}/supervisor-{id}{end}")))
    };
    for path in [ID, "zz-cleared", OTHER].iter().flat_map(|id| beside(id)) {
        fs::write(path, "").expect("a file");
    }
    room.ccc(&["sessions", "rm", "--yes", "zz-cleared"]).run().code(0);
    assert!(!dir.exists());
    let left = |id: &str| beside(id).iter().filter(|path| path.exists()).count();
    assert_eq!([left(ID), left("zz-cleared"), left(OTHER)], [0, 0, 3]);
    age(&room, OTHER);
    room.ccc(&["sessions", "prune", "--older-than", "30d", "--yes"]).run().code(0);
    assert_eq!(left(OTHER), 0, "pruned with its recording");
}

#[test]
fn a_running_session_stays() {
    let room = Room::supervised();
    room.client(&format!(
        "#!/bin/sh\nread -r line\necho '{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{ID}\"}}'\ncat\n"
    ));
    let mut started = room.ccc(&["--supervisor", "-p", "do it"]).start();
    let listed = || room.ccc(&["sessions"]).run().code(0).out();
    let running = wait_within(PATIENCE, || listed().contains("  running  ").then_some(()));
    assert!(running.is_some(), "{}", listed());
    let done = room.ccc(&["sessions", "rm", "--yes", ID]).run().code(1);
    assert!(done.err().contains("is running"), "{}", done.err());
    age(&room, ID);
    room.ccc(&["sessions", "prune", "--older-than", "0s", "--yes"]).run().code(0);
    assert!(recording(&room, ID).exists());
    started.kill();
    started.finish();
    assert!(listed().contains("cut off"), "{}", listed());
    room.ccc(&["sessions", "rm", "--yes", ID]).run().code(0);
}

#[test]
fn a_person_is_asked_before_a_recording_is_removed() {
    let room = Room::supervised();
    record(&room, ID, "2026-01-02T03:04:05Z", false);
    for (typed, stays) in [("\r", true), ("y\r", false)] {
        let mut person = Person::runs(&room, &["sessions", "rm", "abcdef"]);
        person.sees(ID).sees("Remove 1 recording?").types(typed);
        assert_eq!(person.leaves().0, 0);
        assert_eq!(recording(&room, ID).exists(), stays, "{typed:?}");
    }
}
