//! What a session of the real client leaves behind: it can be checked, played, and made a fixture of.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::played::played;
use crate::script::{confirms, rejects};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(a_recording_holds_today_and_becomes_a_fixture_that_holds);

fn a_recording_holds_today_and_becomes_a_fixture_that_holds(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-add-tests").times(1),
        confirms(),
        Rule::on("zq-build-it")
            .tool(
                "Bash",
                json!({"command": "touch made; echo zq-secret sk-ant-api03-AbCdEf0123456789AbCdEf0123456789"}),
            )
            .times(1),
        Rule::on("zq-secret").text("zq-built **it**."),
        Rule::on("zq-add-tests").text("zq-tested."),
    ]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    terminal.say("zq-build-it");
    terminal.wait_for("1. Yes, once");
    terminal.keys("\r");
    terminal.wait_for("Confirmed complete in round 2");
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let ccc = |args: &[&str]| Ccc::new(&room).args(args.iter().copied()).run();
    let path = ccc(&["sessions", "path"]).text();
    let dir = Path::new(path.trim());
    let id = dir.file_name().expect("a name").to_string_lossy().into_owned();
    let checked = ccc(&["replay", &id, "--check"]);
    assert_eq!(checked.code, Some(0), "{checked}");

    let fixture = room.project().join("bug.jsonl");
    let made = ccc(&["fixture", &id, "-o", "bug.jsonl"]);
    assert_eq!(made.code, Some(0), "{made}");
    let text = fs::read_to_string(&fixture).expect("the fixture");
    for secret in ["sk-ant-api03", &id, &room.project().to_string_lossy()] {
        assert!(!text.contains(secret), "{secret} stands in the fixture:\n{text}");
    }
    let checked = ccc(&["replay", "bug.jsonl", "--check"]);
    assert_eq!(checked.code, Some(0), "{checked}");

    if let Some(shown) = played(&dir.join("session.cast")) {
        assert!(shown.contains("zq-built it."), "{shown}");
    }
}
