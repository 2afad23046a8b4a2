//! A line before it is fitted to the screen: its prefixes, and how it may be broken.

use super::super::styled::{Fill, Style, Styled};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextLine {
    /// Before the first row.
    pub first: Styled,
    /// Before the other rows.
    pub hanging: Styled,
    pub text: Styled,
    /// `None` if it fits as it is.
    pub fill: Option<Fill>,
}

impl TextLine {
    /// `whole`: code is not broken here; the terminal breaks it.
    pub fn rows(mut self, width: Option<usize>, whole: bool) -> Vec<Styled> {
        self.make_room(width);
        match (self.fill, width) {
            (Some(Fill::Words), Some(cells)) => {
                self.text.wrap_with_prefix(cells, &self.first, &self.hanging)
            }
            (Some(Fill::Cells), Some(cells)) if !whole => self.joined().broken(cells),
            // A table or a rule on a screen that is too narrow for anything.
            (None, Some(cells)) => self.joined().broken(cells),
            _ => vec![self.joined()],
        }
    }

    /// Takes the rows that cannot change any more, whatever is added to the line.
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

    /// On a screen too narrow for the prefixes, they become part of the text.
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
