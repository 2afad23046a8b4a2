//! What cannot be written costs the recording, never the session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use ccc::record::read::{AGENT, CAST, EVENTS, SUPERVISOR};

use crate::client::{NO, YES, room};
use crate::rerun::rerun;
use crate::room::{Done, STATE_DIR};
use crate::trace::Trace;

const ID: &str = "11111111-2222-4333-8444-555555555555";
const ARGS: [&str; 5] = ["--supervisor", "-p", "go", "--session-id", ID];

/// The session went as it should, and said once what is missing.
#[track_caller]
fn check(done: &Done, what: &str, why: &str) {
    let out = done.transcript();
    assert!(out.contains("Confirmed complete in round 2"), "{out}");
    let told: Vec<&str> = out.lines().filter(|line| line.contains("Not recorded")).collect();
    assert_eq!(told.len(), 1, "{out}");
    assert!(told[0].contains(what) && told[0].contains(why), "{told:?}");
}

/// A link where a file of ours should be is not followed, whatever it leads to.
#[test]
fn a_link_in_their_place() {
    let all = [AGENT, SUPERVISOR, EVENTS, CAST];
    for linked in [all.as_slice(), &[AGENT], &[SUPERVISOR], &[EVENTS], &[CAST]] {
        let room = room(&[NO, YES]);
        let dir = room.path(STATE_DIR).join("sessions").join(ID);
        fs::create_dir_all(&dir).expect("a directory");
        room.write("victim", "one\nhalf");
        for name in linked {
            symlink(room.path("victim"), dir.join(name)).expect("a link");
        }
        let done = room.ccc(&ARGS).run().code(0);
        check(&done, &linked.join(", "), "it is a symbolic link");
        assert_eq!(room.read("victim"), "one\nhalf");
        let trace = Trace { dir };
        for name in all.iter().filter(|name| !linked.contains(*name)) {
            assert!(trace.text(name).ends_with('\n'), "{name}");
        }
        if linked == [CAST] {
            assert!(rerun(&trace.recording()) > 10);
        }
        let log = room.read(&format!("{STATE_DIR}/ccc.log"));
        assert_eq!(log.matches("not recorded").count(), linked.len(), "{log}");
    }
}

/// As `ulimit -f` has it: the signal for it does not end ccc, and the files end with whole lines.
#[test]
fn a_limit_for_the_size_of_files() {
    let room = room(&[NO, YES]);
    let done = room
        .run_program(Path::new("/bin/sh"))
        .args(&["-c", r#"ulimit -f 16 && exec "$0" "$@""#, env!("CARGO_BIN_EXE_ccc")])
        .args(&ARGS)
        .env("QUIET", "1")
        .env("PARTS", "400")
        .run()
        .code(0);
    check(&done, AGENT, "File too large");
    let trace = Trace::of(&room);
    assert!(!trace.check_lines());
    let size = |name| fs::metadata(trace.path(name)).expect(name).len();
    assert!((1..=16 << 10).contains(&size(AGENT)), "{}", size(AGENT));
    assert!(trace.text(EVENTS).contains(r#""ended""#));
}

#[test]
fn a_place_where_nothing_can_be_made() {
    let in_the_way = format!("{STATE_DIR}/sessions");
    let room = room(&[NO, YES]);
    room.write(&in_the_way, "not a directory");
    let done = room.ccc(&ARGS).run().code(0);
    check(&done, ID, "");
    assert_eq!(room.read(&in_the_way), "not a directory");
}

#[test]
fn programs_are_told_too() {
    let room = room(&[NO, YES]);
    room.write(&format!("{STATE_DIR}/sessions"), "not a directory");
    let done = room.ccc(&ARGS).args(&["--output-format", "json"]).run().code(0);
    let closing: serde_json::Value = serde_json::from_str(&done.out()).expect("an object");
    assert!(closing["not_recorded"][0].as_str().is_some_and(|what| what.contains(ID)), "{closing}");
    let room = crate::client::room(&[NO, YES]);
    room.write(&format!("{STATE_DIR}/sessions"), "not a directory");
    let done = room.ccc(&ARGS).args(&["--output-format", "stream-json"]).run().code(0);
    let told = r#"{"type":"ccc","event":"not_recorded","what":"#;
    assert_eq!(done.out().lines().filter(|line| line.starts_with(told)).count(), 1);
}
