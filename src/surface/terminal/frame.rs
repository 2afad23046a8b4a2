//! One frame of the live area, painted below the transcript and updated row by row, so that a
//! ticking clock repaints one row instead of making all of them flicker.
//!
//! All movement is relative to the cursor, which is in the input, with the status below it. So the
//! only height that has to be known is that of the rows above the cursor, and only those can be
//! rewrapped by a resize.

use unicode_width::UnicodeWidthStr;

use crate::surface::styled::Styled;
use crate::surface::theme::Theme;

/// The terminal shows what is between the two at once, if it can.
pub const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
pub const END: &str = "\x1b[?2026l";
/// A row of the live area must never wrap, however wide the terminal considers a character.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A narrower terminal is in the middle of a resize.
const TRUSTED_FROM: usize = 10;

#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub rows: Vec<Styled>,
    /// Row and column.
    pub cursor: (usize, usize),
    pub cursor_shown: bool,
    /// The terminal's size. When it becomes lower, it may drop the rows below the cursor.
    pub size: (usize, usize),
}

impl Frame {
    /// The number of rows above the cursor once the terminal is `columns` wide.
    pub fn above(&self, columns: usize, reflow: bool) -> u16 {
        let (row, column) = self.cursor;
        // Erasing too few rows leaves a trace; erasing too many removes text of the transcript.
        if !reflow || columns >= self.size.0 || columns < TRUSTED_FROM {
            return clamp(row);
        }
        let cells = |row: &Styled| row.text().width();
        let before: usize =
            self.rows.iter().take(row).map(|row| cells(row).div_ceil(columns).max(1)).sum();
        let at_end = self.rows.get(row).is_some_and(|row| cells(row) <= column);
        let column = if at_end { column.saturating_sub(1) } else { column };
        clamp(before + column / columns)
    }

    /// Paints onto empty rows, from the cursor's position.
    pub fn paint(&self, colour: Option<Theme>, out: &mut Vec<u8>) {
        out.extend(NO_WRAP.bytes());
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 {
                out.extend(b"\r\n");
            }
            row.write(colour, out);
        }
        out.extend(WRAP.bytes());
        self.place_cursor(self.rows.len() - 1, out);
    }

    /// Whether `old` has as many rows in the same size, so that they can be updated.
    pub fn fits(&self, old: &Frame) -> bool {
        (self.size, self.rows.len()) == (old.size, old.rows.len())
    }

    /// Updates `old`, which it `fits`.
    pub fn repaint(&self, old: &Frame, colour: Option<Theme>, out: &mut Vec<u8>) {
        let mut at = old.cursor.0;
        out.extend(NO_WRAP.bytes());
        for (row, (new, old)) in self.rows.iter().zip(&old.rows).enumerate() {
            if new == old {
                continue;
            }
            move_rows(at, row, out);
            // Erased first: after a full row, erasing would remove its last character.
            out.extend(b"\r\x1b[K");
            new.write(colour, out);
            at = row;
        }
        out.extend(WRAP.bytes());
        self.place_cursor(at, out);
    }

    fn place_cursor(&self, from: usize, out: &mut Vec<u8>) {
        let (row, column) = self.cursor;
        out.push(b'\r');
        move_rows(from, row, out);
        out.extend(step(column, 'C').bytes());
        if self.cursor_shown {
            out.extend(SHOW_CURSOR.bytes());
        }
    }

    /// The rows of the input, and the cursor in them.
    #[cfg(test)]
    pub fn input(&self) -> ((usize, usize), Vec<String>) {
        let gap = self.rows.iter().take_while(|row| **row == Styled::default()).count();
        let gap = gap.min(self.cursor.0);
        let rows = self.rows[gap..].iter().map(Styled::text).collect();
        ((self.cursor.0 - gap, self.cursor.1), rows)
    }
}

fn move_rows(from: usize, to: usize, out: &mut Vec<u8>) {
    out.extend(step(from.saturating_sub(to), 'A').bytes());
    out.extend(step(to.saturating_sub(from), 'B').bytes());
}

fn step(count: usize, direction: char) -> String {
    if count == 0 { String::new() } else { format!("\x1b[{count}{direction}") }
}

pub fn clamp(rows: usize) -> u16 {
    u16::try_from(rows).unwrap_or(u16::MAX)
}
