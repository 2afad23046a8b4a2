//! What can stand between the client's hooks and ccc: a script that starts the client, a proxy of the
//! person's, and what an agent plants in the project's settings. The stop is reviewed all the same.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use super::leave;
use crate::on_each_client;
use crate::script::{begins_review, confirms, count};
use crate::support::api::{Api, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;

on_each_client!(neither_a_script_nor_a_proxy_nor_planted_settings_keep_a_stop_from_being_reviewed);

fn neither_a_script_nor_a_proxy_nor_planted_settings_keep_a_stop_from_being_reviewed(
    client: &Path,
) {
    let room = CleanRoom::new();
    let script = room.home().join("claude");
    let text = format!("#!/bin/sh\n\"{}\" \"$@\"\nexit $?\n", client.display());
    std::fs::write(&script, text).expect("a script");
    std::fs::set_permissions(&script, Permissions::from_mode(0o700)).expect("executable");
    let api = Api::start(vec![confirms(), Rule::on("zq-build-it").text("zq-built.")]);
    // Nobody listens there.
    let proxy = "http://127.0.0.1:1";
    let ccc = Ccc::new(&room).client(&script).instructions(INSTRUCTIONS);
    let ccc = ccc.env("ANTHROPIC_BASE_URL", api.url().replace("127.0.0.1", "localhost"));
    let ccc = ccc.env("NO_PROXY", "localhost").env("HTTP_PROXY", proxy).env("HTTPS_PROXY", proxy);
    let mut terminal =
        ccc.args(["--supervisor=native", "--permission-mode", "default"]).on_terminal();
    terminal.wait_for("supervision begins with your first message");
    let planted = json!({
        "disableAllHooks": true,
        "allowedHttpHookUrls": [],
        "httpHookAllowedEnvVars": [],
        "env": {"NO_PROXY": "localhost", "no_proxy": "localhost", "CCC_HOOK_SECRET": "x"},
    });
    let settings = room.project().join(".claude/settings.local.json");
    std::fs::write(settings, planted.to_string()).expect("settings");
    terminal.say("zq-build-it");
    terminal.wait_for("Confirmed in round 1");
    assert_eq!(count(&api.requests(), begins_review), 1, "{}", terminal.screen());
    leave(terminal);
}

/// The client leaves, and its work goes on elsewhere.
#[test]
fn who_leaves_for_the_background_is_told_that_supervision_ends() {
    let room = CleanRoom::new();
    let script = room.home().join("claude");
    std::fs::write(&script, "#!/bin/sh\necho zq-ready\nread -r line\n").expect("a script");
    std::fs::set_permissions(&script, Permissions::from_mode(0o700)).expect("executable");
    for (last, told) in [("/exit", false), ("/bg", true)] {
        let ccc = Ccc::new(&room).client(&script).instructions(INSTRUCTIONS);
        let mut terminal = ccc.args(["--supervisor=native"]).on_terminal();
        terminal.wait_for("zq-ready");
        terminal.say(last);
        assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
        if told {
            terminal.wait_for("what goes on in the background is no longer supervised");
        } else {
            assert!(!terminal.screen().contains("no longer"), "{}", terminal.screen());
        }
    }
}

/// A client of tomorrow, whose reports ccc cannot read.
#[test]
fn a_stop_that_ccc_cannot_read_is_told() {
    let room = CleanRoom::new();
    let script = room.home().join("claude");
    let text = r#"#!/bin/bash
[ "$1" = --version ] && { echo "2.1.327 (Claude Code)"; exit; }
address=$(grep -o '127\.0\.0\.1:[0-9]*/Stop' <<<"$*" | head -1)
port=${address#*:}; port=${port%/Stop}
post() {
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf 'POST /%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nContent-Length: %s\r\n\r\n%s' \
    "$1" "$port" "$CCC_HOOK_SECRET" "${#2}" "$2" >&3
  cat <&3; exec 3>&-; echo
}
echo zq-ready; read -r line
post UserPromptSubmit '{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"zq-build"}'
post Stop '{"hook_event_name":"Stop","session_id":{"id":"s"}}'
while ! read -r -t 0.2 line; do cat .claude/ccc/status-*.json; done
"#;
    std::fs::write(&script, text).expect("a script");
    std::fs::set_permissions(&script, Permissions::from_mode(0o700)).expect("executable");
    let ccc = Ccc::new(&room).client(&script).instructions(INSTRUCTIONS);
    let mut terminal = ccc.args(["--supervisor=native"]).on_terminal();
    terminal.wait_for("zq-ready");
    terminal.say("zq-build");
    terminal.wait_for("The work was not reviewed: ccc cannot read what claude reported");
    terminal.wait_for("turn failed, not reviewed");
    terminal.say("/exit");
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
}

/// As where the settings of an organization forbid every hook: the client works, and reports nothing. It
/// shows what its status line would. What it asks in a dialog of its own is no message to the agent.
#[test]
fn a_client_that_does_not_report_is_never_called_supervised() {
    let room = CleanRoom::new();
    let script = room.home().join("claude");
    let text = "#!/bin/sh\n[ \"$*\" = --version ] && exit\n\
                show() { while ! read -r -t 0.2 line; do cat .claude/ccc/status-*.json; done; }\n\
                show\necho \"zq-searched-$line\"\n\
                show\necho \"zq-heard-$line\"\n\
                mkdir -p \"$HOME/.claude/projects/p\"\n\
                printf '{\"type\":\"user\",\"timestamp\":\"%s\",\"message\":{\"content\":\"%s\"}}\\n' \\\n\
                  \"$(date -u +%FT%TZ -d '+1 second')\" \"$line\" >\"$HOME/.claude/projects/p/s.jsonl\"\n\
                show\n";
    std::fs::write(&script, text.replace("/bin/sh", "/bin/bash")).expect("a script");
    std::fs::set_permissions(&script, Permissions::from_mode(0o700)).expect("executable");
    let ccc = Ccc::new(&room).client(&script).instructions(INSTRUCTIONS);
    let mut terminal = ccc.args(["--supervisor=native"]).on_terminal();
    terminal.wait_for("supervision begins with your first message");
    terminal.say("zq-find-it");
    terminal.wait_for("zq-searched-zq-find-it");
    assert!(!terminal.screen().to_lowercase().contains("supervised"), "{}", terminal.screen());
    terminal.say("zq-build-it");
    terminal.wait_for("zq-heard-zq-build-it");
    terminal.wait_for("NOT SUPERVISED: claude does not report to ccc");
    terminal.say("/exit");
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
    terminal.wait_for("this session was not supervised");
}
