//! Whole texts, as they are displayed.

use super::*;
use crate::surface::Style;

mod pieces;

fn shown(text: &str, width: Option<usize>) -> String {
    let rows = render(text, width, Glyphs::unicode());
    rows.iter().map(Styled::text).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let actual = shown(text, Some(30));
        assert_eq!(actual, *expected, "\n--- of ---\n{text}\n--- came ---\n{actual}\n");
    }
}

#[test]
fn text_that_is_not_markdown_stays_unchanged() {
    for text in [
        "$ ls *.rs *.toml",
        "a * b * c",
        "snake_case_name and __init__.py",
        "1.5 is a number, #5 a ticket",
        "first\nsecond\nthird",
        "key:    value\nother:  value",
        "   /\\\n  /  \\\n /____\\",
        "about ~5 or ~6, in ~/a or ~/b",
        "fn f<T>() -> Vec<T> { a && b }",
        "C:\\Users\\name",
        "[INFO]: started",
        "[INFO]: x\n[INFO]: y",
        "[^1] and\n[^1]: note",
        "2. is not a list here\n3. nor here",
        "<div>\n  <b>x</b>\n</div>",
        "x <script>alert(1)</script> y",
        "50% | 60%",
    ] {
        let text = text.replace("2. is", "word\n2. is");
        assert_eq!(shown(&text, Some(60)), text);
        assert_eq!(shown(&text, None), text);
    }
}

#[test]
fn blocks_are_separated_by_blank_lines() {
    check(&[
        ("", ""),
        ("\n\n \n", ""),
        ("\n\na\n\n\n\nb\n\n", "a\n\nb"),
        ("# Title\ntext\n## Other ##\nmore", "Title\n\ntext\n\nOther\n\nmore"),
        ("Title\n=====\ntext", "Title\n\ntext"),
        ("a\n\n---\nb", "a\n\n──────────────────────────────\n\nb"),
        ("a:\n- b\n- c\n\nd", "a:\n\n• b\n• c\n\nd"),
        ("a  \nb\\\nc<br>d", "a\nb\\\nc\nd"),
        ("a\r\nb\r\n\r\nc", "a\nb\n\nc"),
    ]);
}

#[test]
fn inline_markup_becomes_styles() {
    use Style::{Bold, Code, Dim, Heading, Italic, Link, Plain, Strike};

    let row = |text: &str| -> Vec<(Style, String)> {
        let rows = render(text, None, Glyphs::unicode());
        rows[0].spans().map(|(style, text)| (style, text.to_owned())).collect()
    };
    let spans = |spans: &[(Style, &str)]| -> Vec<(Style, String)> {
        spans.iter().map(|(style, text)| (*style, (*text).to_owned())).collect()
    };
    for (text, expected) in [
        (
            "a **b** *c* ~~d~~ `e`",
            &[
                (Plain, "a "),
                (Bold, "b"),
                (Plain, " "),
                (Italic, "c"),
                (Plain, " "),
                (Strike, "d"),
                (Plain, " "),
                (Code, "e"),
            ][..],
        ),
        ("***both***", &[(Bold, "both")]),
        ("# A `b` c", &[(Heading, "A "), (Code, "b"), (Heading, " c")]),
        ("### A", &[(Bold, "A")]),
        ("[text](http://x.y)", &[(Link, "text"), (Dim, " (http://x.y)")]),
        ("[x.y](http://x.y/)", &[(Link, "x.y")]),
        ("<http://x.y>", &[(Link, "http://x.y")]),
        ("![alt](a.png)", &[(Link, "alt"), (Dim, " (a.png)")]),
        ("![](a.png)", &[(Dim, "a.png")]),
        ("> a", &[(Dim, "▎ "), (Plain, "a")]),
    ] {
        assert_eq!(row(text), spans(expected), "{text}");
    }
}

#[test]
fn list_items_have_hanging_indents() {
    check(&[
        (
            "- one two three four five six seven\n- b\n  - c one two three four five six\n    more\n- d",
            "• one two three four five six\n  seven\n• b\n  • c one two three four five\n    six\n    more\n• d",
        ),
        ("9. a\n10. b\n    c", "9. a\n10. b\n    c"),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
        ("1. a\n\n2. b\n3. c", "1. a\n\n2. b\n3. c"),
        ("- [ ] a\n- [x] b", "• [ ] a\n• [x] b"),
        ("- a\n\n  b\n\n- c", "• a\n\n  b\n\n• c"),
        ("1. a\n   ```sh\n   ls\n     -l\n   ```\n2. b", "1. a\n     ls\n       -l\n2. b"),
        ("- a\n  > q\n- b", "• a\n  ▎ q\n• b"),
        ("- a\n* b", "• a\n\n• b"),
        ("-\n- b", "• \n• b"),
        ("- a\nlazy\n\nafter", "• a\n  lazy\n\nafter"),
        ("- [a]: b", "• [a]: b"),
        ("1) a\n2) b", "1. a\n2. b"),
        ("- a\n  1. b\n  2. c\n- d\n  3. e", "• a\n  1. b\n  2. c\n• d\n  3. e"),
        ("7. a\n   1. b\n8. c\n   - d", "7. a\n   1. b\n8. c\n   • d"),
    ]);
}

#[test]
fn quotes_are_marked_with_a_bar() {
    check(&[
        ("> a\n> b\n>\n> c\n\nd", "▎ a\n▎ b\n▎ \n▎ c\n\nd"),
        ("> one two three four five six seven", "▎ one two three four five six\n▎ seven"),
        ("> - a\n>   - b\n> > c", "▎ • a\n▎   • b\n▎ \n▎ ▎ c"),
        ("> ```\n> x\n> ```", "▎   x"),
    ]);
}

#[test]
fn code_stays_as_it_is() {
    check(&[
        ("```\na\n\n  **b**\n```\nc", "  a\n\n    **b**\n\nc"),
        ("a\n```rust\nfn f() {}\n```", "a\n\n  fn f() {}"),
        ("~~~\n```\n~~~", "  ```"),
        ("```\nopen", "  open"),
        ("  ```\n   a\n  b\n  ```", "   a\n  b"),
        ("a\n\n    b\n\n      c\n\nd", "a\n\n  b\n\n    c\n\nd"),
        ("```\n\tx\n```", "      x"),
        ("```\n```\na", "a"),
        (
            "```\na long line that is not broken into words\n```",
            "  a long line that is not broken into words",
        ),
    ]);
}

#[test]
fn tables_are_drawn() {
    check(&[
        (
            "| Name | Size |\n|:--|--:|\n| 两个 | 1 |\n| b | 12345 |",
            "Name │  Size\n─────┼──────\n两个 │     1\nb    │ 12345",
        ),
        (
            "a | b\n--|:-:\n`x\\|y` | c<br>ddd\n\nend",
            "a   │  b\n────┼────\nx|y │  c\n    │ ddd\n\nend",
        ),
        (
            "|a|b|\n|-|-|\n|one two three four five|six seven eight nine ten|",
            "a             │ b\n──────────────┼───────────────\none two three │ six seven\nfour five     │ eight nine ten",
        ),
        (
            "|a|b|c|d|\n|-|-|-|-|\n|one two three|four five six|seven eight nine|x|\n|1|2|3|4|",
            "a: one two three\nb: four five six\nc: seven eight nine\nd: x\n\na: 1\nb: 2\nc: 3\nd: 4",
        ),
    ]);
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let text = "a\x1b[2J **b\x1b]0;t\x07** `\x1bc`\n\n```\n\x1b[31mred\x07\n```\n[\x1b[1mx](\u{9b}2J)\n<b\x1b[m>";
    for rows in [render(text, Some(40), Glyphs::unicode()), {
        let mut markdown = Markdown::new(Some(40), Glyphs::unicode());
        markdown.push(text);
        markdown.tail(100)
    }] {
        let mut out = Vec::new();
        rows.iter().for_each(|row| row.write(None, &mut out));
        let out = String::from_utf8(out).unwrap();
        assert!(!out.chars().any(char::is_control), "{out:?}");
        assert!(out.contains("red"), "{out:?}");
    }
}

#[test]
fn code_is_highlighted() {
    let rows = render("```rust\nlet a = \"x\"; // y\n```", None, Glyphs::unicode());
    let spans: Vec<_> = rows[0].spans().collect();
    for expected in [(Style::Keyword, "let"), (Style::Quoted, "\"x\""), (Style::Comment, "// y")] {
        assert!(spans.contains(&expected), "{spans:?}");
    }
}

#[test]
fn very_long_code_is_highlighted_throughout() {
    let line = "let a = \"x\"; // y";
    for text in [
        format!("```rust\n{}", format!("{line}\n").repeat(5_000)),
        format!("- a\n  ```rust\n{}", format!("  {line}\n").repeat(5_000)),
        format!("```js\n{}", format!("{line}\n").replace("// y", "").trim_end().repeat(5_000)),
    ] {
        let rows = render(&text, None, Glyphs::unicode());
        let keywords = rows.iter().flat_map(Styled::spans);
        let keywords = keywords.filter(|span| *span == (Style::Keyword, "let")).count();
        assert_eq!(keywords, 5_000, "{}", &text[..20]);
    }
}
