//! A session that is taken up again goes on where it was.

use std::path::Path;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only, rejects, session_id};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(
    a_session_that_is_named_goes_on_where_it_was,
    the_session_that_the_client_chooses_goes_on_where_it_was,
);

fn a_session_that_is_named_goes_on_where_it_was(client: &Path) {
    goes_on(client, &["--resume"]);
}

fn the_session_that_the_client_chooses_goes_on_where_it_was(client: &Path) {
    goes_on(client, &["--continue"]);
}

/// The first run stops at a turn that fails, after a review; the second one goes on.
fn goes_on(client: &Path, how: &[&str]) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-add-tests").times(1),
        rejects("zq-add-docs").times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-add-tests").text("zq-tested."),
        Rule::on("zq-go-on").text("zq-documented."),
        Rule::on("zq-add-docs").status(
            400,
            "invalid_request_error",
            "Your credit balance is too low",
        ),
    ]);
    let first = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").run();
    assert_eq!(first.code, Some(1), "{first}");
    let second = Ccc::new(&room).client(client).api(&api).supervised("zq-go-on");
    let second = second.args(how.iter().copied()).run();
    assert_eq!(second.code, Some(0), "{second}");
    let shown = second.to_string();
    assert!(shown.contains("Resumed: after round 2 of 10, 1 message"), "{shown}");
    assert!(shown.contains("Confirmed complete in round 3"), "{shown}");
    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let ids: std::collections::BTreeSet<_> = agents.iter().map(|one| session_id(one)).collect();
    assert_eq!(ids.len(), 1, "one conversation: {ids:?}");
    let reviews = only(&requests, begins_review);
    let text = reviews.last().expect("a review").recent_text();
    assert!(text.contains("Message 1:\n> zq-build-it\n"), "{text}");
    assert!(text.contains("Message 2:\n> zq-go-on\n"), "{text}");

    // Three turns and three reviews of the same price, whatever account the client goes on with.
    let json = Ccc::new(&room).args(["sessions", "--json"]).run().text();
    let story = serde_json::from_str::<serde_json::Value>(&json).expect("JSON")[0].clone();
    let price = story["rounds"][0]["cost_usd"].as_f64().expect("a number");
    let cost = story["cost_usd"].as_f64().expect("a number");
    assert!(price > 0.0 && (cost - 6.0 * price).abs() < price / 100.0, "{json}");
}
