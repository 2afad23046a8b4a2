//! Reads lines from a terminal that does the editing.

use std::io::{self, BufRead};

use crate::client::stream::strip_escapes;

/// The longest line while the terminal does the editing: the kernel silently drops the rest.
const LONGEST: usize = if cfg!(target_os = "macos") { 1023 } else { 4095 };

const CUT: &str = "That line is longer than the terminal can pass on: its end is lost, and nothing was sent. \
                       Split it into several lines, each but the last ending with a backslash, or save the \
                       text to a file and mention the file.";
const NO_TEXT: &str = "That line is not valid UTF-8 and was not sent.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    Refused(&'static str),
    /// Ctrl-D.
    End,
}

/// Reads until the end, or until `on_typed` returns false. `more` tells whether another line is
/// already there: nobody types that fast, so it is a paste, which is one message. A read error is
/// not the end: the person did not ask to leave.
pub fn read_typed(
    mut from: impl BufRead,
    more: impl Fn() -> bool,
    on_typed: impl Fn(Typed) -> bool,
) -> io::Result<()> {
    let mut ended = false;
    while !ended {
        let mut text = Vec::new();
        let mut cut = false;
        loop {
            let before = text.len();
            from.read_until(b'\n', &mut text)?;
            ended = text.len() == before;
            // Without a newline it was Ctrl-D after a text, which counts as Enter.
            let whole = text.ends_with(b"\n");
            cut |= text.len() - before > LONGEST - usize::from(!whole);
            if ended || !whole || !more() {
                break;
            }
        }
        if !text.is_empty() && !on_typed(if cut { Typed::Refused(CUT) } else { line(&text) }) {
            return Ok(());
        }
    }
    on_typed(Typed::End);
    Ok(())
}

fn line(text: &[u8]) -> Typed {
    match std::str::from_utf8(text) {
        // Without an editor, an arrow key is an escape sequence in the text.
        Ok(text) => Typed::Line(strip_escapes(text.trim_end_matches(['\n', '\r'])).into_owned()),
        Err(_) => Typed::Refused(NO_TEXT),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn typed(bytes: &[u8], pasted: usize) -> Vec<Typed> {
        let all = RefCell::new(Vec::new());
        let left = RefCell::new(pasted);
        let more = || {
            let mut left = left.borrow_mut();
            *left = left.saturating_sub(1);
            *left > 0
        };
        read_typed(bytes, more, |typed| {
            all.borrow_mut().push(typed);
            true
        })
        .unwrap();
        all.into_inner()
    }

    #[test]
    fn each_line_is_separate() {
        let line = |text: &str| Typed::Line(text.to_owned());
        assert_eq!(typed(b"one\n\ntwo\n", 0), [line("one"), line(""), line("two"), Typed::End]);
        assert_eq!(typed(b"no end", 0), [line("no end"), Typed::End]);
        assert_eq!(typed(b"", 0), [Typed::End]);
        assert_eq!(typed(b"a\x1b[Db\n", 0), [line("ab"), Typed::End]);
        assert_eq!(typed(b"\xff\nb", 0), [Typed::Refused(NO_TEXT), line("b"), Typed::End]);
    }

    #[test]
    fn an_error_is_reported_and_does_not_leave() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let all = RefCell::new(Vec::new());
        let from = io::BufReader::new(io::Read::chain(&b"one\n"[..], Broken));
        let read = read_typed(
            from,
            || false,
            |typed| {
                all.borrow_mut().push(typed);
                true
            },
        );
        assert_eq!(read.unwrap_err().to_string(), "broken");
        assert_eq!(all.into_inner(), [Typed::Line("one".to_owned())]);
    }

    #[test]
    fn a_paste_is_one_message() {
        let lines = [Typed::Line("one\ntwo".into()), Typed::Line("three".into()), Typed::End];
        assert_eq!(typed(b"one\ntwo\nthree\n", 2), lines);
    }

    #[test]
    fn a_line_that_the_kernel_cut_is_refused() {
        let bytes = |size: usize| [vec![b'x'; size], vec![b'\n']].concat();
        assert_eq!(typed(&bytes(LONGEST), 0), [Typed::Refused(CUT), Typed::End]);
        assert_eq!(
            typed(&bytes(LONGEST - 1), 0),
            [Typed::Line("x".repeat(LONGEST - 1)), Typed::End]
        );
        assert_eq!(
            typed(&[bytes(3), bytes(LONGEST)].concat(), 2),
            [Typed::Refused(CUT), Typed::End]
        );
    }
}
