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
    terminal.wait_for("supervised");
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
