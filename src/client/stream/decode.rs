//! Decodes one line into its messages. Usually that is one JSON object, but the client also prints
//! escape sequences before one, plain-text errors, and half a line when it dies.

use std::borrow::Cow;

use serde_json::json;

use super::escapes::{escape_len, strip_escapes, visible};
use super::message::{Envelope, Message};
use super::salvage::salvage;
use super::wire::{NEEDED, SKIPPED, Wire};

const TYPE: &[u8] = b"\"type";

/// Long enough for `"type": "…"` of every message that the loop waits for.
pub(super) const NAME_WINDOW: usize = 64;

/// How a client begins a line for programs among the text for people, such as
/// `[claude-code:unrecognized_model] {…}`.
const SIGNAL: &str = "[claude-code:";

/// A raw line and its contents.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Byte for byte, without the line end.
    pub raw: Vec<u8>,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Message(Box<Envelope>),
    /// Not JSON, for the user to read.
    Text(String),
    /// Invalid JSON.
    Bad(String),
}

impl Line {
    pub fn decode(raw: Vec<u8>) -> Self {
        let mut parts = Vec::with_capacity(1);
        parse(&raw, &mut parts);
        Self { raw, parts }
    }

    /// A line of standard error, for the person to read even if it looks like a message. Its
    /// recorded form does not look like one either.
    pub fn from_stderr(raw: Vec<u8>) -> Self {
        let line = Self::decode(raw);
        if line.parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return line;
        }
        let text = visible(&line.raw).unwrap_or_default();
        let raw = json!({"type": "stderr", "text": text}).to_string().into_bytes();
        let parts = Some(text).filter(|text| !text.starts_with(SIGNAL)).map(Part::Text);
        Self { raw, parts: parts.into_iter().collect() }
    }

    /// The last line of a client that died while writing it; the loop need not wait for the rest.
    #[must_use]
    pub fn cut_off(self) -> Self {
        let unreadable = self.messages().find_map(|envelope| match &envelope.message {
            Message::Unreadable { why, .. } => Some(why.clone()),
            _ => None,
        });
        let Some(why) = unreadable else { return self };
        let text = String::from_utf8_lossy(&self.raw);
        let raw = json!({"type": "cut_off", "text": text}).to_string().into_bytes();
        Self { raw, parts: vec![Part::Bad(why)] }
    }

    /// A replacement for a line that was too long to keep.
    pub fn too_long(bytes: usize, kind: Option<&'static str>) -> Self {
        Self::decode(json!({"type": SKIPPED, "bytes": bytes, "of": kind}).to_string().into_bytes())
    }

    pub fn messages(&self) -> impl Iterator<Item = &Envelope> {
        self.parts.iter().filter_map(|part| match part {
            Part::Message(envelope) => Some(&**envelope),
            Part::Text(_) | Part::Bad(_) => None,
        })
    }

    /// The messages for the loop.
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
                Err(error) => return parts.push(decode_repaired(rest, &error)),
            },
            // Text without a newline may come before a message on the same line; the message still
            // counts.
            Some(_) => {
                let (text, message) = rest.split_at(message_start(rest).unwrap_or(rest.len()));
                let text = visible(text).filter(|text| !text.starts_with(SIGNAL));
                parts.extend(text.map(Part::Text));
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

/// Tries again without what is not valid in JSON: invalid UTF-8, NUL, escape sequences, half a
/// character. A message that the loop waits for is read without its unreadable fields, or becomes
/// `Unreadable`.
fn decode_repaired(bytes: &[u8], error: &serde_json::Error) -> Part {
    let text = String::from_utf8_lossy(bytes);
    let clean = strip_escapes(&text);
    let clean = whole_characters(&clean);
    if let Ok((envelope, _)) = object(clean.as_bytes()) {
        return Part::Message(Box::new(envelope));
    }
    match needed_type(bytes) {
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

/// The type of a message that the loop waits for: the first one that the bytes name. Inside a
/// string every quote is escaped, so its content is not mistaken for a type.
pub(super) fn needed_type(bytes: &[u8]) -> Option<&'static str> {
    memchr::memmem::find_iter(bytes, TYPE).find_map(|at| {
        let named = &bytes[at + TYPE.len()..bytes.len().min(at + NAME_WINDOW)];
        let value = named.strip_prefix(b"\"")?.trim_ascii_start().strip_prefix(b":")?;
        let value = value.trim_ascii_start().strip_prefix(b"\"")?;
        NEEDED.into_iter().find(|kind| {
            value.strip_prefix(kind.as_bytes()).is_some_and(|rest| rest.starts_with(b"\""))
        })
    })
}

/// Replaces lone surrogates: JavaScript cuts strings between the two halves of a character, and
/// writes the half as an escape that is not valid.
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
            // The escaped character may itself be a backslash.
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

/// Each candidate may cost a pass over the rest of the line, so only the first few are tried.
fn message_start(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(bytes, b"{\"").take(8).find(|at| object(&bytes[*at..]).is_ok())
}

#[cfg(test)]
mod tests;
