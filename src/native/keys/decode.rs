//! Decodes a terminal's bytes into keys, in the legacy encoding and in the kitty protocol's.

#[derive(Debug, PartialEq, Eq)]
pub enum Key {
    Enter,
    Text(char),
    Back,
    /// The whole line is erased.
    Clear,
    /// Ctrl-C: as `Clear`, and it interrupts the agent.
    Cancel,
    Recall,
    Escape,
    Other,
    /// Not a key: the mouse, the focus, or an answer to a query of the client.
    Report,
}

/// The first key and its length in bytes; `None` if it is incomplete.
pub fn key(bytes: &[u8]) -> Option<(Key, usize)> {
    match bytes {
        [b'\r', ..] => Some((Key::Enter, 1)),
        [0x7f | 0x08, ..] => Some((Key::Back, 1)),
        [0x03, ..] => Some((Key::Cancel, 1)),
        // Ctrl-U.
        [0x15, ..] => Some((Key::Clear, 1)),
        // Ctrl-P, Ctrl-N, Ctrl-R.
        [0x10 | 0x0e | 0x12, ..] => Some((Key::Recall, 1)),
        [0x1b] | [0x1b, b'O'] => None,
        [0x1b, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let (parameters, last) = (&rest[..end], rest[end]);
            Some((control_sequence(parameters, last), end + 3))
        }
        [0x1b, b'O', last, ..] => Some((
            match last {
                b'M' => Key::Enter,
                b'A' | b'B' => Key::Recall,
                _ => Key::Other,
            },
            3,
        )),
        [0x1b, b'P' | b']' | b'_' | b'^', rest @ ..] => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b | 0x9c))?;
            let string_end = rest[end] == 0x1b && rest.get(end + 1) == Some(&b'\\');
            Some((Key::Report, end + 3 + usize::from(string_end)))
        }
        [0x1b, 0x1b, ..] => Some((Key::Escape, 1)),
        [0x1b, ..] => Some((Key::Other, 2)),
        [byte, ..] if byte.is_ascii_control() => Some((Key::Other, 1)),
        _ => {
            let length = match bytes[0] {
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xff => 4,
                _ => 1,
            };
            let character = bytes.get(..length)?;
            let c = std::str::from_utf8(character).ok().and_then(|text| text.chars().next());
            Some((c.map_or(Key::Other, Key::Text), length))
        }
    }
}

/// Arrows, reports, and keys in the encoding of the kitty protocol: `code[:…];modifiers[:event];text u`.
fn control_sequence(parameters: &[u8], last: u8) -> Key {
    match last {
        b'A' | b'B' => Key::Recall,
        b'u' if !parameters.starts_with(b"?") => kitty(&String::from_utf8_lossy(parameters)),
        b'M' | b'm' | b'I' | b'O' | b'c' | b'n' | b'R' | b't' | b'u' | b'y' => Key::Report,
        _ => Key::Other,
    }
}

/// The modifier bit of the Control key.
const CONTROL: u32 = 0b100;

fn kitty(parameters: &str) -> Key {
    let mut fields = parameters.split(';');
    let number = |field: Option<&str>| field.and_then(|field| field.parse::<u32>().ok());
    let code = number(fields.next().and_then(|field| field.split(':').next()));
    let mut how = fields.next().unwrap_or_default().split(':');
    let modifiers = number(how.next()).unwrap_or(1).saturating_sub(1);
    let released = number(how.next()) == Some(3);
    // Shift, Alt, Control and so on; Caps Lock and Num Lock are ignored.
    let held = modifiers & 0b11_1111;
    match code.and_then(char::from_u32) {
        _ if released => Key::Report,
        Some('\r') if held == 0 => Key::Enter,
        Some('\x1b') if held == 0 => Key::Escape,
        Some('\x7f' | '\x08') if held <= 1 => Key::Back,
        Some('c') if held == CONTROL => Key::Cancel,
        Some('u') if held == CONTROL => Key::Clear,
        Some('p' | 'n' | 'r') if held == CONTROL => Key::Recall,
        Some(c) if held <= 1 && !c.is_control() => Key::Text(c),
        _ => Key::Other,
    }
}
