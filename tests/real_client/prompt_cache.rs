//! What a review shares with the agent's own prompt, and so what it costs: the agent's last request is
//! the beginning of the review's first.
//!
//! Releases before 2.1.268 write their system prompt anew for a resumed session: what `git status` says
//! by then and what the judge must not read (its memory) is different there. They share the tools.

use std::fs;
use std::path::Path;

use ccc::client::version::Version;
use serde_json::{Value, json};

use crate::script::{begins_review, confirms, is_review, rejects};
use crate::support::api::prefix::shared;
use crate::support::api::{Api, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::terminal::Terminal;
use crate::{on_each_client, on_the_newest_client, on_the_release_between, release_of};

on_each_client!(
    a_review_begins_with_the_agents_prompt_after_edits_and_commits,
    a_review_repeats_the_options_that_the_agents_prompt_begins_with,
    a_review_tells_what_it_read_from_the_cache_and_paid,
    a_price_that_the_client_makes_up_is_not_shown,
);
on_the_release_between!(
    a_review_begins_with_the_agents_prompt_after_edits_and_commits,
    a_review_repeats_the_options_that_the_agents_prompt_begins_with,
);
on_the_newest_client!(
    the_servers_of_the_agent_are_there_for_the_review,
    a_review_begins_with_the_agents_prompt_after_compact_and_clear,
    a_review_begins_with_the_agents_prompt_after_a_sub_agent,
    a_review_by_the_hook_begins_with_the_prompt_of_the_clients_own_screen,
);

/// A turn of the agent: with tools, and not of a sub-agent, which does not see the user's words.
fn is_turn(request: &Request) -> bool {
    !is_review(request)
        && request.tool_names().contains(&"Bash")
        && request.messages_text().contains("zq-build-it")
}

fn keeps_its_prompt(client: &Path) -> bool {
    release_of(client) >= Version([2, 1, 268])
}

/// Every review begins with what the agent asked last.
#[track_caller]
fn assert_shared(client: &Path, requests: &[Request], reviews: usize) {
    let expected = if keeps_its_prompt(client) { None } else { Some("system[2]") };
    let mut seen = 0;
    for (at, review) in requests.iter().enumerate().filter(|(_, it)| begins_review(it)) {
        let last = requests[..at].iter().rfind(|request| is_turn(request)).expect("a turn");
        let shared = shared(last, review);
        assert_eq!(shared.parted.as_deref(), expected, "{shared}");
        seen += 1;
    }
    assert_eq!(seen, reviews);
}

/// A project under version control, as most are, with instructions of its own.
fn repository() -> CleanRoom {
    let room = CleanRoom::new();
    fs::write(room.project().join("CLAUDE.md"), "zq-house-rules\n").expect("a file");
    let script = "git init -q . && git config user.email a@b && git config user.name n && \
                  git add -A && git commit -qm first";
    let done = room.command(Path::new("/bin/sh"), "").args(["-c", script]).status();
    assert!(done.expect("sh").success());
    room
}

fn a_review_begins_with_the_agents_prompt_after_edits_and_commits(client: &Path) {
    let room = repository();
    let file = room.project().join("made.txt");
    let change = "echo zq-more >> made.txt && git add -A && git commit -qm second && touch new.txt";
    let api = Api::start(vec![
        rejects("zq-commit-it").times(1),
        confirms(),
        Rule::on("zq-build-it")
            .tool("Write", json!({"file_path": file, "content": "zq-made\n"}))
            .times(1),
        Rule::on("zq-commit-it").tool("Bash", json!({"command": change})).times(1),
        Rule::any().text("zq-built."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let done = ccc.arg("--dangerously-skip-permissions").run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(room.project().join("new.txt").exists(), "{done}");
    assert_shared(client, &api.requests(), 2);
}

fn a_review_repeats_the_options_that_the_agents_prompt_begins_with(client: &Path) {
    repeats_options(client, "--supervisor");
    // Older releases name the model in a tool's description, and the hook does not know its variant.
    if keeps_its_prompt(client) {
        repeats_options(client, "--supervisor=hook");
    }
}

fn repeats_options(client: &Path, way: &str) {
    let room = CleanRoom::new();
    let beside = room.home().join("lib");
    fs::create_dir(&beside).expect("a directory");
    let api = Api::start(vec![confirms(), Rule::any().text("zq-built.")]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .instructions(INSTRUCTIONS)
        .args([way, "-p", "zq-build-it"])
        .args(["--tools", "Bash,Read,Edit,WebFetch", "--disallowedTools", "WebFetch"])
        .args(["--effort", "low", "--append-system-prompt", "zq-appended", "--add-dir"])
        .arg(&beside)
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    assert_shared(client, &requests, 1);
    // Otherwise the test would hold for options that change nothing.
    let agent = requests.iter().find(|request| is_turn(request)).expect("a turn");
    assert!(!agent.tool_names().contains(&"WebFetch") && !agent.tool_names().contains(&"Write"));
    assert_eq!(agent.body["output_config"]["effort"], "low");
}

/// A session of two reviews whose judge reads 98 of 100 tokens from the cache; in JSON and in words.
fn priced(client: &Path, model: &str) -> (Value, String) {
    let run = |format: &str| {
        let room = CleanRoom::new();
        let api = Api::start(vec![
            rejects("zq-tests-are-missing").usage(100, 100, 9_800).times(1),
            confirms().usage(100, 100, 9_800),
            Rule::any().usage(100, 2_000, 8_000).text("zq-built."),
        ]);
        let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
        let done = ccc.args(["--output-format", format, "--model", model]).run();
        assert_eq!(done.code, Some(0), "{done}");
        done
    };
    (run("json").json(), run("text").stderr)
}

fn a_review_tells_what_it_read_from_the_cache_and_paid(client: &Path) {
    let (json, text) = priced(client, "opus");
    let usd = |value: &Value| value["cost_usd"].as_f64().expect("a price");
    let mut sum = 0.0;
    for round in json["rounds"].as_array().expect("rounds") {
        assert_eq!(round["usage"]["cache_read_tokens"], 9_800, "{json}");
        assert_eq!(round["usage"]["cache_write_tokens"], 100, "{json}");
        assert!(usd(round) > 0.0, "{json}");
        sum += usd(round);
    }
    let supervision = &json["supervision"];
    assert_eq!(
        (&supervision["reviews"], &supervision["usage"]["cache_read_tokens"]),
        (&json!(2), &json!(19_600)),
        "{json}"
    );
    assert!((usd(supervision) - sum).abs() < 1e-9 && usd(&json) > 1.5 * sum, "{json}");
    assert_eq!(text.matches("s · 98% cached · $0.0").count(), 2, "{text}");
    assert_eq!(text.matches(" (reviews: 98% cached, $0.0").count(), 1, "{text}");
}

fn a_price_that_the_client_makes_up_is_not_shown(client: &Path) {
    let (json, text) = priced(client, "zq-model");
    for part in [&json["rounds"][0], &json["supervision"]] {
        assert_eq!((&part["cost_usd"], &part["usage"]["unpriced"]), (&json!(0.0), &json!(true)));
    }
    assert!(!text.contains('$'), "{text}");
    assert!(text.contains("s · 98% cached · 10k tokens"), "{text}");
    assert!(text.contains(" · reviews: 98% cached, 20k tokens"), "{text}");
}

/// A server of the Model Context Protocol with one tool.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"zq","version":"1"}}' ;;
  *'"tools/list"'*) result='{"tools":[{"name":"look","description":"zq-looks","inputSchema":{"type":"object"}}]}' ;;
  *'"tools/call"'*) result='{"content":[{"type":"text","text":"zq-seen-by-the-server"}]}' ;;
  *) result='{}' ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn the_servers_of_the_agent_are_there_for_the_review(client: &Path) {
    let room = CleanRoom::new();
    let server = room.home().join("server.sh");
    fs::write(&server, SERVER).expect("a server");
    let servers = json!({"mcpServers": {"zq": {"command": "/bin/sh", "args": [server]}}});
    let file = room.home().join("servers.json");
    fs::write(&file, servers.to_string()).expect("a file");
    let call = |rule: Rule| rule.tool("mcp__zq__look", json!({}));
    let api = Api::start(vec![
        call(Rule::any().when(begins_review)),
        crate::script::judged(Rule::any().when(is_review), true, ""),
        call(Rule::on("zq-build-it").times(1)),
        Rule::any().text("zq-built."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"allowed_tools": ["mcp__zq__look"]}}))
        .supervised("zq-build-it")
        .arg("--mcp-config")
        .arg(&file)
        .args(["--allowedTools", "mcp__zq__look"])
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    assert_shared(client, &requests, 1);
    let saw = |wanted: fn(&Request) -> bool| {
        let seen = |request: &Request| request.recent_text().contains("zq-seen-by-the-server");
        requests.iter().any(|request| wanted(request) && seen(request))
    };
    assert!(saw(is_turn) && saw(is_review), "{done}");
}

fn a_review_begins_with_the_agents_prompt_after_compact_and_clear(client: &Path) {
    let room = repository();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::any().text("zq-summary: zq-build-it was asked for."),
    ]);
    let mut terminal = Ccc::new(&room).client(client).api(&api).interactive().on_terminal();
    terminal.wait_for("ready");
    let confirmed = |terminal: &mut Terminal, times: usize| {
        terminal.say(&format!("zq-build-it {times}"));
        terminal.wait_until("the confirmation", |screen| {
            screen.matches("Confirmed complete in round 1").count() == times
        });
        terminal.wait_for("ready");
    };
    confirmed(&mut terminal, 1);
    terminal.say("/compact");
    confirmed(&mut terminal, 2);
    terminal.say("/clear");
    confirmed(&mut terminal, 3);
    terminal.ctrl_d();
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
    let requests = api.requests();
    assert_shared(client, &requests, 3);
    let compacted = |it: &Request| is_turn(it) && it.messages_text().contains("zq-summary");
    assert!(requests.iter().any(compacted), "nothing was compacted");
}

fn a_review_begins_with_the_agents_prompt_after_a_sub_agent(client: &Path) {
    let room = repository();
    let task = json!({
        "description": "look around", "prompt": "zq-sub-task", "subagent_type": "general-purpose",
    });
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-sub-task").text("zq-looked-around."),
        Rule::on("zq-build-it").tool("Agent", task).times(1),
        Rule::any().text("zq-built."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let done = ccc.arg("--dangerously-skip-permissions").run();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    assert!(requests.iter().any(|it| it.recent_text().contains("zq-sub-task")), "{done}");
    assert_shared(client, &requests, 1);
}

fn a_review_by_the_hook_begins_with_the_prompt_of_the_clients_own_screen(client: &Path) {
    let room = repository();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
    ]);
    let ccc = Ccc::new(&room).client(client).api(&api).instructions(INSTRUCTIONS);
    let mut terminal =
        ccc.args(["--supervisor=hook", "--permission-mode", "default"]).on_terminal();
    terminal.wait_for("❯");
    terminal.say("zq-build-it");
    terminal.wait_for("zq-tested.");
    let reached =
        |requests: &[Request]| requests.iter().filter(|it| begins_review(it)).count() == 2;
    let requests = api.wait_for(reached, crate::support::patience::PATIENCE);
    assert_shared(client, &requests, 2);
}
