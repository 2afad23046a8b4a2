use super::*;
use crate::review::verdict::Verdict;
use proptest::prelude::*;
use std::fs;

fn cast() -> Cast {
    let env = vec![("SHELL", "/bin/sh".to_owned()), ("TERM", "xterm".to_owned())];
    Cast::new(CastHeader { size: (80, 24), env }, Clock::start())
}

/// The header and the events of what was recorded.
fn recorded(path: &Path) -> (serde_json::Value, Vec<(f64, String, String)>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header = serde_json::from_str(lines.next().unwrap()).unwrap();
    (header, lines.map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn data(path: &Path) -> Vec<String> {
    recorded(path).1.into_iter().map(|(_, code, data)| format!("{code} {data}")).collect()
}

#[test]
fn a_header_is_followed_by_the_events() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CAST);
    let cast = cast();
    cast.output(b"\x1b[1mhi \"you\"\\\x1b[0m\r\n");
    cast.typed("\x1b[A");
    cast.mark(&Notice::UserMessage { text: "fix it\nall of it".into() });
    cast.open(&path);
    cast.resized(100, 30);
    cast.mark(&Notice::Phase { phase: Phase::Working, round: 0, max: 10 });
    cast.mark(&Notice::Phase { phase: Phase::Waiting, round: 0, max: 10 });
    let verdict = Verdict::new(false, "no tests\nat all");
    cast.mark(&Notice::Verdict {
        round: 1,
        max: 3,
        seconds: 1.0,
        cost_usd: 0.0,
        session_usd: None,
        usage: crate::client::stream::Usage::default(),
        verdict,
    });
    cast.flush();
    let (header, events) = recorded(&path);
    assert_eq!((&header["version"], &header["width"]), (&2.into(), &80.into()));
    assert_eq!(header["title"], "fix it");
    assert_eq!(header["env"], json!({"SHELL": "/bin/sh", "TERM": "xterm"}));
    assert!(header["timestamp"].is_u64());
    assert!(events.is_sorted_by(|one, two| one.0 <= two.0));
    assert_eq!(
        data(&path),
        [
            "o \x1b[1mhi \"you\"\\\x1b[0m\r\n",
            "i \x1b[A",
            "m user: fix it",
            "r 100x30",
            "m working 1/10",
            "m not completed: no tests",
        ]
    );
}

#[test]
fn output_of_another_thread_precedes_later_events() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CAST);
    let cast = cast();
    let (drawn, start) = (cast.drawn(), Instant::now());
    drawn.add(b"before the file", start);
    cast.open(&path);
    // A character cut in two, written by a thread whose clock does not stop with ccc's.
    drawn.add(b"\xc3", Instant::now());
    cast.typed("a");
    drawn.add(b"\xa4", start);
    cast.mark(&Notice::Interrupted);
    drawn.add(b"last", Instant::now());
    cast.flush();
    assert_eq!(data(&path), ["o before the file", "i a", "o ä", "m interrupted", "o last"]);
    assert!(recorded(&path).1.is_sorted_by(|one, two| one.0 <= two.0));
    cast.switch_off();
    assert_eq!(drawn.add(b"not kept", Instant::now()), None);
}

#[test]
fn a_later_run_continues_the_time_of_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CAST);
    fs::write(&path, "{\"version\":2,\"width\":1,\"height\":1}\n[5.5,\"o\",\"x\"]\n[6.1,\"o")
        .unwrap();
    let cast = cast();
    cast.output(b"early");
    cast.open(&path);
    cast.output(b"late");
    cast.flush();
    let (_, events) = recorded(&path);
    assert_eq!(data(&path), ["o x", "r 80x24", "o early", "o late"]);
    assert!((events[1].0 - 5.5).abs() < 1e-9, "{events:?}");
    assert!(events[2].0 >= 5.5 && events.is_sorted_by(|one, two| one.0 <= two.0));
}

#[test]
fn a_file_that_is_not_a_cast_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CAST);
    fs::write(&path, "{\"version\":2}\nsomething else\n").unwrap();
    let cast = cast();
    cast.open(&path);
    cast.output(b"lost");
    cast.flush();
    assert!(cast.failure().is_some_and(|(_, why)| why.contains("not an event")));
    assert!(fs::read_to_string(&path).unwrap().ends_with("something else\n"));
}

#[test]
fn printed_lines_get_carriage_returns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CAST);
    let cast = cast();
    cast.open(&path);
    for text in ["a\nb\r\nc", "\n", "d\r", "\ne\n\n"] {
        cast.printed(text.as_bytes());
    }
    cast.flush();
    assert_eq!(data(&path), ["o a\r\nb\r\nc", "o \r\n", "o d\r", "o \ne\r\n\r\n"]);
}

proptest! {
    #[test]
    fn characters_survive_any_cut(text in "\\PC{0,40}", cuts in prop::collection::vec(0usize..160, 0..8)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(CAST);
        let cast = cast();
        cast.open(&path);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            cast.output(&text.as_bytes()[from..cut]);
            from = cut;
        }
        cast.flush();
        let shown: String = recorded(&path).1.into_iter().map(|(_, _, data)| data).collect();
        prop_assert_eq!(shown, text);
    }

    #[test]
    fn no_bytes_can_break_the_cast(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(CAST);
        let cast = cast();
        cast.open(&path);
        for chunk in bytes.chunks(7) {
            cast.output(chunk);
        }
        cast.output(b"~~~~");
        cast.flush();
        let shown: String = recorded(&path).1.into_iter().map(|(_, _, data)| data).collect();
        prop_assert_eq!(shown, String::from_utf8_lossy(&[&bytes[..], b"~~~~"].concat()).into_owned());
    }
}
