use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::*;

/// Types `keys`: a name in angle brackets is a key, anything else is typed as it stands.
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

/// The text with the cursor in it.
fn state(editor: &Editor) -> String {
    let (before, after) = editor.text.split_at(editor.cursor);
    format!("{before}|{after}")
}

#[test]
fn keys_edit() {
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
        ("两个<left><bs>", "|个"),
        ("e\u{301}x<left><bs>", "|x"),
        ("👨\u{200d}👩\u{200d}👧!<left><left>", "|👨\u{200d}👩\u{200d}👧!"),
        ("🇩🇪🇫🇷<bs>", "🇩🇪|"),
        ("a<C-j>\u{301}<left><bs>", "a\u{301}|"),
    ] {
        assert_eq!(state(&typed(keys)), expected, "{keys}");
    }
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
fn rows_are_counted_in_cells() {
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
fn enter_sends_what_is_not_blank() {
    let mut editor = typed(" ");
    assert_eq!(editor.enter(), None);
    press(&mut editor, r"a\");
    assert_eq!(editor.enter(), None);
    press(&mut editor, "b");
    assert_eq!(editor.enter().as_deref(), Some(" a\nb"));
    assert!(editor.is_empty());
}

#[test]
fn history_brings_messages_and_the_draft_back() {
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
fn pastes() {
    let mut editor = typed("see ");
    editor.paste("short\r\n\x1b[31mred\x1b[0m\u{100000}");
    assert_eq!(editor.text, "see short\nred");
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

proptest! {
    #[test]
    fn no_keys_break_it(
        keys in prop::collection::vec((0..18usize, any::<char>(), 0..4u8), 0..60),
        cells in 0..12usize,
        height in 0..5usize,
    ) {
        const NAMES: [&str; 12] =
            ["left", "right", "up", "down", "home", "end", "del", "bs", "C-w", "C-k", "C-y", "C-u"];
        let mut editor = Editor::default();
        editor.set_cells(cells);
        for (at, c, modifiers) in keys {
            match NAMES.get(at) {
                Some(name) => editor.key(key(name)),
                None if at == 12 => { editor.paste(&format!("{c}\n").repeat(9 + usize::from(modifiers))); }
                None if at == 13 => { editor.enter(); }
                None => editor.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::from_bits_truncate(modifiers))),
            }
            let view = editor.view(height);
            prop_assert!(view.cursor.0 < view.rows.len());
            prop_assert!(view.rows.len() <= height.max(1));
            prop_assert!(editor.text.is_char_boundary(editor.cursor));
        }
    }
}
