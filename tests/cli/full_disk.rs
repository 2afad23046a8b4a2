//! Where the output goes there is no room for it: that is a failure, and it is said elsewhere.

use std::fs;
use std::process::{Output, Stdio};

use crate::room::Room;

fn into_a_full_device(room: &Room, args: &[&str]) -> Output {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let mut command = room.ccc(&[&["--supervisor", "-p", "do it"], args].concat()).into_command();
    command.stdin(Stdio::null()).stdout(full).output().expect("ccc runs")
}

#[test]
fn a_session_whose_output_is_lost_has_failed_and_says_why() {
    for args in [&[][..], &["--output-format", "stream-json"], &["--output-format", "json"]] {
        let out = into_a_full_device(&Room::supervised(), args);
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(told.starts_with("ccc: cannot write the output: No space left"), "{args:?} {told}");
        assert_eq!(out.status.code(), Some(1), "{args:?}");
    }
}
