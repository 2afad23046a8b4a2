//! Several judges: one no is a no, and a yes is the yes of all.

use super::*;
use crate::review::requirement::Standing::{Met, Unmet, Unproven};

const YES: &str = r#"{"completed":true,"feedback":"fine"}"#;
const NO: &str = r#"{"completed":false,"feedback":"accents"}"#;
const BLOCKED: &str = r#"{"completed":false,"status":"blocked","feedback":"which key?"}"#;

fn seat(name: &str, fresh: bool) -> Seat {
    Seat { name: name.into(), fresh }
}

fn panel(judges_ask: JudgesAsk) -> Policy {
    let judges = vec![seat("a", false), seat("b", true)];
    let judging = Judging { judges, judges_ask, ..Judging::today(Proof::Off) };
    // One attempt each; retries are tested elsewhere.
    Policy { attempts: 1, ..Policy::session(true, TIMEOUT, &judging) }
}

/// What each judge answers, in order. An empty answer stands for a judge that dies.
fn said(ask: JudgesAsk, answers: &[&str]) -> Vec<String> {
    let (mut engine, steps) = Engine::start(panel(ask), Vec::new(), second(0));
    let mut all = short(&steps);
    for answer in answers {
        let steps = match *answer {
            "" => engine.gone(&exited(1), second(1)),
            answer => engine.heard(result(answer), second(1)),
        };
        all.extend(short(&steps));
    }
    all
}

#[test]
fn judges_ask_confirm_the_second_is_asked_about_a_yes_only() {
    let confirm = |answers: &[&str]| said(JudgesAsk::Confirm, answers);
    assert_eq!(
        confirm(&[YES, YES]),
        [
            "start 1",
            "stop",
            "a says Some(true)",
            "start judge 1",
            "stop",
            "b says Some(true)",
            "yes: fine"
        ]
    );
    assert_eq!(
        confirm(&[YES, NO])[4..],
        ["stop", "b says Some(false)", "no: accents"],
        "a minority veto"
    );
    assert_eq!(confirm(&[NO]), ["start 1", "stop", "a says Some(false)", "no: accents"]);
}

#[test]
fn judges_ask_all_every_one_is_asked_and_every_objection_told() {
    let all = |answers: &[&str]| said(JudgesAsk::All, answers).pop().unwrap();
    assert_eq!(all(&[NO, YES]), "no: accents");
    assert_eq!(all(&[YES, NO]), "no: accents");
    let other = r#"{"completed":false,"feedback":"tests"}"#;
    assert_eq!(all(&[NO, other]), "no: a says:\n\naccents\n\nb says:\n\ntests");
    assert_eq!(all(&[YES, YES]), "yes: fine");
}

#[test]
fn without_one_of_them_there_is_no_confirmation() {
    for ask in [JudgesAsk::All, JudgesAsk::Confirm] {
        let steps = said(ask, &[YES, ""]);
        let reason =
            "b gave no verdict (1 of 2 judges call it complete): the supervisor exited with code 1";
        assert_eq!(
            steps[5..],
            ["b says None", &format!("failed: {reason}"), &format!("no verdict: {reason}")]
        );
    }
    assert_eq!(
        said(JudgesAsk::Confirm, &[""])[2..],
        [
            "a says None",
            "failed: a gave no verdict: the supervisor exited with code 1",
            "no verdict: a gave no verdict: the supervisor exited with code 1"
        ]
    );
    // A no counts even if another judge gives no verdict.
    assert_eq!(said(JudgesAsk::All, &["", NO]).pop().unwrap(), "no: accents");
}

#[test]
fn the_task_is_blocked_if_nobody_has_anything_for_the_agent_to_do() {
    let halt = |answers: [&str; 2]| {
        let (mut engine, _) = Engine::start(panel(JudgesAsk::All), Vec::new(), second(0));
        engine.heard(result(answers[0]), second(1));
        match engine.heard(result(answers[1]), second(2)).pop() {
            Some(Step::End(Ok(verdict))) => verdict.halt.is_some(),
            other => panic!("{other:?}"),
        }
    };
    assert!(halt([BLOCKED, YES]) && halt([BLOCKED, BLOCKED]));
    assert!(!halt([BLOCKED, NO]) && !halt([NO, BLOCKED]));
}

#[test]
fn each_has_its_price_its_time_and_its_word() {
    let (mut engine, _) = Engine::start(panel(JudgesAsk::Confirm), Vec::new(), second(0));
    engine.prepared("one");
    engine.paid(0.5, Usage { output_tokens: 3, ..Usage::default() });
    // The time in which the person is asked is not the judge's.
    engine.heard(asks("r1"), second(4));
    engine.answered("r1", second(104));
    engine.heard(result(YES), second(110));
    assert_eq!(engine.seat().map(|seat| (&*seat.name, seat.fresh)), Some(("b", true)));
    engine.prepared("two");
    engine.paid(0.25, Usage::default());
    // The second judge does not accept the word of the first.
    let quoted = r#"{"completed":true,"word":"one"}"#;
    let steps = short(&engine.heard(result(quoted), second(111)));
    assert!(steps[0].contains("its \"word\" is not the word of this review"), "{steps:?}");
    let steps = engine.heard(result(r#"{"completed":true,"word":"two"}"#), second(140));
    let Some(Step::End(Ok(verdict))) = steps.last() else { panic!("{steps:?}") };
    let told: Vec<_> = verdict.opinions.iter().map(|one| (one.seconds, one.cost_usd)).collect();
    assert_eq!(told, [(10.0, 0.5), (30.0, 0.25)]);
    assert_eq!(verdict.opinions[0].usage.output_tokens, 3);
}

#[test]
fn the_second_lists_what_the_first_listed_and_the_strictest_counts() {
    let item =
        |id: &str, status: &str| format!(r#"{{"id":"{id}","text":"{id}","status":"{status}"}}"#);
    let (mut engine, _) = Engine::start(panel(JudgesAsk::All), Vec::new(), second(0));
    let first = format!(
        r#"{{"completed":false,"requirements":[{},{},{{"id":"R3","text":"why","status":"met","evidence":{{"answer":"because"}}}}]}}"#,
        item("R1", "met"),
        item("R2", "unmet")
    );
    assert_eq!(short(&engine.heard(result(&first), second(1))), ["verify 1"]);
    engine.verified(&[None], second(1));
    // A judge with fresh eyes is not given the requirement that the agent's answer meets.
    let known: Vec<_> = engine.known().iter().map(|one| one.id.as_str()).collect();
    assert_eq!(known, ["R1", "R2"]);
    let second_says = format!(
        r#"{{"completed":false,"requirements":[{},{},{}]}}"#,
        item("R1", "unproven"),
        item("R2", "met"),
        item("R4", "met")
    );
    let steps = engine.heard(result(&second_says), second(2));
    let Some(Step::End(Ok(verdict))) = steps.last() else { panic!("{steps:?}") };
    let told: Vec<_> = verdict.requirements.iter().map(|one| (&*one.id, one.status)).collect();
    assert_eq!(told, [("R1", Unproven), ("R2", Unmet), ("R3", Met), ("R4", Met)]);
}

#[test]
fn in_the_hook_they_share_the_time() {
    let judges = vec![seat("a", false), seat("b", false)];
    let judging = Judging { judges, ..Judging::today(Proof::Off) };
    let hook = Policy::hook(second(100), &judging);
    let (mut engine, _) = Engine::start(hook, Vec::new(), second(0));
    assert_eq!(engine.deadline(), Some(second(50)));
    engine.heard(result(YES), second(20));
    assert_eq!(engine.deadline(), Some(second(100)));
    let (mut engine, _) =
        Engine::start(Policy::session(true, second(100), &judging), Vec::new(), second(0));
    engine.heard(result(YES), second(20));
    assert_eq!(engine.deadline(), Some(second(120)));
}
