//! The loop: feedback goes back into the conversation until the supervisor is content, or a limit
//! is reached.

use std::path::Path;

use crate::script::{begins_review, confirms, count, is_agents, only, rejects, session_id};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(feedback_goes_on_in_the_same_conversation_until_the_work_is_confirmed);
on_the_newest_client!(a_supervisor_that_is_never_content_stops_at_the_limit);

fn feedback_goes_on_in_the_same_conversation_until_the_work_is_confirmed(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
    ]);
    let done = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it").run();
    assert_eq!(done.code, Some(0), "{done}");

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [first, second] = agents.as_slice() else { panic!("{} turns\n{done}", agents.len()) };
    assert_eq!(session_id(first), session_id(second));
    let prompts = second.prompts();
    let at = |text: &str| prompts.iter().position(|prompt| prompt.contains(text));
    assert!(at("zq-build-it") < at("zq-tests-are-missing"), "{prompts:?}");
    assert!(at("zq-build-it").is_some(), "{prompts:?}");
    assert!(second.messages_text().contains("zq-built."));

    // The second review sees the second turn, and feedback is not taken for the user's words.
    let reviews = only(&requests, begins_review);
    let [_, last] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    assert!(last.messages_text().contains("zq-tested."));
    assert!(last.recent_text().contains("\n> zq-build-it\n"), "{}", last.recent_text());
    assert!(!last.recent_text().contains("\n> Supervisor feedback:"), "{}", last.recent_text());
    assert_ne!(session_id(reviews[0]), session_id(last));
}

fn a_supervisor_that_is_never_content_stops_at_the_limit(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing"),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let done = ccc.args(["--max-iterations", "1"]).run();
    assert_eq!(done.code, Some(3), "{done}");
    assert_eq!(count(&api.requests(), begins_review), 1);
    assert_eq!(count(&api.requests(), is_agents), 2, "the agent still gets the feedback\n{done}");
}
