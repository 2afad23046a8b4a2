//! What the person's keys said, as they went through to the client. A prompt, and above all a switch,
//! counts as the person's only when an Enter of theirs can have sent it: the agent can forge an event
//! of the client, and queue prompts of its own, but it has no keys.

use std::collections::VecDeque;

use memchr::memmem;

/// Messages that are typed while the agent works are reported late.
const MOST_ENTERS: usize = 32;
/// More than any command that has to be recognised.
const MOST_TEXT: usize = 1024;
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

#[derive(Debug, Default)]
pub struct Keys {
    /// What was typed or pasted since the last Enter.
    text: String,
    /// A line was taken out of the history instead of being typed.
    recalled: bool,
    entered: VecDeque<Entered>,
    pasting: bool,
    /// The beginning of a sequence whose end is still to come.
    rest: Vec<u8>,
}

#[derive(Debug)]
struct Entered {
    text: String,
    recalled: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Key {
    Enter,
    Text(char),
    Recall,
    Other,
}

impl Keys {
    /// Bytes of the terminal, wherever they were cut.
    pub fn typed(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.rest);
        // A lone Esc was a key if nothing follows that belongs to it.
        if all == [0x1b] && !bytes.first().is_some_and(|byte| b"[OP]_^".contains(byte)) {
            all.clear();
        }
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            if self.pasting {
                let Some(end) = memmem::find(rest, PASTED) else {
                    // The last bytes may be the beginning of the mark.
                    let kept =
                        (1..PASTED.len()).rev().find(|kept| rest.ends_with(&PASTED[..*kept]));
                    let (text, begun) = rest.split_at(rest.len() - kept.unwrap_or(0));
                    self.rest = begun.to_vec();
                    return self.push(&String::from_utf8_lossy(text));
                };
                self.push(&String::from_utf8_lossy(&rest[..end]));
                self.pasting = false;
                rest = &rest[end + PASTED.len()..];
                continue;
            }
            if rest.starts_with(PASTE) {
                self.pasting = true;
                rest = &rest[PASTE.len()..];
                continue;
            }
            let Some((key, length)) = key(rest) else {
                // A lone Esc at the end is a key, or the beginning of one that follows.
                if rest.len() < 64 {
                    self.rest = rest.to_vec();
                }
                return;
            };
            match key {
                Key::Enter => self.enter(),
                Key::Text(c) => self.push(c.encode_utf8(&mut [0; 4])),
                Key::Recall => self.recalled = true,
                Key::Other => {}
            }
            rest = &rest[length..];
        }
    }

    fn push(&mut self, text: &str) {
        if self.text.len() < MOST_TEXT {
            self.text.push_str(text);
        }
    }

    fn enter(&mut self) {
        let text = std::mem::take(&mut self.text);
        let recalled = std::mem::take(&mut self.recalled);
        if self.entered.len() == MOST_ENTERS {
            self.entered.pop_front();
        }
        self.entered.push_back(Entered { text, recalled });
    }

    /// Whether the person can have sent a message; if so, this Enter has been used up.
    pub fn claim(&mut self) -> bool {
        self.entered.pop_front().is_some()
    }

    /// Whether the person can have given this command: typed, or begun and completed, or taken out of
    /// the history. All Enters up to that one are used up.
    pub fn claim_command(&mut self, command: &str) -> bool {
        let gave = |entered: &Entered| entered.recalled || names(&entered.text, command);
        let Some(at) = self.entered.iter().position(gave) else { return false };
        self.entered.drain(..=at);
        true
    }
}

/// Whether the text has the command in it, or its beginning.
fn names(text: &str, command: &str) -> bool {
    const ENOUGH: usize = 3;
    let beginning = command.get(..ENOUGH).unwrap_or(command);
    text.match_indices(beginning).any(|(at, _)| {
        let word = text[at..].split(char::is_whitespace).next().unwrap_or_default();
        command.starts_with(word) || word == command
    })
}

/// The first key, and how many bytes it has. `None` if its end is still to come.
fn key(bytes: &[u8]) -> Option<(Key, usize)> {
    match bytes {
        [b'\r', ..] => Some((Key::Enter, 1)),
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
        // Answers of the terminal to questions of the client.
        [0x1b, b'P' | b']' | b'_' | b'^', rest @ ..] => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b | 0x9c))?;
            let string_end = rest[end] == 0x1b && rest.get(end + 1) == Some(&b'\\');
            Some((Key::Other, end + 3 + usize::from(string_end)))
        }
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

/// Arrows, and keys in the form of the kitty protocol: `code[:…];modifiers[:event];text u`.
fn control_sequence(parameters: &[u8], last: u8) -> Key {
    match last {
        b'A' | b'B' => Key::Recall,
        b'u' => {
            let text = String::from_utf8_lossy(parameters);
            let mut fields = text.split(';');
            let number = |field: Option<&str>| field.and_then(|field| field.parse::<u32>().ok());
            let code = number(fields.next().and_then(|field| field.split(':').next()));
            let mut how = fields.next().unwrap_or_default().split(':');
            let modifiers = number(how.next()).unwrap_or(1).saturating_sub(1);
            let released = number(how.next()) == Some(3);
            // Shift, Alt, Control, …; locks of the keyboard are no modifiers.
            let held = modifiers & 0b11_1111;
            match code {
                _ if released => Key::Other,
                Some(13) if held == 0 => Key::Enter,
                Some(code) if held <= 1 => {
                    char::from_u32(code).filter(|c| !c.is_control()).map_or(Key::Other, Key::Text)
                }
                _ => Key::Other,
            }
        }
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[&[u8]]) -> Keys {
        let mut keys = Keys::default();
        for bytes in bytes {
            keys.typed(bytes);
        }
        keys
    }

    #[test]
    fn every_message_needs_an_enter_of_its_own() {
        let mut none = keys(&[b"hello"]);
        assert!(!none.claim());
        let mut one = keys(&[b"hel", b"lo\r"]);
        assert!(one.claim() && !one.claim());
        for enter in [b"\x1b[13u".as_slice(), b"\x1b[13;1u", b"\x1b[13;65u", b"\x1bOM"] {
            assert!(keys(&[enter]).claim(), "{enter:?}");
        }
        for other in
            [b"\x1b[13;2u".as_slice(), b"\x1b[13;1:3u", b"\n", b"\x1b\r", b"\x1b[200~a\rb\x1b[201~"]
        {
            assert!(!keys(&[other]).claim(), "{other:?}");
        }
    }

    #[test]
    fn what_the_terminal_reports_is_no_key() {
        for report in [
            b"\x1b[<0;10;10M\x1b[<0;10;10m".as_slice(),
            b"\x1b[I\x1b[O",
            b"\x1b[?62;4c",
            b"\x1b]11;rgb:0/0/0\x1b\\",
            b"\x1bP>|xterm(388)\x1b\\",
            b"\x1b_Gi=31;OK\x1b\\",
        ] {
            let mut keys = keys(&[report, b"/supervisoroff\r"]);
            assert!(keys.claim_command("/supervisoroff"), "{report:?}");
            assert!(!keys.claim());
        }
    }

    #[test]
    fn a_command_was_typed_pasted_completed_or_recalled() {
        for typed in [
            b"/supervisoroff\r".as_slice(),
            b"/superv\t\r",
            b"/supervisoroff go on\r",
            b"\x1b[200~/supervisoroff\x1b[201~\r",
            b"\x1b[A\r",
            b"\x1b[47u\x1b[115uu\r",
        ] {
            assert!(keys(&[typed]).claim_command("/supervisoroff"), "{typed:?}");
        }
        for other in
            [b"hello\r".as_slice(), b"/supervisoroff", b"\r", b"/supper\r", b"/su\x1b[13;1:3u"]
        {
            assert!(!keys(&[other]).claim_command("/supervisoroff"), "{other:?}");
        }
        assert!(keys(&[b"\x1b", b"/supervisoroff\r"]).claim_command("/supervisoroff"));
        let mut later = keys(&[b"first\r", b"/supervisoroff\r", b"second\r"]);
        assert!(later.claim_command("/supervisoroff"));
        assert!(!later.claim_command("/supervisoroff"));
        assert!(later.claim() && !later.claim());
    }

    #[test]
    fn bytes_may_be_cut_anywhere() {
        let all = "é\x1b[200~pa\x1b[201~/supervisor\x1b[1;5D\x1b[13u".as_bytes();
        for at in 0..all.len() {
            let mut keys = keys(&[&all[..at], &all[at..]]);
            assert!(keys.claim_command("/supervisor"), "{at}");
        }
    }
}
