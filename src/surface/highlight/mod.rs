//! Highlights code line by line: one pass over each line, keeping only what the lines before left
//! open. It knows the words and quotes of a language, but not its grammar, so that code costs
//! hardly more to show than other text.

mod language;
mod languages;
mod lexer;
mod lines;
mod markup;
mod quoted;
mod shell;
#[cfg(test)]
mod tests;
mod words;

use super::styled::{Style, Styled, untabbed};
use language::{Language, Quote};
use lexer::Lexer;

/// How a block of code is highlighted.
#[derive(Debug, Clone, Copy)]
enum Syntax {
    Plain,
    Diff,
    Markup,
    Words(&'static Language),
}

/// What is still open at the end of a line.
#[derive(Debug, Clone, PartialEq, Default)]
enum Within {
    #[default]
    Code,
    /// Until the end of the line.
    Comment,
    /// A block comment, and how deeply it is nested.
    Block(usize),
    Quoted(&'static Quote),
    /// A raw string of Rust that ends with a quote and this many hashes.
    Raw(usize),
    /// Until a line that contains only this.
    Heredoc(String),
    /// A tag; with this name, what follows it is text of another language.
    Tag(Option<&'static str>),
    /// The value of an attribute in such a tag, with its quote.
    Value(u8, Option<&'static str>),
    /// Until the end tag of this name.
    Foreign(&'static str),
    /// The lines of a diff after its file headers.
    Hunk,
}

impl Within {
    fn style(&self) -> Style {
        match self {
            Self::Comment | Self::Block(_) => Style::Comment,
            Self::Quoted(_) | Self::Raw(_) | Self::Heredoc(_) | Self::Value(..) => Style::Quoted,
            Self::Code | Self::Tag(_) | Self::Foreign(_) | Self::Hunk => Style::Plain,
        }
    }
}

/// One block of code.
#[derive(Debug, Clone)]
pub struct Code {
    syntax: Syntax,
    state: Within,
    shell: shell::ShellSession,
    /// Whether part of the line has been shown already.
    inside: bool,
}

impl Code {
    /// `info` is the text after the opening fence.
    pub fn new(info: &str) -> Self {
        let syntax = languages::named(info);
        Self { syntax, state: Within::Code, shell: shell::ShellSession::default(), inside: false }
    }

    pub fn line(&mut self, line: &str) -> Styled {
        let styled = self.part(line);
        self.end_line();
        styled
    }

    /// The next part of a line that is too long to wait for its end.
    pub fn part(&mut self, text: &str) -> Styled {
        let text = untabbed(text);
        let begins = !std::mem::replace(&mut self.inside, true);
        match self.syntax {
            Syntax::Plain => {
                let mut plain = Styled::default();
                plain.push_untabbed(Style::Plain, &text);
                plain
            }
            Syntax::Diff => lines::diff(&text, begins, &mut self.state),
            Syntax::Markup => markup::part(&text, &mut self.state),
            Syntax::Words(language) => {
                Lexer::new(language, &text, begins).run(&mut self.state, &mut self.shell)
            }
        }
    }

    pub fn end_line(&mut self) {
        self.inside = false;
        self.shell.end_line(&mut self.state);
        match &self.state {
            Within::Comment => self.state = Within::Code,
            Within::Quoted(quote) if !quote.lines => self.state = Within::Code,
            _ => {}
        }
    }
}
