//! Renders an agent's text as lines for the screen while it is being written: Markdown where it is
//! Markdown, and literally where it is not. Lines that can no longer change are returned once; the
//! rest can be rendered as often as the screen is drawn.

mod blocks;
mod inline;
mod layout;
mod line;
mod long;
mod piece;
mod plain;
mod render;
mod scan;
mod table;
#[cfg(test)]
mod tests;

use super::styled::{Glyphs, Styled};
use blocks::Blocks;

/// A line of only these may become a heading, a fence or a rule: wait for more of it.
const MARKS: [char; 12] = ['-', '=', '`', '~', '*', '_', '#', '>', '+', '|', ':', ' '];

#[derive(Debug, Clone)]
pub struct Markdown {
    blocks: Blocks,
    source: String,
    /// How much of `source` is in `blocks`.
    fed: usize,
}

impl Markdown {
    /// `width`: columns to wrap at; `None` if the width of the screen is unknown.
    pub fn new(width: Option<usize>, glyphs: Glyphs) -> Self {
        Self { blocks: Blocks::new(width, glyphs), source: String::new(), fed: 0 }
    }

    /// Applies to what is not settled yet.
    pub fn set_width(&mut self, width: Option<usize>) {
        self.blocks.width = width;
    }

    pub fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    /// The lines that can no longer change, each returned once. A line of code can be wider than
    /// the screen; everything else fits.
    pub fn settled(&mut self) -> Vec<Styled> {
        self.fed += self.blocks.feed(&self.source[self.fed..]);
        std::mem::take(&mut self.blocks.rows)
    }

    /// The rest as it looks now: at most its last `rows` rows, all of which fit the screen.
    pub fn tail(&self, rows: usize) -> Vec<Styled> {
        let mut blocks = self.blocks.clone();
        blocks.for_one_frame();
        let mut rest = &self.source[self.fed..];
        rest = &rest[blocks.feed(rest)..];
        if rest.trim_start_matches(MARKS).is_empty() {
            rest = "";
        }
        blocks.close(rest);
        let spare = blocks.rows.len().saturating_sub(rows);
        blocks.rows.split_off(spare)
    }

    /// The remaining lines, at the end of the text.
    pub fn end(mut self) -> Vec<Styled> {
        let mut rows = self.settled();
        self.blocks.close(&self.source[self.fed..]);
        rows.append(&mut self.blocks.rows);
        rows
    }

    /// The remaining lines of `whole`; all of them if it does not begin with what was pushed so
    /// far.
    pub fn finish(mut self, whole: &str) -> Vec<Styled> {
        let Some(rest) = whole.strip_prefix(self.source.as_str()) else {
            return render(whole, self.blocks.width, self.blocks.glyphs);
        };
        self.push(rest);
        self.end()
    }
}

pub fn render(text: &str, width: Option<usize>, glyphs: Glyphs) -> Vec<Styled> {
    let mut markdown = Markdown::new(width, glyphs);
    markdown.push(text);
    markdown.end()
}
