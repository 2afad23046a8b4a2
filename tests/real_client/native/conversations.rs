//! Supervision belongs to the launch: in whichever conversation the person is, it knows what they said
//! there, and what they took back.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{is_turn, leave, native};
use crate::script::{begins_review, confirms, count, is_agents, only, session_id};
use crate::support::api::{Api, Gate, Rule};
use crate::support::client::CleanRoom;
use crate::support::held::Held;
use crate::support::patience::PATIENCE;
use crate::support::terminal::Terminal;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(
    a_branch_and_a_conversation_that_is_taken_up_again_have_their_words_and_a_rewound_one_has_not,
    the_end_of_a_task_in_the_background_is_nobodys_message,
);
// Older clients report a message only when the agent takes it up.
on_the_newest_client!(what_was_taken_back_out_of_the_queue_was_not_said);

/// The words of the person that the last review was told of: those of earlier tasks, and the others.
fn said(api: &Api) -> Vec<String> {
    let requests = api.requests();
    let review = only(&requests, begins_review).last().expect("a review").recent_text();
    let (_, rest) = review.split_once("# What the user said, in order").expect("the words");
    let (words, _) = rest.split_once("\n#").expect("their end");
    words.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

/// Says something and waits until its work is confirmed.
#[track_caller]
fn done(terminal: &mut Terminal, api: &Api, text: &str) -> Vec<String> {
    let before = count(&api.requests(), begins_review);
    terminal.say(text);
    api.wait_for(|requests| count(requests, begins_review) > before, PATIENCE);
    terminal.wait_for("confirmed in round 1");
    said(api)
}

fn a_branch_and_a_conversation_that_is_taken_up_again_have_their_words_and_a_rewound_one_has_not(
    client: &Path,
) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("detailed summary").text("<summary>zq-summary</summary>"),
        Rule::any().text("zq-ok."),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    assert_eq!(done(&mut terminal, &api, "zq-first"), ["zq-first"]);
    let requests = api.requests();
    let first = session_id(requests.iter().find(|request| is_agents(request)).expect("a turn"));
    terminal.say("/branch");
    // «Branched session.», «Branched conversation.» before 2.1.327.
    terminal.wait_for("Branched ");
    assert_eq!(done(&mut terminal, &api, "zq-branched"), ["zq-first", "zq-branched"]);
    terminal.say("/clear");
    terminal.wait_until("an empty screen", |screen| !screen.contains("zq-branched"));
    terminal.wait_until("no word of the last review", |screen| {
        screen.lines().any(|line| line.trim_start().starts_with("supervised"))
    });
    assert_eq!(done(&mut terminal, &api, "zq-cleared"), ["zq-cleared"]);
    terminal.say(&format!("/resume {first}"));
    terminal.wait_until("the first conversation", |screen| {
        screen.contains("zq-first") && !screen.contains("zq-cleared")
    });
    assert_eq!(done(&mut terminal, &api, "zq-regretted"), ["zq-first", "zq-regretted"]);

    terminal.say("/rewind");
    terminal.wait_for("❯ (current)");
    terminal.keys("\x1b[A");
    terminal.wait_until("the message before", |screen| !screen.contains("❯ (current)"));
    terminal.keys("\r");
    terminal.wait_for("❯ 1. Restore conversation");
    // A client that has drawn its question does not always hear the first key.
    for _ in 0..10 {
        terminal.keys("\r");
        let asks = || terminal.screen().contains("Confirm you want to restore");
        if (0..30).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            !asks()
        }) {
            break;
        }
    }
    terminal.wait_until("the message in the input", |screen| {
        let lines: Vec<_> = screen.lines().collect();
        let is_input = |pair: &[&str]| {
            pair[0].starts_with('❯') && pair[0].contains("zq-regretted") && pair[1].starts_with('─')
        };
        lines.windows(2).any(is_input) && screen.contains("confirmed in round 1")
    });
    terminal.keys("\x15");
    terminal.wait_until("an empty input", |screen| !screen.contains("zq-regretted"));
    assert_eq!(done(&mut terminal, &api, "zq-instead"), ["zq-first", "zq-instead"]);
    terminal.wait_for("You took back \"zq-regretted\"");

    terminal.say("/compact");
    terminal.wait_for("ompacted");
    let screen = terminal.screen();
    assert!(!screen.contains("127.0.0.1"), "nothing of ccc's is printed: {screen}");
    leave(terminal);
}

fn what_was_taken_back_out_of_the_queue_was_not_said(client: &Path) {
    let room = CleanRoom::new();
    // A hook of the person's own, which the client waits for before it puts the message into its queue.
    let held = Held::new(&room, "reported");
    let holds = held.command();
    let command = format!("! grep -q zq-regretted || [ ! -e zq-hold ] || {{ {holds}; }}");
    let hooks = json!({"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]});
    let settings = room.home().join(".claude/settings.json");
    std::fs::write(settings, json!({"hooks": hooks}).to_string()).expect("settings");
    let (first, second) = (Gate::new(), Gate::new());
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-first").when(is_turn).gate(&first).text("zq-ok."),
        Rule::on("zq-second").when(is_turn).gate(&second).text("zq-ok."),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    let is_input = |screen: &str| {
        let lines: Vec<_> = screen.lines().collect();
        lines.windows(2).any(|pair| pair[0].contains("zq-regretted") && pair[1].starts_with('─'))
    };
    // Once the client has put it into its queue, and before it does.
    for (gate, word, is_queued) in [(&first, "zq-first", true), (&second, "zq-second", false)] {
        let before = count(&api.requests(), begins_review);
        terminal.say(word);
        gate.wait_reached(PATIENCE);
        terminal.keys("zq-regretted");
        terminal.wait_until("the message in the input", is_input);
        if is_queued {
            terminal.keys("\r");
            terminal.wait_for("edit queued messages");
        } else {
            std::fs::write(room.project().join("zq-hold"), "").expect("a mark");
            terminal.keys("\r");
            held.wait_started();
        }
        terminal.keys("\x1b[A");
        terminal.wait_until("the message in the input again", |screen| {
            is_input(screen) && !screen.contains("edit queued messages")
        });
        terminal.keys("\x15");
        terminal.wait_until("an empty input", |screen| !is_input(screen));
        if !is_queued {
            held.let_go();
        }
        gate.open();
        api.wait_for(|requests| count(requests, begins_review) > before, PATIENCE);
        terminal.wait_for("confirmed in round 1");
        assert_eq!(said(&api).last().map(String::as_str), Some(word), "{}", terminal.screen());
    }
    assert_eq!(said(&api), ["zq-first", "zq-second"]);
    assert!(!terminal.screen().contains("You took back"), "{}", terminal.screen());
    leave(terminal);
}

fn the_end_of_a_task_in_the_background_is_nobodys_message(client: &Path) {
    let room = CleanRoom::new();
    let held = Held::new(&room, "background");
    let runs = json!({"command": held.command(), "run_in_background": true});
    let run = Rule::on("zq-run").when(is_turn).tool("Bash", runs).times(1);
    let api = Api::start(vec![confirms(), run]);
    let mut terminal = native(&room, client, &api, &["--allowedTools", "Bash"]);
    terminal.say("zq-run");
    held.wait_started();
    terminal.wait_for("1 in the background, not reviewed yet");
    held.let_go();
    terminal.wait_for("Confirmed in round 1");
    assert!(!terminal.screen().contains("did not type"), "{}", terminal.screen());
    assert_eq!(said(&api), ["zq-run"]);
    leave(terminal);
}
