//! Languages in which the beginning of a line determines its meaning: diffs, and keys before
//! values.

use super::language::KeyPlacement;
use super::lexer::Lexer;
use super::{Style, Styled, Within};

pub(super) fn diff(text: &str, begins: bool, state: &mut Within) -> Styled {
    let header = ["diff ", "index ", "Index: "].iter().any(|start| text.starts_with(start));
    let style = match text.as_bytes().first() {
        _ if !begins => Style::Plain,
        _ if header => {
            *state = Within::Code;
            Style::Bold
        }
        Some(b'+' | b'-')
            if *state == Within::Code && (text.starts_with("--- ") || text.starts_with("+++ ")) =>
        {
            Style::Bold
        }
        Some(b'+') => Style::Added,
        Some(b'-') => Style::Removed,
        Some(b'@') if text.starts_with("@@") => {
            *state = Within::Hunk;
            Style::Name
        }
        _ => Style::Plain,
    };
    Styled::new(style, text)
}

impl Lexer<'_> {
    /// Highlights the key that a line begins with, if the language has such lines.
    pub(super) fn key(&mut self) {
        let Some(indent) = self.indent else {
            return;
        };
        let line = &self.text[indent..];
        let (from, length) = match self.language.keys {
            KeyPlacement::Colon => {
                let key = line.trim_start_matches("- ").trim_start_matches(' ');
                (self.text.len() - key.len(), colon(key))
            }
            KeyPlacement::Equals if line.starts_with('[') => (indent, section(line)),
            KeyPlacement::Equals => (indent, equals(line)),
            _ => return,
        };
        if let Some(length) = length.filter(|length| *length > 0) {
            self.show(Style::Name, from, from + length);
        }
    }
}

fn colon(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let end = memchr::memchr_iter(b':', bytes)
        .find(|at| matches!(bytes.get(at + 1), None | Some(b' ')))?;
    let odd = |byte: &u8| b"\"'{}[]#|>&*".contains(byte);
    (!bytes[..end].iter().any(odd)).then_some(end)
}

fn section(line: &str) -> Option<usize> {
    let name = line.trim_end();
    let plain = |c: char| !matches!(c, ',' | '=' | '#');
    (name.ends_with(']') && name.chars().all(plain)).then_some(name.len())
}

fn equals(line: &str) -> Option<usize> {
    let key = line[..memchr::memchr(b'=', line.as_bytes())?].trim_end();
    let odd = |byte: u8| b"{}[](),#;".contains(&byte);
    let whole = key.matches(['"', '\'']).count().is_multiple_of(2);
    (whole && !key.bytes().any(odd)).then_some(key.len())
}
