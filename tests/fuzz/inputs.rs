//! Everything that ccc reads and did not write itself: no input may make it panic, hang or believe
//! something that does not stand there.

use std::path::Path;
use std::sync::LazyLock;

use ccc::client::stream::{Line, Lines, Message, Part, SplitLine, TurnResult};
use ccc::client::transcript::ClientTranscript;
use ccc::config::{Config, expand, merge};
use ccc::event::Event;
use ccc::fixture::scrub::MachineIdentity;
use ccc::fixture::{MachineStep, Script, convert, run_on_machine, run_on_machine_observed};
use ccc::hook::event::HookEvent;
use ccc::record::read::{AGENT, EVENTS, Recording, SUPERVISOR};
use ccc::record::story::Story;
use ccc::record::{Begun, ClientLines, Entry, EventLine, VERSION, rerun};
use ccc::review::front_matter;
use ccc::review::verdict::Reading;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::corpus::{Bytes, damaged, files};
use crate::fuzz;

/// Every line of every scripted session.
static FIXTURE_LINES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let all = files("fixtures", ".jsonl");
    all.iter().flat_map(|text| text.lines()).map(|line| line.as_bytes().to_vec()).collect()
});

static FIXTURES: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| files("fixtures", ".jsonl").into_iter().map(String::into_bytes).collect());

/// What clients print in them, and a few messages that are not among it.
static CLIENT_LINES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let printed = FIXTURE_LINES.iter().filter_map(|line| {
        let step: Value = serde_json::from_slice(line).ok()?;
        match step.get("agent_prints").or_else(|| step.get("supervisor_prints"))? {
            Value::String(text) => Some(text.clone().into_bytes()),
            message => Some(message.to_string().into_bytes()),
        }
    });
    let more = [
        json!({"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"Done.","total_cost_usd":0.1,
               "usage":{"input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3},"modelUsage":{"m":{"contextWindow":200_000}},
               "structured_output":{"completed":true,"feedback":""},"errors":["a"],"session_id":"S1"}),
        json!({"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash",
               "input":{"command":"ls"},"description":"d","permission_suggestions":[{"type":"addRules"}]}}),
        json!({"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"ro",
               "input":{"tool_name":"Bash","tool_input":{"command":"ls"}}}}),
        json!({"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"cancelled":true}}}),
        json!({"type":"system","subtype":"task_started","task_id":"t","description":"d","session_id":"S1"}),
        json!({"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}),
    ];
    printed.chain(more.iter().map(|message| message.to_string().into_bytes())).collect()
});

#[test]
fn lines_are_the_same_however_the_reads_split_them() {
    let stream = prop::collection::vec(damaged(&CLIENT_LINES, 2), 0..6);
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 0..12);
    let limit = prop_oneof![Just(64_usize), Just(500), Just(100_000)];
    fuzz(
        "proptest-regressions/fuzz-lines.txt",
        300,
        (stream, cuts, limit),
        |(stream, cuts, limit)| {
            let stream: Vec<_> = stream.into_iter().map(|line| line.0).collect();
            let bytes = stream.join(&b'\n');
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let split = |cuts: &[usize]| {
                let (mut lines, mut seen, mut from) = (Lines::with_limit(limit), Vec::new(), 0);
                let mut note = |piece: SplitLine<'_>| {
                    seen.push(match piece {
                        SplitLine::Line(line) => Ok(line.into_owned()),
                        SplitLine::TooLong(size, kind) => Err((size, kind)),
                    });
                };
                for cut in cuts.iter().copied().chain([bytes.len()]) {
                    lines.push(&bytes[from..cut], &mut note);
                    from = cut;
                }
                lines.finish(&mut note);
                seen
            };
            let (once, pieces) = (split(&[]), split(&cuts));
            prop_assert_eq!(&once, &pieces);
            let short = once.iter().flatten().all(|line| line.len() <= limit);
            prop_assert!(short, "longer than allowed");
            if once.iter().all(Result::is_ok) {
                let lines: Vec<_> = once.into_iter().flatten().collect();
                let trimmed: Vec<u8> = bytes
                    .split(|byte| *byte == b'\n')
                    .flat_map(|line| line.strip_suffix(b"\r").unwrap_or(line))
                    .copied()
                    .collect();
                prop_assert_eq!(lines.concat(), trimmed, "a byte was lost");
            }
            Ok(())
        },
    );
}

#[test]
fn every_line_is_decoded_to_something() {
    fuzz(
        "proptest-regressions/fuzz-decode.txt",
        1500,
        damaged(&CLIENT_LINES, 6),
        |Bytes(bytes)| {
            let line = Line::decode(bytes.clone());
            prop_assert_eq!(&line.raw, &bytes);
            // A line that a client printed whole never becomes silence if the loop waits for it.
            let whole = serde_json::from_slice::<Value>(&bytes).ok();
            let kind = whole.as_ref().and_then(|value| value.get("type")).and_then(Value::as_str);
            if let Some(kind @ ("result" | "control_request")) = kind {
                let heard = line.parts.iter().any(|part| match part {
                    Part::Message(envelope) => matches!(
                        envelope.message,
                        Message::Result(_) | Message::Control { .. } | Message::Unreadable { .. }
                    ),
                    _ => false,
                });
                prop_assert!(heard, "a {kind} that nobody hears: {:?}", line.parts);
            }
            // What is on standard error is never a message.
            let spoken = Line::from_stderr(bytes).into_messages().count();
            prop_assert_eq!(spoken, 0);
            Ok(())
        },
    );
}

#[test]
fn only_a_verdict_is_a_verdict() {
    let words = || {
        prop_oneof![
            Just(r#"{"completed":true,"feedback":""}"#.to_owned()),
            Just(r#"{"completed":false,"feedback":"no"}"#.to_owned()),
            Just("```json\n".to_owned()),
            Just("\n```".to_owned()),
            Just("\n".to_owned()),
            Just("[TASK_COMPLETED]".to_owned()),
            Just("[[{{".to_owned()),
            Just("}".to_owned()),
            Just(r#"{"allow_stop":true,"completed":false}"#.to_owned()),
            Just(r#"{"completed":true,"word":"right","feedback":""}"#.to_owned()),
            Just(r#"{"completed":true,"word":"wrong","feedback":""}"#.to_owned()),
            Just(r#""completed":true"#.to_owned()),
            Just(r#"{"status":"continue","feedback":""#.to_owned()),
            Just("The task is not complete.".to_owned()),
            Just("\n> ".to_owned()),
            "\\PC{0,20}",
        ]
    };
    let text = prop::collection::vec(words(), 0..8).prop_map(|words| words.concat());
    fuzz("proptest-regressions/fuzz-verdict.txt", 1500, (text, any::<bool>()), |(text, word)| {
        let result = TurnResult { text: text.clone(), num_turns: 1, ..TurnResult::default() };
        let reading = Reading::of(&result, word.then_some("right"));
        if let Reading::Verdict { verdict, has_word } = &reading {
            if verdict.completed {
                let says_so = text.contains("completed\":true")
                    || text.contains("allow_stop\":true")
                    || text.contains("[TASK_COMPLETED]");
                prop_assert!(says_so, "out of nothing");
                // What is quoted does not know the review's word, and may contradict one that does.
                let certain = word && *has_word;
                for no in [r#""completed":false"#, r#""status":"continue""#, "is not complete."] {
                    prop_assert!(certain || !text.contains(no), "{text}");
                }
            }
            prop_assert!(!word || !has_word || text.contains("right"));
        }
        Ok(())
    });
}

#[test]
fn a_fixture_is_run_or_refused() {
    fuzz("proptest-regressions/fuzz-fixture.txt", 150, damaged(&FIXTURES, 5), |Bytes(bytes)| {
        if let Ok(text) = String::from_utf8(bytes)
            && let Ok(script) = Script::parse(&text)
        {
            let _ = run_on_machine(&script);
        }
        Ok(())
    });
}

/// The three files of a recording of every fixture that holds.
static RECORDINGS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let recorded = files("fixtures", ".jsonl").into_iter().filter_map(|text| {
        let script = Script::parse(&text).ok()?;
        let mut written = [String::new(), String::new(), String::new()];
        let begun = Begun {
            ccc: "0.1.0".into(),
            project: "/p".into(),
            provider: None,
            rules: script.header.rules().ok()?,
            agent_lines: 0,
            supervisor_lines: 0,
        };
        let mut write = |which: usize, line: &str| {
            written[which].push_str(line);
            written[which].push('\n');
        };
        let event_line = |at: f64, content: Entry| {
            let time = "2026-01-01T00:00:00Z".parse().expect("a time");
            serde_json::to_string(&EventLine { v: VERSION, time, at, content }).expect("JSON")
        };
        write(0, &event_line(0.0, Entry::Begun { begun: Box::new(begun) }));
        run_on_machine_observed(&script, &mut |step| match step {
            MachineStep::AgentLine(raw) => {
                write(1, &String::from_utf8_lossy(raw));
                write(0, &event_line(0.0, Entry::Lines(ClientLines::Agent { lines: 1 })));
            }
            MachineStep::SupervisorLine(review, raw) => {
                write(2, &String::from_utf8_lossy(raw));
                let lines = ClientLines::Supervisor { review, lines: 1 };
                write(0, &event_line(0.0, Entry::Lines(lines)));
            }
            MachineStep::Step(event, now, actions) => {
                if !matches!(event, Event::Agent(_) | Event::Supervisor { .. }) {
                    write(0, &event_line(now.as_secs_f64(), Entry::Event(event.clone())));
                }
                for action in actions {
                    write(0, &event_line(now.as_secs_f64(), action.into()));
                }
            }
            MachineStep::End(report, now) => {
                let ended = Entry::Ended { ended: Box::new(report.clone()), carried: None };
                write(0, &event_line(now.as_secs_f64(), ended));
            }
        })
        .ok()?;
        Some(written.join("\0").into_bytes())
    });
    recorded.collect()
});

#[test]
fn a_recording_is_read_or_refused() {
    assert!(RECORDINGS.len() > 20, "the fixtures make recordings");
    fuzz("proptest-regressions/fuzz-recording.txt", 10, damaged(&RECORDINGS, 8), |Bytes(bytes)| {
        let dir = tempfile::tempdir().expect("a directory");
        let written: Vec<&[u8]> = bytes.splitn(3, |byte| *byte == 0).collect();
        for (name, content) in [EVENTS, AGENT, SUPERVISOR].iter().zip(written) {
            std::fs::write(dir.path().join(name), content).expect("a file");
        }
        read_all_of(dir.path());
        Ok(())
    });
}

fn read_all_of(dir: &Path) {
    let _ = Story::read(dir);
    let Ok(recording) = Recording::open(dir) else { return };
    let _ = rerun::check(&recording);
    let _ = ccc::record::find::carried(dir, None);
    for run in recording.runs().unwrap_or_default() {
        let _ = convert(
            &recording,
            &run,
            "title",
            &["a-secret-value".into()],
            &MachineIdentity::default(),
        );
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop_oneof![Just("${HOME}"), Just("${"), Just("${}"), Just("$${A}"), Just("a")]
            .prop_map(Value::from),
    ];
    let name = || {
        prop_oneof![
            Just("env"),
            Just("hooks"),
            Just("permissions"),
            Just("providers"),
            Just("settings"),
            Just("supervisor"),
            Just("max_iterations"),
            Just("checks"),
            Just("current_provider"),
            Just("a"),
        ]
    };
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name(), inner), 0..5).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

#[test]
fn settings_merge_as_they_should() {
    let seeds = "proptest-regressions/fuzz-config.txt";
    fuzz(seeds, 500, (json_value(), json_value()), |(base, over)| {
        let mut merged = base.clone();
        merge(&mut merged, &over);
        let mut again = merged.clone();
        merge(&mut again, &over);
        prop_assert_eq!(&again, &merged, "a second time changes something");
        prop_assert!(wins(&over, &merged), "{over} did not win: {merged}");
        if let (Value::Object(base), Value::Object(over), Value::Object(merged)) =
            (&base, &over, &merged)
        {
            let kept = base.iter().filter(|(name, _)| !over.contains_key(*name));
            prop_assert!(kept.into_iter().all(|(name, value)| merged.get(name) == Some(value)));
        }
        let _ = expand(&mut merged, &|name| (name == "HOME").then(|| "/home".to_owned()));
        if let Ok(config) = Config::parse(&base.to_string()) {
            let _ = (config.supervisor(), config.unknown(), config.claude_args());
            for name in config.provider_names() {
                let _ = config.settings(Some(name));
            }
        }
        Ok(())
    });
}

/// Everything of `over` is there.
fn wins(over: &Value, merged: &Value) -> bool {
    match (over, merged) {
        (Value::Object(over), Value::Object(merged)) => over
            .iter()
            .all(|(name, value)| merged.get(name).is_some_and(|there| wins(value, there))),
        (over, merged) => over == merged,
    }
}

static HOOK_INPUT: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let event = json!({"session_id":"S1","transcript_path":"/t.jsonl","cwd":"/p","permission_mode":"default",
        "hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"Done.",
        "background_tasks":[{"status":"running"},{"status":"done"}],"session_crons":[]});
    let entries = [
        json!({"type":"user","message":{"role":"user","content":"build it"},"sessionId":"S1"}),
        json!({"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Built."},
            {"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}]}}),
        json!({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}),
        json!({"type":"user","isMeta":true,"message":{"content":"<command-name>/x</command-name>"}}),
    ];
    entries.iter().chain([&event]).map(|value| value.to_string().into_bytes()).collect()
});

#[test]
fn hook_input_is_read_or_refused() {
    let lines = prop::collection::vec(damaged(&HOOK_INPUT, 4), 1..6);
    fuzz("proptest-regressions/fuzz-hook.txt", 400, lines, |lines| {
        let lines: Vec<_> = lines.into_iter().map(|line| line.0).collect();
        for line in &lines {
            if let Ok(event) = serde_json::from_slice::<HookEvent>(line) {
                let _ = event.background();
            }
        }
        let mut read = ClientTranscript::default();
        lines.iter().for_each(|line| read.line(line));
        for said in &read.said {
            prop_assert!(!said.text.trim_start().starts_with("<command-"), "{said:?}");
        }
        Ok(())
    });
}

static INSTRUCTIONS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut texts = files(".", "SUPERVISOR.example.md");
    texts.push("---\nproof: required\nchecks:\n  - cargo test\n  - { name: lint, run: cargo clippy, timeout: 5m, when: \"*.rs\" }\n---\n# Rules\n".into());
    texts.into_iter().map(String::into_bytes).collect()
});

#[test]
fn instructions_are_read_or_refused() {
    fuzz(
        "proptest-regressions/fuzz-instructions.txt",
        300,
        damaged(&INSTRUCTIONS, 5),
        |Bytes(bytes)| {
            if let Ok(text) = String::from_utf8(bytes)
                && let Ok((_, rest)) = front_matter::split(&text)
            {
                prop_assert!(text.ends_with(rest), "the judge's text is not what stands there");
            }
            Ok(())
        },
    );
}
