//! Signals that come in pairs, at bad moments, or to a ccc that was told to ignore them.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::patience::wait_until;
use crate::room::{Room, STATE_DIR};
use crate::tool::{self, SECONDS, at_work, signal};

/// Whoever is impatient gets a faster end, and the same one. The last signal is sent again and again,
/// with this much between, until ccc is gone.
#[track_caller]
fn impatiently(signals: &[Signal], pause: Duration) {
    let room = tool::room();
    let (running, tool) = at_work(&room);
    let pid = running.pid();
    let over = Arc::new(AtomicBool::new(false));
    let sender = std::thread::spawn({
        let (over, signals) = (Arc::clone(&over), signals.to_vec());
        move || {
            for at in 0.. {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                // At the very end nobody may be there.
                let _ = kill(Pid::from_raw(pid), signals[at.min(signals.len() - 1)]);
                std::thread::sleep(pause);
            }
        }
    });
    let done = running.finish_then(SECONDS, || over.store(true, Ordering::SeqCst));
    sender.join().expect("the sender");
    // Several may be pending at the same moment, and then they have no order.
    let code = done.status().code().unwrap_or_default();
    let known = signals.iter().any(|signal| 128 + *signal as i32 == code);
    assert!(known, "{:?}: {}", done.status(), done.err());
    tool.is_gone();
}

#[test]
fn a_hang_up_right_after_a_term_leaves_nobody() {
    impatiently(&[Signal::SIGTERM, Signal::SIGHUP], Duration::from_millis(1));
}

#[test]
fn two_interrupts_leave_nobody() {
    impatiently(&[Signal::SIGINT], Duration::from_millis(20));
}

#[test]
fn two_hang_ups_leave_nobody() {
    impatiently(&[Signal::SIGHUP], Duration::from_millis(5));
}

#[test]
fn a_storm_of_signals_leaves_nobody() {
    let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
    impatiently(&all.repeat(100), Duration::ZERO);
}

/// As under `nohup`.
#[test]
fn a_hang_up_that_was_ignored_at_the_start_stays_ignored() {
    let room = Room::supervised();
    // The turn ends when the test says so.
    room.client(&crate::room::CLIENT.replace(
        r#"    echo "{\"type\":\"system\""#,
        r#"    echo up >"$ROOM/up"; cat "$ROOM/hold"; echo "{\"type\":\"system\""#,
    ));
    let hold = room.path("seen/hold");
    nix::unistd::mkfifo(&hold, nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    let script =
        format!(r#"trap '' HUP; exec "{}" --supervisor -p zq-task"#, env!("CARGO_BIN_EXE_ccc"));
    let running = room.run_program(Path::new("/bin/sh")).args(&["-c", &script]).start();
    wait_until("the turn has begun", || room.path("seen/up").exists());
    signal(running.pid(), Signal::SIGHUP);
    // The client's first line comes after the signal.
    let mut hold = std::fs::OpenOptions::new().write(true).open(&hold).expect("the FIFO");
    hold.write_all(b"\n").expect("a reader");
    drop(hold);
    running.finish().code(0);
}

/// What the judge prints when it is told to end: by the end of its input or by a signal, whichever it
/// sees first.
const LAST_WORDS: &str = r#"#!/bin/sh
for arg; do [ "$arg" = --fork-session ] && judge=1; done
if [ -n "$judge" ]; then
  trap 'echo "{\"type\":\"result\",\"num_turns\":1,\"result\":\"zq-last-words\"}"' EXIT
  trap 'exit 0' TERM
  while read -r line; do
    case $line in *'"type":"user"'*) touch "$ROOM/judging" ;; esac
  done
  exit 0
fi
while read -r line; do
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  echo '{"type":"system","subtype":"init","model":"fake","session_id":"abc"}'
  echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"abc\"}"
  echo '{"type":"result","num_turns":1,"result":"done","session_id":"abc"}'
done
"#;

/// Before a verdict counts, the project's files are compared. At the end nobody hears of that any more:
/// the judge did not count as gone, and ccc killed it after nine seconds.
#[test]
fn a_judge_that_ends_with_a_result_is_gone_at_once() {
    let room = Room::supervised();
    room.client(LAST_WORDS);
    room.config(&serde_json::json!({"supervisor": {"sandbox": "off"}}));
    let running = room.ccc(&["--supervisor", "-p", "do it"]).start();
    wait_until("the judge has its message", || room.path("seen/judging").exists());
    signal(running.pid(), Signal::SIGTERM);
    running.finish().code(143);
    let sessions = room.path(STATE_DIR).join("sessions");
    let recorded = std::fs::read_dir(sessions).expect("sessions").flatten().any(|session| {
        let lines = std::fs::read_to_string(session.path().join("supervisor.jsonl"));
        lines.is_ok_and(|lines| lines.contains("zq-last-words"))
    });
    assert!(recorded, "its last words waited for a comparison");
}
