//! One test per rule, and one per row of the policy's table.

use std::time::Duration;

use super::*;
use crate::client::case::CaseKind;
use crate::client::stream::{Control, Message, TurnResult};
use crate::review::front_matter::Proof;
use crate::review::policy::Judging;

mod panel;
mod proof;

const TIMEOUT: Duration = Duration::from_secs(600);

fn session() -> Policy {
    Policy::session(true, TIMEOUT, &Judging::today(Proof::Off))
}

fn hook() -> Policy {
    Policy::hook(TIMEOUT, &Judging::today(Proof::Off))
}

fn second(at: u64) -> Now {
    Duration::from_secs(at)
}

fn envelope(message: Message) -> Envelope {
    Envelope { session_id: Some("S".into()), parent: None, message }
}

fn result(text: &str) -> Envelope {
    envelope(Message::Result(TurnResult { text: text.into(), ..Default::default() }))
}

fn asks(request_id: &str) -> Envelope {
    let asked = PermissionRequest { tool: "Bash".into(), ..Default::default() };
    let request = Control::Permission(asked);
    envelope(Message::Control { request_id: request_id.into(), request })
}

fn takes_back(request_id: &str) -> Envelope {
    envelope(Message::ControlCancelled { request_id: request_id.into() })
}

fn exited(code: i32) -> Gone {
    Gone { how: format!("exited with code {code}"), code: Some(code), last_words: String::new() }
}

fn started(policy: Policy) -> Engine {
    let (engine, steps) = Engine::start(policy, Vec::new(), second(0));
    assert_eq!(steps, [Step::Start { judge: 0, attempt: 1 }]);
    engine
}

/// The outcome of a judge's answers, given one after the other in the same conversation.
fn answers(policy: Policy, texts: &[&str]) -> Vec<String> {
    let mut engine = started(policy);
    texts.iter().flat_map(|text| short(&engine.heard(result(text), second(1)))).collect()
}

fn short(steps: &[Step]) -> Vec<String> {
    let short = |step: &Step| match step {
        Step::Start { judge: 0, attempt } => format!("start {attempt}"),
        Step::Start { judge, .. } => format!("start judge {judge}"),
        Step::Said(opinion) => format!("{} says {:?}", opinion.judge, opinion.completed),
        Step::Tell(text) => text.split('.').next().unwrap_or_default().to_owned(),
        Step::Ask { request_id, .. } => format!("ask {request_id}"),
        Step::Unask { request_id } => format!("unask {request_id}"),
        Step::Deny { request_id, .. } => format!("deny {request_id}"),
        Step::Rule { ruling, .. } => format!("{ruling:?}"),
        Step::Held(report) => format!("in {}", report.held),
        Step::Refuse { subtype, .. } => format!("refuse {subtype}"),
        Step::Verify { evidence, .. } => format!("verify {}", evidence.len()),
        Step::Stop => "stop".to_owned(),
        Step::Failed { reason, .. } => format!("failed: {reason}"),
        Step::End(Ok(verdict)) if verdict.without_proof => "yes, without proof".to_owned(),
        Step::End(Ok(verdict)) if verdict.completed => format!("yes: {}", verdict.feedback),
        Step::End(Ok(verdict)) => format!("no: {}", verdict.feedback),
        Step::End(Err(reason)) => format!("no verdict: {reason}"),
    };
    steps.iter().map(short).collect()
}

#[test]
fn a_verdict_ends_the_review() {
    assert_eq!(answers(session(), &[r#"{"completed":true}"#]), ["stop", "yes: "]);
    let no = r#"{"completed":false,"feedback":"tests"}"#;
    assert_eq!(answers(hook(), &[no]), ["stop", "no: tests"]);
}

#[test]
fn an_answer_that_is_no_verdict_is_asked_for_again_in_the_same_conversation() {
    let asked = |why: &str| format!("Your last answer cannot be used as a verdict: {why}");
    let yes = r#"{"completed":true,"feedback":"ok"}"#;
    for policy in [session(), hook()] {
        assert_eq!(
            answers(policy.clone(), &["It is all there.", yes]),
            [&asked("it is plain text"), "stop", "yes: ok"]
        );
        assert_eq!(answers(policy.clone(), &["", yes]), [&asked("it is empty"), "stop", "yes: ok"]);
        let contradiction = r#"{"completed":true,"allow_stop":false}"#;
        assert_eq!(
            answers(policy, &[contradiction, yes]),
            [
                &asked("\"completed\", \"allow_stop\" and \"status\" contradict each other"),
                "stop",
                "yes: ok"
            ]
        );
    }
}

#[test]
fn a_broken_verdict_that_stays_broken_is_none() {
    let broken = r#"{"completed":"yes"}"#;
    let steps = answers(session(), &[broken, broken]);
    assert!(steps[2].starts_with("failed: the supervisor's answer cannot be used: "), "{steps:?}");
    assert_eq!(steps[3], "start 2");
    let steps = answers(hook(), &[broken, broken]);
    assert!(
        steps[3].starts_with("no verdict: the supervisor's answer cannot be used: "),
        "{steps:?}"
    );
}

#[test]
fn without_a_further_turn_the_first_answer_decides() {
    let policy = Policy::session(true, TIMEOUT, &Judging::default());
    assert_eq!(answers(policy, &["Tests."]), ["stop", "no: Tests."]);
}

#[test]
fn what_a_sub_agent_says_is_not_the_judges_word() {
    let mut engine = started(session());
    let mut other = result(r#"{"completed":true}"#);
    other.parent = Some("tool".into());
    assert_eq!(engine.heard(other, second(1)), []);
}

#[test]
fn a_request_that_nobody_knows_is_refused() {
    let mut engine = started(session());
    let request = Control::Unknown("tomorrow".into());
    let message = Message::Control { request_id: "r".into(), request };
    assert_eq!(short(&engine.heard(envelope(message), second(1))), ["refuse tomorrow"]);
}

#[test]
fn policy_person_is_asked_where_there_is_one() {
    let headless = Policy::session(false, TIMEOUT, &Judging::today(Proof::Off));
    for (policy, wanted) in [(session(), "ask r"), (headless, "deny r"), (hook(), "deny r")] {
        assert_eq!(short(&started(policy).heard(asks("r"), second(1))), [wanted]);
    }
}

#[test]
fn policy_timeout_ends_an_attempt() {
    for policy in [session(), hook()] {
        let mut engine = started(policy.clone());
        assert_eq!(engine.deadline(), Some(TIMEOUT));
        assert_eq!(engine.tick(second(599)), []);
        assert_eq!(short(&engine.tick(TIMEOUT))[1], "failed: no verdict within 600 s");
        let mut engine = started(policy);
        let error = "authentication_failed".to_owned();
        engine.heard(
            envelope(Message::ApiRetry { attempt: 1, max: 10, delay_ms: 1, error }),
            second(1),
        );
        assert_eq!(
            short(&engine.tick(TIMEOUT))[1],
            "failed: no verdict within 600 s: authentication failed"
        );
    }
}

#[test]
fn policy_timeout_does_not_run_while_a_person_is_asked() {
    let mut engine = started(session());
    engine.heard(asks("r1"), second(100));
    engine.heard(asks("r2"), second(200));
    assert_eq!(engine.deadline(), None);
    assert_eq!(engine.tick(second(9_000)), []);
    // One question is answered, and one is withdrawn.
    engine.answered("r1", second(9_000));
    assert_eq!(engine.deadline(), None);
    assert_eq!(short(&engine.heard(takes_back("r2"), second(10_000))), ["unask r2"]);
    assert_eq!(engine.deadline(), Some(second(10_500)));
    assert_eq!(engine.heard(takes_back("r2"), second(10_100)), []);
    assert_eq!(engine.deadline(), Some(second(10_500)));
}

#[test]
fn policy_attempts_start_a_judge_that_failed_again() {
    let mut engine = started(session());
    assert_eq!(
        short(&engine.gone(&exited(1), second(1))),
        ["stop", "failed: the supervisor exited with code 1", "start 2"]
    );
    assert_eq!(engine.deadline(), Some(second(601)));
    let failure = TurnResult {
        is_error: true,
        text: "Credit balance is too low".into(),
        ..Default::default()
    };
    assert_eq!(
        short(&engine.heard(envelope(Message::Result(failure)), second(2))),
        ["stop", "failed: Credit balance is too low", "no verdict: Credit balance is too low"]
    );
    let mut engine = started(hook());
    assert_eq!(short(&engine.failed("no", second(1))), ["stop", "failed: no", "no verdict: no"]);
}

#[test]
fn a_judge_that_cannot_be_started_is_not_started_again() {
    let mut engine = started(session());
    let steps = short(&engine.gone(&Gone::unstarted(&"replaced"), second(1)));
    let why = "the supervisor did not start: replaced";
    assert_eq!(steps, ["stop".to_owned(), format!("failed: {why}"), format!("no verdict: {why}")]);
}

#[test]
fn policy_asks_again_is_counted_for_each_attempt() {
    let mut engine = started(session());
    engine.heard(result(""), second(1));
    assert_eq!(short(&engine.heard(result(""), second(2)))[2], "start 2");
    let asked = short(&engine.heard(result(""), second(3)));
    assert!(asked[0].starts_with("Your last answer"), "{asked:?}");
}

#[test]
fn policy_prose_is_feedback_or_nothing() {
    let texts = ["The README is missing.", "As I said: the README."];
    assert_eq!(answers(session(), &texts)[1..], ["stop", "no: The README is missing."]);
    assert_eq!(
        answers(hook(), &texts)[1..],
        [
            "stop",
            "failed: the supervisor's answer cannot be used: it is plain text",
            "no verdict: the supervisor's answer cannot be used: it is plain text"
        ]
    );
}

#[test]
fn a_judge_that_leaves_when_it_is_asked_again_has_said_its_prose() {
    let mut engine = started(session());
    engine.heard(result("The README is missing."), second(1));
    assert_eq!(short(&engine.gone(&exited(0), second(2))), ["stop", "no: The README is missing."]);
    let mut engine = started(hook());
    engine.heard(result(r#"{"completed":1}"#), second(1));
    let steps = short(&engine.gone(&exited(0), second(2)));
    assert!(
        steps[2].starts_with("no verdict: the supervisor's answer cannot be used"),
        "{steps:?}"
    );
    // If the judge crashes, its earlier answer does not count.
    let mut engine = started(session());
    engine.heard(result("The README is missing."), second(1));
    assert_eq!(short(&engine.gone(&exited(1), second(2)))[2], "start 2");
}

fn wants(tool: &str, input: &str) -> Envelope {
    let asked = PermissionRequest { tool: tool.into(), input: input.into(), ..Default::default() };
    let request = Control::ToolUse(asked);
    envelope(Message::Control { request_id: "r".into(), request })
}

fn in_case(held: CaseKind) -> Envelope {
    envelope(Message::Case(CaseReport { held, why: String::new() }))
}

const TEST: &str = r#"{"command":"cargo test"}"#;

#[test]
fn in_a_case_the_judge_runs_what_it_likes_and_edits_nothing() {
    for policy in [session(), hook()] {
        let mut engine = started(policy);
        let held = engine.heard(in_case(CaseKind::Overlay), second(1));
        assert_eq!(short(&held), ["in an overlay over the project"]);
        assert_eq!(short(&engine.heard(wants("Bash", TEST), second(1))), ["Allow"]);
        let edit = short(&engine.heard(wants("Edit", r#"{"file_path":"a"}"#), second(1)));
        assert!(edit[0].starts_with("Deny(\"A review changes nothing"), "{edit:?}");
    }
}

#[test]
fn without_a_case_a_person_decides_and_nobody_denies() {
    let mut engine = started(session());
    assert_eq!(short(&engine.heard(wants("Bash", TEST), second(1))), ["Ask"]);
    let mut engine = started(hook());
    let denied = short(&engine.heard(wants("Bash", TEST), second(1)));
    assert!(denied[0].starts_with("Deny(\"There is no one to ask for permission."), "{denied:?}");
    let allowed = vec!["Bash(cargo test:*)".to_owned()];
    let judging = Judging { allowed_tools: allowed, ..Judging::today(Proof::Off) };
    let mut engine = started(Policy::hook(TIMEOUT, &judging));
    assert_eq!(short(&engine.heard(wants("Bash", TEST), second(1))), ["Allow"]);
}

#[test]
fn only_the_first_line_of_all_names_the_case() {
    let mut engine = started(hook());
    engine.heard(in_case(CaseKind::Nothing), second(1));
    assert_eq!(engine.heard(in_case(CaseKind::Overlay), second(1)), []);
    let ruling = short(&engine.heard(wants("Bash", TEST), second(1)));
    assert!(ruling[0].starts_with("Deny"), "{ruling:?}");
}

#[test]
fn the_verdict_says_what_was_denied_and_in_which_case() {
    let mut engine = started(hook());
    engine.heard(in_case(CaseKind::Landlock), second(1));
    engine.heard(wants("Bash", r#"{"command":"git push"}"#), second(1));
    let steps = engine.heard(result(r#"{"completed":true}"#), second(2));
    let [Step::Stop, Step::End(Ok(verdict))] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!(verdict.case, Some(CaseKind::Landlock));
    let [denied] = verdict.denied.as_slice() else { panic!("{verdict:?}") };
    assert_eq!((denied.tool.as_str(), denied.what.as_str()), ("Bash", "git push"));
}

#[test]
fn a_client_that_does_not_ask_before_each_tool_does_not_judge() {
    let request_id = INITIALIZE.to_owned();
    for answer in [
        Message::ControlAnswered { request_id: request_id.clone(), cancelled: None },
        Message::ControlRefused { request_id: request_id.clone(), error: "unknown".into() },
        Message::Model { request_id, model: "m".into() },
    ] {
        let mut engine = started(hook());
        let steps = short(&engine.heard(envelope(answer), second(1)));
        assert_eq!(steps[1], "failed: this client does not let ccc decide what its tools may do");
    }
}
