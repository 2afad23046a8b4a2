//! The words of a paragraph: which style they are in, and where the links in them lead.

use super::super::styled::{Style, Styled};

#[derive(Debug, Default)]
pub struct Inline {
    /// The line being written.
    pub line: Styled,
    styles: Vec<Style>,
    /// Where the open links lead, and what they say.
    links: Vec<(String, String)>,
    /// The column that the lines of this paragraph begin at; `None` until the first one says it.
    base: Option<usize>,
    at_start: bool,
}

impl Inline {
    /// A block begins whose lines start at this column.
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
        } else if !says_it(&to, &said) {
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

    /// A style is one thing here: of several the one that says most.
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

    /// Lines keep the spaces they begin with: drawings and columns made by hand need them.
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

fn says_it(to: &str, said: &str) -> bool {
    let to = to.strip_prefix("mailto:").unwrap_or(to);
    let bare = to.strip_prefix("https://").or_else(|| to.strip_prefix("http://")).unwrap_or(to);
    to.is_empty() || to == said || bare == said || bare.strip_suffix('/') == Some(said)
}
