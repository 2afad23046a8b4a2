//! What is no work to judge, and what is no judgement: failures of the API on either side.

use std::collections::HashSet;
use std::path::Path;

use crate::script::{begins_review, count, only, session_id};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(a_failed_turn_is_reported_and_not_reviewed);
// What a failed turn looks like is tested above; that it is tried again is ccc's.
on_the_newest_client!(a_supervisor_without_a_verdict_is_tried_twice);

/// The client does not try again after this one, and shows it in its own words. After another 400
/// newer releases ask again without this and that feature.
fn has_no_credit(rule: Rule) -> Rule {
    rule.status(400, "invalid_request_error", "Your credit balance is too low")
}

fn a_failed_turn_is_reported_and_not_reviewed(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![has_no_credit(Rule::on("zq-build-it"))]);
    let done = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").run();
    assert_eq!(done.code, Some(1), "{done}");
    // The client has said why itself; ccc says what to do.
    let wanted =
        "Credit balance is too low\n\nThe agent's turn failed.\n  → The account is out of credit";
    assert!(done.stderr.contains(wanted), "{done}");
    assert_eq!(count(&api.requests(), begins_review), 0, "{done}");
    assert_eq!(api.requests().len(), 1, "{done}");
}

fn a_supervisor_without_a_verdict_is_tried_twice(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        has_no_credit(Rule::any().when(begins_review)),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let done = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").run();
    assert_eq!(done.code, Some(4), "{done}");
    assert!(done.stderr.contains("No verdict: Credit balance is too low"), "{done}");
    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    // Every try is a fork of its own.
    let tries: HashSet<_> = reviews.iter().map(|review| session_id(review)).collect();
    assert_eq!((reviews.len(), tries.len()), (2, 2), "{done}");
}
