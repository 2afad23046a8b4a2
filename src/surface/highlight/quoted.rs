//! Finds the ends of comments and strings.

use super::language::{KeyPlacement, Quote};
use super::lexer::Lexer;
use super::{Style, Within};

/// The longest character literal with an escape.
const ESCAPED: usize = 12;

impl Lexer<'_> {
    /// The state after the comment's next beginning or end; `None` if the line ends first.
    pub(super) fn block(&mut self, depth: usize) -> Option<Within> {
        let block = self.language.block.as_ref()?;
        let bytes = self.text.as_bytes();
        let (open, close) = (block.open.as_bytes(), block.close.as_bytes());
        while self.at < bytes.len() {
            let rest = &bytes[self.at..];
            let found = if block.nested {
                memchr::memchr2(open[0], close[0], rest)
            } else {
                memchr::memchr(close[0], rest)
            };
            self.at = found.map_or(bytes.len(), |found| self.at + found);
            let rest = &bytes[self.at..];
            if rest.starts_with(close) {
                self.at += close.len();
                if depth > 1 {
                    return Some(Within::Block(depth - 1));
                }
                self.emit(Style::Comment, self.at);
                return Some(Within::Code);
            }
            if block.nested && rest.starts_with(open) {
                self.at += open.len();
                return Some(Within::Block(depth + 1));
            }
            self.at = (self.at + 1).min(bytes.len());
        }
        None
    }

    /// Reads to the end of the string; returns whether it is in this line.
    pub(super) fn quoted(&mut self, quote: &Quote) -> bool {
        let bytes = self.text.as_bytes();
        let close = quote.close.as_bytes();
        while self.at < bytes.len() {
            let rest = &bytes[self.at..];
            let found = if quote.escapes {
                memchr::memchr2(close[0], b'\\', rest)
            } else {
                memchr::memchr(close[0], rest)
            };
            self.at = found.map_or(bytes.len(), |found| self.at + found);
            let rest = &bytes[self.at..];
            if rest.starts_with(close) {
                self.at += close.len();
                let key = matches!(self.language.keys, KeyPlacement::Quoted | KeyPlacement::Colon)
                    && {
                        let rest = &bytes[self.at..];
                        rest.iter().find(|byte| **byte != b' ') == Some(&b':')
                    };
                self.emit(if key { Style::Name } else { Style::Quoted }, self.at);
                return true;
            }
            let skip = if rest.first() == Some(&b'\\') { 2 } else { 1 };
            self.at = (self.at + skip).min(bytes.len());
        }
        false
    }

    pub(super) fn hashes(&self, at: usize) -> usize {
        self.text.as_bytes()[at..].iter().take_while(|byte| **byte == b'#').count()
    }

    pub(super) fn raw(&mut self, hashes: usize) -> bool {
        let bytes = self.text.as_bytes();
        while let Some(found) = memchr::memchr(b'"', &bytes[self.at..]) {
            self.at += found + 1;
            let follow = self.hashes(self.at);
            if follow >= hashes {
                self.at += hashes;
                self.emit(Style::Quoted, self.at);
                return true;
            }
            self.at += follow;
        }
        self.at = bytes.len();
        false
    }

    /// After a `'`: a character, or the name of a lifetime or a loop.
    pub(super) fn character(&mut self) {
        let rest = &self.text[self.at..];
        let length = match rest.chars().next() {
            Some('\\') => {
                let window = &rest.as_bytes()[..rest.len().min(ESCAPED)];
                window.get(2..).and_then(|rest| memchr::memchr(b'\'', rest)).map(|end| end + 2)
            }
            Some(c) => Some(c.len_utf8()).filter(|end| rest.as_bytes().get(*end) == Some(&b'\'')),
            None => None,
        };
        match length {
            Some(length) => self.show(Style::Quoted, self.at - 1, self.at + length + 1),
            None => self.at = self.word_end(self.at),
        }
    }

    /// After a `/`, which divides or begins a regular expression.
    pub(super) fn pattern(&mut self) {
        let from = self.at - 1;
        let bytes = self.text.as_bytes();
        let before = bytes[..from].iter().rfind(|byte| **byte != b' ');
        if before.is_some_and(|byte| !b"(,=:[!&|?{};+~".contains(byte)) {
            return;
        }
        let mut class = false;
        let mut end = self.at;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'\\' => end += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.show(Style::Quoted, from, end + 1);
                    return;
                }
                _ => {}
            }
            end += 1;
        }
        self.no_pattern = true;
    }
}
