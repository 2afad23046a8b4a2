//! The keys that edit, as in every shell.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Editor, is_solid, is_word};

impl Editor {
    pub fn key(&mut self, key: KeyEvent) {
        self.begin();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let by_word = control || alt;
        match key.code {
            KeyCode::Char(c) if control && !alt => self.control(c),
            KeyCode::Char(c) if alt && !control => self.alt(c),
            KeyCode::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Enter => self.insert("\n"),
            KeyCode::Backspace if by_word => self.kill(self.word_left(is_word), self.cursor),
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete if by_word => self.kill(self.cursor, self.word_right()),
            KeyCode::Delete => self.delete(),
            KeyCode::Left if by_word => self.move_to(self.word_left(is_word)),
            KeyCode::Left => self.move_to(self.left_of(self.cursor)),
            KeyCode::Right if by_word => self.move_to(self.word_right()),
            KeyCode::Right => self.move_to(self.right_of(self.cursor)),
            KeyCode::Home if control => self.move_to(0),
            KeyCode::Home => self.move_to(self.line_start()),
            KeyCode::End if control => self.move_to(self.text.len()),
            KeyCode::End => self.move_to(self.line_end()),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            _ => {}
        }
    }

    fn control(&mut self, c: char) {
        match c {
            'a' => self.move_to(self.line_start()),
            'e' => self.move_to(self.line_end()),
            'b' => self.move_to(self.left_of(self.cursor)),
            'f' => self.move_to(self.right_of(self.cursor)),
            'p' => self.up(),
            'n' => self.down(),
            'd' => self.delete(),
            'h' => self.backspace(),
            'j' => self.insert("\n"),
            'k' => match self.line_end() {
                end if end == self.cursor => self.kill(end, self.right_of(end)),
                end => self.kill(self.cursor, end),
            },
            'u' => self.kill(self.line_start(), self.cursor),
            'w' => self.kill(self.word_left(is_solid), self.cursor),
            'y' => self.yank(),
            't' => self.transpose(),
            // What terminals send for Ctrl-_ and Ctrl-/ reads as Ctrl-7.
            '_' | '/' | '7' => self.undo(),
            _ => {}
        }
    }

    fn alt(&mut self, c: char) {
        match c {
            'b' => self.move_to(self.word_left(is_word)),
            'f' => self.move_to(self.word_right()),
            'd' => self.kill(self.cursor, self.word_right()),
            'y' => self.yank_older(),
            '_' | '/' => self.redo(),
            '<' => self.move_to(0),
            '>' => self.move_to(self.text.len()),
            _ => {}
        }
    }
}
