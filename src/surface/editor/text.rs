//! What rustyline's line buffer does not do. Clusters and lines are its business; but its words end at
//! an accent or a vowel sign that is a character of its own, and it knows no pastes.

use std::ops::Range;

use rustyline::RepeatCount;
use rustyline::line_buffer::{ChangeListener, LineBuffer};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::paste::is_mark;

/// In clusters, with what stands between it and the cursor.
pub fn word_before(line: &LineBuffer) -> RepeatCount {
    word(line[..line.pos()].graphemes(true).rev())
}

pub fn word_behind(line: &LineBuffer) -> RepeatCount {
    word(line[line.pos()..].graphemes(true))
}

fn word<'a>(clusters: impl Iterator<Item = &'a str>) -> RepeatCount {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || is_mark(c);
    let mut clusters = clusters.map(|cluster| cluster.contains(is_word).then(|| script(cluster)));
    let mut before = 0;
    let first = clusters.by_ref().inspect(|_| before += 1).find_map(|script| script);
    let reach =
        first.map(|first| before + clusters.take_while(|next| *next == Some(first)).count());
    reach.and_then(|reach| reach.try_into().ok()).unwrap_or(RepeatCount::MAX)
}

/// What stands before the cursor, back to a space, has words of a script that puts none between them.
pub fn is_unspaced(line: &LineBuffer) -> bool {
    let last = line[..line.pos()].split_whitespace().next_back().unwrap_or_default();
    last.graphemes(true).any(|cluster| script(cluster) != Script::Spaced)
}

/// Scripts that are written without spaces: a word ends at the latest where another one begins. Words
/// within one would need a dictionary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Han,
    Hiragana,
    Katakana,
    Spaced,
}

fn script(cluster: &str) -> Script {
    match cluster.chars().next().unwrap_or_default() {
        '\u{3005}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' => Script::Han,
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => Script::Katakana,
        _ => Script::Spaced,
    }
}

/// A cursor inside of a cluster goes behind it.
pub fn settle(line: &mut LineBuffer) {
    let mut clusters = GraphemeCursor::new(line.pos(), line.len(), true);
    if let Ok(false) = clusters.is_boundary(line, 0)
        && let Ok(Some(behind)) = clusters.next_boundary(line, 0)
    {
        line.set_pos(behind);
    }
}

/// The word behind the cursor, or the rest of the one that it is in.
pub fn change_word(
    line: &mut LineBuffer,
    change: fn(&str) -> String,
    listener: &mut impl ChangeListener,
) {
    if let Some(end) = line.next_pos(word_behind(line)) {
        let word = line.pos()..end;
        let changed = change(&line[word.clone()]);
        line.replace(word, &changed, listener);
    }
}

pub fn capitalized(word: &str) -> String {
    let (before, word) = word.split_at(word.find(char::is_alphanumeric).unwrap_or(word.len()));
    let mut rest = word.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    before.chars().chain(first).chain(rest.as_str().to_lowercase().chars()).collect()
}

/// The two characters around the cursor change places; at the end of a line, the last two.
pub fn swap_characters(line: &mut LineBuffer, listener: &mut impl ChangeListener) {
    let cursor = line.pos();
    let starts = |line: &LineBuffer| line.pos() == 0 || line[..line.pos()].ends_with('\n');
    let ends = line.is_cursor_at_end() || line[cursor..].starts_with('\n');
    if !starts(line) && ends {
        line.move_backward(1);
    }
    if starts(line) {
        line.set_pos(cursor);
    } else {
        line.transpose_chars(listener);
    }
}

/// The word that the cursor is in or in front of changes places with the one before; at the end,
/// the last two.
pub fn swap_words(line: &mut LineBuffer, listener: &mut impl ChangeListener) {
    let cursor = line.pos();
    line.move_forward(word_behind(line));
    let second = last_word(line);
    line.set_pos(second.start);
    let first = last_word(line);
    if first.end > second.start {
        return line.set_pos(cursor);
    }
    let between = &line[first.end..second.start];
    let swapped = [&line[second.clone()], between, &line[first.clone()]].concat();
    line.replace(first.start..second.end, &swapped, listener);
}

fn last_word(line: &mut LineBuffer) -> Range<usize> {
    line.move_backward(word_before(line));
    let start = line.pos();
    line.move_forward(word_behind(line));
    start..line.pos()
}
