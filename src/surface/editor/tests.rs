mod random;
mod words;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;

/// Types `keys`: a name in angle brackets is a key, anything else is typed literally.
fn typed(keys: &str) -> Editor {
    let mut editor = Editor::default();
    editor.set_cells(10);
    press(&mut editor, keys);
    editor
}

fn press(editor: &mut Editor, keys: &str) {
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        if let Some((name, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            editor.key(key(name));
            rest = after;
        } else {
            editor.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
            rest = &rest[c.len_utf8()..];
        }
    }
}

fn key(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_at_checked(2) {
        Some(("C-", name)) => (KeyModifiers::CONTROL, name),
        Some(("A-", name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "del" => KeyCode::Delete,
        "bs" => KeyCode::Backspace,
        "enter" => KeyCode::Enter,
        _ => KeyCode::Char(name.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// The text with its cursor.
fn state(editor: &Editor) -> String {
    let (before, after) = editor.text.split_at(editor.text.pos());
    format!("{before}|{after}")
}

#[test]
fn editing_keys() {
    for (keys, expected) in [
        ("abc<left><left>x", "ax|bc"),
        ("abc<home>x<end>y", "xabcy|"),
        ("abc<left><bs>", "a|c"),
        ("abc<home><del>", "|bc"),
        ("<bs><del><left><right><C-w><C-u><C-k><C-y>", "|"),
        ("one two  three<A-b>", "one two  |three"),
        ("one two<C-left><C-left>", "|one two"),
        ("one two<C-a><A-f>", "one| two"),
        ("one two<C-a><C-right><A-d>", "one|"),
        ("a/b c-d<C-w>", "a/b |"),
        ("a/b c-d<A-bs>", "a/b c-|"),
        ("ab cd<left><left><C-k><C-a><C-y>", "cd|ab "),
        ("ab cd<left><C-u><C-y><C-y>", "ab cab c|d"),
        ("ab<A-enter>cd<C-j>ef<up><C-a><C-k><C-k>", "ab\n|ef"),
        ("ab<C-j>cd<C-u><bs>", "ab|"),
        ("ab<C-j>cd<C-u><C-u><C-u><C-y>", "ab\ncd|"),
        ("两个<left><bs>", "|个"),
        ("e\u{301}x<left><bs>", "|x"),
        ("👨\u{200d}👩\u{200d}👧!<left><left>", "|👨\u{200d}👩\u{200d}👧!"),
        ("🇩🇪🇫🇷<bs>", "🇩🇪|"),
        ("a<C-j>\u{301}<left><bs>", "a\u{301}|"),
        ("ab한<bs>", "ab|"),
        ("👨\u{200d}👩\u{200d}👧\u{200d}👦x<left><bs>", "|x"),
        ("abc<A-s>", "acb|"),
        ("abc<left><A-s>", "acb|"),
        ("abc<left><left><A-s>", "ba|c"),
        ("e\u{301}两<A-s>", "两e\u{301}|"),
        ("<A-s>a<A-s><C-j><A-s>", "a\n|"),
        ("ab<C-j>cd<up><A-s>", "ba|\ncd"),
        ("ab<C-j>cd<C-a><A-s>", "ab\n|cd"),
    ] {
        assert_eq!(state(&typed(keys)), expected, "{keys}");
    }
}

#[test]
fn consecutive_kills_accumulate_and_can_be_yanked() {
    for (keys, expected) in [
        ("one two three<C-w><C-w><C-y>", "one two three|"),
        ("one two<C-a><A-d><A-d><C-y>!", "one two!|"),
        ("one<C-w>two<C-w><C-y>", "two|"),
        ("one<C-w>two<C-w><C-y><A-y>", "one|"),
        ("one<C-w>two<C-w><C-y><A-y><A-y>", "two|"),
        ("one<C-w>two<C-w><C-y>x<A-y>", "twox|"),
        ("one<C-w>two<C-w>two<C-w><C-y><A-y><A-y>", "one|"),
        ("<A-y><C-y>", "|"),
    ] {
        assert_eq!(state(&typed(keys)), expected, "{keys}");
    }
}

#[test]
fn undo_goes_word_by_word_and_step_by_step() {
    for (keys, expected) in [
        ("one two<C-7>", "one |"),
        ("one two<C-_><C-/>", "|"),
        ("one two<C-7><C-7><C-7><A-/>", "one |"),
        ("one two<C-7><C-7><A-/><A-/><A-/>", "one two|"),
        ("one two<C-7>x<A-/>", "one x|"),
        ("one two<bs><bs><C-7>", "one two|"),
        ("one two<C-w><C-u><C-7><C-7>", "one two|"),
        ("ab<left><A-s><C-7>", "a|b"),
        ("one two<A-t><C-7>", "one two|"),
        ("one<C-a><A-u><C-7>", "|one"),
        ("one<C-a><A-u><C-7><A-/>", "ONE|"),
        ("ONE<C-a><A-u><C-7>", "|"),
        ("one<C-7><bs><C-k><A-s><A-t><A-/>", "one|"),
        ("one<C-w>two<C-w><C-y><A-y><A-y><C-7>", "|"),
        ("one<C-w><C-y><C-y><C-7>", "one|"),
        (r"a\<C-7>", "|"),
        ("<C-7><A-/>", "|"),
    ] {
        assert_eq!(state(&typed(keys)), expected, "{keys}");
    }
    let mut editor = typed("not lost");
    editor.clear();
    press(&mut editor, "<C-7>");
    assert_eq!(state(&editor), "not lost|");
    editor.paste(&"row\n".repeat(500));
    press(&mut editor, "<C-7>");
    assert_eq!(state(&editor), "not lost|");
    editor.set_text("other");
    editor.complete(2, "ters ");
    assert_eq!(state(&editor), "otters |");
    press(&mut editor, "<C-7><C-7>");
    assert_eq!(state(&editor), "not lost|");
    editor.enter();
    press(&mut editor, "<C-7>");
    assert_eq!(state(&editor), "|");
}

#[test]
fn a_returned_message_is_put_before_what_is_typed() {
    let mut editor = typed("new");
    editor.put_in_front("old\x1b[2J");
    assert_eq!(state(&editor), "old\nnew|");
    let mut editor = typed(" ");
    editor.put_in_front(&"x".repeat(LARGE + 1));
    assert_eq!(editor.view(9).rows.len(), 2, "it is shown as a paste");
    assert_eq!(editor.text().trim_end().len(), LARGE + 1);
}

#[test]
fn up_and_down_keep_the_column() {
    let text = "0123456<C-j>ab<C-j>0123456";
    for (keys, expected) in [
        ("<left><up>", "0123456\nab|\n0123456"),
        ("<left><up><up>", "012345|6\nab\n0123456"),
        ("<left><up><up><down><down>", "0123456\nab\n012345|6"),
        ("<up><up><up>", "0123456|\nab\n0123456"),
        ("<down>", "0123456\nab\n0123456|"),
    ] {
        assert_eq!(state(&typed(&format!("{text}{keys}"))), expected, "{keys}");
    }
    assert_eq!(state(&typed("01234567890123456789012<up>")), "0123456789012|3456789012");
    assert_eq!(state(&typed("0123456789x<C-a><end><up>")), "0|123456789x");
}

#[test]
fn rows_are_measured_in_cells() {
    for (keys, rows, cursor) in [
        ("", &[""][..], (0, 0)),
        ("0123456789", &["0123456789"], (0, 10)),
        ("0123456789a", &["0123456789", "a"], (1, 1)),
        ("0123456789a<left>", &["0123456789", "a"], (1, 0)),
        ("012345678两", &["012345678", "两"], (1, 2)),
        ("a<C-j><C-j>b", &["a", "", "b"], (2, 1)),
        ("a<C-j>", &["a", ""], (1, 0)),
        ("两两两两两两<home><right>", &["两两两两两", "两"], (0, 2)),
    ] {
        let view = typed(keys).view(100);
        assert_eq!(
            (&view.rows[..], view.cursor),
            (&rows.iter().map(ToString::to_string).collect::<Vec<_>>()[..], cursor),
            "{keys}"
        );
    }
}

#[test]
fn a_tall_text_scrolls_in_its_box() {
    let mut editor = typed("a<C-j>b<C-j>c<C-j>d");
    let view = editor.view(2);
    assert_eq!(
        (view.rows, view.cursor, view.from_start),
        (vec!["c".into(), "d".into()], (1, 1), false)
    );
    press(&mut editor, "<up><up>");
    assert_eq!(editor.view(2).rows, ["b", "c"]);
    press(&mut editor, "<up>");
    assert!(editor.view(2).from_start);
    press(&mut editor, "<down>");
    assert_eq!(editor.view(2).rows, ["a", "b"]);
}

#[test]
fn enter_sends_a_text_that_is_not_blank() {
    let mut editor = typed(" ");
    assert_eq!(editor.enter(), None);
    press(&mut editor, r"a\");
    assert_eq!(editor.enter(), None);
    press(&mut editor, "<C-7>");
    assert_eq!(state(&editor), r" a\|", "one step");
    assert_eq!(editor.enter(), None);
    press(&mut editor, "b");
    assert_eq!(editor.enter().as_deref(), Some(" a\nb"));
    assert!(editor.is_empty());
}

#[test]
fn history_recalls_messages_and_the_draft() {
    let mut editor = typed("one");
    editor.enter();
    press(&mut editor, "two<C-j>rows");
    editor.enter();
    press(&mut editor, "draft");
    for (keys, expected) in [
        ("<up>", "two\nrows|"),
        ("<up>", "two|\nrows"),
        ("<up>", "one|"),
        ("<up>", "one|"),
        ("<down>", "two\nrows|"),
        ("<down>", "draft|"),
        ("<down>", "draft|"),
    ] {
        press(&mut editor, keys);
        assert_eq!(state(&editor), expected);
    }
}

#[test]
fn messages_of_earlier_sessions_are_in_the_history() {
    let mut editor = typed("");
    editor.set_history(vec!["fine".into(), " ".into(), "\x1b[31mred\u{100000}".into()]);
    press(&mut editor, "<up>");
    assert_eq!(state(&editor), "red|");
    press(&mut editor, "<up><up>");
    assert_eq!(state(&editor), "fine|");
}

fn searched(keys: &str) -> Editor {
    let mut editor = typed("draft<left>");
    editor.set_cells(40);
    let history = ["fix the test", "Run it", "fix the build", "fix the build", "run the test"];
    editor.set_history(history.iter().map(ToString::to_string).collect());
    editor.start_search();
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let (event, after) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            Some(("esc", after)) => (KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), after),
            Some((name, after)) => (key(name), after),
            None => (KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), &rest[c.len_utf8()..]),
        };
        if !editor.search_key(event) {
            editor.key(event);
        }
        rest = after;
    }
    editor
}

#[test]
fn search_in_earlier_messages_is_incremental() {
    for (keys, expected, searching) in [
        ("", "draf|t", Some(("", false))),
        ("fix", "|fix the build", Some(("fix", false))),
        ("the", "run |the test", Some(("the", false))),
        ("fix<C-r>", "|fix the test", Some(("fix", false))),
        ("fix<C-r><C-r>", "|fix the test", Some(("fix", true))),
        ("fix<C-r><C-s>", "|fix the build", Some(("fix", false))),
        ("Ru", "|Run it", Some(("Ru", false))),
        ("fixx", "|fix the build", Some(("fixx", true))),
        ("fixx<bs>", "|fix the build", Some(("fix", false))),
        ("f<bs>", "draf|t", Some(("", false))),
        ("fix<esc>", "draf|t", None),
        ("fix<C-g>", "draf|t", None),
        ("fix<enter>", "|fix the build", None),
        ("zzz<enter>", "draf|t", None),
        ("fix<end>!", "fix the build!|", None),
        ("the<left>x", "runx| the test", None),
        ("fix<enter><down><down>", "draft|", None),
        ("fix<enter><C-7>", "draf|t", None),
    ] {
        let editor = searched(keys);
        assert_eq!((state(&editor).as_str(), editor.searching()), (expected, searching), "{keys}");
    }
}

#[test]
fn long_pastes_are_shown_as_labels() {
    let mut editor = typed("see ");
    editor.paste("short\r\n\x1b[31mred\x1b[0m\u{100000}");
    assert_eq!(editor.text.as_str(), "see short\nred");
    editor.clear();
    let long = "row\n".repeat(34);
    press(&mut editor, "see ");
    editor.paste(&long);
    press(&mut editor, "!<left>");
    editor.set_cells(40);
    let view = editor.view(9);
    assert_eq!((view.rows[0].as_str(), view.cursor), ("see [pasted 34 lines]!", (0, 21)));
    press(&mut editor, "<C-w><C-y><C-y>");
    assert_eq!(editor.enter(), Some(format!("see {long}{long}!")));
    press(&mut editor, "<up><left><bs>");
    assert_eq!(editor.enter(), Some(format!("see {long}!")));
    editor.paste(&"x".repeat(1_000_000));
    assert_eq!(editor.view(9).rows, ["[pasted 1000 KB]"]);
    editor.set_cells(5);
    assert_eq!(editor.view(9).rows, ["[pas]"]);
}
