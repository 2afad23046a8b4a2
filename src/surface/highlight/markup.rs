//! HTML and its relatives: tags with attributes, comments, and plain text.

use super::{Style, Styled, Within};

/// The longest entity that is recognised.
const ENTITY: usize = 10;

/// Elements whose content is not markup.
const FOREIGN: [&str; 2] = ["script", "style"];

pub(super) fn part(text: &str, state: &mut Within) -> Styled {
    let mut out = Styled::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (style, length) = match state {
            Within::Block(_) => {
                let end = rest.find("-->").map(|at| at + 3);
                if end.is_some() {
                    *state = Within::Code;
                }
                (Style::Comment, end)
            }
            Within::Tag(name) => {
                let (style, length, next) = in_tag(rest, *name);
                *state = next;
                (style, Some(length))
            }
            Within::Value(quote, name) => {
                let end = memchr::memchr(*quote, rest.as_bytes()).map(|at| at + 1);
                if end.is_some() {
                    *state = Within::Tag(*name);
                }
                (Style::Quoted, end)
            }
            Within::Foreign(name) => {
                let end = end_tag(rest, name);
                if end.is_some() {
                    *state = Within::Code;
                }
                (Style::Plain, end)
            }
            _ => {
                let (style, length, next) = in_text(rest);
                *state = next;
                (style, Some(length))
            }
        };
        let (now, later) = rest.split_at(length.unwrap_or(rest.len()));
        out.push_untabbed(style, now);
        rest = later;
    }
    out
}

fn in_text(rest: &str) -> (Style, usize, Within) {
    let bytes = rest.as_bytes();
    if rest.starts_with("<!--") {
        return (Style::Comment, 4, Within::Block(1));
    }
    if bytes[0] == b'<' {
        let from = if matches!(bytes.get(1), Some(b'/' | b'?' | b'!')) { 2 } else { 1 };
        let end = from + name_length(&bytes[from..]);
        if bytes.get(from).is_some_and(u8::is_ascii_alphabetic) {
            let name = FOREIGN.into_iter().find(|name| rest[1..end].eq_ignore_ascii_case(name));
            return (Style::Keyword, end, Within::Tag(name));
        }
        return (Style::Plain, 1, Within::Code);
    }
    if bytes[0] == b'&' {
        let window = &bytes[1..bytes.len().min(ENTITY)];
        let word =
            window.iter().take_while(|byte| **byte == b'#' || byte.is_ascii_alphanumeric()).count();
        if word > 0 && window.get(word) == Some(&b';') {
            return (Style::Literal, word + 2, Within::Code);
        }
        return (Style::Plain, 1, Within::Code);
    }
    let end = memchr::memchr2(b'<', b'&', bytes).unwrap_or(bytes.len());
    (Style::Plain, end, Within::Code)
}

fn in_tag(rest: &str, name: Option<&'static str>) -> (Style, usize, Within) {
    let bytes = rest.as_bytes();
    match bytes[0] {
        b'>' => (Style::Keyword, 1, name.map_or(Within::Code, Within::Foreign)),
        b'/' | b'?' if bytes.get(1) == Some(&b'>') => (Style::Keyword, 2, Within::Code),
        quote @ (b'"' | b'\'') => (Style::Quoted, 1, Within::Value(quote, name)),
        // The last tag was not closed.
        b'<' => in_text(rest),
        _ => match name_length(bytes) {
            0 => {
                let odd = bytes[1..].iter().take_while(|byte| **byte == b' ').count();
                (Style::Plain, odd + 1, Within::Tag(name))
            }
            length => (Style::Name, length, Within::Tag(name)),
        },
    }
}

fn name_length(bytes: &[u8]) -> usize {
    let named =
        |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:.@#".contains(byte) || !byte.is_ascii();
    bytes.iter().take_while(named).count()
}

fn end_tag(text: &str, name: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, "</").find(|at| {
        let rest = &bytes[at + 2..];
        rest.len() >= name.len() && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
    })
}
