//! The keys of vi, as many as a prompt needs: two modes, motions, operators with counts, a register,
//! and the dot.
//!
//! | | |
//! |---|---|
//! | motions | `h` `j` `k` `l` `w` `b` `e` `0` `^` `$` |
//! | operators | `d` `c` `y` with a motion or doubled; `D` `C` `x` |
//! | to insert | `i` `a` `I` `A` `o` `O` |
//! | else | `p` `P` `u` Ctrl-R `.`, and a count before any of them |

mod motion;
#[cfg(test)]
mod tests;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{EditKind, Editor};
use motion::{
    before, first_word, is_on_word, line_end, line_start, lines, next, on_character, this_word_end,
    word_back, word_end, word_forward,
};

/// Larger counts are typing errors.
const MOST: usize = 9_999;

#[derive(Debug, Default)]
pub struct Vim {
    normal: bool,
    count: Option<usize>,
    /// `d`, `c` or `y`, and the count before it.
    operator: Option<(char, usize)>,
    register: Register,
    /// The keys of the command being typed, and of the last command that changed something.
    typed: Vec<KeyEvent>,
    last_change: Vec<KeyEvent>,
    repeating: bool,
    /// The number of undo steps when inserting began: everything inserted is one step.
    undo_from: usize,
}

#[derive(Debug, Default)]
struct Register {
    text: String,
    /// Whether it contains whole lines.
    lines: bool,
}

/// The effect of a command.
#[derive(PartialEq, Eq)]
enum Done {
    /// More keys are needed.
    Not,
    Moved,
    Changed,
    /// Text typed from now on belongs to the command.
    Inserting,
}

impl Editor {
    /// Switches vi's keys on or off, and returns whether they are on.
    pub fn toggle_vim(&mut self) -> bool {
        self.vim = if self.vim.is_some() { None } else { Some(Vim::default()) };
        self.vim.is_some()
    }

    pub fn is_vim_normal(&self) -> bool {
        self.vim.as_ref().is_some_and(|vim| vim.normal)
    }

    /// Whether Esc belongs to the editor, because text is being inserted or a command is
    /// incomplete.
    pub fn takes_escape(&self) -> bool {
        self.vim.as_ref().is_some_and(|vim| !vim.normal || vim.is_midway())
    }

    /// A new text begins in insert mode.
    pub(super) fn vim_begins(&mut self) {
        if let Some(vim) = &mut self.vim {
            let register = std::mem::take(&mut vim.register);
            let last_change = std::mem::take(&mut vim.last_change);
            *vim = Vim { register, last_change, ..Vim::default() };
        }
    }

    /// Handles a key in vi's modes; returns whether it did.
    pub(super) fn vim_key(&mut self, key: KeyEvent) -> bool {
        let Some(mut vim) = self.vim.take() else { return false };
        let taken = if vim.normal {
            self.normal_key(&mut vim, key)
        } else {
            self.insert_key(&mut vim, key)
        };
        self.vim = Some(vim);
        taken
    }

    fn insert_key(&mut self, vim: &mut Vim, key: KeyEvent) -> bool {
        if !vim.repeating {
            vim.typed.push(key);
        }
        if key.code != KeyCode::Esc {
            return false;
        }
        vim.normal = true;
        self.undo.merge_from(vim.undo_from);
        let at = self.text.pos();
        if at > line_start(&self.text, at) {
            self.move_to(before(&self.text, at));
        }
        let typed = std::mem::take(&mut vim.typed);
        // Text typed before the first command is not a change to repeat.
        if !vim.repeating && typed.first().is_some_and(|first| is_command(*first)) {
            vim.last_change = typed;
        }
        true
    }

    fn normal_key(&mut self, vim: &mut Vim, key: KeyEvent) -> bool {
        let control = key.modifiers == KeyModifiers::CONTROL;
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let c = match key.code {
            KeyCode::Char('r') if control => {
                let count = vim.take_count();
                (0..count).for_each(|_| self.redo());
                return true;
            }
            KeyCode::Esc => {
                vim.forget();
                return true;
            }
            KeyCode::Backspace | KeyCode::Left if plain => 'h',
            KeyCode::Right | KeyCode::Char(' ') if plain => 'l',
            KeyCode::Up if plain => 'k',
            KeyCode::Down if plain => 'j',
            KeyCode::Home if plain => '0',
            KeyCode::End if plain => '$',
            KeyCode::Delete if plain => 'x',
            KeyCode::Char(c) if plain => c,
            _ => return false,
        };
        if !vim.repeating {
            vim.typed.push(key);
        }
        let undo_from = self.undo.steps();
        match self.command(vim, c) {
            Done::Not => return true,
            Done::Changed if !vim.repeating => vim.last_change = std::mem::take(&mut vim.typed),
            Done::Moved | Done::Changed => {}
            Done::Inserting => {
                vim.normal = false;
                vim.undo_from = undo_from;
                vim.forget_numbers();
                return true;
            }
        }
        vim.forget();
        self.move_to(on_character(&self.text, self.text.pos()));
        true
    }

    fn command(&mut self, vim: &mut Vim, c: char) -> Done {
        if let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || vim.count.is_some()) {
            let digit = usize::try_from(digit).unwrap_or(0);
            vim.count = Some((vim.count.unwrap_or(0) * 10 + digit).min(MOST));
            return Done::Not;
        }
        if let Some((operator, times)) = vim.operator {
            let count = (vim.take_count() * times).min(MOST);
            return self.operate(vim, operator, c, count);
        }
        match c {
            'd' | 'c' | 'y' => {
                vim.operator = Some((c, vim.take_count()));
                Done::Not
            }
            'D' | 'C' => self.operate(vim, c.to_ascii_lowercase(), '$', 1),
            'x' => {
                let count = vim.take_count();
                self.operate(vim, 'd', 'l', count)
            }
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.begin_inserting(c),
            'p' | 'P' => {
                let count = vim.take_count();
                self.put_register(&vim.register, c == 'P', count)
            }
            'u' => {
                (0..vim.take_count()).for_each(|_| self.undo());
                Done::Moved
            }
            '.' => {
                let keys = vim.last_change.clone();
                for _ in 0..vim.take_count() {
                    self.repeat(vim, &keys);
                }
                Done::Moved
            }
            'j' | 'k' => {
                for _ in 0..vim.take_count() {
                    if c == 'j' { self.down() } else { self.up() }
                }
                Done::Moved
            }
            _ => {
                let count = vim.take_count();
                if let Some(to) = self.motion(c, count) {
                    self.move_to(to);
                }
                Done::Moved
            }
        }
    }

    fn motion(&self, c: char, count: usize) -> Option<usize> {
        let (text, at) = (self.text.as_str(), self.text.pos());
        let (start, end) = (line_start(text, at), line_end(text, at));
        let times = |step: fn(&str, usize) -> usize| (0..count).fold(at, |at, _| step(text, at));
        Some(match c {
            'h' => times(before).max(start),
            'l' => times(next).min(end),
            'w' => times(word_forward),
            'b' => times(word_back),
            'e' => times(word_end),
            '0' => start,
            '^' => first_word(text, at),
            '$' => end,
            _ => return None,
        })
    }

    fn operate(&mut self, vim: &mut Vim, operator: char, c: char, count: usize) -> Done {
        let (text, at) = (self.text.as_str(), self.text.pos());
        let down = c == 'j' || c == operator;
        if down || c == 'k' {
            let count = if c == operator { count } else { count + 1 };
            let from = if down {
                at
            } else {
                (1..count)
                    .fold(at, |at, _| line_start(text, line_start(text, at).saturating_sub(1)))
            };
            let (start, end) = lines(text, from, count);
            return self.operate_on_lines(vim, operator, start, end);
        }
        let (start, end) = match c {
            'w' if operator == 'c' && is_on_word(text, at) => {
                let before_last = (1..count).fold(at, |at, _| word_forward(text, at));
                (at, this_word_end(text, before_last))
            }
            'e' => (at, next(text, self.motion('e', count).unwrap_or(at))),
            'w' => {
                let to = self.motion('w', count).unwrap_or(at);
                // At the end of a line, `dw` does not delete the line break.
                let line = if count == 1 { line_end(text, at) } else { text.len() };
                (at, to.min(line))
            }
            _ => match self.motion(c, count) {
                Some(to) => (at.min(to), at.max(to)),
                None => return Done::Moved,
            },
        };
        vim.register = Register { text: text[start..end].to_owned(), lines: false };
        self.finish(operator, start, end, "")
    }

    fn operate_on_lines(
        &mut self,
        vim: &mut Vim,
        operator: char,
        start: usize,
        end: usize,
    ) -> Done {
        let text = self.text.as_str();
        vim.register = Register { text: text[start..end].to_owned(), lines: true };
        if operator != 'd' {
            // Copying moves neither text nor cursor; changing keeps the line itself.
            let at = if operator == 'y' {
                self.text.pos().min(start.max(self.text.pos()))
            } else {
                start
            };
            let done = self.finish(operator, start, end, "");
            if operator == 'y' {
                self.move_to(at);
            }
            return done;
        }
        // Deletes one of the two line breaks as well.
        let (start, end) = match (end < text.len(), start > 0) {
            (true, _) => (start, end + 1),
            (false, true) => (start - 1, end),
            (false, false) => (start, end),
        };
        self.finish('d', start, end, "");
        self.move_to(first_word(&self.text, start.min(self.text.len())));
        Done::Changed
    }

    fn finish(&mut self, operator: char, start: usize, end: usize, instead: &str) -> Done {
        match operator {
            'y' => {
                self.move_to(start);
                Done::Moved
            }
            operator => {
                self.begin();
                self.splice(EditKind::Other, start..end, instead);
                if operator == 'c' { Done::Inserting } else { Done::Changed }
            }
        }
    }

    fn begin_inserting(&mut self, c: char) -> Done {
        let at = self.text.pos();
        let (start, end) = (line_start(&self.text, at), line_end(&self.text, at));
        match c {
            'a' => self.move_to(next(&self.text, at).min(end)),
            'I' => self.move_to(first_word(&self.text, at)),
            'A' => self.move_to(end),
            'o' | 'O' => {
                let place = if c == 'o' { end } else { start };
                self.begin();
                self.splice(EditKind::Other, place..place, "\n");
                self.move_to(if c == 'o' { place + 1 } else { place });
            }
            _ => {}
        }
        Done::Inserting
    }

    fn put_register(&mut self, register: &Register, in_front: bool, count: usize) -> Done {
        if register.text.is_empty() {
            return Done::Moved;
        }
        let at = self.text.pos();
        let (start, end) = (line_start(&self.text, at), line_end(&self.text, at));
        self.begin();
        if register.lines {
            let text = vec![register.text.as_str(); count].join("\n");
            let (place, text) =
                if in_front { (start, format!("{text}\n")) } else { (end, format!("\n{text}")) };
            self.splice(EditKind::Other, place..place, &text);
            self.move_to(first_word(&self.text, if in_front { place } else { place + 1 }));
        } else {
            let place = if in_front { at } else { next(&self.text, at).min(end) };
            let text = register.text.repeat(count);
            self.splice(EditKind::Other, place..place, &text);
            self.move_to(before(&self.text, place + text.len()));
        }
        Done::Changed
    }

    /// Repeats the keys of the last change, from here.
    fn repeat(&mut self, vim: &mut Vim, keys: &[KeyEvent]) {
        let outer = std::mem::replace(&mut vim.repeating, true);
        vim.forget_numbers();
        for key in keys {
            let taken =
                if vim.normal { self.normal_key(vim, *key) } else { self.insert_key(vim, *key) };
            if !taken {
                self.plain_key(*key);
            }
        }
        vim.repeating = outer;
    }

    fn move_to(&mut self, at: usize) {
        self.go(|line| {
            line.set_pos(at.min(line.len()));
            true
        });
    }
}

impl Vim {
    fn is_midway(&self) -> bool {
        self.count.is_some() || self.operator.is_some()
    }

    fn take_count(&mut self) -> usize {
        self.count.take().unwrap_or(1)
    }

    fn forget_numbers(&mut self) {
        self.count = None;
        self.operator = None;
    }

    fn forget(&mut self) {
        self.forget_numbers();
        self.typed.clear();
    }
}

/// Whether this is the first key of a change that can be repeated.
fn is_command(key: KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char(c) if c.is_ascii_digit() || "iaIAoOcCdDxpP".contains(c))
}
