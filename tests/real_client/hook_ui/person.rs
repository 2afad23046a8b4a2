//! What a person does in the plain client's own UI, and what a review makes of it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::{is_turn, wait_for_turns};
use crate::script::{begins_review, confirms, count, only, rejects};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::PATIENCE;
use crate::support::terminal::Terminal;
use crate::{on_each_client, on_the_release_between};

on_each_client!(
    a_review_knows_the_persons_own_words_and_no_others,
    a_message_during_a_review_goes_first,
    switches_cost_no_request_and_supervision_outlives_a_clear,
    an_agent_that_wakes_after_a_confirmation_is_counted_anew,
);
on_the_release_between!(
    a_review_knows_the_persons_own_words_and_no_others,
    a_message_during_a_review_goes_first,
);

fn supervised(room: &CleanRoom, client: &Path, api: &Api) -> Terminal {
    let ccc = Ccc::new(room).client(client).api(api).instructions(INSTRUCTIONS);
    let ccc =
        ccc.args(["--supervisor=hook", "--permission-mode", "default", "--allowedTools=Bash"]);
    let terminal = ccc.on_terminal();
    terminal.wait_for("❯");
    terminal
}

/// What a review says about the person's words, and what comes behind it.
#[track_caller]
fn assert_said(review: &Request, said: &[(&str, bool)]) {
    let text = review.recent_text();
    let mut expected = "# What the user said, in order\n\n".to_owned();
    for (at, (said, earlier)) in said.iter().enumerate() {
        let note = if *earlier { " (an earlier task, already settled)" } else { "" };
        let _ = write!(expected, "Message {}{note}:\n> {said}\n\n", at + 1);
    }
    assert!(text.contains(&(expected.clone() + "#")), "{expected}\n---\n{text}");
}

/// Typed, taken up in the middle of a turn, interrupted; and beside that all that a client writes in the
/// person's name. A turn of `!command` and an interrupted one are not reviewed.
fn a_review_knows_the_persons_own_words_and_no_others(client: &Path) {
    let room = CleanRoom::new();
    let (tool, slow) = (Held::new(&room, "tool"), Gate::new());
    let api = Api::start(vec![
        confirms(),
        Rule::on("<bash-stdout>zq-shell").with_tool("Bash").text("zq-seen."),
        Rule::on("detailed summary").text("<summary>zq-summary</summary>"),
        Rule::on("zq-one")
            .with_tool("Bash")
            .tool("Bash", json!({"command": tool.command()}))
            .times(1),
        Rule::on("zq-two").with_tool("Bash").text("zq-one-and-two-done."),
        Rule::on("zq-slow")
            .with_tool("Bash")
            .chunks(10)
            .gate_midway(&slow)
            .text("qz-begun\n\nzq-slowly-done.")
            .times(1),
        Rule::on("zq-three").with_tool("Bash").text("zq-three-done."),
        Rule::any()
            .with_tool("Bash")
            .tool("Bash", json!({"command": "echo zq-still-here"}))
            .times(100),
    ]);
    let mut terminal = supervised(&room, client, &api);
    terminal.say("zq-one");
    tool.wait_started();
    terminal.say("zq-two");
    terminal.wait_until("the queued message", |screen| {
        screen.matches("zq-two").count() == 1 && !screen.contains("> zq-two\n─")
    });
    tool.let_go();
    terminal.wait_for("zq-one-and-two-done.");
    terminal.wait_for("confirmed complete in round 1");
    wait_for_turns(&terminal, 1);
    terminal.keys("!");
    terminal.keys("echo zq-shell");
    terminal.wait_for("echo zq-shell");
    terminal.keys("\r");
    terminal.wait_for("zq-seen.");
    wait_for_turns(&terminal, 2);
    terminal.say("zq-slow");
    slow.wait_reached(PATIENCE);
    terminal.wait_for("qz-begun");
    terminal.keys("\x1b");
    terminal.wait_for("Interrupted");
    slow.open();
    terminal.say("/compact");
    terminal.wait_for("Compacted");
    terminal.say("zq-three");
    terminal.wait_for("zq-three-done.");
    terminal.wait_until("a second review", |screen| {
        screen.matches("confirmed complete in round 1").count() == 2
            || !screen.contains("zq-one") && screen.contains("confirmed complete in round 1")
    });

    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    let [first, second] = reviews.as_slice() else {
        panic!("{} reviews\n{}", reviews.len(), terminal.screen())
    };
    assert_said(first, &[("zq-one", false), ("zq-two", false)]);
    assert_said(
        second,
        &[("zq-one", true), ("zq-two", true), ("zq-slow", false), ("zq-three", false)],
    );
    assert!(second.recent_text().contains("This is review 1 of at most 10."));
}

fn a_message_during_a_review_goes_first(client: &Path) {
    let room = CleanRoom::new();
    let gate = Gate::new();
    let api = Api::start(vec![
        rejects("zq-never-seen").gate(&gate).times(1),
        confirms(),
        Rule::on("zq-build-it").with_tool("Bash").text("zq-built."),
        Rule::on("zq-and-this").with_tool("Bash").text("zq-this-too."),
    ]);
    let mut terminal = supervised(&room, client, &api);
    std::fs::write(room.project().join("of-the-person"), "").expect("a file");
    terminal.say("zq-build-it");
    gate.wait_reached(PATIENCE);
    terminal.say("zq-and-this");
    terminal.wait_for("zq-this-too.");
    terminal.wait_for("confirmed complete in round 1");
    gate.open();
    let requests = api.requests();
    let order: Vec<_> = requests
        .iter()
        .filter(|request| is_turn(request) || begins_review(request))
        .map(|request| if begins_review(request) { "review" } else { "turn" })
        .collect();
    assert_eq!(order, ["turn", "review", "turn", "review"], "{}", terminal.screen());
    let last = requests.iter().rfind(|request| begins_review(request)).expect("a review");
    assert_said(last, &[("zq-build-it", false), ("zq-and-this", false)]);
    let text = last.recent_text();
    assert!(text.contains("This is review 1 of at most 10."), "a dropped review is no round");
    assert!(text.contains("- added of-the-person"), "what changed since the task began: {text}");
}

/// By the end of a task in the background: nobody has said anything since.
fn an_agent_that_wakes_after_a_confirmation_is_counted_anew(client: &Path) {
    let room = CleanRoom::new();
    let held = Held::new(&room, "background");
    let runs = json!({"command": held.command(), "run_in_background": true});
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-run").with_tool("Bash").tool("Bash", runs).times(1),
        Rule::any().with_tool("Bash").text("zq-done."),
    ]);
    let mut terminal = supervised(&room, client, &api);
    terminal.say("zq-run");
    held.wait_started();
    terminal.wait_for("background tasks are still running");
    terminal.say("zq-go-on");
    terminal.wait_for("confirmed complete in round 2");
    held.let_go();
    terminal.wait_for("confirmed complete in round 1");
    assert_eq!(count(&api.requests(), begins_review), 3, "{}", terminal.screen());
}

/// Scenarios 004 «用户使用 /supervisor 命令», «用户使用 /supervisoroff 命令», for the words alone.
fn switches_cost_no_request_and_supervision_outlives_a_clear(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-first").with_tool("Bash").text("zq-first-done."),
        Rule::on("zq-second").with_tool("Bash").text("zq-second-done."),
        Rule::on("zq-third").with_tool("Bash").text("zq-third-done."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).instructions(INSTRUCTIONS);
    let mut terminal = ccc.args(["--permission-mode", "default"]).on_terminal();
    terminal.wait_for("❯");
    terminal.say("/supervisor");
    terminal.wait_for("Supervision is on");
    assert!(api.requests().is_empty(), "{}", terminal.screen());
    terminal.say("zq-first");
    terminal.wait_for("confirmed complete in round 1");
    wait_for_turns(&terminal, 1);
    terminal.say("/clear");
    terminal.wait_until("an empty screen", |screen| !screen.contains("zq-first"));
    terminal.say("zq-second");
    terminal.wait_for("confirmed complete in round 1");
    wait_for_turns(&terminal, 1);
    let before = api.requests().len();
    terminal.say("/supervisoroff");
    terminal.wait_for("Supervision is off");
    assert_eq!(api.requests().len(), before, "{}", terminal.screen());
    terminal.say("zq-third");
    terminal.wait_for("zq-third-done.");
    wait_for_turns(&terminal, 2);

    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    let [first, second] = reviews.as_slice() else {
        panic!("{} reviews\n{}", reviews.len(), terminal.screen())
    };
    assert_said(first, &[("zq-first", false)]);
    assert_said(second, &[("zq-second", false)]);
    assert!(!terminal.screen().contains("and not by you"), "{}", terminal.screen());
}
