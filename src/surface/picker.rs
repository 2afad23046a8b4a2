//! Choosing one of many entries, with the arrow keys or by typing a part of it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::styled::{self, Glyphs, Style, Styled};

/// How many entries are shown at once, if there is room.
const MOST: usize = 10;

#[derive(Debug, Default)]
pub struct Picker {
    title: String,
    entries: Vec<String>,
    query: String,
    /// The index among the matching entries.
    selected: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Picked {
    Nothing,
    Entry(usize),
    Cancelled,
}

impl Picker {
    pub fn new(title: &str, entries: Vec<String>) -> Self {
        Self { title: title.to_owned(), entries, ..Self::default() }
    }

    /// The entries that contain every typed word, in any order.
    fn fitting(&self) -> Vec<usize> {
        let words: Vec<_> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let fits = |entry: &str| {
            let entry = entry.to_lowercase();
            words.iter().all(|word| entry.contains(word))
        };
        let entries = self.entries.iter().enumerate();
        entries.filter(|(_, entry)| fits(entry)).map(|(at, _)| at).collect()
    }

    pub fn key(&mut self, key: KeyEvent) -> Picked {
        let fitting = self.fitting();
        let many = fitting.len().max(1);
        let control = key.modifiers == KeyModifiers::CONTROL;
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Esc => return Picked::Cancelled,
            KeyCode::Char('c' | 'd') if control => return Picked::Cancelled,
            KeyCode::Enter => {
                return fitting.get(self.selected).map_or(Picked::Nothing, |at| Picked::Entry(*at));
            }
            KeyCode::Up => self.selected = (self.selected + many - 1) % many,
            KeyCode::Down => self.selected = (self.selected + 1) % many,
            KeyCode::Char('p') if control => self.selected = (self.selected + many - 1) % many,
            KeyCode::Char('n') if control => self.selected = (self.selected + 1) % many,
            KeyCode::Backspace => {
                self.query.pop();
                self.selected = 0;
            }
            KeyCode::Char('u') if control => {
                self.query.clear();
                self.selected = 0;
            }
            KeyCode::Char(c) if plain => {
                self.query.push(c);
                self.selected = 0;
            }
            _ => {}
        }
        Picked::Nothing
    }

    pub fn rows(&self, (columns, height): (usize, usize), glyphs: Glyphs) -> Vec<Styled> {
        let cut = |text: &str| styled::cut(text, columns, glyphs.ellipsis);
        let fitting = self.fitting();
        let room = height.saturating_sub(2).clamp(1, MOST);
        let from = self.selected.saturating_sub(room - 1);
        let search = match self.query.as_str() {
            "" => String::new(),
            query => format!("  {}", styled::exposed(query)),
        };
        let mut rows = vec![Styled::new(Style::Question, &cut(&format!("{}{search}", self.title)))];
        for (at, entry) in fitting.iter().enumerate().skip(from).take(room) {
            let chosen = at == self.selected;
            let pointer = if chosen { glyphs.prompt } else { "  " };
            let style = if chosen { Style::Question } else { Style::Plain };
            let entry = styled::exposed(&self.entries[*entry]);
            rows.push(Styled::new(style, &cut(&format!("{pointer}{entry}"))));
        }
        let hidden = fitting.len().saturating_sub(from + room);
        let search = match (fitting.is_empty(), hidden) {
            (true, _) => "No match; type".to_owned(),
            (false, 0) => "Type".to_owned(),
            (false, hidden) => format!("{hidden} more; type"),
        };
        let search = format!("{search} to search");
        let keys = [&search, "arrows and Enter to choose", "Esc to cancel"];
        rows.push(Styled::new(Style::Dim, &cut(&styled::keys(&keys, columns))));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn texts(picker: &Picker, height: usize) -> Vec<String> {
        picker.rows((40, height), Glyphs::unicode()).iter().map(Styled::text).collect()
    }

    #[test]
    fn arrows_and_words_choose() {
        let entries = ["fix the parser", "write docs", "Parser tests"].map(str::to_owned).to_vec();
        let mut picker = Picker::new("Which?", entries);
        assert_eq!(texts(&picker, 24)[..2], ["Which?", "❯ fix the parser"]);
        picker.key(key(KeyCode::Up));
        assert_eq!(picker.key(key(KeyCode::Enter)), Picked::Entry(2), "round the end");
        for c in "parser te".chars() {
            assert_eq!(picker.key(key(KeyCode::Char(c))), Picked::Nothing);
        }
        assert_eq!(texts(&picker, 24)[..2], ["Which?  parser te", "❯ Parser tests"]);
        assert_eq!(picker.key(key(KeyCode::Enter)), Picked::Entry(2));
        picker.key(key(KeyCode::Char('x')));
        assert_eq!(picker.key(key(KeyCode::Enter)), Picked::Nothing, "nothing fits");
        picker.key(key(KeyCode::Backspace));
        assert_eq!(picker.key(key(KeyCode::Enter)), Picked::Entry(2));
        assert_eq!(picker.key(key(KeyCode::Esc)), Picked::Cancelled);
    }

    #[test]
    fn a_long_list_scrolls_and_cannot_steer_the_terminal() {
        let entries = (0..30).map(|at| format!("{at} \x1b[2J")).collect();
        let mut picker = Picker::new("Which?", entries);
        for _ in 0..12 {
            picker.key(key(KeyCode::Down));
        }
        let rows = texts(&picker, 7);
        assert_eq!((rows.len(), rows[5].as_str()), (7, "❯ 12 \\u{1b}[2J"), "{rows:#?}");
        assert!(rows[6].starts_with("17 more; "), "{rows:#?}");
    }
}
