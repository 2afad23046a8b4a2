//! Texts that arrive in pieces: the result, and the cost.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

/// Fragments of Markdown that affect each other, cut anywhere.
fn fragment() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "\n",
        "\n\n",
        "\n",
        " ",
        "    ",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        "# ",
        "```",
        "```rust\n",
        "\n```\n",
        "~~~\n",
        "|",
        "| a | b |\n|---|---|\n",
        "| 1 | 两 |\n",
        "---\n",
        "===\n",
        "**",
        "*",
        "_",
        "`",
        "[",
        "](http://x.y)",
        "![",
        "<br>",
        "<div>\n",
        "[a]: b\n",
        "word ",
        "a longer run of words ",
        "两个汉字",
        "e\u{301}",
        "👩‍👩‍👧",
        "\t",
        "\r\n",
        "\x1b[1m",
        "\\",
        "- [x] ",
        "\u{200b}",
        "&amp;",
        "~~",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..40).prop_map(|parts| parts.concat())
}

fn width() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(None), (0usize..60).prop_map(Some)]
}

/// Pushes `text` in pieces of these lengths, and renders the tail in between.
fn in_pieces(text: &str, width: Option<usize>, lengths: &[usize]) -> Vec<Styled> {
    let mut markdown = Markdown::new(width, Glyphs::unicode());
    let mut rows = Vec::new();
    let mut rest = text;
    for (at, length) in lengths.iter().cycle().enumerate() {
        let mut end = (*length).min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        markdown.push(&rest[..end]);
        rest = &rest[end..];
        if at % 3 != 0 {
            rows.extend(markdown.settled());
        }
        if at % 2 == 0 {
            let tail = markdown.tail(5);
            assert!(tail.len() <= 5);
            for row in tail {
                let one = row.text().graphemes(true).count() == 1;
                let fits = one || width.is_none_or(|cells| row.width() <= cells.max(2));
                assert!(fits, "{width:?}: {:?}", row.text());
            }
        }
        if rest.is_empty() {
            break;
        }
    }
    assert_eq!(markdown.source, text);
    rows.extend(markdown.finish(text));
    rows
}

proptest! {
    #[test]
    fn pieces_give_the_same_rows_as_the_whole(
        text in text(),
        width in width(),
        lengths in prop::collection::vec(1usize..12, 1..6),
    ) {
        prop_assert_eq!(in_pieces(&text, width, &lengths), render(&text, width, Glyphs::unicode()));
    }

    #[test]
    fn the_tail_of_an_unsettled_text_is_the_whole(text in text(), width in width()) {
        let mut markdown = Markdown::new(width, Glyphs::ascii());
        markdown.push(&text);
        let mut seen = markdown.settled();
        seen.extend(markdown.tail(usize::MAX));
        // A last line of only marks is held back, and code that is too long is broken.
        let last = text.rsplit('\n').next().unwrap_or_default();
        let code = text.contains("    ") || text.contains('\t') || text.contains("```")
            || text.contains("~~~");
        if !code && !last.trim_start_matches(MARKS).is_empty() {
            prop_assert_eq!(seen, render(&text, width, Glyphs::ascii()));
        }
    }

    #[test]
    fn any_text_can_be_shown(text in any::<String>(), width in width()) {
        let rows = render(&text, width, Glyphs::unicode());
        prop_assert!(!rows.iter().any(|row| row.text().chars().any(char::is_control)));
    }
}

/// Texts with parts that are too long to be held back as a whole.
fn giants() -> Vec<(&'static str, String)> {
    let words = "Some *words* of a long `paragraph` that go on and on, 也有汉字。 ";
    let code = "let value = compute(1, \"two\"); // and three\n";
    let row = "| some cell | `code` | 12 |\n";
    vec![
        ("words", words.repeat(500)),
        ("lines", format!("{words}\n").repeat(500)),
        ("quoted", format!("> {words}\n").repeat(500)),
        ("letters", "x".repeat(40_000)),
        ("wide letters", "汉".repeat(12_000)),
        ("clusters", format!("e{}", "\u{301}".repeat(40_000))),
        ("code", format!("```\n{}```\nend\n", code.repeat(600))),
        ("long code", format!("```\n{}\nnext\n```\n", "code ".repeat(8_000))),
        ("coloured code", format!("```rust\n{}```\nend\n", code.repeat(600))),
        ("long coloured code", format!("```js\na = [{}];\nnext\n```\n", "'if', ".repeat(8_000))),
        ("quoted code", format!("> ```\n{}> ```\n", format!("> {code}").repeat(400))),
        ("listed code", format!("1. a\n   ```\n{}   ```\n2. b", format!("   {code}").repeat(400))),
        ("table", format!("| a | b | c |\n|---|---|--:|\n{}\nend", row.repeat(600))),
        ("list", "- an item\n".repeat(3_000)),
        ("nested list", format!("- root\n{}- next\n", "  - an item\n".repeat(2000))),
        ("long item", format!("- {}\n- next\n", words.repeat(400))),
        ("long heading", format!("# {}\ntext\n", words.repeat(500))),
        ("deep quotes", format!("{} x\nlazy\n", ">".repeat(20_000))),
        ("deep lists", format!("{}x\n", "- ".repeat(20_000))),
        ("brackets", "[".repeat(40_000)),
        ("stars", "*a_".repeat(20_000)),
        ("blank", format!("a\n{}b", "\n".repeat(50_000))),
        ("wide row", format!("|a|b|\n|-|-|\n|{}|y|\n|1|2|\n", "x ".repeat(20_000))),
    ]
}

#[test]
fn long_texts_are_the_same_in_pieces() {
    for (name, text) in giants() {
        for width in [Some(80), None] {
            let whole = render(&text, width, Glyphs::unicode());
            let pieces = in_pieces(&text, width, &[9001, 17, 20_000]);
            assert!(whole == pieces, "{name} {width:?}");
        }
    }
}

#[test]
fn no_word_is_lost_where_long_texts_are_cut() {
    for (name, text) in giants() {
        let count = |text: &str, word: &str| text.matches(word).count();
        let rows = render(&text, Some(200), Glyphs::unicode());
        let rows = rows.iter().map(Styled::text).collect::<Vec<_>>().join(" ");
        for word in
            ["paragraph", "汉", "compute", "item", "some cell", "end", "next", "root", "lazy"]
        {
            assert_eq!(count(&rows, word), count(&text, word), "{name}: {word}");
        }
    }
}

#[test]
fn a_cut_text_continues_in_the_same_format() {
    for (text, start) in [
        (format!("- root\n{}", "  - an item\n".repeat(2000)), "  • an item"),
        ("> a line\n".repeat(2000), "▎ a line"),
        (format!("|a|b|\n|-|-|\n{}", "|some cell|x|\n".repeat(2000)), "some cell │ x"),
        (format!("7. a\n\n   ```\n{}", "   code\n".repeat(2000)), "     code"),
        (format!("- {}", "word ".repeat(10_000)), "  word word"),
    ] {
        let rows = render(&text, Some(80), Glyphs::unicode());
        let odd = rows.iter().skip(5).find(|row| !row.text().starts_with(start));
        assert_eq!(odd.map(Styled::text), None, "{start:?}");
    }
}

#[test]
fn little_is_held_back() {
    for (name, text) in giants() {
        let mut markdown = Markdown::new(Some(80), Glyphs::unicode());
        markdown.push(&text);
        markdown.settled();
        // Only lines are counted: 16 KB of the shortest possible.
        let tail = markdown.tail(usize::MAX);
        assert!(tail.len() <= 16 * 1024, "{name}: {}", tail.len());
        assert!(tail.iter().map(|row| row.text().len()).sum::<usize>() < 300_000, "{name}");
    }
}

#[test]
fn lines_settle_as_soon_as_they_can() {
    let mut markdown = Markdown::new(Some(40), Glyphs::unicode());
    let settled = |markdown: &mut Markdown, text: &str| {
        markdown.push(text);
        let rows = markdown.settled();
        let tail = markdown.tail(3);
        let text = |rows: Vec<Styled>| rows.iter().map(Styled::text).collect::<Vec<_>>().join("\n");
        (text(rows), text(tail))
    };
    for (text, rows, tail) in [
        ("First", "", "First"),
        (" line\n", "", "First line"),
        ("-", "", "First line"),
        (" item", "", "First line\n\n• item"),
        ("\n- oth", "First line", "\n• item\n• oth"),
        ("er\n\nAfter", "\n• item", "• other\n\nAfter"),
        ("\n```", "• other", "\nAfter"),
        ("rust\nlet", "\nAfter", "\n  let"),
        (" a;\nlet b", "\n  let a;", "  let b"),
        ("\n```\n", "  let b", ""),
        ("# Head\n", "\nHead", ""),
        (
            "one two three four five six seven eight nine ten eleven twelve thirteen",
            "",
            "\none two three four five six seven eight\nnine ten eleven twelve thirteen",
        ),
    ] {
        assert_eq!(settled(&mut markdown, text), (rows.to_owned(), tail.to_owned()), "{text:?}");
    }
}

#[test]
fn a_different_final_text_is_shown_as_a_whole() {
    let glyphs = Glyphs::unicode();
    let pushed = || {
        let mut markdown = Markdown::new(None, glyphs);
        markdown.push("one\n\ntwo");
        assert_eq!(markdown.settled(), render("one", None, glyphs));
        markdown
    };
    let texts = |rows: Vec<Styled>| rows.iter().map(Styled::text).collect::<Vec<_>>();
    assert_eq!(texts(pushed().end()), ["", "two"]);
    assert_eq!(texts(pushed().finish("one\n\ntwo three")), ["", "two three"]);
    assert_eq!(texts(pushed().finish("other")), ["other"]);
}

#[test]
fn a_new_width_applies_to_later_lines() {
    let mut markdown = Markdown::new(Some(9), Glyphs::unicode());
    markdown.push("one two three\n\n");
    assert_eq!(markdown.settled().len(), 2);
    markdown.set_width(Some(20));
    markdown.push("one two three");
    assert_eq!(markdown.end().iter().map(Styled::text).collect::<Vec<_>>(), ["", "one two three"]);
}
