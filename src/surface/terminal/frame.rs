//! The live area as a picture: painted below the transcript, and turned into the next one row by
//! row, so that a clock that ticks costs one row and not a flicker of all.
//!
//! All movement is relative to the cursor, which stands in the input, and the status is below it:
//! so the only height that has to be known is that of the rows above the cursor, and only they can
//! be reflowed by a resize.

use unicode_width::UnicodeWidthStr;

use crate::surface::styled::Styled;
use crate::surface::theme::Theme;

/// The terminal shows what comes between the two in one piece, if it can.
pub const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
pub const END: &str = "\x1b[?2026l";
/// A row of the live area never spills into the next one, however wide the terminal takes a
/// character to be.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A terminal narrower than this is on its way to another size.
const TRUSTED_FROM: usize = 10;

#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub rows: Vec<Styled>,
    /// Row and column.
    pub cursor: (usize, usize),
    pub cursor_shown: bool,
    /// Of the terminal. One that gets lower may drop the rows below the cursor.
    pub size: (usize, usize),
}

impl Frame {
    /// The rows above the cursor once the terminal is `columns` wide.
    pub fn above(&self, columns: usize, reflow: bool) -> u16 {
        let (row, column) = self.cursor;
        // Too few rows leave a trace, too many take away what was said.
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

    /// Onto rows that are clear, from where the cursor stands.
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

    /// Whether every row of it has a row of `old` in its place.
    pub fn fits(&self, old: &Frame) -> bool {
        (self.size, self.rows.len()) == (old.size, old.rows.len())
    }

    /// Over `old`, which it `fits`.
    pub fn repaint(&self, old: &Frame, colour: Option<Theme>, out: &mut Vec<u8>) {
        let mut at = old.cursor.0;
        out.extend(NO_WRAP.bytes());
        for (row, (new, old)) in self.rows.iter().zip(&old.rows).enumerate() {
            if new == old {
                continue;
            }
            move_rows(at, row, out);
            // Cleared first: behind a full row it would take its last character away.
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

    /// The rows of the text, and where the cursor stands in them.
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
