//! What there is to know about a language.

use super::Style;
use super::words;

#[derive(Debug, PartialEq)]
pub(super) struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    /// A backslash hides what comes behind it.
    pub escapes: bool,
    /// It goes on in the next line.
    pub lines: bool,
}

#[derive(Debug)]
pub(super) struct BlockComment {
    pub open: &'static str,
    pub close: &'static str,
    pub nested: bool,
}

/// Where keys stand that are names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keys {
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
    /// Comments begin only behind a space.
    pub spaced: bool,
    pub block: Option<BlockComment>,
    /// Of those that begin alike the longest first.
    pub quotes: &'static [Quote],
    /// Words that belong to the string behind them.
    pub prefixes: &'static [&'static str],
    /// `'x'` is a character, and `'x` no string.
    pub character: bool,
    /// `r#"…"#`
    pub raw: bool,
    pub keywords: &'static [&'static str],
    pub literals: &'static [&'static str],
    pub any_case: bool,
    /// What words can hold beside letters, digits and `_`.
    pub extra: &'static [u8],
    /// Words can begin with any of that, and numbers are words.
    pub loose: bool,
    /// What is before a `(` is a name.
    pub calls: bool,
    /// So is what is before a `!`.
    pub bang: bool,
    /// What `@word` is.
    pub at: Option<Style>,
    /// `#word` at the beginning of a line.
    pub directives: bool,
    /// `:word`
    pub symbols: bool,
    /// `/…/`
    pub patterns: bool,
    /// Keywords are none before a colon.
    pub fields: bool,
    pub keys: Keys,
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
