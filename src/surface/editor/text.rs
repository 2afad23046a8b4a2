//! What rustyline's line buffer lacks. It handles clusters and lines, but its words end at an
//! accent or vowel sign that is a separate character, and it does not know pastes.

use std::ops::Range;

use rustyline::RepeatCount;
use rustyline::line_buffer::{ChangeListener, LineBuffer};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::paste::is_mark;

/// The distance in clusters from the cursor to the beginning of the word before it.
pub fn word_before(line: &LineBuffer) -> RepeatCount {
    word(line[..line.pos()].graphemes(true).rev())
}

pub fn word_after(line: &LineBuffer) -> RepeatCount {
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

/// Whether the text before the cursor, back to a space, contains a script that is written without
/// spaces.
pub fn is_unspaced(line: &LineBuffer) -> bool {
    let last = line[..line.pos()].split_whitespace().next_back().unwrap_or_default();
    last.graphemes(true).any(|cluster| script(cluster) != WordScript::Spaced)
}

/// Scripts written without spaces between words, in which a word ends at the latest where another
/// script begins. Finding words within one script would need a dictionary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordScript {
    Han,
    Hiragana,
    Katakana,
    Spaced,
}

fn script(cluster: &str) -> WordScript {
    match cluster.chars().next().unwrap_or_default() {
        '\u{3005}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' => WordScript::Han,
        '\u{3041}'..='\u{309f}' => WordScript::Hiragana,
        '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => WordScript::Katakana,
        _ => WordScript::Spaced,
    }
}

/// Moves a cursor inside a cluster to its end.
pub fn move_to_boundary(line: &mut LineBuffer) {
    let mut clusters = GraphemeCursor::new(line.pos(), line.len(), true);
    if let Ok(false) = clusters.is_boundary(line, 0)
        && let Ok(Some(behind)) = clusters.next_boundary(line, 0)
    {
        line.set_pos(behind);
    }
}

/// Changes the word after the cursor, or the rest of the word that the cursor is in.
pub fn change_word(
    line: &mut LineBuffer,
    change: fn(&str) -> String,
    listener: &mut impl ChangeListener,
) {
    if let Some(end) = line.next_pos(word_after(line)) {
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

/// Swaps the two characters around the cursor; at the end of a line, the last two.
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

/// Swaps the word at or after the cursor with the one before; at the end, the last two.
pub fn swap_words(line: &mut LineBuffer, listener: &mut impl ChangeListener) {
    let cursor = line.pos();
    line.move_forward(word_after(line));
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
    line.move_forward(word_after(line));
    start..line.pos()
}
