//! The processes of a case: none of them outlives it, and none of them reaches one outside.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use ccc::client::case::CaseRequest;
use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

use super::{CaseRoom, Done, ignore_nothing};
use crate::patience::{PATIENCE, wait_within};
use crate::processes::{Process, descendants, wait_gone};

#[test]
fn a_killed_case_leaves_no_process_no_mount_and_no_directory() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    let place = CaseRoom::new();
    let case = CaseRequest { required: false, covered: vec![place.project.clone()] };
    for (signal, inner_one) in
        [(Signal::SIGKILL, false), (Signal::SIGKILL, true), (Signal::SIGTERM, false)]
    {
        let (mounts_before, before) = (mounts(), ignore_nothing(&place.root));
        // As the client does with its tools: a session of their own, out of reach of the group.
        let script = "echo x > new; setsid sleep 600 & setsid sh -c 'sleep 600; true'";
        let mut child = place.command(&case, &place.project, script).spawn().expect("the shim");
        let shim = child.id().cast_signed();
        let sleeps = |process: &Process| process.args.first().is_some_and(|name| name == "sleep");
        let all = wait_within(PATIENCE, || {
            let all = descendants(shim);
            (all.iter().filter(|process| sleeps(process)).count() == 2).then_some(all)
        });
        let all = all.expect("two tools");
        let inner = all.iter().find(|process| process.has_arg("agent-shim")).expect("a shim");
        let killed = if inner_one { inner.pid } else { shim };
        kill(Pid::from_raw(killed), signal).expect("a signal");
        child.wait().expect("its end");
        wait_gone(&all, PATIENCE);
        assert_eq!(mounts(), mounts_before);
        assert_eq!(ignore_nothing(&place.root), before);
    }
}

/// A client that ends by itself may leave something running; in a case it may not.
#[test]
fn nothing_that_was_started_in_a_case_outlives_it() {
    let place = CaseRoom::new();
    let pid = place.root.join("tmp/pid");
    let script = format!("setsid sleep 600 >/dev/null 2>&1 & echo $! > '{}'", pid.display());
    let done = place.run(&script);
    assert!(done.report.held.is_case(), "{done:?}");
    let pid: i32 = fs::read_to_string(pid).expect("a number").trim().parse().expect("a number");
    assert!(kill(Pid::from_raw(pid), None).is_err(), "{pid} is still there");
}

/// A judge that stops "its" server with `pkill` must not end the user's.
#[test]
fn signals_stay_in_the_case() {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if rules.scope(Scope::Signal).is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: Landlock cannot hold signals back here");
        return;
    }
    let place = CaseRoom::new();
    let mut outside = Command::new("sleep").arg("600").spawn().expect("sleep");
    let pid = outside.id();
    let done = place.run(&format!(
        "kill -0 {pid} || echo held; kill -9 {pid}; sleep 600 & kill $! && wait $!; echo $?"
    ));
    let survived = outside.try_wait().expect("its state").is_none();
    let _ = outside.kill().and_then(|()| outside.wait());
    assert!(survived && done.printed.starts_with("held\n"), "{done:?}");
    assert!(done.printed.contains("143\n"), "its own processes can be ended: {done:?}");
}

/// In tmux, the user's server would run the judge's commands, outside the case.
#[test]
fn the_users_terminal_multiplexer_is_not_the_judges() {
    let place = CaseRoom::new();
    let case = CaseRequest { required: false, covered: vec![place.project.clone()] };
    let script = "echo \"${TMUX-none} ${STY-none} $TMUX_TMPDIR\"";
    let mut command = place.command(&case, &place.project, script);
    command.env("TMUX", "/tmp/tmux-0/default,1,0").env("STY", "1.users");
    let done = Done::of(command);
    let own = place.root.join(format!("tmp/claude-{}", geteuid()));
    assert_eq!(done.printed, format!("none none {}\n", own.display()), "{done:?}");
}
