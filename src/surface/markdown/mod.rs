//! Stand-in.

use super::styled::{self, Glyphs, Style, Styled};

#[derive(Debug)]
pub struct Markdown {
    source: String,
    given: usize,
    width: Option<usize>,
}

impl Markdown {
    pub fn new(width: Option<usize>, _glyphs: Glyphs) -> Self {
        Self { source: String::new(), given: 0, width }
    }

    pub fn set_width(&mut self, width: Option<usize>) {
        self.width = width;
    }

    pub fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    pub fn settled(&mut self) -> Vec<Styled> {
        let Some(end) = self.source[self.given..].rfind('\n') else { return Vec::new() };
        let lines = styled::lines(Style::Plain, &self.source[self.given..self.given + end]);
        self.given += end + 1;
        lines
    }

    pub fn tail(&self, rows: usize) -> Vec<Styled> {
        let lines = styled::lines(Style::Plain, &self.source[self.given..]);
        let skip = lines.len().saturating_sub(rows);
        lines.into_iter().skip(skip).collect()
    }

    pub fn finish(self, whole: &str) -> Vec<Styled> {
        match whole.strip_prefix(&self.source[..self.given]) {
            Some(rest) => styled::lines(Style::Plain, rest),
            None => styled::lines(Style::Plain, whole),
        }
    }
}

impl Markdown {
    pub fn finish_as_it_is(self) -> Vec<Styled> {
        let source = self.source.clone();
        self.finish(&source)
    }
}

pub fn render(text: &str, _width: Option<usize>, _glyphs: Glyphs) -> Vec<Styled> {
    styled::lines(Style::Plain, text)
}
