//! Standard output and standard error, for everything that is not drawn. Text from elsewhere (a
//! fixture, a provider's name, a path, an agent) is cleaned here, so that it cannot control the
//! terminal, and a closed pipe never causes a panic. `clippy.toml` keeps `println!` and the like
//! out of the rest of the program.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;

/// Invisible characters that control a terminal or change the order of the text around them.
pub fn controls_terminal(c: char) -> bool {
    c.is_control() || reorders_text(c)
}

/// Invisible characters that change the direction of a line or break it.
pub fn reorders_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` with all characters escaped that would control the terminal, except newlines and tabs.
pub fn clean(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !controls_terminal(c) || matches!(c, '\n' | '\t');
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

/// The same JSON value with such characters escaped.
pub fn clean_json(json: &str) -> Cow<'_, str> {
    let controls_terminal = |c: char| controls_terminal(c) && !matches!(c, '\n' | '\t' | '\r');
    if !json.contains(controls_terminal) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if controls_terminal(c) {
            // All of them are in the Basic Multilingual Plane.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Prints text to standard output. A closed pipe (`| head`) is not an error.
pub fn print(text: impl Display) -> io::Result<()> {
    write_out(clean(&text.to_string()).as_bytes())
}

/// Prints bytes unchanged to a program or a file, but cleaned to a terminal.
pub fn print_exact(bytes: &[u8]) -> io::Result<()> {
    if is_terminal() {
        return write_out(clean(&String::from_utf8_lossy(bytes)).as_bytes());
    }
    write_out(bytes)
}

/// Prints lines that ccc itself styled; `Styled` has cleaned their text.
pub fn print_styled(lines: &[u8]) -> io::Result<()> {
    write_out(lines)
}

pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    write_out(clean_json(&text).as_bytes())
}

/// Prints a line to standard error. If it is closed, that is ignored.
pub fn say(text: impl Display) {
    let line = format!("{}\n", clean(&without_numbers(&text.to_string())));
    let _ = stderr().write_all(line.as_bytes());
}

/// Without the numbers that Rust puts behind the words of the system's errors.
pub fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<u32>().is_ok() => out += rest,
            _ => out.extend([" (os error ", part]),
        }
    }
    out
}

pub fn is_terminal() -> bool {
    stdout().is_terminal()
}

pub fn stderr_is_terminal() -> bool {
    stderr().is_terminal()
}

/// For the surfaces, which clean their lines themselves, and for protocols with other programs.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn stdout() -> io::Stdout {
    io::stdout()
}

/// For the transcript of a session whose standard output carries its answer.
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
    fn control_characters_are_escaped() {
        for (text, wanted) in [
            ("a\tb\nc 汉 👩‍👩‍👧", "a\tb\nc 汉 👩‍👩‍👧"),
            ("\x1b]52;c;eA==\x07", "\\u{1b}]52;c;eA==\\u{7}"),
            ("a\rb\u{9b}2J\u{202e}x", "a\\rb\\u{9b}2J\\u{202e}x"),
        ] {
            assert_eq!(clean(text), wanted);
        }
    }

    #[test]
    fn an_error_is_told_without_its_number() {
        for (text, told) in [
            (
                "a: No such file or directory (os error 2); see b",
                "a: No such file or directory; see b",
            ),
            ("a (os error 2), b (os error 13)", "a, b"),
            ("an (os error of) b (os error 2", "an (os error of) b (os error 2"),
        ] {
            assert_eq!(without_numbers(text), told);
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a": "\u{9b}2J \u{202e} \x1b[1m 汉", "b": [1, "\u{2028}"]});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let cleaned = clean_json(&text);
        assert!(!cleaned.chars().any(|c| controls_terminal(c) && c != '\n'), "{cleaned}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&cleaned).unwrap(), value);
    }
}
