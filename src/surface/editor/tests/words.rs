//! Words are the same for moving, cutting, swapping and changing, in every script, and with pastes
//! among them.

use super::*;

#[test]
fn words_are_swapped_and_change_their_case() {
    for (keys, expected) in [
        ("one two<A-t>", "two one|"),
        ("one two. <A-t>", "two one|. "),
        ("one two three<C-a><A-f><A-t>", "two one| three"),
        ("one two three<C-a><A-f><right><A-t><A-t>", "two three one|"),
        ("one<C-j>two<A-t>", "two\none|"),
        ("one<A-t>", "one|"),
        ("-- one<C-a><A-t>", "|-- one"),
        ("<A-t> <A-t><A-u><A-l><A-c>", " |"),
        ("one two<C-a><A-u>", "ONE| two"),
        ("one two<C-a><A-f><A-u>", "one TWO|"),
        ("ONE TWO<C-a><A-l><A-l>", "one two|"),
        ("oNE, tWO<C-a><A-c><A-c>", "One, Two|"),
        ("one<C-a><right><A-u>", "oNE|"),
        ("straße ǆ<C-a><A-u><A-u>", "STRASSE Ǆ|"),
        ("snake_case<C-a><A-c>", "Snake_case|"),
    ] {
        assert_eq!(state(&typed(keys)), expected, "{keys}");
    }
}

/// An accent or a vowel sign can be a separate character that is not a letter.
#[test]
fn a_word_includes_its_combining_marks() {
    for word in ["e\u{301}cole", "cafe\u{301}s", "विद्यालय", "दिल्ली", "บ้านนี้", "한국어", "snake_case"]
    {
        for keys in ["<A-b>", "<C-left>", "<C-a><A-f><A-f><A-b>"] {
            let keys = format!("a {word}{keys}");
            assert_eq!(state(&typed(&keys)), format!("a |{word}"), "{keys}");
        }
        for keys in ["<A-bs>", "<C-w>", "<A-b><A-d>", "<A-b><C-del>"] {
            let keys = format!("a {word}{keys}");
            assert_eq!(state(&typed(&keys)), "a |", "{keys}");
        }
        assert_eq!(state(&typed(&format!("a {word}<A-t>"))), format!("{word} a|"));
    }
    assert_eq!(state(&typed("a e\u{301}cole<A-b><A-c>")), "a E\u{301}cole|");
}

/// Chinese and Japanese put no spaces between words.
#[test]
fn a_word_ends_where_another_script_begins() {
    for (keys, expected) in [
        ("修复parser<C-w>", "修复|"),
        ("看看parser的测试<A-b><A-b>", "看看|parser的测试"),
        ("テストを書く<C-w>", "テストを書|"),
        ("テストを書く<C-w><C-w><C-w>", "テスト|"),
        ("修复，测试<C-w>", "修复，|"),
    ] {
        assert_eq!(state(&typed(keys)), expected, "{keys}");
    }
}

#[test]
fn a_paste_is_a_word() {
    let long = "row\n".repeat(34);
    for (before, keys, after) in [
        ("see ", "<A-bs>", "see |"),
        ("see ", " <A-bs>", "see |"),
        ("see ", "<C-w>", "see |"),
        ("see ", ", then<A-bs>", "see P, |"),
        ("see ", ", then<A-b><A-b>", "see |P, then"),
        ("see ", "<A-b><A-b><A-d>", "| P"),
        ("see ", "<A-b><A-d>", "see |"),
        ("see ", "<A-t>", "P see|"),
        ("see ", "<A-b><A-u>x", "see Px|"),
        ("see ", "<bs>", "see |"),
        ("see ", "<left><A-s>", "seeP |"),
    ] {
        let mut editor = typed(before);
        editor.paste(&long);
        press(&mut editor, keys);
        assert_eq!(state(&editor).replace('\u{100000}', "P"), after, "{keys}");
        assert_eq!(editor.text(), after.replace('|', "").replace('P', &long), "{keys}");
    }
}
