//! Standard output of the commands that answer a question: text, tables, JSON.

use std::io::{ErrorKind, Write};

use anyhow::Result;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

/// A reader that has seen enough (`| head`) is no failure.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

pub fn print_json(value: &Value) -> Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Columns as wide as they need to be, two spaces apart; the last one as it is.
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
