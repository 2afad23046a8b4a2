//! A list to choose from, in place of the status line: arrows or a number select, Enter chooses,
//! Esc cancels.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::client::stream::Model;
use crate::event::Wish;
use crate::surface::styled::{self, Glyphs, Style, Styled};

/// Rows needed besides the list: the text, the head, and some of the transcript.
const NOT_LIST: usize = 8;

#[derive(Debug)]
pub struct Menu {
    head: String,
    items: Vec<(String, String, Wish)>,
    selected: usize,
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Pressed {
    Stays,
    Closed,
    Chosen(Wish),
}

impl Menu {
    /// The current model is selected.
    pub fn models(models: &[Model], now: &str) -> Option<Self> {
        let is_now = |model: &Model| model.resolved == now || model.value == now;
        let selected = models.iter().position(is_now).unwrap_or(0);
        let item = |(at, model): (usize, &Model)| {
            let name = if model.name.is_empty() { &model.value } else { &model.name };
            let mark = if at == selected && is_now(model) { " (current)" } else { "" };
            let wish = Wish::Model(model.value.clone());
            (format!("{}{mark}", styled::exposed(name)), model.description.clone(), wish)
        };
        let items: Vec<_> = models.iter().enumerate().map(item).collect();
        (!items.is_empty()).then(|| Self { head: "Which model?".to_owned(), items, selected })
    }

    pub fn key(&mut self, key: KeyEvent) -> Pressed {
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Up => self.step(false),
            KeyCode::Down => self.step(true),
            KeyCode::Char('p') if control => self.step(false),
            KeyCode::Char('n') if control => self.step(true),
            KeyCode::Char('c') if control => return Pressed::Closed,
            KeyCode::Char(c) if !control => {
                let at = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                match at.and_then(|at| at.checked_sub(1)).filter(|at| *at < self.items.len()) {
                    Some(at) => self.selected = at,
                    None => return Pressed::Closed,
                }
            }
            KeyCode::Enter => {
                let chosen = self.items.get(self.selected);
                return chosen.map_or(Pressed::Closed, |(.., wish)| Pressed::Chosen(wish.clone()));
            }
            KeyCode::Esc => return Pressed::Closed,
            _ => {}
        }
        Pressed::Stays
    }

    fn step(&mut self, down: bool) {
        let many = self.items.len().max(1);
        self.selected = (self.selected + if down { 1 } else { many - 1 }) % many;
    }

    pub fn rows(&self, (columns, height): (usize, usize), glyphs: Glyphs) -> Vec<Styled> {
        let cut = |row: Styled| row.cut(columns, glyphs.ellipsis);
        // Around the selected item, if there is no room for all.
        let room = height.saturating_sub(NOT_LIST).clamp(1, self.items.len());
        let from = self.selected.saturating_sub(room / 2).min(self.items.len() - room);
        let shown = self.items.iter().enumerate().skip(from).take(room);
        let mut rows = vec![cut(Styled::new(Style::Question, &self.head))];
        rows.extend(shown.map(|(at, (label, detail, _))| {
            let here = at == self.selected;
            let style = if here { Style::Question } else { Style::Plain };
            let pointer = if here { glyphs.prompt } else { "  " };
            let row = Styled::new(style, &format!("{pointer}{}. {label}", at + 1));
            cut(row.with(Style::Dim, &format!("  {}", styled::first_line(detail).0)))
        }));
        rows.push(cut(Styled::new(Style::Dim, "Enter to choose, Esc to cancel")));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu() -> Menu {
        let model = |name: &str| Model {
            value: name.to_lowercase(),
            name: name.into(),
            description: format!("{name} is a model\nof many"),
            resolved: format!("claude-{}", name.to_lowercase()),
        };
        let models: Vec<_> = ["Opus", "Sonnet", "Haiku"].map(model).into();
        Menu::models(&models, "claude-sonnet").unwrap()
    }

    fn press(menu: &mut Menu, code: KeyCode) -> Pressed {
        menu.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn the_current_model_is_selected_first() {
        let mut menu = menu();
        let rows: Vec<_> =
            menu.rows((40, 24), Glyphs::unicode()).iter().map(Styled::text).collect();
        assert_eq!(rows[2], "❯ 2. Sonnet (current)  Sonnet is a model");
        assert_eq!(press(&mut menu, KeyCode::Down), Pressed::Stays);
        assert_eq!(press(&mut menu, KeyCode::Enter), Pressed::Chosen(Wish::Model("haiku".into())));
        press(&mut menu, KeyCode::Char('1'));
        assert_eq!(press(&mut menu, KeyCode::Enter), Pressed::Chosen(Wish::Model("opus".into())));
        assert_eq!(press(&mut menu, KeyCode::Esc), Pressed::Closed);
        assert!(Menu::models(&[], "").is_none());
    }

    #[test]
    fn the_selected_item_is_visible_in_every_window() {
        let mut menu = menu();
        for height in 1..14 {
            for _ in 0..3 {
                press(&mut menu, KeyCode::Down);
                let rows = menu.rows((20, height), Glyphs::unicode());
                assert!(rows.iter().any(|row| row.text().starts_with('❯')), "{height}");
                assert!(rows.iter().all(|row| row.width() <= 20), "{height}");
            }
        }
    }
}
