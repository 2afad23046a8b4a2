//! Fields that come in more than one shape, and are not worth losing a line for.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::wire::WireBlock;

/// As much of a tool's output as anybody is shown.
const PREVIEW: usize = 2000;

/// The beginning of a tool's output. That may be megabytes long, so the rest is never copied.
pub struct Preview(pub String);

impl<'de> Deserialize<'de> for Preview {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Preview;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Preview(text.chars().take(PREVIEW).collect()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut preview = String::new();
                while let Some(block) = seq.next_element::<WireBlock<'de>>()? {
                    let room = PREVIEW.saturating_sub(preview.chars().count());
                    let text = block.text.as_deref().into_iter();
                    preview.extend(text.flat_map(|text| text.chars().chain(['\n'])).take(room));
                }
                Ok(Preview(preview))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Preview(String::new()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Preview(String::new()))
            }
        }
        from.deserialize_any(Seen)
    }
}

/// The content of a message: text, or a list of blocks.
pub enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<WireBlock<'a>>),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::Other)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::Other)
            }
        }
        from.deserialize_any(Seen)
    }
}

/// A field that should be text and is not worth losing the line for when it is something else.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Loose<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Other(IgnoredAny),
}

impl Loose<'_> {
    pub fn text(self) -> Option<String> {
        match self {
            Loose::Text(text) => Some(text.into_owned()),
            Loose::Other(_) => None,
        }
    }
}

pub fn owned(text: Option<Cow<'_, str>>) -> String {
    text.map(Cow::into_owned).unwrap_or_default()
}

pub fn loose(text: Option<Loose<'_>>) -> String {
    text.and_then(Loose::text).unwrap_or_default()
}
