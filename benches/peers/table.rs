//! Columns for people: the first to the left, figures to the right.

pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(ToString::to_string).collect()] }
    }

    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    pub fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for (at, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate();
            let line = cells.map(|(column, (cell, width))| match column {
                0 => format!("  {cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            println!("{}", line.collect::<Vec<_>>().join("  ").trim_end());
            if at == 0 {
                println!("  {}", "─".repeat(widths.iter().sum::<usize>() + 2 * (columns - 1)));
            }
        }
    }
}
