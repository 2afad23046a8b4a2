//! The answers that a question offers: a list to move in, by arrows or by numbers; Enter chooses
//! one. No letter is an answer, because a letter may begin a message, and anything that allows more
//! than this one use takes two keys.

use crate::client::form::FormQuestion;
use crate::client::plan;
use crate::event::Question;
use crate::surface::status::can_always;
use crate::surface::styled::{self, Glyphs, Style, Styled};

/// Rows needed besides the list: the text, the question itself, and some of the transcript.
const NOT_LIST: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Once,
    Always,
    /// Accepts a plan, and its edits without asking.
    AcceptEdits,
    Deny,
    DenyAndExplain,
    /// An option of a form.
    Option(usize),
    OwnWords,
    Decline,
}

#[derive(Debug, Default)]
pub struct Choices {
    list: Vec<(Choice, String)>,
    selected: usize,
    /// The marked options of a form that allows several.
    marked: Vec<usize>,
    several: bool,
    /// Digits typed since the last other key: if words follow, they began a message.
    digits: String,
}

impl Choices {
    pub fn permission(question: &Question) -> Self {
        if plan::is_plan(&question.asked) {
            return Self::plan();
        }
        let mut list = vec![(Choice::Once, "Yes, once".to_owned())];
        if can_always(question) {
            list.push((Choice::Always, "Yes, always in this session".to_owned()));
        }
        list.push((Choice::Deny, "No".to_owned()));
        list.push((Choice::DenyAndExplain, "No, and say why".to_owned()));
        Self { list, ..Self::default() }
    }

    fn plan() -> Self {
        let list = [
            (Choice::Once, "Yes, go ahead"),
            (Choice::AcceptEdits, "Yes, and accept edits without asking"),
            (Choice::DenyAndExplain, "No, and say what to change"),
        ];
        let list = list.map(|(choice, label)| (choice, label.to_owned())).into();
        Self { list, ..Self::default() }
    }

    pub fn form(question: &FormQuestion) -> Self {
        let options = question.options.iter().enumerate();
        let mut list: Vec<_> = options
            .map(|(at, option)| (Choice::Option(at), styled::exposed(&option.label)))
            .collect();
        list.push((Choice::OwnWords, "Something else".to_owned()));
        list.push((Choice::Decline, "No answer".to_owned()));
        Self { list, several: question.several, ..Self::default() }
    }

    pub fn selected(&self) -> Option<Choice> {
        self.list.get(self.selected).map(|(choice, _)| *choice)
    }

    /// The marked options, or the selected one.
    pub fn numbers(&self) -> String {
        let mut marked: Vec<_> = self.marked.iter().map(|at| at + 1).collect();
        if marked.is_empty() {
            marked.push(self.selected + 1);
        }
        marked.sort_unstable();
        marked.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    pub fn step(&mut self, down: bool) {
        self.digits.clear();
        let many = self.list.len().max(1);
        self.selected = (self.selected + if down { 1 } else { many - 1 }) % many;
    }

    pub fn select(&mut self, digit: char) {
        self.digits.push(digit);
        let at = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
        if let Some(at) = at.filter(|at| *at < self.list.len()) {
            self.selected = at;
        }
    }

    /// Where words that begin with this letter go: to the selected choice, if it takes words.
    /// Behind a number a space makes it a quantity, and so a message.
    pub fn takes_words(&self, first: char) -> bool {
        matches!(self.selected(), Some(Choice::DenyAndExplain | Choice::OwnWords))
            && (first != ' ' || self.digits.is_empty())
    }

    /// The numbers that words begin with; not one that chose where the words go.
    pub fn take_digits(&mut self, first: char) -> String {
        let chose = self.takes_words(first) && self.digits == (self.selected + 1).to_string();
        let digits = std::mem::take(&mut self.digits);
        if chose { String::new() } else { digits }
    }

    pub fn marks_several(&self) -> bool {
        self.several
    }

    pub fn mark(&mut self) {
        self.digits.clear();
        if let Some(Choice::Option(at)) = self.selected() {
            match self.marked.iter().position(|marked| *marked == at) {
                Some(found) => drop(self.marked.remove(found)),
                None => self.marked.push(at),
            }
        }
    }

    /// One row per answer if there is room, otherwise side by side.
    pub fn rows(
        &self,
        head: &str,
        long: bool,
        size: (usize, usize),
        glyphs: Glyphs,
    ) -> Vec<Styled> {
        let (columns, height) = size;
        let labels = self.list.iter().enumerate().map(|(at, (choice, label))| {
            let mark = match choice {
                Choice::Option(option) if self.several => {
                    if self.marked.contains(option) {
                        "[x] "
                    } else {
                        "[ ] "
                    }
                }
                _ => "",
            };
            let pointer = if at == self.selected { glyphs.prompt } else { "  " };
            (at == self.selected, format!("{pointer}{}. {mark}{label}", at + 1))
        });
        let cut = |text: &str| styled::cut(text, columns, glyphs.ellipsis);
        if height < self.list.len() + NOT_LIST {
            let words = std::iter::once(head.to_owned()).chain(labels.map(|(_, label)| label));
            return styled::flowed(words, columns)
                .iter()
                .map(|row| Styled::new(Style::Question, &cut(row)))
                .collect();
        }
        let mut keys = Vec::new();
        keys.extend(long.then_some("Ctrl-O to see all of it"));
        keys.extend(self.several.then_some("Space to mark"));
        keys.extend(["Enter to choose", "Tab to type a message", "Esc to decline"]);
        let mut rows = vec![Styled::new(Style::Question, &cut(head))];
        rows.extend(labels.map(|(selected, label)| {
            Styled::new(if selected { Style::Question } else { Style::Plain }, &cut(&label))
        }));
        rows.push(Styled::new(Style::Dim, &cut(&styled::keys(&keys, columns))));
        rows
    }
}
