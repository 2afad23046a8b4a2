//! Somebody is killed: no process stays, the terminal is usable, and the recording can be read.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{command, is_turn, leave, native, recording, supervised, told};
use crate::script::confirms;
use crate::support::api::{Api, Gate, Rule};
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::{PATIENCE, wait_until};
use crate::support::processes::{Process, descendants, wait_for, wait_gone};
use crate::support::terminal::Terminal;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(ccc_while_a_review_runs, the_client_while_a_tool_runs);
on_the_newest_client!(
    ccc_while_a_tool_runs,
    the_terminal_while_a_review_runs,
    a_stopped_client_gives_the_shell_back_and_goes_on,
    the_exit_code_is_the_clients,
);

/// How long the shims may take to end what does not end by itself.
const TIDY: Duration = Duration::from_secs(15);

fn is_screen_client(process: &Process) -> bool {
    process.is_client() && !process.has_arg("--fork-session") && !process.has_arg("--print")
}

fn reviewing(room: &CleanRoom, client: &Path, api: &Api, gate: &Gate) -> Terminal {
    let mut terminal = native(room, client, api, &[]);
    terminal.say("zq-build-it");
    gate.wait_reached(PATIENCE);
    terminal.wait_for("reviewing");
    terminal
}

fn gated(gate: &Gate) -> Api {
    Api::start(vec![confirms().gate(gate), Rule::on("zq-build-it").text("zq-built.")])
}

#[track_caller]
fn readable(room: &CleanRoom) {
    let dir = recording(room);
    let id = dir.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let story = told(room, &["sessions", "show", &id]);
    assert!(story.contains("zq-build-it"), "{story}");
    told(room, &["replay", &id, "--check"]);
}

fn ccc_while_a_review_runs(client: &Path) {
    let (room, gate) = (CleanRoom::new(), Gate::new());
    let api = gated(&gate);
    let terminal = reviewing(&room, client, &api, &gate);
    let below = descendants(terminal.pid());
    assert!(below.iter().any(is_screen_client), "{below:#?}");
    let modes = terminal.modes();
    assert!(!modes.canonical, "the terminal is ccc's");
    kill(Pid::from_raw(terminal.pid()), Signal::SIGKILL).expect("kill ccc");
    wait_gone(&below, TIDY);
    wait_until("the terminal is as it was", || terminal.modes().canonical);
    readable(&room);
}

/// A tool of the agent's that runs until the test lets it go.
fn with_a_tool(room: &CleanRoom, client: &Path) -> (Api, Terminal) {
    let held = Held::new(room, "tool");
    let tool = Rule::on("zq-build-it")
        .when(is_turn)
        .tool("Bash", json!({"command": held.command()}))
        .times(1);
    let api = Api::start(vec![tool]);
    let mut terminal = native(room, client, &api, &["--allowedTools", "Bash"]);
    terminal.say("zq-build-it");
    held.wait_started();
    (api, terminal)
}

fn ccc_while_a_tool_runs(client: &Path) {
    let room = CleanRoom::new();
    let (_api, terminal) = with_a_tool(&room, client);
    let below = descendants(terminal.pid());
    kill(Pid::from_raw(terminal.pid()), Signal::SIGKILL).expect("kill ccc");
    wait_gone(&below, TIDY);
    readable(&room);
}

fn the_client_while_a_tool_runs(client: &Path) {
    let room = CleanRoom::new();
    let (_api, mut terminal) = with_a_tool(&room, client);
    let below = descendants(terminal.pid());
    let victim = wait_for(terminal.pid(), is_screen_client);
    kill(Pid::from_raw(victim.pid), Signal::SIGKILL).expect("kill the client");
    assert_eq!(terminal.wait_exit(), 128 + 9, "{}", terminal.screen());
    wait_gone(&below, TIDY);
    assert!(terminal.modes().canonical);
    terminal.wait_for("ccc: claude was ended by SIGKILL.");
    let screen = terminal.screen();
    let last = screen.trim_end().lines().last();
    assert_eq!(last, Some("ccc: claude was ended by SIGKILL."), "nothing is below: {screen}");
    readable(&room);
}

/// The kernel tells whoever leads the session of a terminal that is gone.
fn the_terminal_while_a_review_runs(client: &Path) {
    let (room, gate) = (CleanRoom::new(), Gate::new());
    let api = gated(&gate);
    let mut terminal = reviewing(&room, client, &api, &gate);
    let below = descendants(terminal.pid());
    kill(Pid::from_raw(terminal.pid()), Signal::SIGHUP).expect("hang up");
    assert_eq!(terminal.wait_exit(), 128 + 1, "{}", terminal.screen());
    wait_gone(&below, TIDY);
    readable(&room);
}

fn state(pid: i32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, rest) = stat.rsplit_once(')').expect("a name in brackets");
    rest.trim_start().chars().next().expect("a state")
}

fn a_stopped_client_gives_the_shell_back_and_goes_on(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![confirms(), Rule::on("zq-build-it").text("zq-built.")]);
    let mut terminal = supervised(command(&room, client, &api, &[]).below_a_shell());
    for _ in 0..2 {
        terminal.keys("\x1a");
        wait_until("ccc stands still", || state(terminal.pid()) == 'T');
        assert!(terminal.modes().canonical, "the terminal is the shell's");
        // The client's last words come after what gives the keys and the mouse back.
        terminal.wait_for("suspended. Run");
        kill(Pid::from_raw(terminal.pid()), Signal::SIGCONT).expect("continue ccc");
        wait_until("the terminal is ccc's again", || !terminal.modes().canonical);
        // The client reads keys again.
        terminal.keys("zq-key");
        terminal.wait_until("the key", |screen| {
            screen.lines().any(|line| line.starts_with('❯') && line.contains("zq-key"))
        });
        terminal.keys("\x15");
        terminal.wait_until("an empty line", |screen| !screen.contains("zq-key"));
    }
    terminal.wait_for("supervision begins with your first message");
    terminal.say("zq-build-it");
    terminal.wait_for("Confirmed in round 1");
    leave(terminal);
}

fn the_exit_code_is_the_clients(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(Vec::new());
    let ccc = crate::support::ccc::Ccc::new(&room).client(client).api(&api).instructions("zq");
    let mut terminal = ccc.args(["--supervisor=native", "--no-such-option"]).on_terminal();
    assert_eq!(terminal.wait_exit(), 1, "{}", terminal.screen());
    assert!(terminal.screen().contains("no-such-option"), "{}", terminal.screen());
}
