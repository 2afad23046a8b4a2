//! The plugin, installed by the client's own commands from the marketplace in this repository: a plain
//! client that ccc did not start.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::on_each_client;
use crate::script::{begins_review, confirms, count, is_agents, only, rejects};
use crate::support::api::{Api, Rule};
use crate::support::ccc::INSTRUCTIONS;
use crate::support::client::CleanRoom;

on_each_client!(
    the_plugin_supervises_a_client_that_ccc_did_not_start_and_without_the_program_says_how_to_get_it,
);

/// The client, with the plugin installed.
fn installed(room: &CleanRoom, client: &Path, api: &Api) {
    let marketplace = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    let marketplace = marketplace.to_str().expect("a path in UTF-8");
    for args in [
        &["plugin", "validate", marketplace][..],
        &["plugin", "marketplace", "add", marketplace],
        &["plugin", "install", "ccc@ccc"],
    ] {
        let done = room.command(client, &api.url()).args(args).output().expect("the client");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{args:?}: {text}{errors}");
        assert!(!text.contains("warning"), "{args:?}: {text}");
    }
    let text = format!("---\nproof: off\n---\n{INSTRUCTIONS}");
    std::fs::write(room.project().join("SUPERVISOR.md"), text).expect("SUPERVISOR.md");
}

fn ask(room: &CleanRoom, client: &Path, api: &Api, prompt: &str) -> Command {
    let mut command = room.command(client, &api.url());
    command.args(["-p", prompt]).env("CCC_CLAUDE", client);
    command
}

fn with_ccc(mut command: Command) -> Command {
    let ccc = PathBuf::from(env!("CARGO_BIN_EXE_ccc"));
    let dir = ccc.parent().expect("a directory").display().to_string();
    command.env("PATH", format!("{dir}:/usr/local/bin:/usr/bin:/bin"));
    command
}

fn the_plugin_supervises_a_client_that_ccc_did_not_start_and_without_the_program_says_how_to_get_it(
    client: &Path,
) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
        Rule::any().text("zq-built."),
    ]);
    installed(&room, client, &api);
    // Nothing is reviewed that nobody asked for.
    let done = with_ccc(ask(&room, client, &api, "zq-plain")).output().expect("the client");
    assert!(done.status.success());
    assert_eq!((count(&api.requests(), begins_review), api.requests().len()), (0, 1));
    let done = with_ccc(ask(&room, client, &api, "/ccc:supervisor zq-build-it")).output();
    let done = done.expect("the client");
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(out.trim(), "zq-tested.", "{}", String::from_utf8_lossy(&done.stderr));
    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    assert_eq!(reviews.len(), 2, "{out}");
    let asked = reviews[0].recent_text();
    assert!(asked.contains("Message 1:\n> zq-build-it\n\n#"), "{asked}");
    assert!(asked.contains(INSTRUCTIONS), "{asked}");
    // Another session, which is not supervised: it costs no request to know that.
    let before = api.requests().len();
    let status = with_ccc(ask(&room, client, &api, "/ccc:status")).output().expect("the client");
    let told = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(told.contains("Supervision is off:"), "{told}");
    assert!(told.contains("/ccc:supervisor turns it on"), "{told}");
    assert_eq!(api.requests().len(), before);

    let api = Api::start(vec![rejects("zq-never"), Rule::any().text("zq-built.")]);
    let done =
        ask(&room, client, &api, "/ccc:supervisor zq-build-it").output().expect("the client");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "zq-built.");
    let requests = api.requests();
    assert_eq!((count(&requests, is_agents), requests.len()), (1, 1));
    let told = requests[0].recent_text();
    assert!(told.contains("The ccc program is not on the PATH") && told.contains("zq-build-it"));
    let done = ask(&room, client, &api, "/ccc:supervisor").output().expect("the client");
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(told.contains("The ccc program is not on the PATH"), "{told}");
    assert_eq!(api.requests().len(), 1);
}
