//! Properties that hold for any sequence of keys.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

const MOVES: [&str; 14] = [
    "left", "right", "up", "down", "home", "end", "C-home", "C-end", "A-b", "A-f", "C-left", "A-<",
    "A->", "A-_",
];
const CHANGES: [&str; 5] = ["A-s", "A-t", "A-u", "A-l", "A-c"];
const CUTS: [&str; 12] =
    ["del", "bs", "C-w", "C-k", "C-y", "C-u", "A-y", "A-/", "A-d", "C-7", "A-bs", "C-j"];

/// Typed characters: mostly those that form clusters, and those that separate words.
fn character() -> impl Strategy<Value = char> {
    let special = "aZ_ -\n\t\u{301}\u{94d}\u{200d}\u{fe0f}\u{e49}\u{1100}两한é👨👧🇩🇪각";
    prop_oneof![
        3 => prop::sample::select(special.chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ]
}

fn named(names: Vec<&'static str>) -> impl Strategy<Value = KeyEvent> {
    prop::sample::select(names).prop_map(key)
}

fn character_key() -> impl Strategy<Value = KeyEvent> {
    character().prop_map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))
}

fn any_key() -> impl Strategy<Value = KeyEvent> {
    let pressed = (any::<char>(), 0..8u8).prop_map(|(c, modifiers)| {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::from_bits_truncate(modifiers))
    });
    prop_oneof![
        4 => character_key(),
        3 => named([&MOVES[..], &CHANGES, &CUTS].concat()),
        1 => pressed,
    ]
}

fn cursor_is_between_clusters(editor: &Editor) -> bool {
    let mut ends = editor.text.grapheme_indices(true).map(|(at, cluster)| at + cluster.len());
    editor.text.pos() == 0 || ends.any(|end| end == editor.text.pos())
}

fn pasted(n: u8) -> String {
    format!("paste {n}\n").repeat(11)
}

proptest! {
    #[test]
    fn no_keys_break_the_editor(
        keys in prop::collection::vec((0..24u8, any_key()), 0..80),
        cells in 0..12usize,
        height in 0..5usize,
    ) {
        let mut editor = Editor::default();
        editor.set_cells(cells);
        for (at, event) in keys {
            match at {
                0 => editor.paste(&pasted(at)),
                1 => { editor.enter(); }
                2 => editor.start_search(),
                3 => editor.clear(),
                4 => editor.put_in_front("\u{301}in front"),
                _ if editor.search_key(event) => {}
                _ => editor.key(event),
            }
            let view = editor.view(height);
            prop_assert!(view.cursor.0 < view.rows.len());
            prop_assert!(view.rows.len() <= height.max(1));
            prop_assert!(cursor_is_between_clusters(&editor), "{}", state(&editor).escape_unicode());
        }
    }

    #[test]
    fn everything_can_be_undone_and_redone(
        keys in prop::collection::vec(any_key(), 0..80),
        pastes in prop::collection::vec(0..80usize, 0..4),
    ) {
        let mut editor = typed("");
        for (at, event) in keys.into_iter().enumerate() {
            if pastes.contains(&at) {
                editor.paste(&pasted(0));
            }
            editor.key(event);
        }
        press(&mut editor, &"<A-/>".repeat(100));
        let last = (editor.text(), editor.text.pos());
        press(&mut editor, &"<C-7>".repeat(100));
        prop_assert_eq!(state(&editor), "|");
        press(&mut editor, &"<A-/>".repeat(100));
        prop_assert_eq!((editor.text(), editor.text.pos()), last);
    }

    #[test]
    fn a_paste_is_lost_only_by_cutting(
        keys in prop::collection::vec(
            prop_oneof![character_key(), named([&MOVES[..], &CHANGES].concat())],
            0..80,
        ),
        pastes in prop::collection::vec(0..80usize, 0..4),
    ) {
        let mut editor = typed("");
        let mut count = 0;
        for (at, event) in keys.into_iter().enumerate() {
            if pastes.contains(&at) {
                editor.paste(&pasted(count));
                count += 1;
            }
            editor.key(event);
        }
        let text = editor.text();
        for n in 0..count {
            prop_assert_eq!(text.matches(&pasted(n)).count(), 1, "{}", text);
        }
    }
}
