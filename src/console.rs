//! Standard output and standard error: the last write of everything that is not drawn. Whatever
//! others wrote (a fixture, a provider's name, a path, an agent) is cleaned here and cannot steer the
//! terminal; a reader that went away never makes a panic. `clippy.toml` keeps `println!` and its
//! relatives out of the rest of the program.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;

/// Characters that do something to a terminal or to the order of what stands beside them, instead of
/// being seen.
pub fn steers(c: char) -> bool {
    c.is_control() || turns(c)
}

/// Characters that turn the rest of a line round, or break it where nobody sees why.
pub fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` with everything written out that would steer the terminal; lines and tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !steers(c) || matches!(c, '\n' | '\t');
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    Cow::Owned(out)
}

/// JSON as it was, with the same characters in their escaped form: equal for every parser.
pub fn clean_json(json: &str) -> Cow<'_, str> {
    let steers = |c: char| steers(c) && !matches!(c, '\n' | '\t' | '\r');
    if !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if steers(c) {
            // All of them are in the first plane.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Text on standard output. A reader that has seen enough (`| head`) is no failure.
pub fn print(text: impl Display) -> io::Result<()> {
    write_out(clean(&text.to_string()).as_bytes())
}

/// Bytes for a program or a file, exactly as they are; only a terminal gets them cleaned.
pub fn print_exact(bytes: &[u8]) -> io::Result<()> {
    if is_terminal() {
        return write_out(clean(&String::from_utf8_lossy(bytes)).as_bytes());
    }
    write_out(bytes)
}

/// Lines that were styled by ccc itself: `Styled` has cleaned what it was given.
pub fn print_styled(lines: &[u8]) -> io::Result<()> {
    write_out(lines)
}

/// One value, indented.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    write_out(clean_json(&text).as_bytes())
}

/// A line on standard error, or nowhere: nobody fails because nobody listens.
pub fn say(text: impl Display) {
    let line = format!("{}\n", clean(&text.to_string()));
    let _ = stderr().write_all(line.as_bytes());
}

pub fn is_terminal() -> bool {
    stdout().is_terminal()
}

pub fn errors_are_on_a_terminal() -> bool {
    stderr().is_terminal()
}

/// For the surfaces, which clean what they write line by line, and for the protocols of other
/// programs.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn stdout() -> io::Stdout {
    io::stdout()
}

/// For the transcript of a session whose standard output is for its answer.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn stderr() -> io::Stderr {
    io::stderr()
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(io::Error::new(error.kind(), format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_gets_out() {
        for (text, wanted) in [
            ("a\tb\nc 汉 👩‍👩‍👧", "a\tb\nc 汉 👩‍👩‍👧"),
            ("\x1b]52;c;eA==\x07", "\\u{1b}]52;c;eA==\\u{7}"),
            ("a\rb\u{9b}2J\u{202e}x", "a\\rb\\u{9b}2J\\u{202e}x"),
        ] {
            assert_eq!(clean(text), wanted);
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a": "\u{9b}2J \u{202e} \x1b[1m 汉", "b": [1, "\u{2028}"]});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let cleaned = clean_json(&text);
        assert!(!cleaned.chars().any(|c| steers(c) && c != '\n'), "{cleaned}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&cleaned).unwrap(), value);
    }
}
