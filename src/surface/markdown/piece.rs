//! The units of a text that is still being written.

use super::super::highlight::Code;
use super::scan::{self, Fence, Marker};
use super::table::Columns;

/// Lines that are parsed together: a list item, or what is between blank lines.
#[derive(Debug, Clone, Default)]
pub struct TextPiece {
    pub text: String,
    /// Whether a blank row precedes it.
    pub apart: bool,
    pub item: Option<Item>,
    /// The fence of the code block that its last line is in, to open it again.
    pub fence: Option<(String, Fence)>,
    /// The columns of the table that it continues.
    pub columns: Option<Columns>,
}

#[derive(Debug, Clone)]
pub struct Item {
    pub marker: Marker,
    pub number: u64,
    /// Whether its beginning has been shown already.
    pub rest: bool,
    pub blank: bool,
}

/// A code block at the top level, whose lines are shown one by one.
#[derive(Debug, Clone)]
pub struct CodeBlock {
    /// `None` if it is code because of its indentation.
    pub fence: Option<Fence>,
    pub code: Code,
    /// Blank lines that are part of it if more code follows.
    pub blanks: usize,
    pub apart: bool,
}

impl TextPiece {
    pub fn follow_fence(&mut self, line: &str) {
        if self.item.is_none() && !scan::is_quote(line) {
            return;
        }
        let (lead, text) = scan::inner(line);
        match &self.fence {
            Some((_, fence)) if fence.is_closed_by(text) => self.fence = None,
            Some(_) => {}
            None => self.fence = Fence::opened(text).map(|fence| (lead, fence)),
        }
    }
}

impl CodeBlock {
    pub fn goes_on(&self, line: &str) -> bool {
        match &self.fence {
            Some(fence) => !fence.is_closed_by(line),
            None => line.trim().is_empty() || scan::indent(line).0 > 3,
        }
    }
}
