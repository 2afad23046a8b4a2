//! The plain client, judged by its Stop hook.

mod launch;
mod providers;
mod surroundings;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::on_each_client;
use crate::script::{begins_review, confirms, count, is_agents, only, rejects, session_id};
use crate::support::api::{Api, Request, Rule};
use crate::support::ccc::{Ccc, Finished, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::patience::PATIENCE;

on_each_client!(
    feedback_goes_on_in_the_same_conversation_until_the_work_is_confirmed,
    scenario_000_ten_blocks_and_then_a_stop,
    a_supervisor_that_fails_lets_the_client_stop,
    a_plain_session_is_not_reviewed,
);

/// The plain client without a person, supervised from its first stop on.
fn supervised(room: &CleanRoom, client: &Path, api: &Api) -> Ccc {
    let ccc = Ccc::new(room).client(client).api(api).instructions(INSTRUCTIONS);
    ccc.args(["--supervisor=hook", "-p", "zq-build-it"])
}

/// The state of the one session in the room.
#[track_caller]
fn state(room: &CleanRoom) -> Value {
    let dir = std::fs::read_dir(room.project().join(".claude/ccc")).expect("the state directory");
    let is_state = |name: &str| name.starts_with("supervisor-") && name.ends_with(".json");
    let files: Vec<_> = dir
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_state))
        .map(|entry| entry.path())
        .collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    serde_json::from_slice(&std::fs::read(file).expect("the state")).expect("JSON")
}

fn assert_stopped(done: &Finished) {
    assert_eq!(done.code, Some(0), "{done}");
    // What a hook that fails, or that says what the client does not understand, would look like.
    assert!(!done.text().contains("hook error") && done.stderr.is_empty(), "{done}");
}

fn feedback_goes_on_in_the_same_conversation_until_the_work_is_confirmed(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
    ]);
    let done = supervised(&room, client, &api).run();
    assert_stopped(&done);
    assert_eq!(done.text().trim(), "zq-tested.", "{done}");

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let [first, second] = agents.as_slice() else { panic!("{} turns\n{done}", agents.len()) };
    assert_eq!(session_id(first), session_id(second));
    let told = second.recent_text();
    assert!(told.contains("Stop hook additional context: zq-tests-are-missing"), "{told}");

    let reviews = only(&requests, begins_review);
    let [early, late] = reviews.as_slice() else { panic!("{} reviews\n{done}", reviews.len()) };
    for (review, answer) in [(early, "zq-built."), (late, "zq-tested.")] {
        let asked = review.recent_text();
        assert!(asked.contains(INSTRUCTIONS), "{asked}");
        assert!(asked.contains(&format!("\n> {answer}\n")), "{asked}");
        // Feedback is not taken for the user's words.
        assert!(!asked.contains("\n> Stop hook"), "{asked}");
        assert!(review.messages_text().contains(answer));
        assert_ne!(session_id(review), session_id(first));
        assert_eq!(review.model(), first.model());
    }
    let state = state(&room);
    assert_eq!((&state["count"], &state["session_id"]), (&2.into(), &session_id(first).into()));
}

/// Scenarios 000 «达到迭代限制», «Supervisor 反馈继续工作»: the client alone would give up after 8.
fn scenario_000_ten_blocks_and_then_a_stop(client: &Path) {
    let room = CleanRoom::new();
    // The agent changes something each time: else the task would go in circles.
    let (work, turns) = (room.project().join("work"), AtomicUsize::new(0));
    let works = move |_: &Request| {
        let turn = turns.fetch_add(1, Ordering::Relaxed).to_string();
        std::fs::write(&work, turn).is_ok()
    };
    let api =
        Api::start(vec![rejects("zq-never-enough"), Rule::any().when(works).text("zq-built.")]);
    let running = supervised(&room, client, &api).start();
    for review in 1..=10 {
        api.wait_for(|requests| count(requests, begins_review) >= review, PATIENCE);
    }
    let done = running.finish();
    assert_stopped(&done);
    let requests = api.requests();
    assert_eq!(count(&requests, begins_review), 10, "{done}");
    assert_eq!(count(&requests, is_agents), 11, "{done}");
    assert_eq!(state(&room)["count"], 10);
    let rounds = only(&requests, begins_review);
    for (round, review) in rounds.iter().enumerate() {
        let asked = review.recent_text();
        assert!(asked.contains(&format!("This is review {} of at most 10.", round + 1)), "{asked}");
        // The client writes its transcript a moment later than it runs the hook.
        assert!(asked.contains("Message 1:\n> zq-build-it\n\n#"), "{asked}");
    }
}

fn a_supervisor_that_fails_lets_the_client_stop(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        Rule::any().when(begins_review).status(
            400,
            "invalid_request_error",
            "Your credit balance is too low",
        ),
        Rule::any().text("zq-built."),
    ]);
    let done = supervised(&room, client, &api).run();
    assert_stopped(&done);
    assert_eq!(count(&api.requests(), begins_review), 1, "{done}");
    assert_eq!(count(&api.requests(), is_agents), 1, "{done}");
    let log = std::fs::read_to_string(room.project().join(".claude/ccc/ccc.log")).expect("a log");
    assert!(log.contains("Credit balance is too low"), "{log}");
}

fn a_plain_session_is_not_reviewed(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![rejects("zq-never-enough"), Rule::any().text("zq-built.")]);
    let config = json!({"providers": {"kimi": {}}});
    let ccc = Ccc::new(&room).client(client).api(&api).config(&config);
    let done = ccc.args(["kimi", "-p", "zq-build-it"]).run();
    assert_stopped(&done);
    assert_eq!(api.requests().len(), 1, "{done}");
    assert!(!room.project().join(".claude").exists());
}
