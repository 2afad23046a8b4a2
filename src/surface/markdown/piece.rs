//! What a text that is still being written consists of at the moment.

use super::super::highlight::Code;
use super::scan::{self, Fence, Marker};
use super::table::Columns;

/// Some lines that are parsed together: an item of a list, or what stands between blank lines.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    pub text: String,
    /// A blank row comes before it.
    pub apart: bool,
    pub item: Option<Item>,
    /// The code that its last line stands in: how to open it again.
    pub fence: Option<(String, Fence)>,
    /// It goes on with a table.
    pub columns: Option<Columns>,
}

#[derive(Debug, Clone)]
pub struct Item {
    pub marker: Marker,
    pub number: u64,
    /// The beginning has been shown already.
    pub rest: bool,
    pub blank: bool,
}

/// Code that stands in nothing else: its lines are shown one by one.
#[derive(Debug, Clone)]
pub struct CodeBlock {
    /// `None`: it is code because it is indented.
    pub fence: Option<Fence>,
    pub code: Code,
    /// Blank lines that are part of it if it goes on.
    pub blanks: usize,
    pub apart: bool,
}

impl Piece {
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
