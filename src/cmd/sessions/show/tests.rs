use super::*;
use crate::event::{Event, Outcome};
use crate::machine::Rules;
use crate::record::sample::SampleRecording;
use crate::surface::Glyphs;

const LOOK: Look = Look {
    glyphs: Glyphs::unicode(),
    colour: None,
    hints: false,
    phases: false,
    rich: false,
    live: false,
    spoken: false,
    ticker: None,
};

fn text(dir: &std::path::Path) -> String {
    let now: Zoned = "2026-01-15T12:00:00Z[UTC]".parse().unwrap();
    let mut out = Vec::new();
    write(&Story::read(dir).unwrap(), LOOK, false, &now, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_session_told_again() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("S");
    let mut sample = SampleRecording::begin(&dir, "2026-01-15T08:00:00Z", Rules::default());
    sample.event(Event::Start { prompt: None }).said("build it").turn("S", "built", 0.25);
    sample.supervisor(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look \u001b[2Jat it."}]}}"#);
    sample.verdict(false, "add tests").turn("S", "1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10", 0.5);
    sample.verdict(true, "fine").event(Event::Leave).end(Outcome::Ended);
    assert_eq!(
        text(&dir),
        "Session S\n\
         today 08:00 · /p/here · on kimi · ccc 0.1.0\n\
         \n\
         ❯ build it · 08:00:00\n\
         \n\
         ● The agent · Edit 1 · 10s · $0.25\n\
         \x20 built\n\
         \n\
         ┃ Review 1/10 · 08:00:10\n\
         ┃   I look at it.\n\
         ┃ \n\
         ┃ ● Bash cargo test\n\
         ┃ \n\
         ┃ ✘ Not complete yet, round 1/10 · 5s · $0.0100\n\
         ┃   add tests\n\
         ┃ → sent to the agent\n\
         \n\
         ● The agent · Edit 1 · 10s · $0.25\n\
         \x20 1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  … 2 more lines\n\
         \n\
         ┃ Review 2/10 · 08:00:25\n\
         ┃ ● Bash cargo test\n\
         ┃ \n\
         ┃ ✔ Confirmed complete in round 2/10 · 5s · $0.0100\n\
         ┃   fine\n\
         \n\
         Session ended · 2 rounds · 30s · $0.52 (reviews: $0.0200)\n"
    );
}

#[test]
fn what_was_broken_off_says_how_to_go_on() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("S");
    let rules = Rules { resume: Some("T".into()), ..Rules::default() };
    for began in ["2026-01-15T08:00:00Z", "2026-01-15T09:00:00Z"] {
        SampleRecording::begin(&dir, began, rules.clone())
            .event(Event::Start { prompt: None })
            .said("go on");
    }
    let text = text(&dir);
    assert!(text.contains("its last conversation was T\n"), "{text}");
    assert!(text.contains("\n── resumed today 09:00 ──\n"), "{text}");
    assert!(text.ends_with("Resume with: ccc --supervisor --resume T\n"), "{text}");
}

#[test]
fn as_json_with_what_happened() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("S");
    let mut sample = SampleRecording::begin(&dir, "2026-01-15T08:00:00Z", Rules::default());
    sample.event(Event::Start { prompt: None }).said("build it").turn("S", "built", 0.25);
    sample.verdict(true, "fine").event(Event::Leave).end(Outcome::Failed("no".into()));
    let mut out = Vec::new();
    json::write_whole(&Story::read(&dir).unwrap(), false, &mut out).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((&value["outcome"], &value["detail"]), (&"failed".into(), &"no".into()));
    assert_eq!((&value["exit_code"], &value["rounds"][0]["completed"]), (&1.into(), &true.into()));
    let scenes: Vec<_> = value["scenes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["what"] != "notice")
        .map(|entry| (entry["what"].as_str().unwrap(), entry["time"].as_str().unwrap()))
        .collect();
    assert_eq!(
        scenes,
        [
            ("run", "2026-01-15T08:00:00Z"),
            ("turn", "2026-01-15T08:00:10Z"),
            ("check", "2026-01-15T08:00:10Z"),
        ]
    );
}
