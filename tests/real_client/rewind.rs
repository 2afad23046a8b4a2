//! Back to an earlier message: the conversation, the files, and the task with them.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::on_each_client;
use crate::script::{begins_review, confirms, is_agents, only, session_id};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;

on_each_client!(escape_twice_goes_back_to_before_a_message);

fn escape_twice_goes_back_to_before_a_message(client: &Path) {
    let room = CleanRoom::new();
    let file = room.project().join("zq.txt");
    let write = |text: &str| json!({"file_path": file, "content": text});
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-first").tool("Write", write("one")).times(1),
        Rule::on("zq-second").tool("Write", write("two")).times(1),
        Rule::any().text("zq-done."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).interactive();
    let mut terminal = ccc.args(["--permission-mode", "acceptEdits"]).on_terminal();
    terminal.wait_for("ready");
    for message in ["zq-first", "zq-second"] {
        terminal.say(message);
        terminal.wait_for(&format!("❯ {message}"));
        terminal.wait_until("it is confirmed", |screen| {
            let after = screen.rsplit_once(message).map(|(_, after)| after);
            after.is_some_and(|after| {
                after.contains("Confirmed complete") && after.contains("ready")
            })
        });
    }
    assert_eq!(fs::read_to_string(&file).expect("a file"), "two");

    terminal.keys("\x1b");
    terminal.wait_for("press Esc again");
    terminal.keys("\x1b");
    terminal.wait_for("before which message?");
    terminal.keys("\r");
    terminal.wait_for("What should be restored?");
    terminal.keys("\r");
    terminal.wait_for("Restored the files as they were before: zq-second");
    assert_eq!(fs::read_to_string(&file).expect("a file"), "one");
    terminal.wait_for("Restored the conversation as it was before: zq-second");
    // The message is there to be edited.
    terminal.wait_until("the message is back", |screen| {
        screen.lines().rev().take(4).any(|line| line.contains("❯ zq-second"))
    });
    terminal.keys("\x15zq-third\r");
    terminal.wait_until("it is confirmed", |screen| {
        let after = screen.rsplit_once("zq-third").map(|(_, after)| after);
        after.is_some_and(|after| after.contains("Confirmed complete"))
    });
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());

    let requests = api.requests();
    let agents = only(&requests, is_agents);
    let last = agents.last().expect("a request of the agent").messages_text();
    assert!(last.contains("zq-first") && !last.contains("zq-second"), "{last}");
    let reviews = only(&requests, begins_review);
    let review = reviews.last().expect("a review").recent_text();
    assert!(review.contains("zq-third") && !review.contains("zq-second"), "{review}");
    let id = session_id(agents.last().expect("a request"));
    let check = Ccc::new(&room).args(["replay", &id, "--check"]).run();
    assert_eq!(check.code, Some(0), "{check}");
}
