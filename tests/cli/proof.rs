//! What a confirmation is worth, from the outside: judges that are honest, gullible, forging, never
//! content, or at their wits' end.

use serde_json::Value;

use crate::room::{Done, Room};

/// An agent that runs its tests, and a judge that answers every message with what the test wants. The
/// word of the review stands where that says WORD.
const CLIENT: &str = r#"#!/bin/sh
role=agent
for arg; do [ "$arg" = --fork-session ] && role=supervisor; done
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$\|^--resume$/{n;p;q}')
while read -r line; do
  case $line in *'"subtype":"initialize"'*) continue ;; esac
  printf '%s\n' "$line" >>"$ROOM/$role.input"
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  if [ $role = supervisor ]; then
    word=$(printf '%s' "$line" | sed -n 's/.*The word of this review is \\"\([0-9a-f]*\)\\".*/\1/p')
    [ "$(wc -l <"$ROOM/$role.input")" = 1 ] && grep -rqF "$word" .claude && touch "$ROOM/leaked"
    sed "s/WORD/$word/" "$ROOM/../judge.prints"
  else
    echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
    echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"$id\"}"
    echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"python -m pytest -q"}}]}}'
    printf '%s\n' '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"...\n3 passed in 0.02s"}]}}'
    echo "{\"type\":\"result\",\"num_turns\":1,\"result\":\"It works, and 3 tests pass.\",\"session_id\":\"$id\"}"
  fi
done
"#;

fn judged(instructions: &str, answer: &str) -> (Room, Done) {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", instructions);
    room.write("project/slug.py", "import re\n\ndef slugify(title):\n    return title\n");
    room.client(CLIENT);
    let line = serde_json::json!({"type": "result", "num_turns": 1, "result": answer});
    room.write("judge.prints", format!("{line}\n"));
    let done = room.ccc(&["--supervisor", "-p", "do it", "--output-format", "json"]).run();
    // Whoever reads the recording before the judge has answered does not find the word of the review there.
    assert!(!room.path("seen/leaked").exists());
    (room, done)
}

fn report(done: &Done) -> Value {
    serde_json::from_str(&done.out()).unwrap_or_else(|error| panic!("{error}: {}", done.out()))
}

fn messages(room: &Room) -> usize {
    room.seen("supervisor.input").lines().count()
}

const REQUIRED: &str = "---\nproof: required\n---\nBE STRICT";
const BARE: &str = r#"{"completed": true, "feedback": "fine"}"#;

/// Every requirement is met, each with this evidence.
fn with_evidence(evidence: &[&str]) -> String {
    let requirement = |(at, evidence): (usize, &&str)| {
        format!(
            r#"{{"id": "R{at}", "text": "slugs of kind {at}", "status": "met", "evidence": {evidence}}}"#
        )
    };
    let requirements: Vec<_> = evidence.iter().enumerate().map(requirement).collect();
    format!(
        r#"I looked. {{"completed": true, "feedback": "", "word": "WORD", "requirements": [{}]}}"#,
        requirements.join(", ")
    )
}

#[test]
fn an_honest_judge_is_believed_without_another_turn() {
    for evidence in [
        r#"[{"file": "slug.py:3", "quote": "def slugify(title):"}]"#,
        r#"[{"command": "pytest -q", "quote": "3 passed"}]"#,
        r#"[{"answer": "It works, and"}]"#,
    ] {
        let (room, done) = judged(REQUIRED, &with_evidence(&[evidence]));
        let done = done.code(0);
        let report = report(&done);
        assert_eq!(report["outcome"], "completed");
        assert_eq!(report["rounds"][0]["requirements"][0]["status"], "met", "{report}");
        assert_eq!(report["rounds"][0].get("without_proof"), None, "{report}");
        assert_eq!(messages(&room), 1);
    }
}

#[test]
fn a_gullible_judge_is_asked_for_its_proof() {
    let (room, done) = judged(REQUIRED, BARE);
    assert_eq!(report(&done.code(4))["outcome"], "no_verdict");
    assert_eq!(messages(&room), 2);
    let (room, done) = judged("BE STRICT", "All there.\n[TASK_COMPLETED]");
    let report = report(&done.code(0));
    assert_eq!(report["rounds"][0]["without_proof"], true, "{report}");
    assert_eq!(messages(&room), 2);
    let list = room.ccc(&["sessions"]).run().code(0).out();
    assert!(list.contains("confirmed without proof"), "{list}");
    let shown = room.ccc(&["sessions", "show"]).run().code(0).out();
    assert!(shown.contains("Confirmed complete in round 1/10, without proof"), "{shown}");
    assert!(shown.contains("✔ Confirmed complete, without proof ·"), "{shown}");
}

/// Each invents its evidence in another way.
#[test]
fn a_forger_is_never_believed() {
    let forged = [
        r#"[{"file": "test_slug.py:1", "quote": "def test_accents"}]"#,
        r#"[{"file": "slug.py:3", "quote": "unicodedata.normalize"}]"#,
        r#"[{"command": "cargo test", "quote": "ok"}]"#,
        r#"[{"command": "pytest -q", "quote": "12 passed"}]"#,
        r#"[{"check": "cargo test"}]"#,
        r#"[{"answer": "accents are handled"}]"#,
        r#"[{"answer": "3 tests pass"}]"#,
        r#"[{"command": "pytest -q", "quote": "3"}]"#,
    ];
    for instructions in [REQUIRED, "BE STRICT", "---\nproof: off\n---\nBE STRICT"] {
        let (room, done) = judged(instructions, &with_evidence(&forged));
        let report = report(&done.code(6));
        assert_eq!(report["outcome"], "stuck", "{report}");
        let found = report["rounds"][0]["requirements"].as_array().expect("requirements");
        let unproven = found.iter().filter(|one| one["status"] == "unproven");
        assert_eq!((unproven.count(), found.len()), (forged.len(), forged.len()), "{report}");
        let told = room.seen("supervisor.input");
        assert!(told.contains("found these problems"), "{told}");
        assert!(room.seen("agent.input").contains("The review found no proof"), "{report}");
    }
}

#[test]
fn a_verdict_with_the_word_of_another_review_is_none() {
    let answer = with_evidence(&[r#"[{"answer": "It works"}]"#]).replace("WORD", "0123456789ab");
    let (_, done) = judged("BE STRICT", &answer);
    assert_eq!(report(&done.code(4))["outcome"], "no_verdict");
}

#[test]
fn a_critic_that_is_never_content_is_stopped_after_three_rounds() {
    let (_, done) = judged(REQUIRED, r#"{"completed": false, "feedback": "more"}"#);
    let report = report(&done.code(6));
    assert_eq!(report["rounds"].as_array().map(Vec::len), Some(3), "{report}");
}

#[test]
fn what_only_the_person_can_decide_is_theirs() {
    let answer = r#"{"completed": false, "status": "blocked", "feedback": "Which database?"}"#;
    let (room, done) = judged(REQUIRED, answer);
    let report = report(&done.code(5));
    assert_eq!(
        (&report["outcome"], &report["detail"]),
        (&"blocked".into(), &"Which database?".into())
    );
    assert_eq!(room.seen("agent.input").lines().count(), 1, "the agent is not sent back to work");
}

/// An agent that writes a file, and a judge that quotes another one.
#[test]
fn a_confirmation_rests_on_what_the_task_has_changed() {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", REQUIRED);
    room.write("project/slug.py", "import re\n\ndef slugify(title):\n    return title\n");
    let begins = "    echo '{\"type\":\"assistant\"";
    let writes = format!("    echo $id$$ > written.txt\n{begins}");
    room.client(&CLIENT.replacen(begins, &writes, 1));
    let prints = |answer: &str| {
        let line = serde_json::json!({"type": "result", "num_turns": 1, "result": answer});
        room.write("judge.prints", format!("{line}\n"));
    };
    let run = |args: &[&str]| {
        let always = ["--supervisor", "--max-iterations", "2", "--output-format", "json"];
        room.ccc(&[&always[..], args].concat()).run()
    };
    let old = with_evidence(&[r#"[{"file": "slug.py:3", "quote": "def slugify(title):"}]"#]);
    prints(&old);
    let doubted = report(&run(&["-p", "do it"]).code(3));
    assert_eq!(doubted["rounds"][0]["requirements"][0]["status"], "unproven", "{doubted}");
    assert!(room.seen("supervisor.input").contains("it was there before the task began"));

    // Of a task that began in an earlier run, nobody knows what was there before.
    prints(r#"{"completed": false, "status": "blocked", "feedback": "?"}"#);
    let first = report(&run(&["-p", "do it"]).code(5));
    let id = first["session_id"].as_str().expect("an id");
    prints(&old);
    run(&["-p", "go on", "--resume", id]).code(0);
}

/// An agent that runs its tests only when it is told to.
#[test]
fn what_the_agent_ran_before_the_session_was_resumed_is_evidence_too() {
    let room = Room::new();
    room.write("project/SUPERVISOR.md", REQUIRED);
    let begins = "    echo '{\"type\":\"assistant\"";
    assert!(CLIENT.contains(begins));
    let client =
        CLIENT.replace(begins, "    case $line in *zq-run*)\n    echo '{\"type\":\"assistant\"");
    let ends = "    echo \"{\\\"type\\\":\\\"result\\\"";
    assert!(client.contains(ends), "{client}");
    room.client(&client.replace(ends, &format!("    esac\n{ends}")));
    let no = serde_json::json!({"type": "result", "num_turns": 1, "result": r#"{"completed": false, "status": "blocked", "feedback": "?"}"#});
    room.write("judge.prints", format!("{no}\n"));
    let first = room.ccc(&["--supervisor", "-p", "zq-run", "--output-format", "json"]).run();
    let first = report(&first.code(5));
    let id = first["session_id"].as_str().expect("an id");

    let answer = with_evidence(&[r#"[{"command": "pytest -q", "quote": "3 passed"}]"#]);
    let yes = serde_json::json!({"type": "result", "num_turns": 1, "result": answer});
    room.write("judge.prints", format!("{yes}\n"));
    let again = ["--supervisor", "-p", "go on", "--output-format", "json", "--resume", id];
    let report = report(&room.ccc(&again).run().code(0));
    assert_eq!(report["rounds"][0]["requirements"][0]["status"], "met", "{report}");
    assert_eq!(messages(&room), 2, "the judge of each run is asked once");
}
