//! Nothing that ccc started outlives it, however it ends.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::script::begins_review;
use crate::support::api::{Api, Gate, Rule};
use crate::support::ccc::{Ccc, Running};
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::PATIENCE;
use crate::support::processes::{self, Process, descendants};
use crate::{on_each_client, on_the_newest_client};

on_each_client!(
    a_killed_ccc_leaves_no_process_of_a_running_tool,
    a_terminated_ccc_leaves_no_process_of_a_running_tool,
    a_killed_agent_leaves_no_process_of_its_tool,
);
// Who ends what is as with a tool; the processes of a client without one are alike.
on_the_newest_client!(
    a_killed_ccc_leaves_no_process_of_a_review,
    a_terminated_ccc_leaves_no_process_of_a_review,
    a_ccc_that_is_hung_up_on_twice_leaves_no_process_of_a_running_tool,
);

/// The client gets 2 s to end by itself.
const SOON: Duration = Duration::from_secs(15);

fn a_killed_ccc_leaves_no_process_of_a_running_tool(client: &Path) {
    in_a_tool(client, is_killed);
}

fn a_terminated_ccc_leaves_no_process_of_a_running_tool(client: &Path) {
    in_a_tool(client, is_terminated);
}

fn a_killed_ccc_leaves_no_process_of_a_review(client: &Path) {
    in_a_review(client, is_killed);
}

fn a_terminated_ccc_leaves_no_process_of_a_review(client: &Path) {
    in_a_review(client, is_terminated);
}

fn a_ccc_that_is_hung_up_on_twice_leaves_no_process_of_a_running_tool(client: &Path) {
    in_a_tool(client, is_hung_up);
}

/// The client cannot see its tools off any more, so somebody else has to.
fn a_killed_agent_leaves_no_process_of_its_tool(client: &Path) {
    in_a_tool(client, |running, processes| {
        let agent = processes.iter().find(|process| process.is_agent()).expect("the agent");
        kill(Pid::from_raw(agent.pid), Signal::SIGKILL).expect("kill the agent");
        processes::wait_gone(processes, SOON);
        drop(running);
    });
}

fn is_killed(running: Running, processes: &[Process]) {
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code, None);
    processes::wait_gone(processes, SOON);
}

/// An orderly end leaves nothing to wait for.
fn is_terminated(running: Running, processes: &[Process]) {
    running.signal(Signal::SIGTERM);
    let done = running.finish();
    assert_eq!(done.code, Some(143), "{done}");
    processes::wait_gone(processes, Duration::from_secs(1));
}

/// A window that is closed: the terminal says so, and the shell says it again.
fn is_hung_up(running: Running, processes: &[Process]) {
    running.signal(Signal::SIGHUP);
    std::thread::sleep(Duration::from_millis(1));
    running.signal(Signal::SIGHUP);
    let done = running.finish();
    assert_eq!(done.code, Some(129), "{done}");
    processes::wait_gone(processes, Duration::from_secs(1));
}

fn in_a_tool(client: &Path, end: fn(Running, &[Process])) {
    let room = CleanRoom::new();
    let tool = Held::new(&room, "tool");
    let api = Api::start(vec![
        Rule::on("zq-build-it").tool("Bash", json!({"command": tool.command()})).times(1),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let running = ccc.arg("--allowedTools=Bash").start();
    tool.wait_started();
    let holding = |process: &Process| process.args.first().is_some_and(|program| program == "cat");
    processes::wait_for(running.pid(), holding);

    let all = descendants(running.pid());
    assert!(all.iter().any(Process::is_agent), "{all:#?}");
    assert!(all.len() >= 4, "a shim, a client, a shell and its command: {all:#?}");
    end(running, &all);
    assert!(!tool.has_ended());
}

fn in_a_review(client: &Path, end: fn(Running, &[Process])) {
    let room = CleanRoom::new();
    let gate = Gate::new();
    let api = Api::start(vec![
        Rule::any().when(begins_review).gate(&gate).times(1),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let running = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").start();
    gate.wait_reached(PATIENCE);

    let all = descendants(running.pid());
    assert!(all.iter().any(Process::is_supervisor), "{all:#?}");
    assert!(all.iter().any(Process::is_agent), "{all:#?}");
    assert!(all.len() >= 4, "two shims and two clients: {all:#?}");
    end(running, &all);
}
