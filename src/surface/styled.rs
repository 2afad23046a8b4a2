//! Lines of styled text, of which the transcript consists; colours are chosen later.

mod glyphs;
mod wrap;

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::theme::Theme;
use crate::client::stream::strip_escapes;
use crate::console;

pub use glyphs::Glyphs;
pub use wrap::Fill;

const TAB: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Dim,
    Bold,
    Heading,
    User,
    Tool,
    Good,
    Bad,
    /// For what must not be overlooked.
    Alarm,
    Supervisor,
    Question,
    Italic,
    Strike,
    Link,
    /// Code inside a sentence.
    Code,
    Added,
    Removed,
    // Highlighted code.
    Keyword,
    Literal,
    Quoted,
    Comment,
    Name,
}

/// One line. Its text never contains control characters, whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Styled {
    spans: Vec<(Style, String)>,
}

impl Styled {
    pub fn new(style: Style, text: &str) -> Self {
        Self::default().with(style, text)
    }

    #[must_use]
    pub fn with(mut self, style: Style, text: &str) -> Self {
        if !text.is_empty() {
            self.spans.push((style, untabbed(text).into_owned()));
        }
        self
    }

    /// Like `with`, in place; adjacent runs of one style become one span.
    pub fn push(&mut self, style: Style, text: &str) {
        self.push_untabbed(style, &untabbed(text));
    }

    /// Like `push`, for a part of text that was `untabbed` as a whole.
    pub(super) fn push_untabbed(&mut self, style: Style, text: &str) {
        match self.spans.last_mut() {
            _ if text.is_empty() => {}
            Some((last, run)) if *last == style => run.push_str(text),
            _ => self.spans.push((style, text.to_owned())),
        }
    }

    pub fn append(&mut self, mut other: Styled) {
        self.spans.append(&mut other.spans);
    }

    #[must_use]
    pub fn with_prefix(mut self, style: Style, prefix: &str) -> Self {
        self.spans.insert(0, (style, prefix.to_owned()));
        self
    }

    /// Changes the style of the first run.
    #[must_use]
    pub fn restyled(mut self, style: Style) -> Self {
        if let Some((first, _)) = self.spans.first_mut() {
            *first = style;
        }
        self
    }

    pub fn text(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Cuts it to at most `cells` cells; `ellipsis` marks the cut.
    #[must_use]
    pub fn cut(self, cells: usize, ellipsis: &str) -> Self {
        if self.width() <= cells {
            return self;
        }
        let mut left = cells.saturating_sub(ellipsis.width());
        let mut spans = Vec::with_capacity(self.spans.len());
        for (style, text) in self.spans {
            let kept = cut(&text, left, "");
            left -= kept.width();
            let whole = kept.len() == text.len();
            spans.push((style, kept));
            if !whole {
                break;
            }
        }
        Self { spans }.with(Style::Dim, if ellipsis.width() <= cells { ellipsis } else { "" })
    }

    /// Without its first bytes, which must belong to the first span.
    #[must_use]
    pub fn without_first(mut self, bytes: usize) -> Self {
        if let Some((_, text)) = self.spans.first_mut() {
            text.drain(..bytes.min(text.len()));
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|(_, text)| text.is_empty())
    }

    /// The runs of one style each.
    pub fn spans(&self) -> impl Iterator<Item = (Style, &str)> {
        self.spans.iter().map(|(style, text)| (*style, text.as_str()))
    }

    pub fn write(&self, colour: Option<Theme>, out: &mut Vec<u8>) {
        for (style, text) in &self.spans {
            let sgr = colour.map_or("", |theme| theme.sgr(*style));
            out.extend_from_slice(sgr.as_bytes());
            write_in_order(text, out);
            if !sgr.is_empty() {
                out.extend_from_slice(b"\x1b[0m");
            }
        }
    }
}

/// Writes text without the characters that reverse the rest of a line: some terminals obey them, so
/// that the line reads differently. They have no width, so nothing shifts.
fn write_in_order(text: &str, out: &mut Vec<u8>) {
    for piece in text.split(console::reorders_text) {
        out.extend_from_slice(piece.as_bytes());
    }
}

/// The lines of a text in one style, without empty lines around it.
pub fn lines(style: Style, text: &str) -> Vec<Styled> {
    let text = strip_escapes(text);
    let text = text.trim_end().trim_start_matches(['\n', '\r']);
    text.lines().map(|line| Styled::new(style, line)).collect()
}

/// The first non-empty line, and whether there are more.
pub fn first_line(text: &str) -> (Cow<'_, str>, bool) {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    (strip_escapes(first), lines.next().is_some())
}

/// `text` as one line, with tabs replaced by spaces up to the next tab stop.
pub fn untabbed(text: &str) -> Cow<'_, str> {
    let text = strip_escapes(text);
    if memchr::memchr2(b'\t', b'\n', text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut cells = 0;
    for (at, piece) in text.split('\t').enumerate() {
        if at > 0 {
            let spaces = TAB - cells % TAB;
            out.extend(std::iter::repeat_n(' ', spaces));
            cells += spaces;
        }
        out.extend(piece.chars().map(|c| if c == '\n' { ' ' } else { c }));
        cells += piece.width();
    }
    Cow::Owned(out)
}

/// Writes out control characters and those that change how their neighbours look: for texts that
/// somebody decides on.
pub fn exposed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hides = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}');
        if (c.is_control() && c != '\t') || hides {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Cuts `text` to at most `cells` cells; `ellipsis` marks the cut.
pub fn cut(text: &str, cells: usize, ellipsis: &str) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let room = cells.saturating_sub(ellipsis.width());
    let mut used = 0;
    let mut out = String::new();
    for cluster in text.graphemes(true) {
        used += cluster.width();
        if used > room {
            break;
        }
        out.push_str(cluster);
    }
    if ellipsis.width() <= cells {
        out.push_str(ellipsis);
    }
    out
}

/// As many words per row as fit; none of them is broken, so that a path stays in one piece.
pub fn flowed(words: impl Iterator<Item = String>, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in words {
        match rows.last_mut() {
            Some(row) if row.width() + 1 + word.width() <= columns => {
                *row = format!("{row} {word}");
            }
            _ => rows.push(word),
        }
    }
    rows
}

/// The keys that a question or a list takes. If there is no room for all of them, those before the
/// last are left out: how to get out must be seen.
pub fn keys(keys: &[&str], cells: usize) -> String {
    let (out, others) = keys.split_last().expect("a key");
    let shown = |count: usize| [&others[..count], &[*out]].concat().join(", ");
    let fits = |count: &usize| shown(*count).width() <= cells;
    shown((0..=others.len()).rev().find(fits).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_keys_find_no_room_the_last_is_shown() {
        let all = ["Space to mark", "Enter to choose", "Esc to decline"];
        for (cells, shown) in [
            (46, "Space to mark, Enter to choose, Esc to decline"),
            (45, "Space to mark, Esc to decline"),
            (28, "Esc to decline"),
            (3, "Esc to decline"),
        ] {
            assert_eq!(keys(&all, cells), shown, "{cells}");
        }
    }

    #[test]
    fn text_is_cut_by_cells_and_clusters() {
        for (text, cells, expected) in [
            ("plain", 5, "plain"),
            ("plain", 4, "pla…"),
            ("两个汉字", 6, "两个…"),
            ("两个汉字", 5, "两个…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("text", 1, "…"),
            ("text", 0, ""),
        ] {
            assert_eq!(cut(text, cells, "…"), expected, "{text:?} {cells}");
        }
    }

    #[test]
    fn no_text_controls_the_terminal() {
        let line = Styled::new(Style::Bad, "a\tb\x1b[2J\u{9b}1m\rc\nd").with(Style::Plain, "\x07e");
        assert_eq!(line.text(), "a   b1mc de");
        let mut out = Vec::new();
        line.write(Some(Theme::default()), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "\x1b[31ma   b1mc d\x1b[0me");
        out.clear();
        line.write(None, &mut out);
        assert_eq!(out, line.text().as_bytes());
        out.clear();
        Styled::new(Style::Plain, "if \u{202e}nimda\u{202c}\u{2066} שלום …").write(None, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "if nimda שלום …");
    }

    #[test]
    fn tabs_reach_the_next_tab_stop() {
        assert_eq!(Styled::new(Style::Plain, "\tif 两\tx").text(), "    if 两   x");
    }
}
