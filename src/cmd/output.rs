//! Standard output of commands that answer a question: text, tables, JSON.

use std::io::ErrorKind;

use anyhow::Result;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::console;

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

/// Columns as wide as their longest cell, two spaces apart; the last column is not padded.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
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
}
