mod question;
mod verdict;

use super::super::transcript::tests::{LOOK, texts};
use super::super::{Glyphs, Look, sample};
use super::*;
use crate::checks::result::{CheckOutcome, CheckResult};
use crate::client::stream::PermissionRequest;
use crate::event::{Ending, Outcome, Question, Stood, Supervision};
use crate::review::opinion::Opinion;
use crate::review::permission::Denied;
use crate::review::policy::Seat;
use crate::review::requirement::{Evidence, Requirement, Standing};
use crate::review::verdict::Verdict;

fn shown(look: Look, notice: &Notice) -> String {
    texts(&Transcript::new(look).notice(notice)).join("\n")
}

fn judged(completed: bool) -> Verdict {
    Verdict::new(completed, "Add tests.\nRun them.")
}

fn verdict(completed: bool) -> Notice {
    told(judged(completed))
}

fn told(verdict: Verdict) -> Notice {
    Notice::Verdict {
        round: 2,
        max: 10,
        seconds: 34.2,
        cost_usd: 0.12,
        session_usd: Some(1.5),
        usage: crate::surface::sample::usage(),
        verdict,
    }
}

#[test]
fn what_ccc_says() {
    let failed =
        |retrying| Notice::ReviewFailed { round: 1, reason: "no credit.".into(), retrying };
    let gone = |words: &str, resuming| Notice::AgentGone {
        how: "exited with code 1".into(),
        last_words: words.into(),
        resuming,
    };
    let answer = |asker, allowed, reason: &str| Notice::PermissionAnswered {
        asker,
        tool: "Bash".into(),
        allowed,
        reason: reason.into(),
    };
    let answered = |allowed, reason: &str| answer(Asker::Agent, allowed, reason);
    for (notice, expected) in [
        (
            Notice::Started { supervising: true, max_iterations: 10 },
            "Supervisor mode enabled · up to 10 reviews",
        ),
        (Notice::Started { supervising: false, max_iterations: 10 }, "Supervisor mode disabled"),
        (Notice::Supervision { on: true }, "Supervisor mode enabled"),
        (Notice::Supervision { on: false }, "Supervisor mode disabled"),
        (Notice::UserMessage { text: "do\nthis".into() }, "❯ do\n  this"),
        (Notice::Phase { phase: Phase::Working, round: 0, max: 10 }, ""),
        (Notice::ChecksChangedFiles, "┃ The checks changed files of the project."),
        (Notice::ReviewStarted { round: 2, max: 10, attempt: 1, judge: None }, "┃ Review 2/10"),
        (
            Notice::ReviewStarted { round: 2, max: 10, attempt: 2, judge: None },
            "┃ Review 2/10, second try",
        ),
        (
            verdict(true),
            "┃ ✔ Confirmed complete in round 2/10 · 34s · 99% cached · $0.12\n┃   Add tests.\n┃   Run them.",
        ),
        (
            verdict(false),
            "┃ ✘ Not complete yet, round 2/10 · 34s · 99% cached · $0.12\n┃   Add tests.\n┃   Run them.",
        ),
        (Notice::Feedback { round: 2, text: "x".into() }, "┃ → sent to the agent"),
        (failed(true), "┃ ✘ Review failed: no credit – trying again"),
        (
            failed(false),
            "┃ ✘ No verdict: no credit.\n  → Type a message to continue, or /supervisor to review again.",
        ),
        (
            Notice::ReviewDropped { round: 1, why: Dropped::UserMessage },
            "┃ Review cancelled (you sent a message)",
        ),
        (Notice::ReviewDropped { round: 1, why: Dropped::SessionEnded }, ""),
        (
            Notice::LimitReached { max: 3 },
            "Stopped after 3 reviews without confirmation.\n  → Type a message to continue, or /supervisor to review again.",
        ),
        (
            Notice::TurnFailed { error: "no idea".into() },
            "The agent's turn failed: no idea.\n  → Send a message to try again; `ccc doctor` checks your setup.",
        ),
        (
            Notice::TurnFailed { error: "No conversation found with session ID: x".into() },
            "The agent's turn failed: No conversation found with session ID: x.\n  → `ccc sessions` \
             lists the sessions of this project; `ccc --supervisor --resume` lets you choose one.",
        ),
        (Notice::Interrupted, "Interrupted."),
        (
            Notice::WaitingForBackground { tasks: vec!["a".into(), "b".into()] },
            "Waiting for background work: a, b",
        ),
        (answered(true, ""), "allowed Bash"),
        (answered(false, "not now"), "denied Bash: not now"),
        (
            answered(false, NOBODY),
            "denied Bash: no one to ask (--allowedTools or --permission-mode would allow it)",
        ),
        (answer(Asker::Supervisor, false, NOBODY), "denied Bash: no one to ask"),
        (gone("", true), "claude exited with code 1 – resuming the session"),
        (
            gone("oh no", false),
            "claude exited with code 1: oh no – your next message resumes the session",
        ),
        (Notice::Session { session_id: "s".into() }, ""),
    ] {
        assert_eq!(shown(LOOK, &notice), expected, "{notice:?}");
    }
}

#[test]
fn a_log_has_phases_and_no_hints() {
    let look = Look { hints: false, phases: true, ..LOOK };
    let phase = |phase, round| Notice::Phase { phase, round, max: 10 };
    assert_eq!(shown(look, &phase(Phase::Working, 0)), "── working · round 1/10 ──");
    assert_eq!(shown(look, &phase(Phase::Working, 10)), "── working · round 10/10 ──");
    assert_eq!(shown(look, &phase(Phase::Reviewing, 1)), "── reviewing · round 1/10 ──");
    assert_eq!(shown(look, &phase(Phase::Waiting, 1)), "");
    let mut off = Transcript::new(look);
    off.notice(&Notice::Started { supervising: false, max_iterations: 10 });
    assert_eq!(texts(&off.notice(&phase(Phase::Working, 0))), ["", "── working ──"]);
    let failed = Notice::ReviewFailed { round: 1, reason: "late".into(), retrying: false };
    assert_eq!(shown(look, &failed), "┃ ✘ No verdict: late.");
}

#[test]
fn a_review_cancelled_before_it_asked_anybody_has_a_block_of_its_own() {
    let mut transcript = Transcript::new(LOOK);
    let dropped = Notice::ReviewDropped { round: 1, why: Dropped::UserMessage };
    let reviewing = Notice::Phase { phase: Phase::Reviewing, round: 1, max: 10 };
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#;
    transcript.agent(&sample::line(text));
    for _ in 0..2 {
        transcript.notice(&reviewing);
        assert_eq!(
            texts(&transcript.notice(&dropped)),
            ["", "┃ Review cancelled (you sent a message)"]
        );
    }
    transcript.notice(&reviewing);
    transcript.notice(&Notice::ReviewStarted { round: 1, max: 10, attempt: 1, judge: None });
    assert_eq!(texts(&transcript.notice(&dropped)), ["┃ Review cancelled (you sent a message)"]);
}

#[test]
fn a_review_that_begins_with_checks_has_a_block_of_its_own() {
    let mut transcript = Transcript::new(LOOK);
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#;
    transcript.agent(&sample::line(text));
    transcript.notice(&Notice::Phase { phase: Phase::Reviewing, round: 1, max: 10 });
    let passed = Notice::CheckEnded(CheckResult {
        name: "lint".into(),
        run: "make lint".into(),
        outcome: CheckOutcome::Green,
        seconds: 2.0,
        tail: String::new(),
    });
    assert_eq!(texts(&transcript.notice(&passed)), ["", "┃ ✔ check lint  passed · 2s"]);
    assert_eq!(texts(&transcript.notice(&passed)), ["┃ ✔ check lint  passed · 2s"]);
    let dropped = Notice::ReviewDropped { round: 1, why: Dropped::Interrupt };
    assert_eq!(texts(&transcript.notice(&dropped)), ["┃ Review cancelled (interrupted)"]);
}

#[test]
fn a_failure_that_the_judge_has_printed_is_not_repeated() {
    let mut transcript = Transcript::new(LOOK);
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"API Error: 500 Internal server error."}]}}"#;
    let failed = |retrying| Notice::ReviewFailed {
        round: 1,
        reason: "API Error: 500 Internal server error.".into(),
        retrying,
    };
    transcript.supervisor(&sample::line(text));
    let again = "┃ ✘ Review failed – trying again";
    assert_eq!(texts(&transcript.notice(&failed(true))).last().unwrap(), again);
    transcript.notice(&Notice::ReviewStarted { round: 1, max: 10, attempt: 2, judge: None });
    transcript.supervisor(&sample::line(text));
    let shown = texts(&transcript.notice(&failed(false)));
    let ends =
        ["┃ ✘ No verdict.", "  → Type a message to continue, or /supervisor to review again."];
    assert!(shown.ends_with(&ends.map(str::to_owned)), "{shown:?}");
    // The second try failed without a word.
    transcript.notice(&Notice::ReviewStarted { round: 1, max: 10, attempt: 2, judge: None });
    let shown = texts(&transcript.notice(&failed(false)));
    assert!(shown[0].starts_with("┃ ✘ No verdict: API Error: 500"), "{shown:?}");
}

#[test]
fn prose_that_is_the_verdict_is_not_shown_twice() {
    let mut transcript = Transcript::new(LOOK);
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Add tests.\nRun them.\n"}]}}"#;
    transcript.supervisor(&sample::line(text));
    assert_eq!(
        texts(&transcript.notice(&verdict(false))),
        ["┃ ", "┃ ✘ Not complete yet, round 2/10 · 34s · 99% cached · $0.12"]
    );
    assert_eq!(transcript.notice(&verdict(false)).len(), 3);
}

#[test]
fn json_behind_prose_is_left_to_the_notice() {
    let mut transcript = Transcript::new(LOOK);
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I ran the tests.\n```json\n{\"completed\":false,\"feedback\":\"Add tests.\"}\n```"}]}}"#;
    assert_eq!(texts(&transcript.supervisor(&sample::line(text))), ["┃   I ran the tests."]);
}

#[test]
fn prose_that_says_what_the_json_says_is_shown_once() {
    let mut transcript = Transcript::new(LOOK);
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I looked.\nAdd tests.\nRun them.\n{\"completed\":false,\"feedback\":\"Add tests.\\nRun them.\"}"}]}}"#;
    let mut shown = texts(&transcript.supervisor(&sample::line(text)));
    shown.extend(texts(&transcript.notice(&verdict(false))));
    assert_eq!(shown.join("\n").matches("Add tests.").count(), 1, "{shown:?}");
}

#[test]
fn a_conversation_that_is_cleared_is_told() {
    let mut transcript = Transcript::new(LOOK);
    let mut named =
        |id: &str| texts(&transcript.notice(&Notice::Session { session_id: id.into() }));
    assert!(named("s-1").is_empty() && named("s-1").is_empty());
    assert_eq!(named("s-2"), ["New conversation: the agent no longer remembers the previous one."]);
}

#[test]
fn last_words_are_not_said_twice() {
    let gone = Notice::AgentGone {
        how: "exited with code 1".into(),
        last_words: "no config\nsee the log".into(),
        resuming: true,
    };
    let failed = "claude exited with code 1: no config\nsee the log";
    let failed = sample::report(Outcome::Failed(failed.into()));
    let mut transcript = Transcript::new(LOOK);
    assert_eq!(texts(&transcript.notice(&gone)).len(), 2);
    for line in ["no config", "see the log"] {
        assert_eq!(texts(&transcript.agent(&sample::line(line))).last().unwrap().trim(), line);
    }
    assert_eq!(
        texts(&transcript.notice(&gone)),
        ["", "claude exited with code 1 – resuming the session"]
    );
    let summary = "✘ Failed: claude exited with code 1 · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)";
    assert_eq!(texts(&transcript.report(&failed))[1], summary);
    transcript.agent(&sample::line(r#"{"type":"tomorrow"}"#));
    assert_eq!(texts(&transcript.report(&failed))[1], summary, "nothing new on the screen");
    let error = Notice::TurnFailed { error: "see the log".into() };
    assert_eq!(texts(&transcript.notice(&error))[1], "The agent's turn failed.");
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}"#;
    transcript.agent(&sample::line(text));
    assert!(texts(&transcript.report(&failed))[1].ends_with("code 1: no config"));
}

#[test]
fn an_error_that_the_agent_has_just_said_is_not_said_again() {
    let error = "API Error: Connection refused";
    let text = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{error}"}}]}}}}"#
    );
    let mut transcript = Transcript::new(LOOK);
    transcript.agent(&sample::line(&text));
    let report = sample::report(Outcome::Failed(error.into()));
    assert!(texts(&transcript.report(&report))[1].starts_with("✘ Failed · 1 round"));
    // Printed, without the kind that stands before it.
    let mut transcript = Transcript::new(LOOK);
    transcript.agent(&sample::line("no such session"));
    let report = sample::report(Outcome::Failed("Error: no such session".into()));
    assert!(texts(&transcript.report(&report))[1].starts_with("✘ Failed · 1 round"));
}

#[test]
fn a_remark_stands_apart_from_what_the_agent_wrote_but_not_from_another() {
    let mut transcript = Transcript::new(LOOK);
    let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}"#;
    transcript.agent(&sample::line(text));
    let limit = "Stopped after 2 reviews without confirmation.";
    let gap = &texts(&transcript.notice(&Notice::LimitReached { max: 2 }));
    assert!(gap[0].is_empty() && gap[1].starts_with(limit), "{gap:?}");
    let waiting = Notice::WaitingForBackground { tasks: vec!["serve".into()] };
    assert_eq!(texts(&transcript.notice(&waiting)), ["Waiting for background work: serve"]);
}

#[test]
fn a_pasted_file_is_not_all_of_it_shown_again() {
    let said_with = |look, lines: usize| {
        let text = vec!["x"; lines].join("\n");
        texts(&Transcript::new(look).notice(&Notice::UserMessage { text }))
    };
    let said = |lines| said_with(Look { live: true, ..LOOK }, lines);
    // A diff from a pipe does not fill the log, either, but `ccc sessions show` has all of it.
    assert_eq!(said_with(Look { phases: true, ..LOOK }, 5000), said(5000));
    assert_eq!(said_with(Look { live: false, phases: false, ..LOOK }, 5000).len(), 5000);
    assert_eq!(said(21), [&["❯ x"][..], &["  x"; 20]].concat());
    assert_eq!(said(5000), [&["❯ x"][..], &["  x"; 19], &["  … 4980 more lines"]].concat());
    let long = Notice::UserMessage { text: "x".repeat(4950) };
    let mut transcript = Transcript::new(Look { live: true, ..LOOK });
    transcript.set_width(52);
    assert_eq!(texts(&transcript.notice(&long))[20], "  … 80 more lines");
}

#[test]
fn without_unicode() {
    let look = Look { glyphs: Glyphs::ascii(), ..LOOK };
    assert!(shown(look, &verdict(true)).is_ascii());
    assert!(shown(look, &Notice::Started { supervising: true, max_iterations: 1 }).is_ascii());
}

#[test]
fn the_closing_summary() {
    for (outcome, expected) in [
        (
            Outcome::Completed,
            "✔ Confirmed complete · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)",
        ),
        (
            Outcome::Ended,
            "Session ended · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)",
        ),
        (
            Outcome::Failed("no credit".into()),
            "✘ Failed: no credit · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)",
        ),
        (
            Outcome::Signal(15),
            "Ended by SIGTERM · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)",
        ),
    ] {
        let lines = texts(&Transcript::new(LOOK).report(&sample::report(outcome)));
        assert_eq!(lines, [expected, "Resume with: ccc --supervisor --resume s-1"]);
    }
    let mut report = sample::report(Outcome::Unreviewed);
    (report.cost_usd, report.session_id, report.seconds.total) = (0.0, None, 4000.0);
    report.rounds.clear();
    report.supervision = Supervision::default();
    let lines = texts(&Transcript::new(LOOK).report(&report));
    assert_eq!(lines, ["Done, not reviewed · 0 rounds · 1h 06m"]);
    assert!(Transcript::new(LOOK).report(&sample::report(Outcome::ClientLeft(0))).is_empty());
}

#[test]
fn a_resumed_session_shows_how_the_old_one_ended() {
    let answer = (1..=30).map(|at| format!("line {at}\n")).collect::<Vec<_>>().concat();
    let resumed =
        |ending| Notice::Resumed { round: 2, max: 10, messages: 3, cost_usd: 0.25, ending };
    assert_eq!(shown(LOOK, &resumed(None)), "Resumed: after round 2 of 10, 3 messages, $0.25");
    let ending = Ending { message: "build it".into(), answer, stood: Stood::Open(2) };
    let shown = shown(LOOK, &resumed(Some(ending)));
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "Resumed: after round 2 of 10, 3 messages, $0.25, 2 requirements still open",
            "",
            "❯ build it",
            "",
            "  …"
        ]
    );
    assert_eq!((lines[5], lines.last()), ("  line 19", Some(&"  line 30")));
}
