//! One line to its messages. Nearly always that is one JSON object; but the client also prints
//! escapes in front of one, plain-text errors, and half a line when it dies.

use std::borrow::Cow;

use serde_json::json;

use super::escapes::{escape_len, strip_escapes, visible};
use super::message::{Envelope, Message};
use super::salvage::salvage;
use super::wire::{NEEDED, SKIPPED, Wire};

const TYPE: &[u8] = b"\"type";

/// As long as the name of a message that the loop waits for, with what stands around it.
pub(super) const NAME: usize = 64;

/// A line as it came and what is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Byte for byte, without the line end.
    pub raw: Vec<u8>,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Message(Box<Envelope>),
    /// Not JSON: for the user to read.
    Text(String),
    /// Meant to be JSON and is not.
    Bad(String),
}

impl Line {
    pub fn decode(raw: Vec<u8>) -> Self {
        let mut parts = Vec::with_capacity(1);
        parse(&raw, &mut parts);
        Self { raw, parts }
    }

    /// A line of standard error: for a person to read, whatever it looks like. On record it does not
    /// look like a message either.
    pub fn of_errors(raw: Vec<u8>) -> Self {
        let line = Self::decode(raw);
        if line.parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return line;
        }
        let text = visible(&line.raw).unwrap_or_default();
        let raw = json!({"type": "stderr", "text": text}).to_string().into_bytes();
        Self { raw, parts: vec![Part::Text(text)] }
    }

    /// The last line of a client that died while it was writing: nobody waits for the rest.
    #[must_use]
    pub fn cut_off(self) -> Self {
        let unreadable = self.parts.iter().find_map(|part| match part {
            Part::Message(envelope) => match &envelope.message {
                Message::Unreadable { why, .. } => Some(why.clone()),
                _ => None,
            },
            _ => None,
        });
        let Some(why) = unreadable else { return self };
        let text = String::from_utf8_lossy(&self.raw);
        let raw = json!({"type": "cut_off", "text": text}).to_string().into_bytes();
        Self { raw, parts: vec![Part::Bad(why)] }
    }

    /// In place of a line that was too long to be kept.
    pub fn too_long(bytes: usize, kind: Option<&'static str>) -> Self {
        Self::decode(json!({"type": SKIPPED, "bytes": bytes, "of": kind}).to_string().into_bytes())
    }

    /// What of it the loop is told.
    pub fn into_messages(self) -> impl Iterator<Item = Envelope> {
        self.parts.into_iter().filter_map(|part| match part {
            Part::Message(envelope) => Some(*envelope),
            Part::Text(_) | Part::Bad(_) => None,
        })
    }
}

fn parse(mut rest: &[u8], parts: &mut Vec<Part>) {
    loop {
        rest = skip_noise(rest);
        match rest.first() {
            None => return,
            Some(b'{') => match object(rest) {
                Ok((envelope, len)) => {
                    parts.push(Part::Message(Box::new(envelope)));
                    rest = &rest[len..];
                }
                Err(error) => return parts.push(mended(rest, &error)),
            },
            // Text without a newline may stand in front of a message: the message still counts.
            Some(_) => {
                let (text, message) = rest.split_at(message_start(rest).unwrap_or(rest.len()));
                parts.extend(visible(text).map(Part::Text));
                rest = message;
            }
        }
    }
}

fn object(bytes: &[u8]) -> serde_json::Result<(Envelope, usize)> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Wire<'_>>();
    let wire = stream.next().transpose()?;
    let len = stream.byte_offset();
    let envelope = wire.and_then(Wire::into_envelope);
    envelope.map(|envelope| (envelope, len)).ok_or_else(|| serde::de::Error::custom("no type"))
}

/// A second try without what cannot stand in JSON anyway: invalid UTF-8, NUL, escapes in the middle,
/// half a character. What the loop waits for is read without the fields that cannot be, and is a message
/// also when nothing can be made of it.
fn mended(bytes: &[u8], error: &serde_json::Error) -> Part {
    let text = String::from_utf8_lossy(bytes);
    let clean = strip_escapes(&text);
    let clean = whole_characters(&clean);
    if let Ok((envelope, _)) = object(clean.as_bytes()) {
        return Part::Message(Box::new(envelope));
    }
    match needed(bytes) {
        Some(kind) => {
            let reads = |members: &str| serde_json::from_str::<Wire<'_>>(members).is_ok();
            if let Some(Ok((envelope, _))) =
                salvage(&clean, &reads).map(|left| object(left.as_bytes()))
            {
                return Part::Message(Box::new(envelope));
            }
            let message = Message::Unreadable { kind: kind.to_owned(), why: error.to_string() };
            Part::Message(Box::new(Envelope { session_id: None, parent: None, message }))
        }
        None => Part::Bad(error.to_string()),
    }
}

/// Which message it would be, if that is one that the loop waits for: the first that is named. Inside
/// a text every quote has a backslash in front, so that this is not taken for one.
pub(super) fn needed(bytes: &[u8]) -> Option<&'static str> {
    memchr::memmem::find_iter(bytes, TYPE).find_map(|at| {
        let named = &bytes[at + TYPE.len()..bytes.len().min(at + NAME)];
        let value = named.strip_prefix(b"\"")?.trim_ascii_start().strip_prefix(b":")?;
        let value = value.trim_ascii_start().strip_prefix(b"\"")?;
        NEEDED.into_iter().find(|kind| {
            value.strip_prefix(kind.as_bytes()).is_some_and(|rest| rest.starts_with(b"\""))
        })
    })
}

/// JavaScript cuts texts between the two halves of a character, and writes a half as an escape that
/// is none.
fn whole_characters(json: &str) -> Cow<'_, str> {
    let half = |at: usize| {
        let code = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(code, 16).ok().filter(|code| (0xd800..0xe000).contains(code))
    };
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(next) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += next;
        match (half(at), half(at + 6)) {
            (Some(..0xdc00), Some(0xdc00..)) => at += 12,
            (Some(_), _) => {
                out.push_str(&json[kept..at]);
                out.push('\u{fffd}');
                at += 6;
                kept = at;
            }
            // The escaped character may be a backslash itself.
            (None, _) => at = json.len().min(at + 2),
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

fn skip_noise(mut bytes: &[u8]) -> &[u8] {
    loop {
        let skip = match bytes.first() {
            Some(0x1b) => escape_len(bytes),
            Some(byte) if byte.is_ascii_whitespace() || byte.is_ascii_control() => 1,
            _ => return bytes,
        };
        bytes = &bytes[skip..];
    }
}

/// Each candidate may cost a pass over the rest of the line, so only a few are tried.
fn message_start(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(bytes, b"{\"").take(8).find(|at| object(&bytes[*at..]).is_ok())
}

#[cfg(test)]
mod tests;
