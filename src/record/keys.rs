//! Turns keys back into the bytes that a terminal sends for them: a recording holds what was typed,
//! not how ccc understood it.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// `None` for anything that was not typed: a resize, a click, a change of focus.
pub fn typed(input: &Input) -> Option<String> {
    match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => key_bytes(*key),
        Input::Paste(text) => Some(format!("\x1b[200~{text}\x1b[201~")),
        _ => None,
    }
}

fn key_bytes(key: KeyEvent) -> Option<String> {
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let plain = match key.code {
        KeyCode::Char(c) if control => control_byte(c).to_string(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter if key.modifiers.difference(KeyModifiers::ALT).is_empty() => "\r".to_owned(),
        KeyCode::Tab => "\t".to_owned(),
        KeyCode::BackTab => "\x1b[Z".to_owned(),
        KeyCode::Backspace => if control { "\x08" } else { "\x7f" }.to_owned(),
        KeyCode::Esc => "\x1b".to_owned(),
        code => return special(code, key.modifiers),
    };
    Some(if alt { format!("\x1b{plain}") } else { plain })
}

fn control_byte(c: char) -> char {
    match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '[' | '\\' | ']' | '^' | '_' | '@') => char::from(c as u8 & 0x1f),
        // crossterm reports the bytes 0x1c to 0x1f as Ctrl-4 to Ctrl-7.
        c @ '4'..='7' => char::from(c as u8 - b'4' + 0x1c),
        ' ' => '\0',
        other => other,
    }
}

fn special(code: KeyCode, modifiers: KeyModifiers) -> Option<String> {
    let with = modifier(modifiers);
    let letter = |letter: char| match with {
        Some(with) => format!("\x1b[1;{with}{letter}"),
        None => format!("\x1b[{letter}"),
    };
    let number = |number: u8, last: char| match with {
        Some(with) => format!("\x1b[{number};{with}{last}"),
        None => format!("\x1b[{number}{last}"),
    };
    Some(match code {
        KeyCode::Up => letter('A'),
        KeyCode::Down => letter('B'),
        KeyCode::Right => letter('C'),
        KeyCode::Left => letter('D'),
        KeyCode::Home => letter('H'),
        KeyCode::End => letter('F'),
        KeyCode::Insert => number(2, '~'),
        KeyCode::Delete => number(3, '~'),
        KeyCode::PageUp => number(5, '~'),
        KeyCode::PageDown => number(6, '~'),
        KeyCode::F(key @ 1..=4) => {
            let last = char::from(b'P' + key - 1);
            if with.is_some() { letter(last) } else { format!("\x1bO{last}") }
        }
        KeyCode::F(key @ 5..=12) => {
            number([15, 17, 18, 19, 20, 21, 23, 24][usize::from(key) - 5], '~')
        }
        KeyCode::Enter => number(13, 'u'),
        _ => return None,
    })
}

/// The modifier parameter as xterm encodes it: 1 plus a bit for each modifier; `None` without any.
/// For plain keys, Alt is an ESC in front instead.
fn modifier(modifiers: KeyModifiers) -> Option<u8> {
    let bits = [(KeyModifiers::SHIFT, 1), (KeyModifiers::ALT, 2), (KeyModifiers::CONTROL, 4)];
    let sum: u8 = bits.iter().filter(|(bit, _)| modifiers.contains(*bit)).map(|(_, bit)| bit).sum();
    (sum > 0).then_some(sum + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_the_bytes_of_a_terminal() {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        const ALT: KeyModifiers = KeyModifiers::ALT;
        const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
        for (code, modifiers, bytes) in [
            (KeyCode::Char('a'), NONE, "a"),
            (KeyCode::Char('A'), SHIFT, "A"),
            (KeyCode::Char('é'), NONE, "é"),
            (KeyCode::Char('鍵'), NONE, "鍵"),
            (KeyCode::Char('c'), CONTROL, "\x03"),
            (KeyCode::Char('j'), CONTROL, "\n"),
            (KeyCode::Char('4'), CONTROL, "\x1c"),
            (KeyCode::Char('7'), CONTROL, "\x1f"),
            (KeyCode::Char(' '), CONTROL, "\0"),
            (KeyCode::Char('b'), ALT, "\x1bb"),
            (KeyCode::Char('d'), ALT | CONTROL, "\x1b\x04"),
            (KeyCode::Enter, NONE, "\r"),
            (KeyCode::Enter, SHIFT, "\x1b[13;2u"),
            (KeyCode::Tab, NONE, "\t"),
            (KeyCode::BackTab, SHIFT, "\x1b[Z"),
            (KeyCode::Backspace, NONE, "\x7f"),
            (KeyCode::Backspace, ALT, "\x1b\x7f"),
            (KeyCode::Esc, NONE, "\x1b"),
            (KeyCode::Up, NONE, "\x1b[A"),
            (KeyCode::Left, CONTROL, "\x1b[1;5D"),
            (KeyCode::Home, NONE, "\x1b[H"),
            (KeyCode::End, SHIFT, "\x1b[1;2F"),
            (KeyCode::Delete, NONE, "\x1b[3~"),
            (KeyCode::PageUp, ALT, "\x1b[5;3~"),
            (KeyCode::F(1), NONE, "\x1bOP"),
            (KeyCode::F(4), CONTROL, "\x1b[1;5S"),
            (KeyCode::F(5), NONE, "\x1b[15~"),
            (KeyCode::F(12), NONE, "\x1b[24~"),
        ] {
            let key = Input::Key(KeyEvent::new(code, modifiers));
            assert_eq!(typed(&key).as_deref(), Some(bytes), "{key:?}");
        }
    }

    #[test]
    fn a_paste_is_bracketed_and_other_events_are_not_typed() {
        let paste = Input::Paste("a\nb".into());
        assert_eq!(typed(&paste).as_deref(), Some("\x1b[200~a\nb\x1b[201~"));
        let mut key = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        for nothing in [Input::Resize(1, 2), Input::FocusGained, Input::Key(key)] {
            assert_eq!(typed(&nothing), None);
        }
    }
}
