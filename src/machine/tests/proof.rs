//! Proof, and reviews that end with neither a yes nor a no.

use super::*;
use crate::machine::CheckingRules;
use crate::review::front_matter::Proof;
use crate::review::policy::Judging;

fn required(person: bool) -> Rules {
    Rules { person, judging: Judging::today(Proof::Required), ..Rules::default() }
}

const YES: &str = r#"verdict {"completed":true,"word":"w","requirements":[{"id":"R1","text":"it","status":"met","evidence":{"command":"make","quote":"ok"}}]}"#;

#[test]
fn evidence_is_looked_up_before_a_yes_counts() {
    check_with(
        required(true),
        &after_review(&[("word w", ""), (YES, "verify 1"), ("found it", "stop review; →Waiting")]),
    );
    let asked = "tell \"You call the task complete. ccc looked up your evidence and found these \
        problems\"";
    let machine = check_with(
        required(true),
        &after_review(&[
            ("word w", ""),
            (YES, "verify 1"),
            ("found nothing", asked),
            (YES, "verify 1"),
            (
                "found nothing",
                "stop review; send \"Finish what is missing. Then prove each of these points: run \
                 the command that shows it, or name the file and the line where it is.\"; →Working",
            ),
        ]),
    );
    assert_eq!(machine.carried().requirements.len(), 1);
}

#[test]
fn without_proof_the_person_decides() {
    let bare = "verdict [TASK_COMPLETED]";
    let asked = "tell \"You call the task complete, but you give no proof. A confirmation must \
        list everything the user asked for, each item with evidence that ccc can look up. Give \
        your whole verdict again, and nothing else. If something turns out not to be done, \
        answer \\\"completed\\\"\"";
    let none = "the supervisor called the task complete but gave no proof, even when asked for it";
    let failed = format!("stop review; review failed {none:?}; →Waiting");
    check_with(
        required(true),
        &[
            TO_REVIEW[0],
            TO_REVIEW[1],
            (bare, asked),
            (bare, &failed),
            ("said /supervisor", "supervision true; →Reviewing; review 1/10 of S [do it]"),
        ],
    );
}

#[test]
fn a_blocked_or_impossible_task_goes_to_the_person() {
    for (status, finished) in [
        ("blocked", crate::event::Outcome::Blocked("Which database?".into())),
        ("impossible", crate::event::Outcome::Impossible("Which database?".into())),
    ] {
        let mut machine = Machine::new(Rules { person: false, ..Rules::default() });
        let session = |message| Envelope { session_id: Some("S".into()), parent: None, message };
        let now = Duration::ZERO;
        machine.step(Event::Start { prompt: Some("do it".into()) }, now);
        machine.step(Event::Agent(session(Message::Init(Init::default()))), now);
        let uuid = machine.unconfirmed()[0].clone();
        machine.step(Event::Agent(session(Message::Taken { uuid, task: None })), now);
        machine.step(Event::Agent(session(Message::Result(result("done")))), now);
        let text =
            format!(r#"{{"completed":false,"status":"{status}","feedback":"Which database?"}}"#);
        let envelope = session(Message::Result(result(&text)));
        let actions = machine.step(Event::Supervisor { review: 1, envelope }, now);
        assert_eq!(actions.last(), Some(&Action::Finish(finished.clone())));
        assert_eq!(finished.exit_code(), 5);
        assert!(!actions.iter().any(|action| matches!(action, Action::Send { .. })));
    }
}

#[test]
fn a_task_that_goes_in_circles_goes_to_the_person() {
    let again = |n: &str| format!("→Reviewing; review {n}/10 of S [do it]");
    let (second, third) = (again("2"), again("3"));
    let send = "stop review; send \"tests\"; →Working";
    let stuck = "stop review; stuck \"the last 3 rounds ended with the same feedback\"; →Waiting";
    check(&[
        TO_REVIEW[0],
        TO_REVIEW[1],
        ("rejects tests", send),
        ("init, taken, result done", &second),
        ("rejects tests", send),
        ("init, taken, result done", &third),
        ("rejects tests", stuck),
        ("said /supervisor", "supervision true; →Reviewing; review 1/10 of S [do it]"),
    ]);
    // A message of the person ends the circle.
    check(&[
        TO_REVIEW[0],
        TO_REVIEW[1],
        ("rejects tests", send),
        ("init, taken, result done", &second),
        ("rejects tests", send),
        ("said hm", "send \"hm\""),
        ("init, taken, taken, result done", "→Reviewing; review 3/10 of S [do it|hm]"),
        ("rejects tests", send),
    ]);
}

#[test]
fn unchanged_files_in_three_reviews_are_a_circle() {
    let checking = CheckingRules { examines: true, ..CheckingRules::default() };
    let rules = Rules { checking, ..Rules::default() };
    let rows = |last: &'static str, wanted: &'static str| {
        [
            ("start do it", "start agent; note files; send \"do it\"; →Working"),
            ("init, taken, result done", "→Reviewing; look"),
            ("looked a", "review 1/10 of S [do it]"),
            ("rejects tests", "stop review; send \"tests\"; →Working"),
            ("init, taken, result done, looked a", "→Reviewing; look; review 2/10 of S [do it]"),
            ("rejects docs", "stop review; send \"docs\"; →Working"),
            (last, "→Reviewing; look; review 3/10 of S [do it]"),
            ("rejects more", wanted),
        ]
    };
    check_with(
        rules.clone(),
        &rows(
            "init, taken, result done, looked a",
            "stop review; stuck \"no file in the project has changed over the last 3 reviews\"; \
             →Waiting",
        ),
    );
    let changed = "init, taken, result done, looked b";
    check_with(rules, &rows(changed, "stop review; send \"more\"; →Working"));
}
