//! Lines without any markup need no parser: most of a long list, or of a log.

use super::super::styled::{Fill, Style, Styled};
use super::line::{TextLine, spaces};
use super::render::RenderContext;
use super::scan::Marker;

/// The only line of `text`, exactly as the parser would render it; `None` if the parser is needed.
pub fn plain(text: &str, item: Option<Marker>, context: &RenderContext<'_>) -> Option<TextLine> {
    let line = text.trim_end_matches(['\n', ' ']);
    let mut words = line;
    let mut first = Styled::default();
    if let Some(marker) = item {
        words = line.trim_start_matches(|c: char| c.is_ascii_digit());
        words = words.get(1..)?.strip_prefix(' ')?;
        let mark = match (marker.number, context.number) {
            (Some(_), Some(number)) => format!("{number}. "),
            (None, _) => context.glyphs.bullet.to_owned(),
            _ => return None,
        };
        first = Styled::new(Style::Plain, &mark);
        // On a screen this narrow, the parser lays out differently.
        if context.width.is_some_and(|cells| cells < 2 * mark.len()) {
            return None;
        }
    }
    let begins = words.as_bytes().first()?.is_ascii_alphabetic();
    if !begins
        || context.inside.is_some()
        || context.columns.is_some()
        || !words.bytes().all(is_plain)
    {
        return None;
    }
    let hanging = spaces(first.width());
    Some(TextLine {
        first,
        hanging,
        text: Styled::new(Style::Plain, words),
        fill: Some(Fill::Words),
    })
}

/// Whether the byte has no special meaning anywhere in a line.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" .,;:'\"()?/%+=-@$".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::render::render;
    use super::*;
    use crate::surface::Glyphs;

    proptest! {
        #[test]
        fn the_parser_gives_the_same_result(
            mark in "|- |[*+] |[0-9]{1,3}[.)] ",
            words in "[a-zA-Z0-9 .,;:'\"()?/%+=@$-]{0,20}",
            width in prop::option::of(1usize..40),
        ) {
            let text = format!("{mark}{words}\n");
            let item = Marker::of(text.trim_end_matches('\n'));
            let number = item.and_then(|marker| marker.number);
            let context =
                RenderContext { width, glyphs: Glyphs::unicode(), number, inside: None, columns: None };
            if let Some(line) = plain(&text, item, &context) {
                let parsed = render(&text, &context).lines;
                prop_assert_eq!(vec![line], parsed, "{}", text);
            }
        }
    }

    #[test]
    fn list_items_need_no_parser() {
        let context = RenderContext {
            width: Some(40),
            glyphs: Glyphs::unicode(),
            number: Some(7),
            inside: None,
            columns: None,
        };
        for (text, expected) in [
            ("- an item.\n\n", Some("• ")),
            ("1. an item\n", Some("7. ")),
            ("Words\n", Some("")),
            ("- *an* item\n", None),
            ("-     code\n", None),
            ("a\nb\n", None),
            ("- 1. a\n", None),
        ] {
            let line = plain(text, Marker::of(text.trim_end()), &context);
            assert_eq!(line.map(|line| line.first.text()).as_deref(), expected, "{text:?}");
        }
    }
}
