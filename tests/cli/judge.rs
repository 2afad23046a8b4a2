//! `ccc judge`, with a judge in a few lines of shell.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::patience::{PATIENCE, wait_within};
use crate::room::{Room, verdict};

const TWO: [&str; 6] =
    ["judge", "--yes", "--only", "half of two requests", "--only", "a question answered"];

#[test]
fn what_cannot_be_meant_is_said_before_anything_costs_money() {
    let room = Room::supervised();
    for (args, told) in [
        (&["judge"][..], "add --yes"),
        (&["judge", "--json"], "add --yes"),
        (&["judge", "--yes", "--only", "zq-nothing"], "no session has \"zq-nothing\" in its name"),
        (
            &["judge", "--yes", "--provider", "zq"],
            "there is no provider \"zq\"; ccc.json has no providers",
        ),
        (&["judge", "--all", "--only", "x"], "cannot be used with"),
    ] {
        let done = room.ccc(args).run().code(2);
        assert!(done.err().contains(told), "{args:?}: {}", done.err());
    }
    let done = room.ccc(&["judge", "--yes", "--supervisor", "zq.md"]).run().code(1);
    assert!(done.err().contains("there is no file zq.md"), "{}", done.err());
    room.write("project/empty.md", "");
    let done = room.ccc(&["judge", "--yes", "--supervisor", "empty.md"]).run().code(1);
    assert!(done.err().contains("cannot read empty.md: it is empty"), "{}", done.err());
    let done = Room::new().ccc(&["judge", "--yes"]).run().code(1);
    assert!(done.err().contains("there is no SUPERVISOR.md"), "{}", done.err());
    assert_eq!(room.reviews(), 0);
}

#[test]
fn the_sessions_are_listed_without_a_client() {
    let room = Room::new();
    let out = room.ccc(&["judge", "--list"]).env("CCC_CLAUDE", "/nowhere").run().code(0).out();
    assert!(out.contains("not done  half of two requests  "), "{out}");
    assert!(out.contains("the second function is missing"), "{out}");
    assert!(out.contains("done      a question answered"), "{out}");
    let all = room.ccc(&["judge", "--list", "--all", "--json"]).run().code(0).out();
    let all: Value = serde_json::from_str(&all).expect("JSON");
    assert!(all["sessions"].as_array().expect("a list").len() > 100);
}

#[test]
fn a_judge_that_always_says_yes_is_found_out() {
    let room = Room::supervised();
    room.supervisor_prints(&verdict(true, "fine"));
    let done = room.ccc(&TWO).run().code(1);
    let out = done.out();
    for part in [
        "2 sessions: the work is done in 1 of them and not done in 1.",
        "about 4 to 16 requests,",
        "half of two requests … FALSE ACCEPT: confirmed, but it is not done",
        "a question answered … right: confirmed",
        "false accepts  1 of 1 that are not done",
        "half of two requests: the second function is missing",
        "false rejects  0 of 1 that are done",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert_eq!(room.reviews(), 2);
    // Nothing of it is the user's project's, and no model was made up.
    assert!(!room.path("project/.claude").exists());
    let args = room.seen("supervisor-0.args");
    assert!(args.contains("--fork-session") && !args.contains("--model"), "{args}");
    let dir = room.seen("supervisor-0.dir");
    assert!(!dir.contains(room.path("project").to_str().expect("UTF-8")), "{dir}");
}

#[test]
fn a_yes_without_proof_is_no_verdict_where_proof_is_required() {
    let room = Room::new();
    room.write("strict.md", "---\nproof: required\n---\nBe strict.\n");
    room.supervisor_prints(&verdict(true, "fine"));
    let strict = room.path("strict.md");
    let file = ["--supervisor", strict.to_str().expect("UTF-8"), "--json"];
    let done = room.ccc(&TWO).args(&file).run().code(4);
    let report: Value = serde_json::from_str(&done.out()).expect("JSON");
    assert_eq!(report["judge"]["proof"], "required", "{report}");
    assert_eq!(report["totals"]["without_verdict"], 2, "{report}");
    assert_eq!(
        report["totals"]["false_accepts"],
        json!({"wrong": 0, "of": 0, "likely_percent": [0, 100]})
    );
    // Each was asked for its proof once more.
    assert_eq!(report["sessions"][0]["asked_again"], 1, "{report}");
    assert!(done.err().contains("[2/2] a question answered: no verdict"), "{}", done.err());
}

#[test]
fn a_judge_that_fails_three_times_in_a_row_is_asked_no_more() {
    let room = Room::supervised();
    room.client("#!/bin/sh\necho 'zq-no-key' >&2\nexit 1\n");
    let done = room.ccc(&["judge", "--yes"]).run().code(4);
    let out = done.out();
    assert!(
        out.contains("The last three reviews gave no verdict, so ccc skips the rest."),
        "{out}"
    );
    assert!(out.contains("sessions       3 of 20"), "{out}");
    assert!(out.contains("no verdict     3"), "{out}");
}

#[test]
fn ctrl_c_ends_the_review_and_leaves_the_table_so_far() {
    let room = Room::supervised();
    room.supervisor_prints_in(0, &verdict(false, "the median is missing"));
    // A pipe that nobody writes to: the second judge never answers.
    let pipe = room.path("supervisor.prints.1");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let started = room.ccc(&TWO).start();
    let asked = || room.path("seen/supervisor-1.input").exists().then_some(());
    wait_within(PATIENCE, asked).expect("the second review");
    kill(Pid::from_raw(started.pid()), Signal::SIGINT).expect("a signal");
    let done = started.finish().code(130);
    let out = done.out();
    for part in [
        "half of two requests … right: not confirmed",
        "a question answered … not finished",
        "sessions       1 of 2",
        "false accepts  0 of 1 that are not done",
        "false rejects  no session that is done was judged",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

#[test]
fn the_agents_commands_know_nothing_of_the_users_environment() {
    let room = Room::supervised();
    room.write("other/file", "zq");
    let git = |args: &str| {
        let script = format!("cd other && git {args}");
        room.run_program("/bin/sh".as_ref()).dir(room.path("")).args(&["-c", &script]).run()
    };
    git("init -q").code(0);
    let args = ["judge", "--yes", "--only", "committed when asked"];
    let done = room.ccc(&args).env("GIT_DIR", room.path("other/.git")).run();
    assert!(done.out().contains("committed when asked … right: confirmed"), "{}", done.out());
    let log = git("log --oneline --all").code(0).out();
    assert_eq!(log, "", "nothing was committed there");
}

#[test]
fn several_judges_are_told_apart() {
    let room = Room::supervised();
    room.config(&json!({"supervisor": {"judges": [{}, {"model": "zq-second"}]}}));
    room.supervisor_prints(&verdict(true, "fine"));
    room.supervisor_prints_in(1, &verdict(false, "zq-median"));
    room.supervisor_prints_in(3, &verdict(false, "zq-more"));
    let out = room.ccc(&TWO).run().code(1).out();
    for part in [
        "the agent's model, then zq-second",
        "about 8 to 32 requests by 2 judges,",
        "false accepts  0 of 1 that are not done",
        "a question answered: zq-second: \"zq-more\"",
        "each judge     the agent's model: 1 of 1 accepted falsely, 0 of 1 rejected falsely",
        "zq-second: 0 of 1 accepted falsely, 1 of 1 rejected falsely",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

/// A session of the user's own, with the verdict that the client gives at the moment.
fn recorded(room: &Room, task: &str) -> String {
    let args = ["--supervisor", "--max-iterations", "1", "--output-format", "json", "-p", task];
    let report: Value = serde_json::from_str(&room.ccc(&args).run().out()).expect("JSON");
    report["session_id"].as_str().expect("an id").to_owned()
}

#[test]
fn recorded_verdicts_are_compared_with_the_persons_labels() {
    let room = Room::supervised();
    let done = room.ccc(&["judge", "--recorded"]).run().code(1);
    assert!(done.err().contains("no recorded session of this project has a label"));
    let accepted = recorded(&room, "zq-first");
    room.supervisor_prints(&verdict(false, "zq-add-tests"));
    let rejected = recorded(&room, "zq-second");
    let reviews = room.reviews();

    let label = |label: &str, id: &str| room.ccc(&["judge", "--label", label, id]).run();
    let out = label("not-done", &accepted).code(0).out();
    assert!(out.contains("zq-first: not done."), "{out}");
    label("done", &rejected).code(0);
    let out = room.ccc(&["judge", "--recorded"]).run().code(1).out();
    for part in [
        "recordings     2 with a label",
        "false accepts  1 of 1 that are not done",
        "zq-first\n",
        "false rejects  1 of 1 that are done",
        "zq-second: \"zq-add-tests\"",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    // A label that was wrong is replaced.
    label("done", &accepted).code(0);
    label("not-done", &rejected[..12]).code(0);
    let out = room.ccc(&["judge", "--recorded", "--json"]).run().code(0).out();
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["totals"]["false_accepts"]["of"], 1, "{report}");
    assert_eq!(room.reviews(), reviews, "no model was asked");

    // What was said of it was said before this.
    room.ccc(&["--supervisor", "--resume", &accepted, "-p", "zq-more"]).run();
    let out = room.ccc(&["judge", "--recorded"]).run().code(0).out();
    assert!(out.contains("zq-first: left out: it went on after it was labelled"), "{out}");

    let done = label("done", "zq-none").code(1);
    assert!(done.err().contains("there is no recorded session \"zq-none\""), "{}", done.err());
    for args in [&["judge", "zq"][..], &["judge", "--recorded", "--model", "m"]] {
        room.ccc(args).run().code(2);
    }
}

#[test]
fn a_session_without_a_verdict_needs_no_label() {
    let room = Room::supervised();
    room.supervisor_prints(
        "{\"type\":\"result\",\"is_error\":true,\"num_turns\":1,\"result\":\"zq-broken\"}\n",
    );
    let id = recorded(&room, "zq-first");
    let done = room.ccc(&["judge", "--label", "done", &id]).run().code(1);
    assert!(
        done.err().contains("no verdict that a label could be compared with"),
        "{}",
        done.err()
    );
}
