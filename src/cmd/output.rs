//! Standard output of commands that answer a question: text, tables, JSON.

use std::io::ErrorKind;

use anyhow::Result;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::console;
use crate::surface::flowed;

/// A narrower column than this is left to the terminal.
const NARROWEST: usize = 20;

/// A reader that closes the pipe early (`| head`) is not an error.
pub fn print(text: &str) -> Result<()> {
    Ok(console::print(text)?)
}

/// The same for output that is written in several pieces.
pub fn end_of_output(written: Result<()>) -> Result<()> {
    match written {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        other => other,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let by_io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let by_json =
            cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        by_io.or(by_json) == Some(ErrorKind::BrokenPipe)
    })
}

pub fn print_json(value: &Value) -> Result<()> {
    Ok(console::print_json(value)?)
}

/// The width of the screen, if the output is one.
pub fn screen_width() -> Option<usize> {
    let size = console::is_terminal().then(crossterm::terminal::size)?;
    size.ok().map(|(columns, _)| columns.into())
}

/// The rows of a text that stands behind `before` cells; of a screen, at most `screen` cells are used.
pub fn in_rows(text: &str, before: usize, screen: Option<usize>) -> Vec<String> {
    let room = screen.and_then(|cells| cells.checked_sub(before)).filter(|room| *room >= NARROWEST);
    let rows = |line: &str| match room {
        Some(room) => flowed(line.split(' ').map(str::to_owned), room),
        None => vec![line.to_owned()],
    };
    text.lines().flat_map(rows).collect()
}

/// Columns as wide as their longest cell, two spaces apart; the last column is not padded, and on a
/// narrow screen its words continue below its beginning.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    fitted_table(rows, screen_width())
}

fn fitted_table<const N: usize>(rows: &[[String; N]], screen: Option<usize>) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths).take(N - 1) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        let before = line.width();
        let last = in_rows(&row[N - 1], before, screen);
        line.push_str(&last.join(&format!("\n{}", " ".repeat(before))));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows =
            [["", "NAME", "X"], ["*", "鍵", "1"], ["", "b", ""]].map(|row| row.map(String::from));
        assert_eq!(table(&rows), "   NAME  X\n*  鍵    1\n   b\n");
    }

    #[test]
    fn words_are_not_broken_where_the_screen_ends() {
        let rows = [["done", "a function and its long/path/to/a/test.py"]];
        let rows = rows.map(|row| row.map(String::from));
        let narrow = "done  a function and its\n      long/path/to/a/test.py\n";
        assert_eq!(fitted_table(&rows, Some(28)), narrow);
        for screen in [None, Some(80), Some(20)] {
            assert_eq!(fitted_table(&rows, screen).lines().count(), 1, "{screen:?}");
        }
        assert_eq!(in_rows("a\nb c", 0, Some(40)), ["a", "b c"]);
    }
}
