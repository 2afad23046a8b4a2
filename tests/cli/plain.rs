//! A person who gets lines instead of a screen: because the terminal can do no more, because they
//! asked for it, or because the output goes through a pipe. And what colours and characters there are.

mod client;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::json;

use crate::patience::wait_until;
use crate::person::Person;
use crate::room::{Room, verdict};
use crate::shell::as_a_job;
use client::CLIENT;

const CCC: &str = env!("CARGO_BIN_EXE_ccc");
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_Z: &str = "\x1a";

fn room() -> Room {
    let room = Room::supervised();
    room.client(CLIENT);
    room
}

fn plain(room: &Room) -> Person {
    let mut person = Person::runs(room, &["--supervisor", "--plain"]);
    person.sees("Supervisor mode enabled").sees("\n> ");
    person
}

/// A task with a question in it, one that is steered, and the end.
fn whole_session(room: &Room, person: &mut Person) {
    room.supervisor_prints_in(0, &verdict(false, "add tests"));
    person.sees("Supervisor mode enabled").sees("\n> ").types("be careful\n");
    person.sees("-- working - round 1/10 --").sees("? The agent wants to use Bash");
    person.sees("  command: rm -rf build").sees("Type y to allow it once, n to deny it");
    person.sees("Allow Bash? [y/n/d] ").types("what?\n");
    person.sees("was not sent").sees("Allow Bash? [y/n/d] ").types("y\n");
    person.sees("allowed Bash").sees("all done here").sees("| Review 1/10");
    person.sees("X Not complete yet").sees("|   add tests").sees("all done here");
    person.sees("OK Confirmed complete in round 2").sees("\n> ").types("slowly\n");
    person.sees("one moment").types("hurry up\n");
    person.sees("all done here").sees("OK Confirmed complete in round 1").sees("\n> ");
}

fn sent(room: &Room, text: &str) -> bool {
    room.seen("agent-0.input").contains(&format!(r#""content":"{text}""#))
}

/// Nothing that moves the cursor or asks the terminal for something.
#[track_caller]
fn lines_only(screen: &str) {
    let steers = |c: char| c.is_control() && !"\r\n".contains(c);
    assert!(!screen.contains(steers) && screen.is_ascii(), "{screen:?}");
    assert!(!screen.replace("\r\n", "").contains('\r'), "{screen:?}");
}

#[test]
fn a_whole_session_in_plain_lines() {
    let room = room();
    let mut person = Person::runs(&room, &["--supervisor", "--plain"]);
    whole_session(&room, &mut person);
    person.types(CTRL_D);
    let (code, screen) = person.leaves();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("\nccc: Session ended - 3 rounds"), "{screen}");
    lines_only(&screen);
    assert!(sent(&room, "be careful") && sent(&room, "hurry up") && !sent(&room, "what?"));
    assert_eq!(screen.matches("be careful").count(), 1, "the terminal's echo is enough: {screen}");
    assert!(room.seen("agent-0.input").contains(r#""behavior":"allow""#));
}

/// The client is asked what there is, as in a session that is drawn.
#[test]
fn the_models_are_listed() {
    let room = room();
    let mut person = plain(&room);
    person.types("go\n").sees("all done here").sees("OK Confirmed").sees("\n> ").types("/model\n");
    person.sees("zq-small: quick").sees("zq-large: thorough");
    person.sees("Type /model NAME to change it.").types(CTRL_D);
    assert_eq!(person.leaves().0, 0);
}

#[test]
fn terminals_that_can_do_no_more_get_lines() {
    let room = room();
    for (name, value) in [("TERM", "dumb"), ("TERM", ""), ("CCC_PLAIN", "1")] {
        let args = [CCC, "--supervisor"];
        let mut person = Person::starts(&room, &args, &[(name, value), ("CLICOLOR_FORCE", "1")]);
        person.sees("Supervisor mode enabled").sees("\n> ").types("do it\n");
        person.sees("Confirmed complete in round 1").sees("\n> ").types(CTRL_D);
        let (code, screen) = person.leaves();
        assert_eq!(code, 0, "{name}={value}: {screen}");
        lines_only(&screen);
    }
    room.config(&json!({"supervisor": {"plain": true}}));
    let mut person = Person::runs(&room, &["--supervisor"]);
    person.sees("\n> ").types(CTRL_D);
    lines_only(&person.leaves().1);
}

#[test]
fn without_a_person_plain_means_that_nothing_is_drawn_over() {
    let room = room();
    let mut person = Person::runs(&room, &["--supervisor", "--plain", "-p", "do it"]);
    person.sees("all done here");
    let (code, screen) = person.leaves();
    assert_eq!(code, 0, "{screen}");
    lines_only(&screen);
}

/// As a person keeps a log; `-i` because Ctrl-C reaches every process in front of the terminal.
#[test]
fn a_session_through_a_pipe() {
    let room = room();
    let script =
        format!("trap : INT; (trap : INT; {CCC} --supervisor; echo code=$?) | tee -i ../log");
    let mut person = Person::starts(&room, &["/bin/sh", "-c", &script], &[]);
    whole_session(&room, &mut person);
    person.types("slowly\n").sees("one moment").types(CTRL_C);
    person.sees("Interrupted.").sees("\n> ").types(CTRL_D).sees("code=0");
    lines_only(&person.leaves().1.replace("^C", ""));
    let log = room.read("log");
    for line in ["\n> be careful\n", "\nAllow Bash? [y/n/d] y\n", "\n> hurry up\n", "\n> slowly\n"]
    {
        assert!(log.contains(line), "{line:?}: {log}");
    }
}

#[test]
fn a_pipe_that_ctrl_c_ended_is_named() {
    let room = room();
    let script = format!("trap : INT; (trap : INT; {CCC} --supervisor; echo code=$? >&2) | cat");
    let mut person = Person::starts(&room, &["/bin/sh", "-c", &script], &[]);
    person.sees("\n> ").types("slowly\n").sees("one moment").types(CTRL_C);
    person.sees("cannot write the output").sees("tee -i").sees("--resume ").sees("code=1");
}

#[test]
fn what_goes_to_a_file_or_a_program_is_read_by_nobody() {
    let room = room();
    let script = format!("{CCC} --supervisor 'do it' >../log; echo code=$?");
    Person::starts(&room, &["/bin/sh", "-c", &script], &[]).sees("code=0");
    assert_eq!(room.read("log"), "all done here\n", "the answer alone");
    let script = format!("{CCC} --supervisor --output-format json 'do it' | cat");
    let mut person = Person::starts(&room, &["/bin/sh", "-c", &script], &[]);
    // Whoever looks at the terminal sees how it goes on; the program gets its object alone.
    person.sees("Review 1/10").sees("Confirmed complete").sees(r#""outcome":"completed""#);
}

#[test]
fn ctrl_c_interrupts_and_at_the_prompt_it_leaves() {
    let room = room();
    let mut person = plain(&room);
    person.types("slowly\n").sees("one moment").types(CTRL_C);
    person.sees("Interrupted.").sees("\n> ").types(CTRL_C);
    person.sees("Press Ctrl-C again to exit.").sees("\n> ").types("do it\n");
    // The same agent goes on: no signal has reached it.
    person.sees("all done here").sees("Confirmed complete").sees("\n> ").types(CTRL_C);
    person.sees("Press Ctrl-C again to exit.").sees("\n> ").types(CTRL_C);
    let (code, screen) = person.leaves();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Session ended"), "{screen}");
    assert!(!room.path("seen/agent-1.args").exists(), "{screen}");
}

#[test]
fn ctrl_c_drops_a_review() {
    let room = room();
    room.supervisor_prints_in(0, "");
    let mut person = plain(&room);
    person.types("do it\n").sees("| Review 1/10");
    wait_until("the supervisor has its prompt", || room.path("seen/supervisor-0.input").exists());
    person.types(CTRL_C).sees("Review cancelled (interrupted)").sees("\n> ").types("/supervisor\n");
    person.sees("Confirmed complete").sees("\n> ").types(CTRL_D);
    assert_eq!(person.leaves().0, 0);
}

#[test]
fn other_signals_end_the_session_as_everywhere() {
    let room = room();
    let person = plain(&room);
    kill(Pid::from_raw(person.pid()), Signal::SIGTERM).expect("ccc runs");
    let (code, screen) = person.leaves();
    assert_eq!(code, 143, "{screen}");
}

#[test]
fn ctrl_z_stops_and_it_goes_on_with_a_marker() {
    let room = room();
    let mut person = Person::starts(&room, &as_a_job(&[CCC, "--supervisor", "--plain"]), &[]);
    person.sees("Supervisor mode enabled").sees("\n> ").types(CTRL_Z);
    let pid = Pid::from_raw(person.pid());
    let stopped = || {
        let status = waitpid(pid, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED));
        matches!(status, Ok(WaitStatus::Stopped(..)))
    };
    wait_until("ccc is stopped", stopped);
    kill(pid, Signal::SIGCONT).expect("ccc is there");
    person.sees("> ").types("do it\n").sees("Confirmed complete").sees("\n> ").types(CTRL_D);
    assert_eq!(person.leaves().0, 0);
}

#[test]
fn several_lines_are_one_message_and_a_line_that_was_cut_is_none() {
    let room = room();
    let mut person = plain(&room);
    // A paste.
    person.types("some\nlines\n").sees("Confirmed complete").sees("\n> ");
    person.types(&format!("{}\n", "x".repeat(5000)));
    person.sees("nothing was sent").sees("\n> ").types("first\\\n");
    person.sees("... ").types("second\n").sees("Confirmed complete").sees("\n> ").types(CTRL_D);
    assert_eq!(person.leaves().0, 0);
    for text in [r"some\nlines", r"first\nsecond"] {
        assert!(sent(&room, text), "{text}: {}", room.seen("agent-0.input"));
    }
    assert!(!room.seen("agent-0.input").contains("xxxx"));
}

#[test]
fn a_reason_reaches_the_agent() {
    let room = room();
    let mut person = plain(&room);
    person.types("be careful\n").sees("Allow Bash? [y/n/d] ").types("d use make clean\n");
    person.sees("denied Bash: use make clean").sees("Confirmed complete").types(CTRL_D);
    assert_eq!(person.leaves().0, 0);
    assert!(room.seen("agent-0.input").contains(r#""message":"use make clean""#));
}

#[test]
fn the_offer_of_instructions_is_made_here_too() {
    let room = Room::new();
    let script = format!("({CCC} --supervisor; echo code=$?) | cat");
    let mut person = Person::starts(&room, &["/bin/sh", "-c", &script], &[]);
    person.sees("There is no SUPERVISOR.md").sees("[Y/n] ").types("y\n");
    person.sees("Supervisor mode enabled").sees("\n> ").types(CTRL_D).sees("code=0");
    assert!(room.path("project/SUPERVISOR.md").exists());
}

#[test]
fn a_full_terminal_without_colours_and_without_unicode() {
    let colour = |screen: &str| {
        let parameters = |rest: &str| {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
        };
        // To take colours back is none.
        screen.replace("\x1b[0m", "").split("\x1b[").skip(1).any(parameters)
    };
    let room = room();
    for (env, coloured, ascii) in [
        (&[][..], true, false),
        (&[("NO_COLOR", "1")], false, false),
        (&[("CLICOLOR", "0")], false, false),
        (&[("LANG", "C")], true, true),
        (&[("LANG", "C"), ("LC_ALL", "C.UTF-8")], true, false),
    ] {
        let mut person = Person::starts(&room, &[CCC, "--supervisor"], env);
        person.sees("ready").types("be careful").sees("be careful").types("\r");
        person.sees("1. Yes, once").types("\r").sees("allowed Bash");
        person.sees("Confirmed complete in round 1").sees("ready").types(CTRL_D);
        let (code, screen) = person.leaves();
        assert_eq!(code, 0, "{env:?}: {screen}");
        assert_eq!((colour(&screen), screen.is_ascii()), (coloured, ascii), "{env:?}: {screen}");
    }
}
