//! What the highlighter knows about a language.

use super::Style;
use super::words;

#[derive(Debug, PartialEq)]
pub(super) struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    /// Whether a backslash escapes the next character.
    pub escapes: bool,
    /// Whether it may span several lines.
    pub lines: bool,
}

#[derive(Debug)]
pub(super) struct BlockComment {
    pub open: &'static str,
    pub close: &'static str,
    pub nested: bool,
}

/// Where the keys of a data format are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum KeyPlacement {
    None,
    /// In quotes, before a colon.
    Quoted,
    /// The same, and at the beginning of a line before a colon.
    Colon,
    /// At the beginning of a line, before `=` or in brackets.
    Equals,
    /// Anywhere, before a colon and a space.
    Property,
}

#[derive(Debug)]
pub(super) struct Language {
    pub comments: &'static [&'static str],
    /// Comments begin only after a space.
    pub spaced: bool,
    pub block: Option<BlockComment>,
    /// Of quotes that begin alike, the longest comes first.
    pub quotes: &'static [Quote],
    /// Words that are part of the string after them.
    pub prefixes: &'static [&'static str],
    /// `'x'` is a character, and `'x` is not a string.
    pub character: bool,
    /// `r#"…"#`
    pub raw: bool,
    pub keywords: &'static [&'static str],
    pub literals: &'static [&'static str],
    pub any_case: bool,
    /// What words can contain besides letters, digits and `_`.
    pub extra: &'static [u8],
    /// Words can begin with any of those, and numbers are words.
    pub loose: bool,
    /// A word before `(` is a name.
    pub calls: bool,
    /// A word before `!` is a name.
    pub bang: bool,
    /// The style of `@word`.
    pub at: Option<Style>,
    /// `#word` at the beginning of a line.
    pub directives: bool,
    /// `:word`
    pub symbols: bool,
    /// `/…/`
    pub patterns: bool,
    /// A keyword before a colon is not one.
    pub fields: bool,
    pub keys: KeyPlacement,
    pub shell: bool,
}

impl Language {
    pub fn in_word(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || byte == b'_'
            || !byte.is_ascii()
            || self.extra.contains(&byte)
    }

    pub fn starts_word(&self, byte: u8) -> bool {
        let plain = byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii();
        plain || (self.loose || byte == b'$') && self.in_word(byte)
    }

    pub fn is_keyword(&self, word: &str) -> bool {
        self.has(self.keywords, word)
    }

    pub fn is_literal(&self, word: &str) -> bool {
        self.has(self.literals, word)
    }

    fn has(&self, words: &[&str], word: &str) -> bool {
        if self.any_case {
            words.iter().any(|known| known.eq_ignore_ascii_case(word))
        } else {
            words.contains(&word)
        }
    }

    pub fn is_definer(word: &str) -> bool {
        words::DEFINERS.contains(&word)
    }
}
