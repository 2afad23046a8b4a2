//! Where vi's motions lead, as byte offsets into a text of lines.

use unicode_segmentation::UnicodeSegmentation;

use crate::surface::editor::paste::is_mark;

pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

pub fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

/// The end of the cluster at the cursor; at the end of the text, that end.
pub fn next(text: &str, at: usize) -> usize {
    text[at..].graphemes(true).next().map_or(at, |cluster| at + cluster.len())
}

pub fn before(text: &str, at: usize) -> usize {
    text[..at].graphemes(true).next_back().map_or(at, |cluster| at - cluster.len())
}

/// Moves onto a character, if the line has any: normal mode has no position after the last one.
pub fn on_character(text: &str, at: usize) -> usize {
    let start = line_start(text, at);
    if at > start && at == line_end(text, at) { before(text, at) } else { at }
}

pub fn first_word(text: &str, at: usize) -> usize {
    let line = &text[line_start(text, at)..line_end(text, at)];
    line_start(text, at) + (line.len() - line.trim_start().len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterKind {
    Blank,
    Word,
    Sign,
}

fn kind(text: &str, at: usize) -> Option<CharacterKind> {
    let c = text[at..].chars().next()?;
    Some(if c.is_whitespace() {
        CharacterKind::Blank
    } else if c.is_alphanumeric() || c == '_' || is_mark(c) {
        CharacterKind::Word
    } else {
        CharacterKind::Sign
    })
}

fn skip(text: &str, mut at: usize, wanted: Option<CharacterKind>) -> usize {
    while at < text.len() && kind(text, at) == wanted {
        at = next(text, at);
    }
    at
}

/// The start of the next word. An empty line counts as a word.
pub fn word_forward(text: &str, at: usize) -> usize {
    let here = kind(text, at);
    let mut at = if here == Some(CharacterKind::Blank) { at } else { skip(text, at, here) };
    while at < text.len() && kind(text, at) == Some(CharacterKind::Blank) {
        let empty = text[at..].starts_with('\n') && text[at + 1..].starts_with('\n');
        at = next(text, at);
        if empty {
            break;
        }
    }
    at
}

pub fn word_back(text: &str, mut at: usize) -> usize {
    while at > 0 && kind(text, before(text, at)) == Some(CharacterKind::Blank) {
        at = before(text, at);
    }
    let here = if at > 0 { kind(text, before(text, at)) } else { None };
    while at > 0 && kind(text, before(text, at)) == here {
        at = before(text, at);
    }
    at
}

/// The last character of the current or next word.
pub fn word_end(text: &str, at: usize) -> usize {
    let start = skip(text, next(text, at), Some(CharacterKind::Blank));
    if start >= text.len() {
        return on_character(text, text.len());
    }
    before(text, skip(text, start, kind(text, start)))
}

/// `cw` on a word changes only the word, not the white space after it.
pub fn is_on_word(text: &str, at: usize) -> bool {
    kind(text, at).is_some_and(|kind| kind != CharacterKind::Blank)
}

/// The end of the word that the cursor is on, even if it is a single character.
pub fn this_word_end(text: &str, at: usize) -> usize {
    skip(text, at, kind(text, at))
}

/// `count` lines from the cursor's on, without the last line break.
pub fn lines(text: &str, at: usize, count: usize) -> (usize, usize) {
    let start = line_start(text, at);
    let mut end = line_end(text, at);
    for _ in 1..count {
        if end == text.len() {
            break;
        }
        end = line_end(text, end + 1);
    }
    (start, end)
}
