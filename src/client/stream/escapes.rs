//! Terminal escape sequences. The client sends some between its JSON lines and even before one on
//! the same line, and no text of an agent may control the user's terminal.

use std::borrow::Cow;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// The length of the escape sequence at the start of `bytes`, 0 if there is none. An incomplete
/// sequence extends to the end.
pub fn escape_len(bytes: &[u8]) -> usize {
    if bytes.first() != Some(&ESC) {
        return 0;
    }
    match bytes.get(1) {
        None => 1,
        // CSI: parameters and intermediates, then one final byte.
        Some(b'[') => {
            let body = bytes[2..].iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            (2 + body + 1).min(bytes.len())
        }
        // OSC, DCS, SOS, PM, APC: a string up to BEL or ESC \.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            for at in 2..bytes.len() {
                if bytes[at] == BEL {
                    return at + 1;
                }
                if bytes[at] == ESC && bytes.get(at + 1) == Some(&b'\\') {
                    return at + 2;
                }
            }
            bytes.len()
        }
        // nF: intermediates, then one final byte; everything else is two bytes.
        Some(0x20..=0x2f) => {
            let body = bytes[1..].iter().take_while(|byte| (0x20..0x30).contains(*byte)).count();
            (1 + body + 1).min(bytes.len())
        }
        Some(_) => 2,
    }
}

/// `text` without escapes and without control characters other than newline and tab.
pub fn strip_escapes(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
    // A fast check: almost no text has a byte with which a control character can begin. 0xC2 begins
    // those beyond ASCII.
    let suspect =
        |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f || byte == 0xc2;
    if !text.bytes().any(suspect) || text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // A sequence that would end inside a character ends before it.
        let mut skip = escape_len(rest.as_bytes());
        while !rest.is_char_boundary(skip) {
            skip -= 1;
        }
        if skip == 0 {
            if plain(c) {
                out.push(c);
            }
            skip = c.len_utf8();
        }
        rest = &rest[skip..];
    }
    Cow::Owned(out)
}

/// The visible text of a line that is not JSON; `None` if there is none.
pub fn visible(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let text = strip_escapes(&text);
    let text = text.trim_end();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_measured() {
        for (bytes, len) in [
            (&b"\x1b[?1006lX"[..], 8),
            (b"\x1b]0;title\x07X", 10),
            (b"\x1b]0;title\x1b\\X", 11),
            (b"\x1b(BX", 3),
            (b"\x1b7X", 2),
            (b"\x1b[31", 4),
            (b"\x1b", 1),
            (b"X", 0),
            (b"", 0),
        ] {
            assert_eq!(escape_len(bytes), len, "{bytes:?}");
        }
    }

    #[test]
    fn text_cannot_control_the_terminal() {
        assert_eq!(strip_escapes("a\x1b[2Jb\x1b]0;pwn\x07c\rd\x08e\u{9b}f"), "abcdef");
        assert_eq!(strip_escapes("两\x1b字\tok\n"), "两字\tok\n");
        assert_eq!(strip_escapes("plain"), "plain");
    }

    #[test]
    fn a_line_of_escapes_has_no_visible_text() {
        assert_eq!(visible(b"\x1b[?25h\x1b[0m  "), None);
        assert_eq!(visible(b"error: \xff bad\r").as_deref(), Some("error: \u{fffd} bad"));
    }
}
