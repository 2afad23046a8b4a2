//! Lays out the text in rows of cells, and moves by rows.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Editor, View};
use crate::surface::styled;

const TAB: &str = "    ";

#[derive(Debug)]
struct Row {
    start: usize,
    end: usize,
    shown: String,
    cells: usize,
}

struct Layout {
    rows: Vec<Row>,
    cursor: (usize, usize),
}

impl Editor {
    pub fn view(&mut self, height: usize) -> View {
        let Layout { rows, cursor: (row, column) } = self.layout();
        let height = height.max(1);
        self.top = self.top.min(row).max((row + 1).saturating_sub(height));
        self.top = self.top.min(rows.len().saturating_sub(height));
        View {
            cursor: (row - self.top, column),
            from_start: self.top == 0,
            rows: rows.into_iter().skip(self.top).take(height).map(|row| row.shown).collect(),
        }
    }

    pub(super) fn up(&mut self) {
        if !self.move_rows(|row, _| row.checked_sub(1)) {
            self.older();
        }
    }

    pub(super) fn down(&mut self) {
        if !self.move_rows(|row, rows| Some(row + 1).filter(|row| *row < rows)) {
            self.newer();
        }
    }

    fn move_rows(&mut self, target: impl Fn(usize, usize) -> Option<usize>) -> bool {
        let Layout { rows, cursor: (row, column) } = self.layout();
        let Some(target) = target(row, rows.len()) else { return false };
        let goal = self.goal.unwrap_or(column);
        // The position after the last character of a wrapped row is the start of the next row.
        let wrapped = rows.get(target + 1).is_some_and(|next| next.start == rows[target].end);
        let mut at = rows[target].start;
        let mut used = 0;
        for cluster in self.text[rows[target].start..rows[target].end].graphemes(true) {
            used += self.shown(cluster).1;
            let next = at + cluster.len();
            if used > goal || (wrapped && next == rows[target].end) {
                break;
            }
            at = next;
        }
        self.text.set_pos(at);
        self.goal = Some(goal);
        true
    }

    fn shown<'a>(&self, cluster: &'a str) -> (std::borrow::Cow<'a, str>, usize) {
        if cluster == "\t" {
            let tab = &TAB[..TAB.len().min(self.cells.max(1))];
            return (tab.into(), tab.len());
        }
        if let Some(label) = self.pastes.label(cluster) {
            let label = styled::cut(&label, self.cells, "]");
            let cells = label.width();
            return (label.into(), cells);
        }
        match cluster.width() {
            // A combining mark alone would be invisible, or change the cell before the text.
            0 => (format!("◌{cluster}").into(), 1),
            cells => (cluster.into(), cells),
        }
    }

    fn layout(&self) -> Layout {
        let limit = self.cells.max(1);
        let mut rows = Vec::new();
        let mut row = Row { start: 0, end: 0, shown: String::new(), cells: 0 };
        let mut cursor = None;
        for (at, cluster) in self.text.grapheme_indices(true) {
            let newline = cluster == "\n";
            let (shown, cells) = if newline { ("".into(), 0) } else { self.shown(cluster) };
            if row.cells > 0 && row.cells + cells > limit {
                let next = Row { start: at, end: at, shown: String::new(), cells: 0 };
                rows.push(std::mem::replace(&mut row, next));
            }
            if cursor.is_none() && at >= self.text.pos() {
                cursor = Some((rows.len(), row.cells));
            }
            if newline {
                let start = at + cluster.len();
                let next = Row { start, end: start, shown: String::new(), cells: 0 };
                rows.push(std::mem::replace(&mut row, next));
            } else {
                row.shown.push_str(&shown);
                row.cells += cells;
                row.end = at + cluster.len();
            }
        }
        let cursor = cursor.unwrap_or((rows.len(), row.cells));
        rows.push(row);
        Layout { rows, cursor }
    }
}
