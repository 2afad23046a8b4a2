//! Random events for the machine. What it must never do is in `rules`.

mod rules;

use std::time::Duration;

use ccc::brief::facts::Examined;
use ccc::checks::Check;
use ccc::client::stream::{
    Block, Control, Envelope, Init, Message, Permission, PermissionRequest, TaskNote, TurnResult,
};
use ccc::event::{Carried, Event, Gone, Said};
use ccc::machine::{CheckingRules, Rules};
use ccc::review::front_matter::Proof;
use ccc::review::policy::Judging;
use proptest::prelude::*;
use rules::Watched;

/// What happens next. Ids are those that the machine gave out last, or stale ones.
#[derive(Debug, Clone)]
enum Op {
    Says,
    SaysCommand(&'static str),
    TakeBack,
    Interrupt,
    Answers {
        stale: bool,
        allow: bool,
    },
    Init {
        session: u8,
    },
    /// The agent takes up the message that was sent as the last but so many.
    Takes(usize),
    AgentSays {
        subagent: bool,
    },
    Result {
        error: bool,
        turns: u64,
        session: u8,
    },
    Unreadable(&'static str),
    TaskStarts(u8),
    TaskEnds(u8),
    TasksRunning,
    AgentAsks,
    AgentCancels,
    TakenBack {
        cancelled: bool,
    },
    AgentDies(i32),
    Judge {
        stale: bool,
        says: JudgeSays,
    },
    JudgeDies {
        stale: bool,
        code: i32,
    },
    Examined {
        stale: bool,
        print: u8,
    },
    CheckEnds {
        stale: bool,
        code: i32,
    },
    Prepared {
        stale: bool,
    },
    Verified {
        stale: bool,
        holds: bool,
    },
    Later(u64),
    Restored {
        round: u32,
        fresh: bool,
    },
    TreeChanged {
        stale: bool,
    },
}

#[derive(Debug, Clone, Copy)]
enum JudgeSays {
    Completed { proof: bool },
    Rejected(u8),
    Blocked,
    Prose,
    Nothing,
    Failed,
    Asks,
    Cancels,
    WantsTool,
    Unreadable,
}

fn op() -> impl Strategy<Value = Op> {
    let stale = || prop::bool::weighted(0.2);
    let code = || prop_oneof![Just(0), Just(1), Just(143)];
    let judge = prop_oneof![
        4 => any::<bool>().prop_map(|proof| JudgeSays::Completed { proof }),
        4 => (0..3_u8).prop_map(JudgeSays::Rejected),
        1 => Just(JudgeSays::Blocked),
        1 => Just(JudgeSays::Prose),
        1 => Just(JudgeSays::Nothing),
        1 => Just(JudgeSays::Failed),
        1 => Just(JudgeSays::Asks),
        1 => Just(JudgeSays::Cancels),
        1 => Just(JudgeSays::WantsTool),
        1 => Just(JudgeSays::Unreadable),
    ];
    let command = prop_oneof![
        Just("/supervisor"),
        Just("/supervisoroff"),
        Just("/clear"),
        Just("/context"),
        Just("")
    ];
    // Mostly the one session; sometimes another.
    let session = || prop_oneof![9 => Just(0_u8), 1 => Just(1_u8)];
    prop_oneof![
        4 => Just(Op::Says),
        1 => command.prop_map(Op::SaysCommand),
        1 => Just(Op::TakeBack),
        1 => Just(Op::Interrupt),
        1 => (stale(), any::<bool>()).prop_map(|(stale, allow)| Op::Answers { stale, allow }),
        4 => session().prop_map(|session| Op::Init { session }),
        8 => (0..3_usize).prop_map(Op::Takes),
        1 => any::<bool>().prop_map(|subagent| Op::AgentSays { subagent }),
        8 => (prop::bool::weighted(0.1), prop_oneof![1 => Just(0_u64), 6 => Just(1)], session())
            .prop_map(|(error, turns, session)| Op::Result { error, turns, session }),
        1 => prop_oneof![Just("result"), Just("control_request")].prop_map(Op::Unreadable),
        1 => (0..2_u8).prop_map(Op::TaskStarts),
        1 => (0..2_u8).prop_map(Op::TaskEnds),
        1 => Just(Op::TasksRunning),
        1 => Just(Op::AgentAsks),
        1 => Just(Op::AgentCancels),
        1 => any::<bool>().prop_map(|cancelled| Op::TakenBack { cancelled }),
        1 => code().prop_map(Op::AgentDies),
        10 => (stale(), judge).prop_map(|(stale, says)| Op::Judge { stale, says }),
        1 => (stale(), code()).prop_map(|(stale, code)| Op::JudgeDies { stale, code }),
        6 => (stale(), 0..3_u8).prop_map(|(stale, print)| Op::Examined { stale, print }),
        4 => (stale(), prop_oneof![3 => Just(0), 1 => Just(1)])
            .prop_map(|(stale, code)| Op::CheckEnds { stale, code }),
        3 => stale().prop_map(|stale| Op::Prepared { stale }),
        4 => (stale(), any::<bool>()).prop_map(|(stale, holds)| Op::Verified { stale, holds }),
        3 => prop_oneof![Just(0_u64), Just(1), Just(3), Just(30), Just(700)].prop_map(Op::Later),
        1 => (0..4_u32, any::<bool>()).prop_map(|(round, fresh)| Op::Restored { round, fresh }),
        1 => stale().prop_map(|stale| Op::TreeChanged { stale }),
    ]
}

fn machine_rules() -> impl Strategy<Value = Rules> {
    let proof = prop_oneof![Just(Proof::Off), Just(Proof::Asked), Just(Proof::Required)];
    (any::<bool>(), prop::bool::weighted(0.9), 1..4_u32, proof, any::<bool>(), 0..3_usize).prop_map(
        |(person, supervising, max_iterations, proof, examines, checks)| Rules {
            person,
            supervising,
            max_iterations,
            judging: Judging::today(proof),
            checking: CheckingRules {
                examines,
                checks: (0..checks).map(|n| Check::command(&format!("check {n}"))).collect(),
                untrusted: Vec::new(),
            },
            ..Rules::default()
        },
    )
}

fn session(which: u8) -> Option<String> {
    Some(format!("0000000{which}-0000-4000-8000-000000000000"))
}

fn envelope(which: u8, message: Message) -> Envelope {
    Envelope { session_id: session(which), parent: None, message }
}

fn gone(code: i32) -> Gone {
    Gone { how: format!("exited with code {code}"), code: Some(code), last_words: String::new() }
}

fn permission() -> PermissionRequest {
    PermissionRequest { tool: "Bash".into(), input: "{}".into(), ..PermissionRequest::default() }
}

fn result(text: String) -> Message {
    Message::Result(TurnResult { text, num_turns: 1, ..TurnResult::default() })
}

fn judge_says(says: JudgeSays, watched: &Watched) -> Message {
    let word = &watched.word;
    match says {
        JudgeSays::Completed { proof: false } => {
            result(r#"{"completed":true,"feedback":""}"#.into())
        }
        JudgeSays::Completed { proof: true } => result(format!(
            r#"{{"completed":true,"feedback":"","word":"{word}","requirements":[{{"id":"r","text":"r","status":"met","evidence":[{{"file":"a.rs:1","quote":"fn a"}}]}}]}}"#
        )),
        JudgeSays::Rejected(n) => {
            result(format!(r#"{{"completed":false,"feedback":"missing {n}","word":"{word}"}}"#))
        }
        JudgeSays::Blocked => {
            result(r#"{"completed":false,"status":"blocked","feedback":"ask"}"#.into())
        }
        JudgeSays::Prose => result("It looks fine to me.".into()),
        JudgeSays::Nothing => result(String::new()),
        JudgeSays::Failed => {
            Message::Result(TurnResult { is_error: true, ..TurnResult::default() })
        }
        JudgeSays::Asks => Message::Control {
            request_id: "judge-asks".into(),
            request: Control::Permission(permission()),
        },
        JudgeSays::Cancels => Message::ControlCancelled { request_id: "judge-asks".into() },
        JudgeSays::WantsTool => Message::Control {
            request_id: "judge-tool".into(),
            request: Control::ToolUse(permission()),
        },
        JudgeSays::Unreadable => {
            Message::Unreadable { kind: "result".into(), why: "broken".into() }
        }
    }
}

/// The event that an op is now; none if there is nothing that it could be about.
#[expect(clippy::too_many_lines, reason = "one arm for each op")]
fn event(op: &Op, watched: &mut Watched) -> Option<Event> {
    let review =
        |stale: bool, watched: &Watched| watched.last_review.saturating_sub(u32::from(stale));
    let check =
        |stale: bool, watched: &Watched| watched.last_check.saturating_sub(u32::from(stale));
    let agent = |message| Some(Event::Agent(envelope(0, message)));
    match op {
        Op::Says => {
            watched.said += 1;
            Some(Event::Said(format!("message {}", watched.said)))
        }
        Op::SaysCommand(text) => Some(Event::Said((*text).to_owned())),
        Op::TakeBack => Some(Event::TakeBack),
        Op::Interrupt => Some(Event::Interrupt),
        Op::Answers { stale, allow } => {
            let request_id = if *stale { "old".to_owned() } else { watched.question.clone()? };
            let answer = if *allow { Permission::Once } else { Permission::Deny("no".into()) };
            Some(Event::Answered { request_id, answer })
        }
        Op::Init { session } => {
            let init = Init { model: "m".into(), ..Init::default() };
            Some(Event::Agent(envelope(*session, Message::Init(init))))
        }
        Op::Takes(back) => {
            let uuid = watched.sent.iter().rev().nth(*back)?.0.clone();
            agent(Message::Taken { uuid, task: None })
        }
        Op::AgentSays { subagent } => Some(Event::Agent(Envelope {
            parent: subagent.then(|| "tool".to_owned()),
            ..envelope(
                0,
                Message::Assistant {
                    model: "m".into(),
                    blocks: vec![Block::Text("done".into())],
                    context: None,
                },
            )
        })),
        Op::Result { error, turns, session } => {
            let result = TurnResult {
                is_error: *error,
                num_turns: *turns,
                text: "done".into(),
                ..TurnResult::default()
            };
            Some(Event::Agent(envelope(*session, Message::Result(result))))
        }
        Op::Unreadable(kind) => {
            agent(Message::Unreadable { kind: (*kind).to_owned(), why: "broken".into() })
        }
        Op::TaskStarts(n) => agent(Message::TaskStarted(TaskNote {
            task_id: n.to_string(),
            description: "server".into(),
            background: None,
            ..TaskNote::default()
        })),
        Op::TaskEnds(n) => {
            agent(Message::TaskEnded(TaskNote { task_id: n.to_string(), ..TaskNote::default() }))
        }
        Op::TasksRunning => agent(Message::TasksRunning(Vec::new())),
        Op::AgentAsks => agent(Message::Control {
            request_id: "agent-asks".into(),
            request: Control::Permission(permission()),
        }),
        Op::AgentCancels => agent(Message::ControlCancelled { request_id: "agent-asks".into() }),
        Op::TakenBack { cancelled } => {
            let request_id = watched.cancelling.clone()?;
            agent(Message::ControlAnswered { request_id, cancelled: Some(*cancelled) })
        }
        Op::AgentDies(code) => watched.agent_runs.then(|| Event::AgentGone(gone(*code))),
        Op::Judge { stale, says } => Some(Event::Supervisor {
            review: review(*stale, watched),
            envelope: envelope(2, judge_says(*says, watched)),
        }),
        Op::JudgeDies { stale, code } => {
            Some(Event::SupervisorGone { review: review(*stale, watched), gone: gone(*code) })
        }
        Op::Examined { stale, print } => Some(Event::Examined {
            id: check(*stale, watched),
            examined: Examined { fingerprint: Some(print.to_string()), ..Examined::default() },
        }),
        Op::CheckEnds { stale, code } => {
            Some(Event::CheckGone { check: check(*stale, watched), gone: gone(*code) })
        }
        Op::Prepared { stale } => {
            let word = watched.word.clone();
            Some(Event::ReviewPrepared { review: review(*stale, watched), word })
        }
        Op::Verified { stale, holds } => {
            let finding = (!holds).then(|| "not there".to_owned());
            Some(Event::Verified { review: review(*stale, watched), findings: vec![finding] })
        }
        Op::Later(seconds) => {
            watched.now += Duration::from_secs(*seconds);
            Some(Event::Tick)
        }
        Op::Restored { round, fresh } => Some(Event::Restored(Carried {
            round: *round,
            fresh: *fresh,
            said: vec![Said { text: "before".into(), ..Said::default() }],
            ..Carried::default()
        })),
        Op::TreeChanged { stale } => {
            Some(Event::TreeChanged { review: review(*stale, watched), files: Vec::new(), more: 1 })
        }
    }
}

#[test]
fn the_machine_keeps_its_promises_whatever_happens() {
    let end = prop_oneof![Just(Event::Leave), Just(Event::Signal(15))];
    let inputs = (machine_rules(), any::<bool>(), prop::collection::vec(op(), 0..120), end);
    let seeds = "proptest-regressions/fuzz-machine.txt";
    crate::fuzz(seeds, 800, inputs, |(rules, prompt, ops, end)| {
        let mut watched = Watched::new(rules);
        let prompt = (prompt || !watched.rules.person).then(|| "prompt".to_owned());
        watched.step(Event::Start { prompt })?;
        for op in &ops {
            match event(op, &mut watched) {
                // Nothing comes from an agent that is gone: all that it printed was read before.
                Some(Event::Agent(_)) if !watched.agent_runs => {}
                Some(event) => watched.step(event)?,
                None => {}
            }
        }
        watched.end(end)
    });
}
