//! Tables: columns as wide as needed; narrower with wrapped cells if the screen is too small; a
//! list of each row's cells if even that does not fit.

use pulldown_cmark::Alignment;

use super::super::styled::{Glyphs, Style, Styled};
use super::line::spaces;

/// A narrower column is harder to read than a list.
const NARROW: usize = 8;
/// The width between two columns: a space, the line, a space.
const BETWEEN: usize = 3;

/// A cell can have several lines.
pub type Cell = Vec<Styled>;

#[derive(Debug, Default)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    /// The first row is the head.
    pub rows: Vec<Vec<Cell>>,
}

/// How the rows of a table are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    Drawn(Vec<usize>),
    Listed,
}

impl Table {
    pub fn columns(&self, room: Option<usize>) -> Columns {
        let wide = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.flatten().map(Styled::width).max().unwrap_or(0)
        };
        let wanted: Vec<usize> = (0..self.alignments.len()).map(wide).collect();
        match room {
            Some(room) => fitted(wanted, room),
            None => Columns::Drawn(wanted),
        }
    }

    /// `head`: include the first row and the line below it.
    pub fn draw(
        &self,
        columns: &Columns,
        head: bool,
        room: Option<usize>,
        glyphs: Glyphs,
    ) -> Vec<Styled> {
        let Columns::Drawn(columns) = columns else {
            return self.list(head, room);
        };
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 || head {
                self.draw_row(row, columns, glyphs, &mut out);
            }
            if at == 0 && head {
                out.push(below_head(columns, glyphs));
            }
        }
        out
    }

    fn draw_row(&self, row: &[Cell], columns: &[usize], glyphs: Glyphs, out: &mut Vec<Styled>) {
        let none = Styled::default();
        let mut cells: Vec<_> = row
            .iter()
            .zip(columns)
            .map(|(cell, cells)| {
                let rows = cell.iter().flat_map(|line| line.wrap(*cells, &none));
                rows.collect::<Cell>().into_iter()
            })
            .collect();
        let height = cells.iter().map(ExactSizeIterator::len).max().unwrap_or(0).max(1);
        for _ in 0..height {
            let mut line = Styled::default();
            for (column, rows) in cells.iter_mut().enumerate() {
                if column > 0 {
                    line.push(Style::Dim, " ");
                    line.push(Style::Dim, glyphs.lines.column);
                    line.push(Style::Dim, " ");
                }
                let text = rows.next().unwrap_or_default();
                let free = columns[column].saturating_sub(text.width());
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                pad(&mut line, before);
                line.append(text);
                if column + 1 < columns.len() {
                    pad(&mut line, free - before);
                }
            }
            out.push(line);
        }
    }

    fn list(&self, head: bool, room: Option<usize>) -> Vec<Styled> {
        let names: Vec<Styled> =
            self.rows.first().into_iter().flatten().map(|c| joined(c)).collect();
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().skip(1).enumerate() {
            if at > 0 || !head {
                out.push(Styled::default());
            }
            for (name, cell) in names.iter().zip(row) {
                let mut line = name.clone();
                line.push(Style::Bold, ": ");
                line.append(joined(cell));
                match room {
                    Some(room) => {
                        let hanging = if room > NARROW { spaces(2) } else { Styled::default() };
                        out.extend(line.wrap(room, &hanging));
                    }
                    None => out.push(line),
                }
            }
        }
        // A head without rows is still shown.
        if self.rows.len() == 1 && head {
            let names = names.iter().flat_map(|name| match room {
                Some(room) => name.wrap(room, &Styled::default()),
                None => vec![name.clone()],
            });
            out.extend(names);
        }
        out
    }
}

/// Narrows the widest columns first.
fn fitted(wanted: Vec<usize>, room: usize) -> Columns {
    let between = BETWEEN * wanted.len().saturating_sub(1);
    if wanted.iter().sum::<usize>() + between <= room {
        return Columns::Drawn(wanted);
    }
    let mut left = room.saturating_sub(between);
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|column| wanted[*column]);
    let mut columns = wanted.clone();
    for (done, column) in order.iter().enumerate() {
        let share = left / (wanted.len() - done);
        columns[*column] = wanted[*column].min(share);
        if columns[*column] < wanted[*column].min(NARROW) {
            return Columns::Listed;
        }
        left -= columns[*column];
    }
    Columns::Drawn(columns)
}

fn pad(line: &mut Styled, cells: usize) {
    if cells > 0 {
        line.push(Style::Plain, &" ".repeat(cells));
    }
}

fn below_head(columns: &[usize], glyphs: Glyphs) -> Styled {
    let line = |cells: &usize| glyphs.lines.line.repeat(*cells);
    let between = format!("{0}{1}{0}", glyphs.lines.line, glyphs.lines.cross);
    let text = columns.iter().map(line).collect::<Vec<_>>().join(&between);
    Styled::new(Style::Dim, &text)
}

fn joined(cell: &[Styled]) -> Styled {
    let mut line = Styled::default();
    for (at, part) in cell.iter().enumerate() {
        if at > 0 {
            line.push(Style::Plain, " ");
        }
        line.append(part.clone());
    }
    line
}
