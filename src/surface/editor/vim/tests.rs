//! One row per rule: a text with `|` at the cursor, the keys, and the resulting text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;

/// `<esc>` and `<c-r>` are keys. Begins in normal mode.
fn typed(text: &str, keys: &str) -> (String, bool) {
    let at = text.find('|').expect("a cursor");
    let mut editor = Editor::default();
    editor.set_cells(80);
    editor.set_text(&text.replacen('|', "", 1));
    assert!(editor.toggle_vim());
    editor.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
    editor.move_to(at);
    let mut rest = keys;
    while !rest.is_empty() {
        let key = if let Some(after) = rest.strip_prefix("<esc>") {
            rest = after;
            KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)
        } else if let Some(after) = rest.strip_prefix("<c-r>") {
            rest = after;
            KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL)
        } else {
            let c = rest.chars().next().expect("a key");
            rest = &rest[c.len_utf8()..];
            KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
        };
        editor.key(key);
    }
    let mut shown = editor.text();
    shown.insert(editor.text.pos(), '|');
    (shown, editor.is_vim_normal())
}

#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    for (text, keys, wanted) in rows {
        assert_eq!(typed(text, keys).0, *wanted, "{text:?} {keys}");
    }
}

#[test]
fn motions() {
    check(&[
        ("ab|c", "h", "a|bc"),
        ("|abc", "h", "|abc"),
        ("a|bc", "l", "ab|c"),
        ("ab|c", "l", "ab|c"),
        ("|abcd", "3l", "abc|d"),
        ("a\n|b", "h", "a\n|b"),
        ("|one two", "w", "one |two"),
        ("|one, two", "w", "one|, two"),
        ("|one two three", "2w", "one two |three"),
        ("one |two", "w", "one tw|o"),
        ("|one\ntwo", "w", "one\n|two"),
        ("one two|", "b", "one |two"),
        ("one, t|wo", "b", "one, |two"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "e", "one tw|o"),
        ("  one t|wo", "0", "|  one two"),
        ("  one t|wo", "^", "  |one two"),
        ("|one two", "$", "one tw|o"),
        ("a|b\ncd", "j", "ab\nc|d"),
        ("ab\nc|d", "k", "a|b\ncd"),
        ("|e\u{301}a", "l", "e\u{301}|a"),
        ("|看看 src", "w", "看看 |src"),
    ]);
}

#[test]
fn inserting() {
    check(&[
        ("a|b", "iX<esc>", "a|Xb"),
        ("a|b", "aX<esc>", "ab|X"),
        ("  a|b", "IX<esc>", "  |Xab"),
        ("|ab", "AX<esc>", "ab|X"),
        ("a|b\nc", "oX<esc>", "ab\n|X\nc"),
        ("a\n|b", "OX<esc>", "a\n|X\nb"),
        ("|", "ihi<esc>", "h|i"),
    ]);
    assert!(!typed("a|b", "i").1);
    assert!(typed("a|b", "i<esc>").1);
}

#[test]
fn deleting_changing_and_putting() {
    check(&[
        ("a|bc", "x", "a|c"),
        ("ab|c", "x", "a|b"),
        ("|abc", "2x", "|c"),
        ("a|b\nc", "9x", "|a\nc"),
        ("|one two", "dw", "|two"),
        ("one |two", "dw", "one| "),
        ("|one\ntwo", "dw", "|\ntwo"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("one tw|o", "db", "one |o"),
        ("|one two", "de", "| two"),
        ("one |two", "d0", "|two"),
        ("one |two", "D", "one| "),
        ("|one two", "d$", "|"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\n|b", "dd", "|a"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dk", "|a"),
        ("|one two", "cwX<esc>", "|X two"),
        ("|one two three", "2cwX<esc>", "|X three"),
        ("one |two", "CX<esc>", "one |X"),
        ("a\n|b\nc", "ccX<esc>", "a\n|X\nc"),
        ("|one two", "dwP", "one| two"),
        ("|ab", "xp", "b|a"),
        ("|ab", "x3p", "baa|a"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|a\nb", "ddp", "b\n|a"),
        ("|one two", "yw$p", "one twoone| "),
        ("|ab", "dz", "|ab"),
        ("|ab", "d<esc>x", "|b"),
    ]);
}

#[test]
fn undo_redo_and_repeat() {
    check(&[
        ("|abc", "xxu", "|bc"),
        ("|abc", "xx2u", "|abc"),
        ("|abc", "xxuu<c-r>", "|bc"),
        ("|", "ione two three<esc>u", "|"),
        ("|one two", "cwX Y<esc>u", "|one two"),
        ("|abcd", "x.", "|cd"),
        ("|abcdef", "x3.", "|ef"),
        ("|one two", "cwX<esc>w.", "X |X"),
        ("|a\nb\nc", "dd.", "|c"),
        ("|a", "Ab<esc>..", "abb|b"),
    ]);
}
