//! The table of keys, which `?` shows.

use unicode_width::UnicodeWidthStr;

use crate::surface::styled::{self, Glyphs, Style, Styled};

/// All of them fit into 80 columns and 24 rows. The README has the same table.
pub const KEYS: [(&str, &str); 19] = [
    ("Enter", "send; steers the agent, cancels a review"),
    ("Alt-Enter, Ctrl-J, \\ Enter", "new line"),
    ("Up, Down", "earlier messages; Up takes a queued one back"),
    ("Ctrl-R", "search earlier messages"),
    ("/, @", "commands, project files"),
    ("Tab", "complete; answer a question"),
    ("Shift-Tab", "permission mode: ask, edits, plan, auto"),
    ("Ctrl-T, Ctrl-B", "todo list; tool to the background"),
    ("Ctrl-G, Ctrl-V", "edit in $VISUAL or $EDITOR; add an image"),
    ("Ctrl-O", "the session, or a question, in $PAGER"),
    ("!command, #note", "run in your shell; add to CLAUDE.md"),
    ("Esc, Ctrl-C", "interrupt; twice when idle: rewind, exit"),
    ("Ctrl-D, Ctrl-Z, Ctrl-L", "exit (if empty), suspend, clear"),
    ("Ctrl-A, Ctrl-E, Alt-B, Alt-F", "start, end of line; back, forward a word"),
    ("Ctrl-W, Alt-D, Ctrl-U, Ctrl-K", "cut a word; cut to start, end of line"),
    ("Ctrl-Y, Alt-Y", "paste the last cut; then an earlier one"),
    ("Ctrl-_ or Ctrl-/, Alt-/", "undo, redo"),
    ("Alt-S, Alt-T, Alt-U, -L, -C", "swap letters, words; upper, lower, title"),
    ("?", "show these keys (if empty)"),
];

const BETWEEN: usize = 2;

/// In two columns if there is room; if some rows do not fit, the last one says so.
pub fn rows(columns: usize, most: usize, glyphs: Glyphs) -> Vec<Styled> {
    let mut rows = all(columns, glyphs);
    if rows.len() > most {
        rows.truncate(most.saturating_sub(1));
        let more = format!("{} more in a taller window", glyphs.ellipsis);
        rows.push(Styled::new(Style::Dim, &styled::cut(&more, columns, glyphs.ellipsis)));
        rows.truncate(most);
    }
    rows
}

fn all(columns: usize, glyphs: Glyphs) -> Vec<Styled> {
    let widest = |cells: fn(&(&str, &str)) -> usize| KEYS.iter().map(cells).max().unwrap_or(0);
    let (keys, what) = (widest(|key| key.0.width()), widest(|key| key.1.width()));
    let one = keys + BETWEEN + what;
    let across = if columns >= 2 * one + 2 * BETWEEN { 2 } else { 1 };
    let down = KEYS.len().div_ceil(across);
    let cell = |row: Styled, (key, text): &(&str, &str), last: bool| {
        let pad = " ".repeat(keys - key.width() + BETWEEN);
        let text = if last {
            (*text).to_owned()
        } else {
            format!("{text:<width$}", width = what + BETWEEN)
        };
        row.with(Style::Bold, key).with(Style::Dim, &format!("{pad}{text}"))
    };
    (0..down)
        .map(|at| {
            if columns < one {
                let (key, text) = KEYS[at];
                return Styled::new(
                    Style::Dim,
                    &styled::cut(&format!("{key}  {text}"), columns, glyphs.ellipsis),
                );
            }
            let entries: Vec<_> = KEYS.iter().skip(at).step_by(down).collect();
            let last = entries.len() - 1;
            entries
                .into_iter()
                .enumerate()
                .fold(Styled::default(), |row, (at, entry)| cell(row, entry, at == last))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_shown_at_every_width() {
        for columns in [200, 130, 80, 40] {
            let rows = rows(columns, KEYS.len(), Glyphs::unicode());
            assert!(rows.iter().all(|row| row.text().width() <= columns), "{columns}");
            let all: String = rows.iter().map(|row| row.text() + "\n").collect();
            for (key, what) in KEYS {
                assert!(all.contains(key) || columns < 60, "{key} {columns}");
                assert!(all.contains(what) || columns < 60, "{what} {columns}");
            }
        }
        assert_eq!(rows(200, KEYS.len(), Glyphs::unicode()).len(), KEYS.len().div_ceil(2));
        assert!(rows(0, KEYS.len(), Glyphs::unicode()).iter().all(|row| row.text().is_empty()));
    }

    #[test]
    fn the_readme_has_the_same_table() {
        let readme = include_str!("../../../README.md");
        let rows: Vec<_> = KEYS.iter().map(|(key, what)| format!("| {key} | {what} |")).collect();
        assert!(readme.contains(&rows.join("\n")), "README.md should have:\n{}", rows.join("\n"));
    }
}
