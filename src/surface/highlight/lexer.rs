//! The words, numbers, strings and comments of a line of code.

use super::language::{KeyPlacement, Language, Quote};
use super::shell::ShellSession;
use super::{Style, Styled, Within};

pub(super) struct Lexer<'a> {
    pub(super) language: &'static Language,
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Everything before this is in `out`.
    done: usize,
    out: Styled,
    /// Where the text begins after the indentation, at the beginning of a line.
    pub(super) indent: Option<usize>,
    /// The last word announces a name.
    naming: bool,
    /// A regular expression was searched in the rest of the line, and not found.
    pub(super) no_pattern: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(language: &'static Language, text: &'a str, begins: bool) -> Self {
        let indent = begins.then(|| text.len() - text.trim_start_matches(' ').len());
        Self {
            language,
            text,
            at: 0,
            done: 0,
            out: Styled::default(),
            indent,
            naming: false,
            no_pattern: false,
        }
    }

    pub(super) fn run(mut self, state: &mut Within, shell: &mut ShellSession) -> Styled {
        if self.language.shell && self.indent.is_some() && shell.line(&mut self, state) {
            return self.out;
        }
        if *state == Within::Code {
            self.key();
        }
        while self.at < self.text.len() {
            match state {
                Within::Block(depth) => {
                    if let Some(depth) = self.block(*depth) {
                        *state = depth;
                    }
                }
                Within::Quoted(quote) => {
                    if self.quoted(quote) {
                        *state = Within::Code;
                    }
                }
                Within::Raw(hashes) => {
                    if self.raw(*hashes) {
                        *state = Within::Code;
                    }
                }
                Within::Code => *state = self.code(shell),
                _ => self.at = self.text.len(),
            }
        }
        self.emit(state.style(), self.text.len());
        self.out
    }

    pub(super) fn emit(&mut self, style: Style, to: usize) {
        self.out.push_untabbed(style, &self.text[self.done..to]);
        self.done = to;
    }

    /// Ends the plain text at `from`, and continues at `at`.
    pub(super) fn begin(&mut self, from: usize, at: usize) {
        self.emit(Style::Plain, from);
        self.at = at;
    }

    pub(super) fn show(&mut self, style: Style, from: usize, to: usize) {
        self.begin(from, to);
        self.emit(style, to);
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    fn code(&mut self, shell: &mut ShellSession) -> Within {
        while self.at < self.text.len() {
            let byte = self.byte(self.at);
            let state = if byte == b' ' {
                self.at += 1;
                None
            } else if self.language.starts_word(byte) {
                self.word(shell)
            } else if byte.is_ascii_digit() {
                self.number();
                None
            } else {
                self.mark(byte, shell)
            };
            if let Some(state) = state {
                return state;
            }
        }
        Within::Code
    }

    pub(super) fn word_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().take_while(|byte| self.language.in_word(**byte)).count()
    }

    fn word(&mut self, shell: &mut ShellSession) -> Option<Within> {
        let from = self.at;
        let end = self.word_end(from + 1);
        let word = &self.text[from..end];
        let next = self.byte(end);
        if self.language.raw && matches!(word, "r" | "br" | "cr") && matches!(next, b'"' | b'#') {
            let hashes = self.hashes(end);
            if self.byte(end + hashes) == b'"' {
                self.begin(from, end + hashes + 1);
                return Some(Within::Raw(hashes));
            }
        }
        if matches!(next, b'"' | b'\'') {
            if self.language.prefixes.iter().any(|prefix| prefix.eq_ignore_ascii_case(word))
                && let Some(quote) = self.quote(end)
            {
                self.begin(from, end + quote.open.len());
                return Some(Within::Quoted(quote));
            }
            // After a word, an apostrophe is more often part of prose than the beginning of a
            // string.
            if next == b'\'' && !self.language.character && !self.language.shell {
                self.at = end + 1;
                return None;
            }
        }
        self.at = end;
        if self.language.shell {
            if let Some(style) = shell.word(self, word, from) {
                self.show(style, from, end);
            }
            return None;
        }
        let (style, end) = self.meaning(word, from, end);
        if style != Style::Plain {
            self.show(style, from, end);
        }
        None
    }

    fn meaning(&mut self, word: &str, from: usize, end: usize) -> (Style, usize) {
        let language = self.language;
        let next = self.byte(end);
        let naming = std::mem::take(&mut self.naming);
        let field = !language.loose
            && from > 0
            && self.byte(from - 1) == b'.'
            && (from < 2 || self.byte(from - 2) != b'.')
            && word != "await";
        let key = language.fields && next == b':' && word != "default";
        if !field && !key {
            if language.is_keyword(word) {
                self.naming = Language::is_definer(word);
                return (Style::Keyword, end);
            }
            if language.is_literal(word) {
                return (Style::Literal, end);
            }
        }
        let style = match next {
            _ if naming => Style::Name,
            b'(' if language.calls => Style::Name,
            b':' if language.keys == KeyPlacement::Property
                && matches!(self.byte(end + 1), 0 | b' ') =>
            {
                Style::Name
            }
            b'!' if language.bang && self.byte(end + 1) != b'=' => return (Style::Name, end + 1),
            _ if language.loose && is_number(word) => Style::Literal,
            _ => Style::Plain,
        };
        (style, end)
    }

    fn number(&mut self) {
        let from = self.at;
        let bytes = self.text.as_bytes();
        let hex = bytes[from] == b'0' && matches!(self.byte(from + 1), b'x' | b'X');
        let mut end = from + 1;
        while let Some(&byte) = bytes.get(end) {
            let more = match byte {
                b'.' => self.byte(end + 1).is_ascii_digit(),
                b'\'' => self.language.character && self.byte(end + 1).is_ascii_hexdigit(),
                b'+' | b'-' => {
                    let power = !hex && matches!(bytes[end - 1], b'e' | b'E');
                    power && self.byte(end + 1).is_ascii_digit()
                }
                _ => byte == b'_' || byte.is_ascii_alphanumeric(),
            };
            if !more {
                break;
            }
            end += 1;
        }
        self.naming = false;
        self.show(Style::Literal, from, end);
    }

    fn quote(&self, at: usize) -> Option<&'static Quote> {
        let (rest, first) = (&self.text.as_bytes()[at..], self.byte(at));
        let opens = |open: &str| open.as_bytes()[0] == first && rest.starts_with(open.as_bytes());
        self.language.quotes.iter().find(|quote| opens(quote.open))
    }

    fn mark(&mut self, byte: u8, shell: &mut ShellSession) -> Option<Within> {
        let (from, language) = (self.at, self.language);
        if let Some(state) = self.opener(byte) {
            // A command can follow an assignment.
            if language.shell && (from == 0 || self.byte(from - 1) != b'=') {
                shell.argument();
            }
            return Some(state);
        }
        self.at += 1;
        self.naming &= byte == b'*';
        let next = self.byte(self.at);
        match byte {
            _ if language.shell => shell.mark(self, byte),
            b'\'' if language.character => self.character(),
            b'@' => {
                if let Some(style) = language.at.filter(|_| language.starts_word(next)) {
                    let end = self.word_end(self.at);
                    self.show(style, from, end);
                }
            }
            b'#' if language.directives && self.indent == Some(from) => self.directive(),
            b'#' if language.keys == KeyPlacement::Property => {
                let rest = &self.text.as_bytes()[self.at..];
                let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                if matches!(digits, 3 | 4 | 6 | 8) && !language.in_word(self.byte(self.at + digits))
                {
                    self.show(Style::Literal, from, self.at + digits);
                }
            }
            b':' if language.symbols && next == b':' => self.at += 1,
            b':' if language.symbols && language.starts_word(next) => {
                let end = self.word_end(self.at);
                self.show(Style::Literal, from, end);
            }
            b'/' if language.patterns && !self.no_pattern => self.pattern(),
            _ => {}
        }
        None
    }

    /// The beginning of a comment or a string.
    fn opener(&mut self, byte: u8) -> Option<Within> {
        let (from, language) = (self.at, self.language);
        let rest = &self.text.as_bytes()[from..];
        let begins = |open: &str| open.as_bytes()[0] == byte && rest.starts_with(open.as_bytes());
        if let Some(block) = language.block.as_ref().filter(|block| begins(block.open)) {
            self.begin(from, from + block.open.len());
            return Some(Within::Block(1));
        }
        let apart = !language.spaced || from == 0 || self.byte(from - 1) == b' ';
        if apart && language.comments.iter().any(|open| begins(open)) {
            self.begin(from, from + 1);
            return Some(Within::Comment);
        }
        let quote = language.quotes.iter().find(|quote| begins(quote.open))?;
        self.begin(from, from + quote.open.len());
        self.naming = false;
        Some(Within::Quoted(quote))
    }

    /// The rest of a preprocessor directive, after `#`.
    fn directive(&mut self) {
        let from = self.at - 1;
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start_matches(' ').len();
        let end = self.word_end(start);
        if end == start {
            return;
        }
        self.show(Style::Keyword, from, end);
        let rest = &self.text[end..];
        let file = rest.trim_start_matches(' ');
        if &self.text[start..end] == "include" && file.starts_with('<') {
            let length = file.find('>').map_or(file.len(), |at| at + 1);
            let from = end + rest.len() - file.len();
            self.show(Style::Quoted, from, from + length);
        }
    }
}

/// Whether a word of a language with loose words is a number: perhaps with a unit, but not a
/// version.
pub(super) fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+', '.']);
    if word.len() - digits.len() > 2 || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    if let Some(hex) = digits.strip_prefix("0x") {
        return hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_');
    unit == "%" || unit.len() <= 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic())
}
