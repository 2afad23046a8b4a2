//! A screen as rows of text, and the parts of it that have a name: the input box is where the
//! cursor is, the status stands below it, and the transcript above.

use std::num::NonZeroU16;

use vt100::Screen;

/// What the input begins with, in Unicode and in ASCII.
const PROMPTS: [&str; 2] = ["❯", ">"];

#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// From the top, without the blanks at their ends; all of them.
    pub rows: Vec<String>,
    /// Row and column.
    pub cursor: (usize, usize),
    pub cursor_shown: bool,
    pub columns: usize,
}

impl Picture {
    pub fn text(&self) -> String {
        self.rows.join("\n").trim_end().to_owned()
    }

    /// The row with the cursor, without the prompt; `None` where there is no prompt.
    pub fn input(&self) -> Option<&str> {
        let row = self.rows.get(self.cursor.0)?;
        PROMPTS.iter().find_map(|prompt| row.strip_prefix(prompt)).map(str::trim)
    }

    pub fn above(&self) -> &[String] {
        &self.rows[..self.cursor.0]
    }

    /// The rows below the one with the cursor, as far as there is something in them.
    pub fn status(&self) -> Vec<&str> {
        let below = self.rows.iter().skip(self.cursor.0 + 1).map(String::as_str);
        below.filter(|row| !row.is_empty()).collect()
    }

    pub fn count(&self, text: &str) -> usize {
        self.rows.iter().filter(|row| row.contains(text)).count()
    }

    /// The last row with something on it above the input.
    pub fn last_above(&self) -> &str {
        self.above().iter().rev().find(|row| !row.is_empty()).map_or("", String::as_str)
    }
}

pub fn of(screen: &Screen) -> Picture {
    let (row, column) = screen.cursor_position();
    let columns = screen.size().1.get();
    Picture {
        rows: screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect(),
        cursor: (row.into(), column.into()),
        cursor_shown: !screen.hide_cursor(),
        columns: columns.into(),
    }
}

pub fn reflowed(terminal: &avt::Terminal) -> Picture {
    let cursor = terminal.cursor();
    let lines = terminal.screen().visible_lines();
    Picture {
        rows: lines.map(|line| line.text().trim_end().to_owned()).collect(),
        cursor: (cursor.row, cursor.col),
        cursor_shown: cursor.visible,
        columns: terminal.size().0,
    }
}

/// The scrollback and the screen below it.
pub fn history(screen: &mut Screen) -> Vec<String> {
    let height = usize::from(screen.size().0.get());
    let mut rows = Vec::new();
    let mut left = screen.scrollback_len();
    while left > 0 {
        screen.set_scrollback(left);
        let page = of(screen).rows;
        rows.extend(page.into_iter().take(left.min(height)));
        left = left.saturating_sub(height);
    }
    screen.set_scrollback(0);
    rows.extend(of(screen).rows);
    rows
}

pub fn non_zero(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).expect("a row and a column at least")
}
