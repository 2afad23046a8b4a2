//! Shell specifics: which word is a command, prompts with output between them, and here-documents.

use super::lexer::{Lexer, is_number};
use super::{Style, Within};

#[derive(Debug, Clone, Default)]
pub(super) struct ShellSession {
    /// There are prompts, so lines without one are output.
    prompted: bool,
    /// The next line continues this one.
    continued: bool,
    /// The next word is an argument.
    argument: bool,
    /// The next `in` belongs to a loop or `case`.
    expects_in: bool,
    /// The end mark of the here-document that begins in the next line.
    heredoc: Option<String>,
}

impl ShellSession {
    /// Begins a line. Returns whether it is done: a line of a here-document, or of output.
    pub(super) fn line(&mut self, lexer: &mut Lexer<'_>, state: &mut Within) -> bool {
        let continued = std::mem::take(&mut self.continued);
        let text = lexer.text;
        if let Within::Heredoc(end) = state {
            let style = if text.trim() == end { Style::Keyword } else { Style::Quoted };
            if style == Style::Keyword {
                *state = Within::Code;
            }
            lexer.emit(style, text.len());
            return true;
        }
        if *state != Within::Code || continued {
            self.continued = text.ends_with('\\');
            return false;
        }
        self.argument = false;
        self.expects_in = false;
        let from = lexer.indent.unwrap_or_default();
        if text[from..].starts_with("$ ") {
            self.prompted = true;
            lexer.show(Style::Dim, from, from + 2);
        } else if self.prompted {
            lexer.emit(Style::Plain, text.len());
            return true;
        }
        self.continued = text.ends_with('\\');
        false
    }

    pub(super) fn end_line(&mut self, state: &mut Within) {
        if let Some(end) = self.heredoc.take()
            && *state != Within::Comment
        {
            *state = Within::Heredoc(end);
        }
    }

    pub(super) fn argument(&mut self) {
        self.argument = true;
    }

    pub(super) fn word(&mut self, lexer: &Lexer<'_>, word: &str, from: usize) -> Option<Style> {
        if word == "in" && std::mem::take(&mut self.expects_in) {
            return Some(Style::Keyword);
        }
        if is_number(word) {
            return Some(Style::Literal);
        }
        // Before and after the `=` of an assignment, which a command can follow.
        if self.argument || from > 0 && lexer.byte(from - 1) == b'=' {
            return None;
        }
        if lexer.byte(from + word.len()) == b'=' {
            return None;
        }
        self.argument = true;
        if lexer.language.is_keyword(word) {
            self.expects_in = matches!(word, "for" | "case" | "select");
            self.argument = self.expects_in || word == "function";
            return Some(Style::Keyword);
        }
        // A word that begins with a dash is an option of a command on another line.
        (!word.starts_with('-')).then_some(Style::Name)
    }

    /// Handles a byte that is not part of a word.
    pub(super) fn mark(&mut self, lexer: &mut Lexer<'_>, byte: u8) {
        let before = if lexer.at > 1 { lexer.byte(lexer.at - 2) } else { 0 };
        match byte {
            b'\\' => {
                // An escaped character has no special meaning.
                let next = lexer.text[lexer.at..].chars().next();
                lexer.at += next.map_or(0, char::len_utf8);
            }
            b'&' if matches!(before, b'>' | b'<') => {}
            b'|' | b';' | b'&' | b'(' | b')' | b'`' => self.argument = false,
            b'{' if before != b'$' => self.argument = false,
            b'!' if !self.argument => {}
            b'=' => {}
            b'<' => {
                self.argument = true;
                let arrows = lexer.text[..lexer.at].bytes().rev().take_while(|byte| *byte == b'<');
                if arrows.take(3).count() == 2 && lexer.byte(lexer.at) != b'<' {
                    self.heredoc = heredoc(&lexer.text[lexer.at..]).or(self.heredoc.take());
                }
            }
            _ => self.argument = true,
        }
    }
}

/// The end mark of a here-document, after `<<`.
fn heredoc(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(' ');
    let rest = rest.trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(rest.len());
    let word = &rest[..end];
    word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()).then(|| word.to_owned())
}
