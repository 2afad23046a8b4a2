//! The text of a paragraph: its styles, and its links.

use super::super::styled::{Style, Styled};

#[derive(Debug, Default)]
pub struct Inline {
    /// The line being written.
    pub line: Styled,
    styles: Vec<Style>,
    /// The destinations of the open links, and their texts.
    links: Vec<(String, String)>,
    /// The column at which the lines of this paragraph begin; `None` until the first line
    /// determines it.
    base: Option<usize>,
    at_start: bool,
}

impl Inline {
    /// Begins a block whose lines start at this column.
    pub fn begin(&mut self, base: Option<usize>) {
        self.base = base;
        self.at_start = true;
    }

    pub fn enter(&mut self, style: Style) {
        self.styles.push(style);
    }

    pub fn leave(&mut self) {
        self.styles.pop();
    }

    pub fn enter_link(&mut self, to: &str) {
        self.links.push((to.to_owned(), String::new()));
        self.enter(Style::Link);
    }

    pub fn leave_link(&mut self) {
        self.leave();
        let Some((to, said)) = self.links.pop() else {
            return;
        };
        if said.is_empty() {
            self.push(Some(Style::Dim), &to);
        } else if !names_destination(&to, &said) {
            self.push(Some(Style::Dim), &format!(" ({to})"));
        }
    }

    pub fn push(&mut self, style: Option<Style>, text: &str) {
        let style = style.unwrap_or_else(|| self.style());
        self.at_start = false;
        self.line.push(style, text);
        if let Some((_, said)) = self.links.last_mut() {
            said.push_str(text);
        }
    }

    /// Only one style applies here: of several, the most telling.
    fn style(&self) -> Style {
        let rank = |style: &Style| match style {
            Style::Link => 5,
            Style::Strike => 4,
            Style::Heading => 3,
            Style::Bold => 2,
            _ => 1,
        };
        self.styles.iter().copied().max_by_key(rank).unwrap_or(Style::Plain)
    }

    /// Keeps the spaces at the beginning of a line, which drawings and hand-made columns need.
    pub fn indent(&mut self, source: &str, at: usize) {
        if !self.at_start {
            return;
        }
        self.at_start = false;
        let begin = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let Some(base) = self.base else {
            self.base = Some(at - begin);
            return;
        };
        let lead = source[begin..at].bytes().take_while(|byte| b" \t>".contains(byte)).count();
        self.line.push(Style::Plain, &" ".repeat(lead.saturating_sub(base)));
    }

    pub fn take(&mut self) -> Styled {
        self.at_start = true;
        std::mem::take(&mut self.line)
    }
}

fn names_destination(to: &str, said: &str) -> bool {
    let to = to.strip_prefix("mailto:").unwrap_or(to);
    let bare = to.strip_prefix("https://").or_else(|| to.strip_prefix("http://")).unwrap_or(to);
    to.is_empty() || to == said || bare == said || bare.strip_suffix('/') == Some(said)
}
