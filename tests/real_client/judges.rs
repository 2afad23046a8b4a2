//! Several judges: `supervisor.judges`.

use std::path::Path;

use serde_json::json;

use crate::script::{begins_review, confirms, is_review, judged, only, session_id};
use crate::support::api::{Api, Request, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(fresh_eyes_see_the_work_and_not_a_word_of_the_agent);
// Each of them is a fork like the only one; what their opinions come to is not the client's.
on_the_newest_client!(the_second_of_two_judges_can_veto);

const SECOND: &str = "claude-zq-second";

fn is_second(request: &Request) -> bool {
    is_review(request) && request.model() == SECOND
}

fn begins_second(request: &Request) -> bool {
    begins_review(request) && request.model() == SECOND
}

fn the_second_of_two_judges_can_veto(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        judged(Rule::any().when(begins_second).times(1), false, "zq-second-says-no"),
        judged(Rule::any().when(begins_second), true, ""),
        confirms(),
        Rule::on("zq-second-says-no").text("zq-mended."),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"judges": [{}, {"model": SECOND}]}}))
        .supervised("zq-build-it")
        .args(["--output-format", "json"])
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    let report = done.json();
    let rounds = report["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 2, "{done}");
    assert_eq!((&rounds[0]["completed"], &rounds[1]["completed"]), (&json!(false), &json!(true)));
    assert_eq!(rounds[0]["feedback"], "zq-second-says-no");
    let opinions = rounds[0]["opinions"].as_array().expect("opinions");
    let told: Vec<_> = opinions.iter().map(|one| (&one["judge"], &one["completed"])).collect();
    assert_eq!(
        told,
        [(&json!("the agent's model"), &json!(true)), (&json!(SECOND), &json!(false))]
    );
    // Each has its price, and the round the price of both.
    let tokens = |one: &serde_json::Value| one["usage"]["output_tokens"].as_u64().unwrap_or(0);
    assert!(opinions.iter().all(|one| tokens(one) > 0), "{done}");
    assert_eq!(tokens(&rounds[0]), opinions.iter().map(tokens).sum::<u64>(), "{done}");
    assert_eq!(only(&api.requests(), begins_second).len(), 2);
    assert!(
        only(&api.requests(), is_second)
            .iter()
            .all(|one| one.messages_text().contains("zq-built."))
    );

    let id = report["session_id"].as_str().expect("an id");
    let shown = Ccc::new(&room).args(["sessions", "show", id]).run();
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains(&format!("✘ judge {SECOND}: not complete")), "{text}");
    let check = Ccc::new(&room).args(["replay", id, "--check"]).run();
    assert_eq!(check.code, Some(0), "{check}");
}

fn is_fresh(request: &Request) -> bool {
    request.messages_text().contains("You are the supervisor of a coding agent")
}

fn fresh_eyes_see_the_work_and_not_a_word_of_the_agent(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        judged(Rule::any().when(is_fresh), true, "zq-fresh-agrees"),
        confirms(),
        Rule::on("zq-build-it")
            .text("zq-story-of-the-agent")
            .tool("Bash", json!({"command": "printf 'zq-new-line\\n' > slug.txt"}))
            .times(1),
        Rule::any().text("zq-end-of-the-story: all tests pass."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"judges": [{}, {"fresh": true}]}}))
        .supervised("zq-build-it")
        .args(["--output-format", "json", "--permission-mode", "bypassPermissions"])
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    let fresh = only(&requests, is_fresh);
    let first = fresh.first().unwrap_or_else(|| panic!("nobody was asked with fresh eyes\n{done}"));
    for request in &fresh {
        let whole = request.body.to_string();
        assert!(!whole.contains("zq-story") && !whole.contains("zq-end-of"), "{whole}");
    }
    let asked = first.messages_text();
    for part in ["> zq-build-it", "> == slug.txt (added)\n> +1: zq-new-line", "added slug.txt"] {
        assert!(asked.contains(part), "{part}\n---\n{asked}");
    }
    let fork = only(&requests, begins_review);
    assert_ne!(session_id(first), session_id(fork[0]));
    let opinions = &done.json()["rounds"][0]["opinions"];
    assert_eq!((&opinions[1]["fresh"], &opinions[1]["completed"]), (&json!(true), &json!(true)));
}
