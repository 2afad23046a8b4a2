//! A line before it is fitted to the screen: what stands in front of it, and how it may be broken.

use super::super::styled::{Fill, Style, Styled};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextLine {
    /// In front of the first row.
    pub first: Styled,
    /// In front of the others.
    pub hanging: Styled,
    pub text: Styled,
    /// `None`: it fits as it is.
    pub fill: Option<Fill>,
}

impl TextLine {
    /// `whole`: code stays in one piece, and the terminal breaks it where it must.
    pub fn rows(mut self, width: Option<usize>, whole: bool) -> Vec<Styled> {
        self.make_room(width);
        match (self.fill, width) {
            (Some(Fill::Words), Some(cells)) => {
                self.text.wrap_behind(cells, &self.first, &self.hanging)
            }
            (Some(Fill::Cells), Some(cells)) if !whole => self.joined().broken(cells),
            // A table or a rule on a screen that has no room for anything.
            (None, Some(cells)) => self.joined().broken(cells),
            _ => vec![self.joined()],
        }
    }

    /// The rows that stay as they are whatever is still added to the line.
    pub fn take_rows(&mut self, width: Option<usize>) -> Vec<Styled> {
        let (Some(fill), Some(cells)) = (self.fill, width) else {
            return Vec::new();
        };
        self.make_room(width);
        let rows = self.text.take_rows(cells, &self.first, &self.hanging, fill);
        if !rows.is_empty() {
            self.first = self.hanging.clone();
        }
        rows
    }

    /// On a screen too narrow for what stands in front, that is text like the rest.
    fn make_room(&mut self, width: Option<usize>) {
        let crowded = |prefix: &Styled| width.is_some_and(|cells| prefix.width() + 2 > cells);
        if self.fill == Some(Fill::Cells) || crowded(&self.first) || crowded(&self.hanging) {
            let first = std::mem::take(&mut self.first);
            let text = std::mem::replace(&mut self.text, first);
            self.text.append(text);
            self.hanging = Styled::default();
        }
    }

    fn joined(self) -> Styled {
        let mut line = self.first;
        line.append(self.text);
        line
    }
}

pub fn spaces(cells: usize) -> Styled {
    Styled::new(Style::Plain, &" ".repeat(cells))
}
