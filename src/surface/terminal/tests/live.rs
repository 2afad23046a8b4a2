//! What is on the screen, and the keys that do not answer questions.

use proptest::prelude::*;

use super::*;

const READY: &str = "ready · supervisor on · ? for keys · Ctrl-D exits";

#[test]
fn the_transcript_grows_above_what_is_being_typed() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("half a sen");
    assert_eq!(bench.rows(), ["", "❯ half a sen", READY]);
    bench.say("One.\nTwo.");
    bench.type_in("tence");
    bench.say("Three.");
    assert_eq!(bench.rows(), ["  One.", "  Two.", "", "  Three.", "", "❯ half a sentence", READY]);
    assert_eq!(bench.cursor(), (5, 17));
    assert_eq!(bench.key(KeyCode::Enter), Some(said("half a sentence")));
    assert_eq!(bench.rows()[5], "❯");
}

#[test]
fn redrawing_at_the_top_of_the_screen_leaves_nothing_in_the_scrollback() {
    for (columns, rows) in [(80, 24), (2, 24), (80, 1), (20, 2)] {
        let mut bench = Bench::new(columns, rows);
        bench.type_in("some words");
        bench.control('l');
        bench.type_in(" and more");
        bench.say("One.");
        bench.control('l');
        bench.type_in("!");
        assert_eq!(bench.terminal.screen.kept, 0, "{columns} x {rows}");
    }
}

#[test]
fn a_long_line_is_wrapped_and_scrolls() {
    let mut bench = Bench::new(20, 12);
    bench.type_in("x");
    for number in 0..20 {
        bench.say(&format!("{number:02} {}", "y".repeat(27)));
    }
    let rows = bench.rows();
    let full = "y".repeat(18);
    assert_eq!(rows[6..], ["  19", &format!("  {full}"), "  yyyyyyyyy", "", "❯ x", "ready"]);
}

#[test]
fn a_busy_session_shows_progress() {
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    assert_eq!(bench.last(), "⠋ working 0:00 · round 1/10 · Esc interrupts");
    assert!(bench.terminal.redraw_in().is_some());
    bench.wait(12_250);
    assert_eq!(bench.last(), "⠇ working 0:12 · round 1/10 · Esc interrupts");
    let bench = bench.phase(Phase::Waiting);
    assert_eq!((bench.last().as_str(), bench.terminal.redraw_in()), (READY, None));
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut bench = Bench::new(80, 24);
    let writes = bench.terminal.screen.writes;
    bench.wait(10_000);
    bench.terminal.agent(&sample::line(r#"{"type":"tomorrow"}"#));
    bench.update();
    assert_eq!(bench.terminal.screen.writes, writes);
    bench.say("One.\nTwo.");
    assert_eq!(bench.terminal.screen.writes, writes + 1, "one write for all of it");
}

#[test]
fn a_ticking_clock_repaints_only_its_own_row() {
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    bench.type_in("half a sen");
    bench.terminal.screen.written.clear();
    bench.wait(1_000);
    let written = String::from_utf8_lossy(&bench.terminal.screen.written).into_owned();
    assert!(written.contains("working 0:01"), "{written:?}");
    assert!(!written.contains("half") && !written.contains("\x1b[J"), "{written:?}");
    bench.terminal.screen.written.clear();
    bench.type_in("t");
    let written = String::from_utf8_lossy(&bench.terminal.screen.written).into_owned();
    assert!(written.contains("half a sent") && !written.contains("working"), "{written:?}");
    assert_eq!(bench.cursor(), (1, 13));
}

#[test]
fn after_a_resize_and_back_everything_is_painted_again() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("half a sen");
    bench.terminal.screen.written.clear();
    bench.input(Input::Resize(80, 24));
    let written = String::from_utf8_lossy(&bench.terminal.screen.written).into_owned();
    assert!(written.contains("half a sen") && written.contains("ready"), "{written:?}");
}

#[test]
fn a_frame_is_for_the_current_size_of_the_terminal() {
    let mut bench = Bench::new(80, 24);
    // ccc has not been told of the resize yet.
    bench.terminal.screen.parser.set_size(non_zero(24), non_zero(20));
    bench.type_in("x");
    assert_eq!(bench.rows(), ["", "❯ x", "ready"]);
}

#[test]
fn narrower_and_wider() {
    let mut bench = Bench::new(80, 24);
    bench.say("The transcript.");
    bench.type_in("some words that are too long for twenty columns");
    for (columns, box_rows) in [(20, 3), (60, 1), (10, 7), (80, 1)] {
        bench.resize(columns, 24);
        let rows = bench.rows();
        assert!(rows[0].starts_with("  The tran") && rows[1].is_empty(), "{rows:?}");
        assert!(rows[2].starts_with("❯ some"), "{rows:?}");
        assert_eq!(rows.len(), 3 + box_rows, "{rows:?}");
    }
    assert_eq!(bench.rows()[2..], ["❯ some words that are too long for twenty columns", READY]);
}

#[test]
fn a_terminal_that_reflows() {
    let mut bench = Bench::new(80, 24);
    bench.terminal.reflow = true;
    bench.say("The transcript, which is longer than twenty columns.");
    bench.type_in("some words that are too long for twenty columns");
    for _ in 0..20 {
        bench.key(KeyCode::Left);
    }
    bench.reflow(20);
    let rows = bench.rows();
    assert_eq!(rows[..3], ["  The transcript, wh", "ich is longer than t", "wenty columns."]);
    let text = ["❯ some words that a", "  re too long for t", "  wenty columns"];
    assert_eq!((rows[3].as_str(), &rows[7..]), ("", &["ready".to_owned()][..]));
    assert_eq!(rows[4..7], text);
}

#[test]
fn rows_above_the_cursor() {
    let mut bench = Bench::new(40, 24);
    bench.type_in("0123456789012345678901234567890123456789012345");
    let frame = bench.terminal.drawn.as_ref().unwrap();
    // An empty row, a full one of 39 cells, and 9 cells up to the cursor.
    for (columns, reflow, above) in
        [(40, true, 2), (80, true, 2), (20, false, 2), (20, true, 3), (10, true, 6), (5, true, 2)]
    {
        assert_eq!(frame.above(columns, reflow), above, "{columns}");
    }
}

#[test]
fn wide_characters_are_edited_in_place() {
    let mut bench = Bench::new(12, 24);
    bench.type_in("两个汉字文本");
    assert_eq!(bench.rows()[1..3], ["❯ 两个汉字", "  文本"]);
    assert_eq!(bench.cursor(), (2, 6));
    for _ in 0..3 {
        bench.key(KeyCode::Left);
    }
    assert_eq!(bench.cursor(), (1, 8));
    bench.key(KeyCode::Backspace);
    assert_eq!((bench.rows()[1].as_str(), bench.cursor()), ("❯ 两个字文", (1, 6)));
    bench.type_in("e\u{301}");
    assert_eq!((bench.rows()[1].as_str(), bench.cursor()), ("❯ 两个e\u{301}字文", (1, 7)));
    bench.key(KeyCode::Backspace);
    assert_eq!(bench.key(KeyCode::Enter), Some(said("两个字文本")));
}

#[test]
fn a_paste_of_a_megabyte_is_one_piece() {
    let mut bench = Bench::new(80, 24);
    let text = "0123456789abcde\r\n".repeat(1_000_000 / 16);
    bench.type_in("see ");
    bench.input(Input::Paste(text.clone()));
    assert_eq!(bench.rows()[1], "❯ see [pasted 62500 lines]");
    let sent = format!("see {}", text.replace('\r', ""));
    assert!(bench.key(KeyCode::Enter) == Some(said(&sent)));
}

#[test]
fn a_tall_text_takes_a_third_of_the_screen() {
    let mut bench = Bench::new(80, 12);
    bench.say("above");
    for number in 0..9 {
        bench.type_in(&number.to_string());
        bench.control('j');
    }
    assert_eq!(bench.rows()[1..], ["", "  6", "  7", "  8", "", READY]);
    bench.press(KeyCode::Home, KeyModifiers::CONTROL);
    assert_eq!(bench.rows()[1..], ["", "❯ 0", "  1", "  2", "  3", READY]);
}

#[test]
fn control_c_clears_interrupts_or_asks_before_exiting() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("text");
    assert_eq!(bench.control('c'), None);
    assert_eq!(bench.rows(), ["", "❯", READY]);
    assert_eq!(bench.control('c'), None);
    assert_eq!(bench.last(), "press Ctrl-C again to exit");
    bench.wait(4000);
    assert_eq!(bench.last(), READY, "it is forgotten");
    assert_eq!(bench.control('c'), None);
    bench.type_in("x");
    assert_eq!(bench.last(), READY);
    bench.key(KeyCode::Backspace);
    assert_eq!(bench.control('c'), None);
    assert_eq!(bench.control('c'), Some(Intent::Event(Event::Leave)));
    for phase in [Phase::Working, Phase::Reviewing] {
        let mut bench = Bench::new(80, 24).phase(phase);
        assert_eq!(bench.control('c'), Some(Intent::Event(Event::Interrupt)));
        assert_eq!(bench.key(KeyCode::Esc), Some(Intent::Event(Event::Interrupt)));
        bench.type_in("x");
        assert_eq!(bench.control('c'), None);
    }
}

/// While nothing happens nothing is drawn, so the last frame is as old as the pause.
#[test]
fn a_second_key_counts_after_a_long_pause_too() {
    let mut bench = Bench::new(80, 24);
    bench.now += Duration::from_mins(1);
    assert_eq!(bench.control('c'), None);
    assert_eq!(bench.last(), "press Ctrl-C again to exit");
    assert_eq!(bench.control('c'), Some(Intent::Event(Event::Leave)));
    let mut bench = Bench::new(80, 24);
    bench.now += Duration::from_mins(1);
    bench.key(KeyCode::Esc);
    bench.key(KeyCode::Esc);
    let told = bench.rows().join("\n");
    assert!(told.contains("no earlier message"), "{told}");
}

#[test]
fn escape_and_control_c_at_once_are_two_keys() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("draft");
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    assert_eq!(bench.press(KeyCode::Char('c'), both), None);
    assert_eq!(bench.rows(), ["", "❯", READY]);
}

#[test]
fn control_d_exits_only_with_an_empty_input() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("xy");
    bench.key(KeyCode::Home);
    assert_eq!(bench.control('d'), None);
    assert_eq!(bench.rows()[1], "❯ y");
    assert_eq!(bench.control('d'), None);
    assert_eq!(bench.control('d'), Some(Intent::Event(Event::Leave)));
    assert_eq!(Bench::new(80, 24).key(KeyCode::Esc), None);
}

#[test]
fn control_l_keeps_the_transcript_in_the_scrollback() {
    let mut bench = Bench::new(80, 24);
    bench.say("One.");
    bench.control('l');
    assert_eq!(bench.rows(), ["", "❯", READY]);
    let screen = bench.terminal.screen.parser.screen_mut();
    screen.set_scrollback(24);
    assert_eq!(bench.rows()[0], "  One.");
}

#[test]
fn suspended_and_resumed() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("kept");
    assert_eq!(bench.control('z'), Some(Intent::Suspend));
    let screen = |bench: &Bench| bench.terminal.screen.parser.screen().clone();
    assert!(bench.terminal.screen.raw && screen(&bench).bracketed_paste());
    bench.terminal.suspend();
    assert!(!bench.terminal.screen.raw && !screen(&bench).bracketed_paste());
    assert!(!screen(&bench).hide_cursor());
    assert_eq!(bench.rows(), [""; 0]);
    bench.say("while away");
    assert_eq!(bench.rows(), [""; 0]);
    bench.terminal.screen.write_all(b"$ fg\r\n").unwrap();
    bench.terminal.screen.parser.set_size(non_zero(24), non_zero(40));
    bench.terminal.resume();
    bench.update();
    assert!(bench.terminal.screen.raw && screen(&bench).bracketed_paste());
    assert_eq!(bench.rows()[..4], ["$ fg", "  while away", "", "❯ kept"]);
    assert_eq!(bench.last(), "ready · supervisor on · ? for keys");
}

#[test]
fn closing_prints_a_summary_and_erases_the_live_area() {
    let mut bench = Bench::new(80, 24).phase(Phase::Working);
    bench.say("One.");
    bench.type_in("unsent");
    bench.terminal.close(&sample::report(Outcome::Ended)).unwrap();
    assert_eq!(
        bench.rows(),
        [
            "  One.",
            "",
            "Session ended · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)",
            "Resume with: ccc --supervisor --resume s-1"
        ]
    );
    let screen = bench.terminal.screen.parser.screen();
    assert!(!screen.bracketed_paste() && !screen.hide_cursor() && !bench.terminal.screen.raw);
    assert_eq!(bench.cursor(), (4, 0));
    let writes = bench.terminal.screen.writes;
    bench.update();
    assert_eq!(bench.terminal.screen.writes, writes);
}

#[test]
fn after_a_panic_its_message_stays() {
    let mut bench = Bench::new(80, 24);
    bench.type_in("text");
    bench.terminal.screen.raw = false;
    bench.terminal.screen.write_all(b"\r\x1b[J\r\nthread panicked\r\n").unwrap();
    bench.terminal.give_back().unwrap();
    assert_eq!(bench.last(), "thread panicked");
}

#[test]
fn which_terminals_reflow() {
    let reflows = |pairs: &[(&str, &str)]| {
        reflows(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into()))
    };
    assert!(reflows(&[("TERM", "xterm-256color")]));
    assert!(!reflows(&[("TERM", "xterm"), ("XTERM_VERSION", "XTerm(390)")]));
    assert!(reflows(&[("TERM", "screen"), ("TMUX", "/tmp/x"), ("XTERM_VERSION", "XTerm(390)")]));
    assert!(!reflows(&[("TERM", "screen"), ("STY", "1.pts")]));
    assert!(!reflows(&[("TERM", "linux")]));
}

#[derive(Debug, Clone)]
enum TypingStep {
    Key(KeyCode, KeyModifiers),
    Paste(usize),
    Resize(u16, u16),
    Say(usize),
    Wait,
    Ask,
    Unask,
}

fn steps() -> impl Strategy<Value = Vec<TypingStep>> {
    let typed =
        prop::sample::select(vec!['a', ' ', '两', '\u{301}', '\t', 'y', 'd', '\\', '/', '@', '?']);
    let control = prop::sample::select("abdefghjklnprtuwyc7".chars().collect::<Vec<_>>());
    let named = prop::sample::select(vec![
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Home,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
    ]);
    let step = prop_oneof![
        10 => typed.prop_map(|c| TypingStep::Key(KeyCode::Char(c), KeyModifiers::NONE)),
        3 => control.prop_map(|c| TypingStep::Key(KeyCode::Char(c), KeyModifiers::CONTROL)),
        4 => named.prop_map(|code| TypingStep::Key(code, KeyModifiers::NONE)),
        1 => (1..30usize).prop_map(TypingStep::Paste),
        1 => (4..60u16, 1..20u16).prop_map(|(columns, rows)| TypingStep::Resize(columns, rows)),
        1 => (0..100usize).prop_map(TypingStep::Say),
        1 => Just(TypingStep::Wait),
        1 => Just(TypingStep::Ask),
        1 => Just(TypingStep::Unask),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn the_screen_shows_what_is_typed(
        columns in 4..60u16,
        rows in 1..20u16,
        busy in any::<bool>(),
        steps in steps(),
    ) {
        let phase = if busy { Phase::Working } else { Phase::Waiting };
        let mut bench = Bench::new(columns, rows).phase(phase);
        for step in steps {
            match step {
                TypingStep::Key(code, modifiers) => { bench.press(code, modifiers); }
                TypingStep::Paste(lines) => { bench.input(Input::Paste("两 x\n".repeat(lines))); }
                TypingStep::Resize(columns, rows) => bench.resize(columns, rows),
                TypingStep::Say(length) => bench.say(&"z".repeat(length)),
                TypingStep::Wait => bench.wait(500),
                TypingStep::Ask => bench.terminal.ask(&questions::question(Asker::Agent)),
                TypingStep::Unask => bench.terminal.unask(),
            }
            bench.update();
            prop_assert!(bench.terminal.question.is_some() || bench.terminal.focus == Focus::Text);
            let (row, column) = bench.cursor();
            let frame = bench.terminal.drawn.as_ref().unwrap();
            let (cursor, rows) = frame.input();
            prop_assert_eq!(usize::from(column), cursor.1);
            let shown: Vec<_> = bench.terminal.screen.parser.screen().rows(0, u16::MAX).collect();
            for (at, text) in rows.iter().enumerate() {
                let on_screen = usize::from(row) + at - cursor.0;
                prop_assert_eq!(shown[on_screen].trim_end(), text.trim_end());
            }
        }
    }

    /// Sizes at which not even one character fits.
    #[test]
    fn no_size_is_too_small(sizes in prop::collection::vec((0..5u16, 0..4u16), 1..8), steps in steps()) {
        let mut bench = Bench::new(80, 24);
        let mut sizes = sizes.into_iter().cycle();
        for step in steps {
            if let Some((columns, rows)) = sizes.next() {
                bench.input(Input::Resize(columns, rows));
            }
            if let TypingStep::Key(code, modifiers) = step {
                bench.press(code, modifiers);
            }
        }
    }
}
