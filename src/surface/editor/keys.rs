//! The editing keys, as in every shell.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustyline::line_buffer::LineBuffer;
use rustyline::{Movement, Word};

use super::text::{self, capitalized, word_after, word_before};
use super::{EditKind, Editor};

impl Editor {
    pub fn key(&mut self, key: KeyEvent) {
        if !self.vim_key(key) {
            self.plain_key(key);
        }
    }

    pub(super) fn plain_key(&mut self, key: KeyEvent) {
        self.begin();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let by_word = control || alt;
        match key.code {
            KeyCode::Char(c) if control && !alt => self.control(c),
            KeyCode::Char(c) if alt && !control => self.alt(c),
            KeyCode::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Enter => self.insert("\n"),
            KeyCode::Backspace if by_word => self.kill_word_before(),
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete if by_word => self.kill_word_after(),
            KeyCode::Delete => self.delete(),
            KeyCode::Left if by_word => self.go(|line| line.move_backward(word_before(line))),
            KeyCode::Left => self.go(|line| line.move_backward(1)),
            KeyCode::Right if by_word => self.go(|line| line.move_forward(word_after(line))),
            KeyCode::Right => self.go(|line| line.move_forward(1)),
            KeyCode::Home if control => self.go(LineBuffer::move_buffer_start),
            KeyCode::Home => self.go(LineBuffer::move_home),
            KeyCode::End if control => self.go(LineBuffer::move_buffer_end),
            KeyCode::End => self.go(LineBuffer::move_end),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            _ => {}
        }
    }

    fn control(&mut self, c: char) {
        match c {
            'a' => self.go(LineBuffer::move_home),
            'e' => self.go(LineBuffer::move_end),
            'b' => self.go(|line| line.move_backward(1)),
            'f' => self.go(|line| line.move_forward(1)),
            'p' => self.up(),
            'n' => self.down(),
            'd' => self.delete(),
            'h' => self.backspace(),
            'j' => self.insert("\n"),
            'k' => self.kill(|line, ring| line.kill(&Movement::EndOfLine, ring)),
            'u' => self.kill(|line, ring| line.kill(&Movement::BeginningOfLine, ring)),
            // As in a shell, up to the last space; but not a whole sentence in a script without
            // spaces.
            'w' if text::is_unspaced(&self.text) => self.kill_word_before(),
            'w' => self.kill(|line, ring| line.kill(&Movement::BackwardWord(1, Word::Big), ring)),
            'y' => self.yank(),
            // crossterm reports the byte of Ctrl-_ and Ctrl-/ as Ctrl-7.
            '_' | '/' | '7' => self.undo(),
            _ => {}
        }
    }

    fn alt(&mut self, c: char) {
        match c {
            'b' => self.go(|line| line.move_backward(word_before(line))),
            'f' => self.go(|line| line.move_forward(word_after(line))),
            'd' => self.kill_word_after(),
            's' => self.edit(EditKind::Other, text::swap_characters),
            't' => self.edit(EditKind::Other, text::swap_words),
            'u' => self.change_word(str::to_uppercase),
            'l' => self.change_word(str::to_lowercase),
            'c' => self.change_word(capitalized),
            'y' => self.yank_older(),
            '_' | '/' => self.redo(),
            '<' => self.go(LineBuffer::move_buffer_start),
            '>' => self.go(LineBuffer::move_buffer_end),
            _ => {}
        }
    }

    fn backspace(&mut self) {
        self.edit(EditKind::Erase, |line, ring| line.backspace(1, ring));
    }

    fn delete(&mut self) {
        self.edit(EditKind::Erase, |line, ring| line.delete(1, ring));
    }

    fn kill_word_before(&mut self) {
        self.kill(|line, ring| line.backspace(word_before(line), ring));
    }

    fn kill_word_after(&mut self) {
        self.kill(|line, ring| line.delete(word_after(line), ring));
    }

    fn change_word(&mut self, change: fn(&str) -> String) {
        self.edit(EditKind::Other, |line, ring| text::change_word(line, change, ring));
    }
}
