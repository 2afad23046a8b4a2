//! Code in colours, line by line: one pass over each, and of the lines before it no more than what
//! was left open. It knows the words and the quotes of a language and nothing of its grammar, so
//! that code costs a screen hardly more than other text.

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

/// How a block of code is read.
#[derive(Debug, Clone, Copy)]
enum Syntax {
    Plain,
    Diff,
    Markup,
    Words(&'static Language),
}

/// What the end of a line has left open.
#[derive(Debug, Clone, PartialEq, Default)]
enum Within {
    #[default]
    Code,
    /// Until the line ends.
    Comment,
    /// So many comments inside one another.
    Block(usize),
    Quoted(&'static Quote),
    /// A string of Rust that ends with a quote and so many hashes.
    Raw(usize),
    /// Until a line says nothing but this.
    Heredoc(String),
    /// A tag; what stands behind it is text of another language if it has this name.
    Tag(Option<&'static str>),
    /// The same in the value of an attribute.
    Value(u8, Option<&'static str>),
    /// Until the end tag of this name.
    Foreign(&'static str),
    /// The lines of a diff, after those that say of which files.
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
    /// A part of the line has been shown.
    inside: bool,
}

impl Code {
    /// `info` is what stands behind the opening fence.
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
