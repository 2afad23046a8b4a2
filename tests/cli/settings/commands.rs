//! `/supervisor` and `/supervisoroff`: files for the client, in a form that it runs.

use super::{copied_ccc, room};
use crate::room::{Room, STATE_DIR};

const ON: &str = "home/.claude/commands/supervisor.md";
const OFF: &str = "home/.claude/commands/supervisoroff.md";

/// The shell command of a slash command.
fn shell_command(text: &str) -> &str {
    let line = text.lines().find(|line| line.starts_with("!`")).expect("a line that is run");
    line.trim_start_matches("!`").trim_end_matches('`')
}

fn run(room: &Room, file: &str) {
    let command = room.read(file);
    let shell = room.run_program("/bin/sh".as_ref()).args(&["-c", shell_command(&command)]);
    let done = shell.env("CLAUDE_CODE_SESSION_ID", "abc123").run().code(0);
    assert_eq!((done.out(), done.err()), (String::new(), String::new()));
}

/// Scenario 004 «supervisor.md 内容格式»; the design overrules its literal text, which never runs.
#[test]
fn scenario_004_supervisor_md_switches_on_and_hands_the_text_on() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    let text = room.read(ON);
    assert!(
        text.starts_with("---\ndescription: Enable supervisor mode\nallowed-tools: Bash("),
        "{text}"
    );
    assert!(text.ends_with("\n\n$ARGUMENTS\n"), "{text}");
    run(&room, ON);
    assert_eq!(room.state("abc123")["enabled"], true);
}

/// Scenario 004 «supervisoroff.md 内容格式»; likewise.
#[test]
fn scenario_004_supervisoroff_md_switches_off_and_hands_the_text_on() {
    let room = room();
    room.ccc(&["kimi"]).run().code(0);
    let text = room.read(OFF);
    assert!(
        text.starts_with("---\ndescription: Disable supervisor mode\nallowed-tools: Bash("),
        "{text}"
    );
    assert!(text.ends_with("\n\n$ARGUMENTS\n"), "{text}");
    room.enable("abc123", 2);
    run(&room, OFF);
    assert_eq!(room.state("abc123")["enabled"], false);
}

/// Where `ccc` on the path is this very one, the commands say so, and survive its next version.
#[test]
fn the_name_is_short_where_the_path_finds_it() {
    let room = room();
    let ccc = copied_ccc(&room, "bin");
    let path = format!("{}:/usr/bin:/bin", ccc.parent().expect("a directory").display());
    room.run_program(&ccc).args(&["kimi"]).env("PATH", &path).run().code(0);
    assert_eq!(shell_command(&room.read(ON)), "ccc supervisor-mode on");
    assert!(room.read(ON).contains("allowed-tools: Bash(ccc supervisor-mode:*)\n"));
}

#[test]
fn the_commands_work_from_a_path_with_spaces() {
    let room = room();
    let ccc = copied_ccc(&room, "my tools");
    room.run_program(&ccc).args(&["kimi"]).run().code(0);
    run(&room, ON);
    assert_eq!(room.state("abc123")["enabled"], true);
}

#[test]
fn a_command_of_the_users_stays_theirs() {
    let room = room();
    room.write(ON, "mine");
    room.ccc(&["kimi"]).run().code(0);
    assert_eq!(room.read(ON), "mine");
    assert!(room.read(OFF).contains("supervisor-mode off"));
    assert!(room.read(&format!("{STATE_DIR}/ccc.log")).contains("was not written by ccc"));
}

#[test]
fn a_command_of_another_ccc_is_renewed() {
    let room = room();
    room.write(ON, "---\n---\n!`/old/ccc supervisor-mode on`\n\n$ARGUMENTS\n");
    room.ccc(&["kimi"]).run().code(0);
    assert!(!room.read(ON).contains("/old/ccc"));
}

#[test]
fn commands_that_cannot_be_written_do_not_keep_the_client_from_starting() {
    let room = room();
    room.write("home/.claude/commands", "a file in the way");
    room.ccc(&["kimi"]).run().code(0);
    assert!(room.path("seen/agent-0.args").exists());
}
