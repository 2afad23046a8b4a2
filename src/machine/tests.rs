//! One row per rule: what happens, and what the machine wants done about it.

use std::time::Duration;

use super::{Machine, Rules};
use crate::event::{Action, Event, Gone, Notice};
use crate::stream::{
    Block, Control, Envelope, Init, Message, Permission, PermissionRequest, TaskNote, TurnResult,
};

struct Script {
    machine: Machine,
    now: Duration,
    session: &'static str,
    review: u32,
    asked: String,
}

impl Script {
    fn envelope(&self, message: Message) -> Envelope {
        Envelope { session_id: Some(self.session.into()), parent: None, message }
    }

    fn agent(&self, message: Message) -> Event {
        Event::Agent(self.envelope(message))
    }

    fn supervisor(&self, message: Message) -> Event {
        Event::Supervisor { review: self.review, envelope: self.envelope(message) }
    }

    fn event(&mut self, line: &str) -> Event {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let gone = |how: &str| Gone {
            how: format!("exited with code {how}"),
            code: how.parse().ok(),
            last_words: "boom".into(),
        };
        match word {
            "start" => Event::Start { prompt: (!rest.is_empty()).then(|| rest.to_owned()) },
            "said" => Event::Said(rest.into()),
            "interrupt" => Event::Interrupt,
            "leave" => Event::Leave,
            "allow" => Event::Answered { request_id: self.asked.clone(), answer: Permission::Once },
            "init" => self.agent(Message::Init(Init { model: "m".into(), ..Default::default() })),
            "clear" => {
                self.session = "S2";
                self.agent(Message::Init(Init::default()))
            }
            "taken" => {
                let uuid =
                    self.machine.unconfirmed.front().expect("a message on its way").uuid.clone();
                self.agent(Message::Taken { uuid })
            }
            "says" => self.agent(Message::Assistant {
                model: "m".into(),
                blocks: vec![Block::Text(rest.into())],
            }),
            "result" => self.agent(Message::Result(result(rest))),
            "failed" => self.agent(Message::Result(TurnResult { is_error: true, ..result(rest) })),
            "command-result" => {
                self.agent(Message::Result(TurnResult { num_turns: 0, ..result("") }))
            }
            "task" => self.agent(Message::TaskStarted(TaskNote {
                task_id: rest.into(),
                description: rest.into(),
                background: None,
            })),
            "task-ended" => self
                .agent(Message::TaskEnded(TaskNote { task_id: rest.into(), ..Default::default() })),
            "asks" => self.agent(permission(rest)),
            "supervisor-asks" => self.supervisor(permission(rest)),
            "cancelled" => self.agent(Message::ControlCancelled { request_id: rest.into() }),
            "odd-request" => self.agent(Message::Control {
                request_id: "r".into(),
                request: Control::Unknown("tomorrow".into()),
            }),
            "dies" => Event::AgentGone(gone(rest)),
            "supervisor-dies" => Event::SupervisorGone { review: self.review, gone: gone("1") },
            "supervisor-says" => self.supervisor(Message::Assistant {
                model: "m".into(),
                blocks: vec![Block::Text(rest.into())],
            }),
            "verdict" => self.supervisor(Message::Result(result(rest))),
            "verdict-failed" => {
                self.supervisor(Message::Result(TurnResult { is_error: true, ..result(rest) }))
            }
            "tick" => {
                self.now += Duration::from_secs(rest.parse().expect("seconds"));
                Event::Tick
            }
            "signal" => Event::Signal(rest.parse().expect("a number")),
            other => panic!("no such event: {other}"),
        }
    }
}

fn result(text: &str) -> TurnResult {
    TurnResult { text: text.into(), num_turns: 1, ..Default::default() }
}

fn permission(request_id: &str) -> Message {
    let asked = PermissionRequest { tool: "Bash".into(), input: "{}".into(), ..Default::default() };
    Message::Control { request_id: request_id.into(), request: Control::Permission(asked) }
}

fn short(action: &Action) -> Option<String> {
    Some(match action {
        Action::StartAgent { resume: None } => "start agent".into(),
        Action::StartAgent { resume: Some(id) } => format!("resume {id}"),
        Action::Send { text, .. } => format!("send {:?}", text.lines().last().unwrap_or_default()),
        Action::InterruptAgent { .. } => "interrupt agent".into(),
        Action::Answer { answer: Permission::Deny(_), .. } => "deny".into(),
        Action::Answer { .. } => "allow".into(),
        Action::Refuse { subtype, .. } => format!("refuse {subtype}"),
        Action::Ask(question) => format!("ask {}", question.request_id),
        Action::Unask => "unask".into(),
        Action::StartReview(request) => {
            let said: Vec<_> = request
                .said
                .iter()
                .map(|said| if said.earlier { "·" } else { &said.text })
                .collect();
            format!(
                "review {}/{} of {} [{}]",
                request.round,
                request.max,
                request.session_id,
                said.join("|")
            )
        }
        Action::StopReview { .. } => "stop review".into(),
        Action::Finish(outcome) => format!("finish {outcome:?}"),
        Action::Say(notice) => match notice {
            Notice::Phase { phase, .. } => format!("→{phase:?}"),
            Notice::LimitReached { .. } => "limit".into(),
            Notice::TurnFailed { error } => format!("failed {error:?}"),
            Notice::Interrupted => "interrupted".into(),
            Notice::ReviewFailed { reason, .. } => format!("review failed {reason:?}"),
            Notice::WaitingForBackground { .. } => "background".into(),
            Notice::AgentGone { last_words, .. } => format!("agent gone {last_words:?}"),
            Notice::Supervision { on } => format!("supervision {on}"),
            _ => return None,
        },
    })
}

#[track_caller]
fn check_with(rules: Rules, rows: &[(&str, &str)]) -> Machine {
    let machine = Machine::new(rules);
    let mut script =
        Script { machine, now: Duration::ZERO, session: "S", review: 0, asked: String::new() };
    for (at, (happens, wanted)) in rows.iter().enumerate() {
        let mut seen = Vec::new();
        for line in happens.split(", ") {
            let event = script.event(line);
            let now = script.now;
            for action in script.machine.step(event, now) {
                match &action {
                    Action::StartReview(request) => script.review = request.review,
                    Action::Ask(question) => script.asked.clone_from(&question.request_id),
                    _ => {}
                }
                seen.extend(short(&action));
            }
        }
        assert_eq!(seen.join("; "), *wanted, "row {at}: {happens}");
    }
    script.machine
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    check_with(Rules::default(), rows);
}

#[track_caller]
fn check_headless(rows: &[(&str, &str)]) {
    check_with(Rules { person: false, ..Rules::default() }, rows);
}

/// A turn from the message to the review.
const TO_REVIEW: [(&str, &str); 2] = [
    ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
    ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
];

fn after_review(rows: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    TO_REVIEW.into_iter().chain(rows.iter().copied()).collect()
}

#[test]
fn scenario_001_the_loop_starts() {
    check(&[("start", "start agent; →Waiting")]);
    check(&[("start do it", "start agent; send \"do it\"; →Working")]);
    check(&[("start, said  ", "start agent; →Waiting")]);
}

#[test]
fn scenario_001_agent_phase_to_supervisor_phase() {
    check(&TO_REVIEW);
}

#[test]
fn scenario_001_supervisor_phase_to_agent_phase_when_not_completed() {
    check(&after_review(&[
        ("verdict add tests", "stop review; send \"add tests\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 2/10 of S [do it]"),
    ]));
}

#[test]
fn scenario_001_supervisor_phase_to_the_end_when_completed() {
    check(&after_review(&[
        ("verdict [TASK_COMPLETED]", "stop review; →Waiting"),
        ("said and more", "send \"and more\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [·|and more]"),
    ]));
    check_headless(&[
        ("start do it", "start agent; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
        ("verdict [TASK_COMPLETED]", "stop review; →Ended; finish Completed"),
    ]);
}

#[test]
fn a_marker_in_an_early_text_counts() {
    check(&after_review(&[
        ("supervisor-says [TASK_COMPLETED]", ""),
        ("verdict bye", "stop review; →Waiting"),
    ]));
}

#[test]
fn a_message_while_working_steers_and_delays_the_review() {
    check(&[
        ("start, said one, init, taken", "start agent; →Waiting; send \"one\"; →Working"),
        ("said two", "send \"two\""),
        ("result done", ""),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [one|two]"),
    ]);
}

#[test]
fn a_message_while_reviewing_wins_over_the_verdict() {
    check(&after_review(&[
        ("said stop", "stop review; send \"stop\"; →Working"),
        ("verdict too late", ""),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it|stop]"),
    ]));
}

#[test]
fn at_the_limit_the_next_idle_is_not_reviewed() {
    let rules = Rules { max_iterations: 1, ..Rules::default() };
    let rows = [
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/1 of S [do it]"),
        ("verdict more", "stop review; send \"more\"; →Working"),
        ("init, taken, result done", "limit; →Waiting"),
        ("said go on", "send \"go on\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/1 of S [·|go on]"),
    ];
    check_with(rules.clone(), &rows);
    let headless = [
        ("start do it", "start agent; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/1 of S [do it]"),
        ("verdict more", "stop review; send \"more\"; →Working"),
        ("init, taken, result done", "limit; →Ended; finish Limit"),
    ];
    check_with(Rules { person: false, ..rules }, &headless);
}

#[test]
fn an_interrupt_by_the_user_is_not_reviewed() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("interrupt", "interrupt agent"),
        ("failed aborted", "interrupted; →Waiting"),
        ("interrupt", ""),
    ]);
}

#[test]
fn a_second_interrupt_gives_the_prompt_back_at_once() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("interrupt", "interrupt agent"),
        ("interrupt", "interrupted; →Waiting"),
    ]);
}

#[test]
fn an_interrupt_drops_a_review_and_the_person_can_ask_for_it_again() {
    check(&after_review(&[
        ("interrupt", "stop review; →Waiting"),
        ("said /supervisor", "supervision true; →Reviewing; review 1/10 of S [do it]"),
    ]));
}

#[test]
fn an_error_result_is_reported_and_not_reviewed() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("failed no credit", "failed \"no credit\"; →Waiting"),
    ]);
    check_headless(&[
        ("start do it", "start agent; send \"do it\"; →Working"),
        (
            "init, taken, failed no credit",
            "failed \"no credit\"; →Ended; finish Failed(\"no credit\")",
        ),
    ]);
}

#[test]
fn a_slash_command_is_not_reviewed_and_is_no_wish_of_the_user() {
    // Some clients say that they took a command up, some do not.
    for turn in ["init, command-result", "init, taken, command-result"] {
        check(&[
            ("start, said /context", "start agent; →Waiting; send \"/context\"; →Working"),
            (turn, "→Waiting"),
            ("said do it", "send \"do it\"; →Working"),
            ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
        ]);
    }
}

#[test]
fn a_background_task_delays_the_review_until_the_agent_has_seen_its_end() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, result started", "background"),
        ("task-ended b", ""),
        ("init, result done", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn a_slash_command_during_the_wait_for_a_background_task_does_not_lose_the_review() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, result started", "background"),
        ("said /context, init, command-result", "send \"/context\"; background"),
        ("task-ended b, init, result done", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn a_task_that_ends_before_its_turn_still_wakes_the_agent() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, task-ended b, result started", ""),
        ("init, result done", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn an_agent_that_does_not_wake_is_reviewed_as_it_is() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task b, result started, task-ended b", "background"),
        ("tick 1", ""),
        ("tick 2", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn a_background_task_that_never_ends_does_not_hold_the_review_up_for_ever() {
    check(&[
        ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
        ("init, taken, task server, result started", "background"),
        ("tick 599", ""),
        ("tick 2", "→Reviewing; review 1/10 of S [do it]"),
    ]);
}

#[test]
fn an_agent_that_wakes_during_a_review_drops_it() {
    check(&after_review(&[
        ("init", "stop review; →Working"),
        ("result done", "→Reviewing; review 1/10 of S [do it]"),
    ]));
}

#[test]
fn a_review_without_a_verdict_is_tried_once_more() {
    check(&after_review(&[
        (
            "supervisor-dies",
            "stop review; review failed \"the supervisor exited with code 1: boom\"; review 1/10 of S [do it]",
        ),
        ("verdict-failed no credit", "stop review; review failed \"no credit\"; →Waiting"),
    ]));
    check(&after_review(&[
        ("tick 599", ""),
        (
            "tick 1",
            "stop review; review failed \"no verdict within 600 s\"; review 1/10 of S [do it]",
        ),
        ("verdict more", "stop review; send \"more\"; →Working"),
    ]));
    check_headless(&[
        ("start do it", "start agent; send \"do it\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
        (
            "supervisor-dies, verdict-failed x",
            "stop review; review failed \"the supervisor exited with code 1: boom\"; \
          review 1/10 of S [do it]; stop review; review failed \"x\"; →Ended; finish NoVerdict(\"x\")",
        ),
    ]);
}

#[test]
fn the_person_is_asked_for_permission_one_question_at_a_time() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        ("asks r1, asks r2", "ask r1"),
        ("allow", "allow; ask r2"),
        ("cancelled r2", "unask"),
        ("allow", ""),
        ("odd-request", "refuse tomorrow"),
    ]);
}

#[test]
fn without_a_person_permission_is_denied() {
    check_headless(&[
        ("start do it, init, taken", "start agent; send \"do it\"; →Working"),
        ("asks r1", "deny"),
    ]);
}

#[test]
fn the_time_a_person_takes_to_answer_is_not_the_supervisors() {
    check(&after_review(&[
        ("supervisor-asks r1", "ask r1"),
        ("tick 1000", ""),
        ("allow", "allow"),
        ("tick 599", ""),
        (
            "tick 1",
            "stop review; review failed \"no verdict within 600 s\"; review 1/10 of S [do it]",
        ),
    ]));
}

#[test]
fn a_question_ends_with_the_review_that_asked_it() {
    check(&after_review(&[
        ("supervisor-asks r1", "ask r1"),
        ("said never mind", "unask; stop review; send \"never mind\"; →Working"),
        ("allow", ""),
    ]));
}

#[test]
fn a_death_in_mid_turn_is_resumed_once() {
    check(&[
        ("start, said do it, init, taken", "start agent; →Waiting; send \"do it\"; →Working"),
        (
            "dies 1",
            "agent gone \"boom\"; resume S; send \"The client was restarted in the middle of your work. \
             Check what is done already, then go on from there.\"",
        ),
        ("dies 1", "agent gone \"boom\"; →Waiting"),
        ("said again", "resume S; send \"again\"; →Working"),
    ]);
    check_headless(&[
        ("start do it, init", "start agent; send \"do it\"; →Working"),
        ("dies 1", "agent gone \"boom\"; start agent; send \"do it\""),
        (
            "dies 1",
            "agent gone \"boom\"; →Ended; finish Failed(\"claude exited with code 1: boom\")",
        ),
    ]);
}

#[test]
fn a_death_while_nobody_needs_the_agent_is_resumed_with_the_next_message() {
    check(&after_review(&[
        ("dies 9", "agent gone \"boom\""),
        ("verdict more", "stop review; resume S; send \"more\"; →Working"),
    ]));
}

#[test]
fn a_client_that_never_spoke_failed_to_start() {
    let failed = "→Ended; finish Failed(\"claude exited with code 1: boom\")";
    check(&[("start", "start agent; →Waiting"), ("dies 1", failed)]);
    let silent = "→Ended; finish Failed(\"claude exited with code 0: boom\")";
    check(&[("start", "start agent; →Waiting"), ("dies 0", silent)]);
    let rules = Rules { client_may_leave: true, ..Rules::default() };
    check_with(
        rules,
        &[("start", "start agent; →Waiting"), ("dies 0", "→Ended; finish ClientLeft(0)")],
    );
}

#[test]
fn clear_starts_a_new_conversation() {
    check(&after_review(&[
        ("verdict more, init, taken", "stop review; send \"more\"; →Working"),
        ("said /clear, result done", "send \"/clear\""),
        ("clear, taken, command-result", "→Waiting"),
        ("said new", "send \"new\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S2 [new]"),
    ]));
}

#[test]
fn supervision_can_be_switched_off_and_on() {
    check(&[
        ("start, said /supervisoroff", "start agent; →Waiting; supervision false"),
        ("said do it", "send \"do it\"; →Working"),
        ("init, taken, result done", "→Waiting"),
        ("said /supervisor now check", "supervision true; send \"now check\"; →Working"),
        ("init, taken, result done", "→Reviewing; review 1/10 of S [do it|now check]"),
        ("said /supervisoroff", "supervision false; stop review; →Waiting"),
    ]);
}

#[test]
fn leaving_and_signals_end_the_session() {
    check(&after_review(&[("leave", "stop review; →Ended; finish Ended"), ("said x", "")]));
    check(&[("start, signal 15", "start agent; →Waiting; →Ended; finish Signal(15)")]);
}

#[test]
fn costs_add_up_over_processes_and_reviews() {
    let mut machine = Machine::new(Rules::default());
    for (total, sum) in [(1.0, 1.0), (1.5, 1.5), (0.25, 1.75)] {
        machine.cost.agent(total);
        assert!((machine.status().cost_usd - sum).abs() < 1e-9);
    }
}

#[test]
fn message_ids_are_uuids_and_differ() {
    let mut machine = Machine::new(Rules { seed: 0x0123_4567_89ab_cdef, ..Rules::default() });
    let ids: std::collections::HashSet<_> = (0..70_000).map(|_| machine.next_id()).collect();
    assert_eq!(ids.len(), 70_000);
    assert!(
        ids.iter().all(|id| uuid::Uuid::parse_str(id).is_ok_and(|id| id.get_version_num() == 4))
    );
}
