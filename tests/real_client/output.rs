//! What a program that runs ccc reads: one object, or the agent's lines with ccc's own between them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::script::{confirms, is_agents, only, rejects, session_id};
use crate::support::api::{Api, Rule};
use crate::support::ccc::Ccc;
use crate::support::client::CleanRoom;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(stream_json_is_the_agents_lines_byte_for_byte_and_cccs_own);
// What it costs on another release is tested in `prompt_cache`.
on_the_newest_client!(json_is_one_object_that_says_how_it_went);

/// A session of two rounds.
fn api() -> Api {
    Api::start(vec![
        rejects("zq-tests-are-missing").times(1),
        confirms(),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
    ])
}

fn json_is_one_object_that_says_how_it_went(client: &Path) {
    let room = CleanRoom::new();
    let api = api();
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let done = ccc.args(["--output-format", "json"]).run();
    assert_eq!(done.code, Some(0), "{done}");

    let report = done.json();
    assert_eq!(report["outcome"], "completed", "{done}");
    assert_eq!(report["exit_code"], 0, "{done}");
    assert_eq!(report["result"], "zq-tested.", "{done}");
    let requests = api.requests();
    let session = session_id(only(&requests, is_agents)[0]);
    assert_eq!(report["session_id"], session.as_str(), "{done}");

    let rounds = report["rounds"].as_array().expect("the rounds");
    let verdicts: Vec<_> = rounds.iter().map(|round| &round["completed"]).collect();
    assert_eq!(verdicts, [false, true], "{done}");
    assert_eq!(rounds[0]["feedback"], "zq-tests-are-missing", "{done}");

    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number\n{done}"));
    let of_rounds: f64 = rounds.iter().map(|round| number(&round["cost_usd"])).sum();
    assert!(of_rounds > 0.0 && number(&report["cost_usd"]) > of_rounds, "{done}");
    let seconds = &report["seconds"];
    let (working, reviewing) = (number(&seconds["working"]), number(&seconds["reviewing"]));
    assert!(working > 0.0 && reviewing > 0.0, "{done}");
    assert!(number(&seconds["total"]) >= working + reviewing, "{done}");
}

fn stream_json_is_the_agents_lines_byte_for_byte_and_cccs_own(client: &Path) {
    let room = CleanRoom::new();
    let api = api();
    let ccc = Ccc::new(&room).client(client).api(&api).supervised("zq-build-it");
    let done = ccc.args(["--output-format", "stream-json"]).run();
    assert_eq!(done.code, Some(0), "{done}");

    let own = done.own_lines();
    let events: Vec<_> = own.iter().filter_map(|line| line["event"].as_str()).collect();
    for event in ["started", "session", "review_started", "supervisor", "verdict", "feedback"] {
        assert!(events.contains(&event), "{event} is missing in {events:?}");
    }
    assert_eq!(events.last(), Some(&"finished"));
    let finished = own.last().expect("the last line");
    assert_eq!(finished["outcome"], "completed", "{finished}");

    let agents: Vec<u8> = done
        .stdout
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| {
            let value: Value = serde_json::from_slice(line).unwrap_or_default();
            value["type"] != "ccc"
        })
        .flatten()
        .copied()
        .collect();
    let id = finished["session_id"].as_str().expect("the session's id");
    let recorded = room.project().join(format!(".claude/ccc/sessions/{id}/agent.jsonl"));
    let recorded = fs::read(&recorded).expect("the recording");
    let results = |lines: &[u8]| {
        String::from_utf8_lossy(lines).lines().filter(|line| line.contains("\"result\"")).count()
    };
    assert!(results(&agents) >= 2, "{done}");
    // What the client prints while it is being shut down is on record only.
    assert!(recorded.starts_with(&agents), "the recording is different\n{done}");
}
