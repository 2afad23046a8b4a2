//! There is no room for what is to be written: that is a failure, it is said where it can be, and
//! nothing is left half done.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::room::Room;

fn is_lost(room: &Room, args: &[&str]) {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let mut command = room.ccc(args).into_command();
    let out = command.stdin(Stdio::null()).stdout(full).output().expect("ccc runs");
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(told.contains("ccc: cannot write the output: No space left"), "{args:?} {told}");
    assert_eq!(out.status.code(), Some(1), "{args:?}");
}

#[test]
fn a_session_whose_output_is_lost_has_failed_and_says_why() {
    for args in [&[][..], &["--output-format", "stream-json"], &["--output-format", "json"]] {
        is_lost(&Room::supervised(), &[&["--supervisor", "-p", "do it"], args].concat());
    }
    let room = Room::supervised();
    room.ccc(&["--supervisor", "-p", "do it"]).run().code(0);
    is_lost(&room, &["sessions", "show"]);
}

/// No file may grow: as on a disk that is full, a file can be made, but nothing be put into it.
#[test]
fn a_file_that_there_is_no_room_for_is_not_left_half_written() {
    let room = Room::new();
    let script = "ulimit -f 0; exec \"$0\" init";
    let run = || room.run_program(Path::new("/bin/sh")).args(&["-c", script]);
    let done = run().args(&[env!("CARGO_BIN_EXE_ccc")]).run().code(1);
    assert!(done.err().contains("SUPERVISOR.md"), "{}", done.err());
    assert!(!room.path("project/SUPERVISOR.md").exists());
    room.ccc(&["init"]).run().code(0);
}
