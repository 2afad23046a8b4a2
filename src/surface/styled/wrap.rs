//! Breaks long lines into rows: between words as a person would, or at the last cell as a terminal
//! does.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::Styled;

/// Characters that must not begin a row, and those that must not end one.
const CLOSING: &str = ",.;:!?)]}%\"'’”»…，。、；：！？）］｝」』】〉》〕・ー々";
const OPENING: &str = "([{\"'‘“«（［｛「『【〈《〔";

/// The position of a grapheme cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ClusterStart {
    span: usize,
    byte: usize,
}

#[derive(Clone, Copy, Default)]
struct ClusterKind {
    space: bool,
    /// A wide character, before and after which rows may break.
    wide: bool,
    opening: bool,
    closing: bool,
}

/// How rows are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Words,
    Cells,
}

impl Styled {
    pub fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| cells(text)).sum()
    }

    /// Rows of at most `cells` cells, except for a single wider cluster; all but the first begin
    /// with `hanging`.
    pub fn wrap(&self, cells: usize, hanging: &Styled) -> Vec<Styled> {
        self.wrap_with_prefix(cells, &Styled::default(), hanging)
    }

    /// Like `wrap`, with a prefix for the first row too.
    pub fn wrap_with_prefix(&self, cells: usize, first: &Styled, hanging: &Styled) -> Vec<Styled> {
        let mut rest = self.clone();
        let mut rows = rest.take_rows(cells, first, hanging, Fill::Words);
        let prefix = if rows.is_empty() { first } else { hanging };
        if prefix.width() + rest.width() > cells {
            rest.trim_end();
        }
        rows.push(rest.with_prefixes(prefix));
        rows
    }

    /// The rows into which a terminal breaks a line that is too long.
    pub fn broken(mut self, cells: usize) -> Vec<Styled> {
        let none = Styled::default();
        let mut rows = self.take_rows(cells, &none, &none, Fill::Cells);
        rows.push(self);
        rows
    }

    /// Removes and returns all rows but the last, which may still grow.
    pub fn take_rows(
        &mut self,
        cells: usize,
        first: &Styled,
        hanging: &Styled,
        fill: Fill,
    ) -> Vec<Styled> {
        let cells = cells.max(1);
        let room = |prefix: &Styled| cells.saturating_sub(prefix.width()).max(1);
        let rooms = (room(first), room(hanging));
        if self.width() <= rooms.0 {
            return Vec::new();
        }
        let (ranges, rest) = self.rows(rooms, fill);
        let end = ClusterStart { span: self.spans.len(), byte: 0 };
        let mut rows = Vec::with_capacity(ranges.len());
        for (at, (from, to)) in ranges.into_iter().enumerate() {
            let prefix = if at == 0 { first } else { hanging };
            rows.push(self.slice(from, to).with_prefixes(prefix));
        }
        *self = self.slice(rest, end);
        rows
    }

    fn with_prefixes(mut self, prefix: &Styled) -> Styled {
        if !prefix.spans.is_empty() {
            self.spans.splice(0..0, prefix.spans.iter().cloned());
        }
        self
    }

    fn trim_end(&mut self) {
        while let Some((_, text)) = self.spans.last_mut() {
            text.truncate(text.trim_end_matches([' ', '\u{3000}']).len());
            if !text.is_empty() {
                break;
            }
            self.spans.pop();
        }
    }

    /// The full rows, and where the last one begins.
    fn rows(
        &self,
        (first, other): (usize, usize),
        fill: Fill,
    ) -> (Vec<(ClusterStart, ClusterStart)>, ClusterStart) {
        let mut rows = Vec::new();
        let mut room = first;
        let mut start = ClusterStart::default();
        let mut at = start;
        let mut used = 0;
        // After the last cluster of this row that is not a space.
        let mut end = start;
        // Where the row may end, and where the next would begin.
        let mut chance: Option<(ClusterStart, ClusterStart)> = None;
        let mut before = ClusterKind::default();
        while let Some((cluster, next)) = self.cluster(&mut at) {
            let width = cells(cluster);
            let kind =
                if fill == Fill::Words { kind(cluster, width) } else { ClusterKind::default() };
            // Spaces at the end of a row are dropped.
            if kind.space {
                used += width;
                (before, at) = (kind, next);
                continue;
            }
            if fill == Fill::Words && end != start && may_break(before, kind) {
                chance = Some((end, at));
            }
            if used + width > room && used > 0 {
                let (to, then) = chance.take().unwrap_or((end, at));
                if to != start {
                    rows.push((start, to));
                    room = other;
                }
                (start, at, end, used, before) = (then, then, then, 0, ClusterKind::default());
                continue;
            }
            used += width;
            (before, at, end) = (kind, next, next);
        }
        (rows, start)
    }

    /// The cluster at a position, and the position after it; `at` skips empty spans.
    fn cluster(&self, at: &mut ClusterStart) -> Option<(&str, ClusterStart)> {
        while let Some((_, text)) = self.spans.get(at.span) {
            if at.byte < text.len() {
                let cluster = first_cluster(&text[at.byte..]);
                return Some((
                    cluster,
                    ClusterStart { span: at.span, byte: at.byte + cluster.len() },
                ));
            }
            *at = ClusterStart { span: at.span + 1, byte: 0 };
        }
        None
    }

    fn slice(&self, from: ClusterStart, to: ClusterStart) -> Styled {
        let mut spans = Vec::new();
        for (at, (style, text)) in self.spans.iter().enumerate().skip(from.span) {
            if at > to.span {
                break;
            }
            let begin = if at == from.span { from.byte } else { 0 };
            let end = if at == to.span { to.byte } else { text.len() };
            if begin < end {
                spans.push((*style, text[begin..end].to_owned()));
            }
        }
        Styled { spans }
    }
}

fn may_break(before: ClusterKind, after: ClusterKind) -> bool {
    before.space || ((before.wide || after.wide) && !before.opening && !after.closing)
}

fn kind(cluster: &str, width: usize) -> ClusterKind {
    if let [byte] = cluster.as_bytes() {
        let space = *byte == b' ';
        if space || byte.is_ascii_alphanumeric() {
            return ClusterKind { space, ..ClusterKind::default() };
        }
    }
    let first = |set: &str| cluster.chars().next().is_some_and(|c| set.contains(c));
    ClusterKind {
        space: cluster == "\u{3000}",
        wide: width > 1,
        opening: first(OPENING),
        closing: first(CLOSING),
    }
}

/// Two ASCII characters in a row are two clusters, since there are no control characters.
fn first_cluster(text: &str) -> &str {
    match text.as_bytes() {
        [first] if first.is_ascii() => text,
        [first, second, ..] if first.is_ascii() && second.is_ascii() => &text[..1],
        _ => text.graphemes(true).next().unwrap_or(text),
    }
}

/// Measured cluster by cluster, as rows are filled: a whole text can be narrower than the sum of
/// its parts.
fn cells(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let mut rest = text;
    let mut cells = 0;
    while !rest.is_empty() {
        let cluster = first_cluster(rest);
        cells += if cluster.len() == 1 { 1 } else { cluster.width() };
        rest = &rest[cluster.len()..];
    }
    cells
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::surface::Style;

    fn plain(text: &str) -> Styled {
        Styled::new(Style::Plain, text)
    }

    #[test]
    fn rows_break_between_words() {
        for (text, cells, hanging, expected) in [
            ("", 5, "", &[""][..]),
            ("one two", 7, "", &["one two"]),
            ("one two", 6, "", &["one", "two"]),
            ("one   two", 4, "", &["one", "two"]),
            ("one two three", 9, "  ", &["one two", "  three"]),
            ("  one two", 6, "", &["  one", "two"]),
            ("one ", 3, "", &["one"]),
            ("a toolongword b", 6, "", &["a", "toolon", "gword", "b"]),
            ("toolongword", 6, "> ", &["toolon", "> gwor", "> d"]),
            ("两个汉字", 5, "", &["两个", "汉字"]),
            ("两个，汉字。", 4, "", &["两", "个，", "汉", "字。"]),
            ("两（个）", 4, "", &["两", "（个", "）"]),
            ("word两个", 6, "", &["word两", "个"]),
            ("e\u{301}e\u{301}e\u{301}", 2, "", &["e\u{301}e\u{301}", "e\u{301}"]),
            ("👩‍👩‍👧👩‍👩‍👧", 3, "", &["👩‍👩‍👧", "👩‍👩‍👧"]),
            ("两a", 1, "", &["两", "a"]),
            ("ab", 0, "", &["a", "b"]),
            ("non\u{a0}breaking space", 12, "", &["non\u{a0}breaking", "space"]),
        ] {
            let rows = plain(text).wrap(cells, &plain(hanging));
            let rows: Vec<String> = rows.iter().map(Styled::text).collect();
            assert_eq!(rows, expected, "{text:?} {cells}");
        }
    }

    #[test]
    fn styles_stay_with_their_words() {
        let line = plain("one ").with(Style::Bold, "two three").with(Style::Code, " four");
        let rows = line.wrap(9, &Styled::new(Style::Dim, "| "));
        assert_eq!(
            rows,
            [
                plain("one ").with(Style::Bold, "two"),
                Styled::new(Style::Dim, "| ").with(Style::Bold, "three"),
                Styled::new(Style::Dim, "| ").with(Style::Code, "four"),
            ]
        );
    }

    #[test]
    fn a_terminal_breaks_at_the_last_cell() {
        let rows = plain("ab  cd两e").broken(4);
        assert_eq!(rows, ["ab  ", "cd两", "e"].map(plain));
    }

    fn words() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "a",
            "word",
            " ",
            "  ",
            "两",
            "。",
            "（",
            "e\u{301}",
            "👩‍👩‍👧",
            "🇩🇪",
            "\u{200b}",
            "ｱ",
            "לא",
        ]);
        let any = prop_oneof![5 => parts.prop_map(str::to_owned), 1 => any::<String>()];
        prop::collection::vec(any, 0..30).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_word_is_lost(
            left in words(), right in words(), cells in 2usize..20, hanging in 0usize..3,
        ) {
            let hanging = plain(&" ".repeat(hanging.min(cells.saturating_sub(2))));
            let line = plain(&left).with(Style::Bold, &right);
            let rows = line.wrap(cells, &hanging);
            for row in &rows {
                // One cluster may be wider than the window; nothing visible is beside it.
                let text = row.text();
                let seen = |cluster: &&str| *cluster != " " && plain(cluster).width() > 0;
                let one = text.graphemes(true).filter(seen).count() <= 1;
                prop_assert!(row.width() <= cells || one, "{:?}", row.text());
            }
            let letters = |text: &str| text.replace([' ', '\u{3000}'], "");
            let all: String = rows.iter().map(Styled::text).collect();
            prop_assert_eq!(letters(&all), letters(&line.text()));
            let broken: String = line.clone().broken(cells).iter().map(Styled::text).collect();
            prop_assert_eq!(broken, line.text());
        }

        #[test]
        fn rows_can_be_taken_while_a_line_grows(left in words(), right in words(), cells in 2usize..20) {
            let none = Styled::default();
            // Words that are cut in two may join into other clusters when put together.
            let left = format!("{left} ");
            let mut whole = plain(&left);
            whole.append(plain(&right));
            let mut line = plain(&left);
            let mut rows = line.take_rows(cells, &none, &none, Fill::Words);
            line.append(plain(&right));
            rows.extend(line.wrap(cells, &none));
            let texts = |rows: &[Styled]| rows.iter().map(Styled::text).collect::<Vec<_>>();
            prop_assert_eq!(texts(&rows), texts(&whole.wrap(cells, &none)));
        }
    }
}
