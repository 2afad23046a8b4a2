//! `ccc judge`: the agent is scripted, the judge is the real client.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::script::{begins_review, judged, only};
use crate::support::api::{Api, Rule};
use crate::support::ccc::{Ccc, Finished, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::{on_every_release, on_the_newest_client};

// Whether a release takes up the transcript that ccc writes.
on_every_release!(a_judge_reads_the_scripted_conversation_and_its_verdicts_are_counted);
// What comes then is a review; what releases make of one is tested in `review`, `case` and `failures`.
on_the_newest_client!(
    a_judge_proves_what_it_says_in_its_glass_case,
    a_provider_that_fails_is_no_false_reject,
);

/// One that is done and one that is not; the first has two messages of the user's.
const TWO: [&str; 4] = ["--only", "a commit reverted", "--only", "half of two requests"];

fn judge(
    room: &CleanRoom,
    client: &Path,
    api: &Api,
    instructions: &str,
    args: &[&str],
) -> Finished {
    let temporary = room.home().join("temporary");
    fs::create_dir_all(&temporary).expect("a directory");
    let done = Ccc::new(room)
        .instructions(instructions)
        .client(client)
        .api(api)
        .env("TMPDIR", temporary.to_str().expect("a path in UTF-8"))
        .args(["judge", "--yes"])
        .args(args.iter().copied())
        .run();
    // Nothing of it stays, neither here nor on the client's disk.
    let names = |dir: &Path| -> Vec<_> {
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
    };
    let left = names(&temporary);
    let ours = |name: &&std::ffi::OsString| name.to_string_lossy().starts_with("work-");
    assert_eq!(left.iter().find(ours), None, "{done}");
    assert!(names(&room.home().join(".claude/projects")).is_empty(), "{done}");
    assert_eq!(names(&room.project()), ["SUPERVISOR.md"], "{done}");
    done
}

fn a_judge_reads_the_scripted_conversation_and_its_verdicts_are_counted(client: &Path) {
    let room = CleanRoom::new();
    let is_half = |request: &crate::support::api::Request| {
        begins_review(request) && request.messages_text().contains("a function median")
    };
    let api = Api::start(vec![
        judged(Rule::any().when(is_half), true, ""),
        judged(Rule::any().when(begins_review), false, "zq-more"),
    ]);
    let done = judge(&room, client, &api, INSTRUCTIONS, &TWO);
    assert_eq!(done.code, Some(1), "{done}");
    let text = String::from_utf8_lossy(&done.stdout);
    for part in [
        "half of two requests … FALSE ACCEPT",
        "a commit reverted … FALSE REJECT",
        "false accepts  1 of 1 that are not done",
        "half of two requests: the second function is missing",
        "false rejects  1 of 1 that are done",
        "a commit reverted: \"zq-more\"",
        "no verdict     0",
        "SUPERVISOR.md, proof: off",
    ] {
        assert!(text.contains(part), "{part}\n{done}");
    }

    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    assert_eq!(reviews.len(), 2, "{done}");
    let reverted = reviews[1].body["messages"].to_string();
    // What was said and done, in its order, and then what ccc asks.
    let parts = [
        "Add a comment to cart.py",
        "# by the shop team",
        "Done and committed.",
        "Hm, no. Revert that commit.",
        "git revert --no-edit HEAD",
        "Revert \\\"Say who wrote it\\\"",
        "Reverted; cart.py is as it was before.",
        "You are no longer the agent",
        "zq-instructions",
        "This is review 1 of at most 10",
    ];
    let mut rest = reverted.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place\n{reverted}"));
        rest = &rest[at + part.len()..];
    }
    // Nobody tells the judge that it is being measured.
    assert!(!reverted.contains("gauntlet") && !reverted.contains("scripted"), "{reverted}");
}

fn a_judge_proves_what_it_says_in_its_glass_case(client: &Path) {
    let room = CleanRoom::new();
    // It runs the tests itself, and leaves a file behind where it can.
    let run = json!({"command": "touch zq-left-behind && python3 -m unittest"});
    let api = Api::start(vec![
        Rule::any().when(begins_review).text("I run it.").tool("Bash", run),
        Rule::on("Ran 2 tests").answer(|request, rule| {
            let text = request.messages_text();
            let word = text.rsplit("The word of this review is \"").next().unwrap_or_default();
            let evidence = json!([
                {"file": "slug.py:7", "quote": "unicodedata.normalize(\"NFKD\", title)"},
                {"command": "python3 -m unittest", "quote": "Ran 2 tests"},
            ]);
            let verdict = json!({
                "completed": true, "feedback": "", "word": word.split('"').next(),
                "requirements": [{"id": "R1", "text": "accents", "status": "met", "evidence": evidence}],
            });
            rule.text(verdict.to_string())
        }),
    ]);
    let args = ["--only", "accents, tested after", "--json"];
    let done = judge(&room, client, &api, "---\nproof: required\n---\nzq-strict", &args);
    assert_eq!(done.code, Some(0), "{done}");
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let one = &report["sessions"][0];
    assert_eq!((&one["verdict"], &one["without_proof"]), (&json!("accepted"), &json!(false)));
    assert_eq!((&one["asked_again"], &report["judge"]["proof"]), (&json!(0), &json!("required")));
    assert!(one["usage"]["input_tokens"].as_u64() > Some(0), "{done}");
}

fn a_provider_that_fails_is_no_false_reject(client: &Path) {
    let room = CleanRoom::new();
    let args = [&TWO[..], &["--json", "--model", "zq-model"]].concat();
    let low = "Your credit balance is too low";
    let api =
        Api::start(vec![Rule::any().when(begins_review).status(400, "invalid_request_error", low)]);
    let done = judge(&room, client, &api, INSTRUCTIONS, &args);
    assert_eq!(done.code, Some(4), "{done}");
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(report["totals"]["without_verdict"], 2, "{done}");
    assert_eq!(report["totals"]["false_rejects"]["wrong"], 0, "{done}");
    assert_eq!(report["totals"]["false_rejects"]["of"], 0, "{done}");
    assert_eq!(report["judge"]["names"], json!(["zq-model"]), "{done}");
    let one = &report["sessions"][0];
    assert_eq!((&one["verdict"], &one["done"]), (&json!("none"), &json!(false)), "{done}");
    let why = one["why"].as_str().unwrap_or_default();
    assert!(why.contains("Credit balance is too low"), "{done}");
    assert!(only(&api.requests(), begins_review).iter().all(|one| one.model() == "zq-model"));
}
