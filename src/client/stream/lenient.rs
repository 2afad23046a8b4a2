//! Tolerant fields: a value of an unexpected kind costs only its field, not the whole line. If one
//! odd field made a message unreadable, the loop would wait for that message for ever.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::wire::WireBlock;

/// How many characters of the beginning and of the end of a tool's output are kept.
const PREVIEW: usize = 2000;

/// A type that any kind of value can be read as; an unexpected kind gives the default.
pub trait Tolerant<'de>: Default {
    fn text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn number(_number: f64) -> Self {
        Self::default()
    }

    fn count(count: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
        Self::number(count as f64)
    }

    fn flag(_flag: bool) -> Self {
        Self::default()
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

pub fn tolerant<'de, D: Deserializer<'de>, T: Tolerant<'de>>(from: D) -> Result<T, D::Error> {
    struct Any<T>(PhantomData<T>);
    impl<'de, T: Tolerant<'de>> Visitor<'de> for Any<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value")
        }
        fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
            Ok(T::flag(flag))
        }
        fn visit_u64<E: Error>(self, count: u64) -> Result<T, E> {
            Ok(T::count(count))
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
            Ok(T::number(number as f64))
        }
        fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
            Ok(T::number(number))
        }
        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
            Ok(T::text(Cow::Borrowed(text)))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(T::text(Cow::Owned(text.to_owned())))
        }
        fn visit_unit<E: Error>(self) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
            T::list(list)
        }
        fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
            T::object(object)
        }
    }
    from.deserialize_any(Any(PhantomData))
}

macro_rules! deserialize_tolerantly {
    ($($type:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::client::stream::lenient::tolerant(from)
            }
        }
    )*};
}

/// Defines a struct that is read from an object, with the JSON name of each field. Of two fields
/// with the same name the last one counts, as in the client itself.
macro_rules! object {
    ($(#[$doc:meta])* pub struct $name:ident$(<$life:lifetime>)? {
        $($(#[$note:meta])* $key:literal => $field:ident: $type:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub struct $name$(<$life>)? {
            $($(#[$note])* pub $field: $type,)*
        }

        impl<'de> $crate::client::stream::lenient::Tolerant<'de>
            for object!(@of 'de $name$(<$life>)?)
        {
            fn object<A: serde::de::MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
                let mut this = Self::default();
                while let Some(key) = object.next_key::<$crate::client::stream::lenient::Text<'de>>()? {
                    match key.as_str() {
                        $($key => this.$field = object.next_value()?,)*
                        _ => drop(object.next_value::<serde::de::IgnoredAny>()?),
                    }
                }
                Ok(this)
            }
        }

        $crate::client::stream::lenient::deserialize_tolerantly!(
            object!(@of 'de $name$(<$life>)?)
        );
    };
    (@of $de:lifetime $name:ident<$life:lifetime>) => { $name<$de> };
    (@of $de:lifetime $name:ident) => { $name };
}

pub(super) use {deserialize_tolerantly, object};

#[derive(Default)]
pub struct Text<'a>(Option<Cow<'a, str>>);

impl<'de> Tolerant<'de> for Text<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl Text<'_> {
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub fn known(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }

    pub fn owned(self) -> String {
        self.known().unwrap_or_default()
    }
}

/// A value that should be a number, possibly written as text.
#[derive(Default, Clone, Copy)]
pub struct Number(pub Option<f64>);

impl<'de> Tolerant<'de> for Number {
    fn number(number: f64) -> Self {
        Self(Some(number))
    }

    fn text(text: Cow<'de, str>) -> Self {
        Self(text.trim().parse().ok().filter(|number: &f64| number.is_finite()))
    }
}

/// A value that should be a non-negative integer.
#[derive(Default, Clone, Copy)]
pub struct Count(pub Option<u64>);

impl<'de> Tolerant<'de> for Count {
    fn count(count: u64) -> Self {
        Self(Some(count))
    }

    fn number(number: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Self((number >= 0.0).then_some(number as u64))
    }

    fn text(text: Cow<'de, str>) -> Self {
        Number::text(text).0.map_or(Self(None), Self::number)
    }
}

#[derive(Default, Clone, Copy)]
pub struct Flag(pub Option<bool>);

impl<'de> Tolerant<'de> for Flag {
    fn flag(flag: bool) -> Self {
        Self(Some(flag))
    }

    fn text(text: Cow<'de, str>) -> Self {
        Self(text.parse().ok())
    }
}

pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Tolerant<'de> for List<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(Self(all))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tolerant(from)
    }
}

/// A value that should be an object with arbitrary keys.
pub struct Mapping<T>(pub BTreeMap<String, T>);

impl<T> Default for Mapping<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Tolerant<'de> for Mapping<T> {
    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((name, value)) = object.next_entry::<Text<'de>, T>()? {
            all.insert(name.owned(), value);
        }
        Ok(Self(all))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Mapping<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tolerant(from)
    }
}

/// The beginning and the end of a tool's output. The output may be megabytes long, so the rest is
/// never copied.
#[derive(Default)]
pub struct Preview {
    pub head: String,
    /// Empty if the head is the whole output.
    pub tail: String,
}

impl Preview {
    fn add(&mut self, text: &str, ending: &str) {
        let room = PREVIEW.saturating_sub(self.head.chars().count());
        let cut = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
        self.head.push_str(&text[..cut]);
        let left = text.len() - cut;
        if left == 0 && self.tail.is_empty() && room > 0 {
            self.head.push_str(ending);
            return;
        }
        self.tail.push_str(text);
        self.tail.push_str(ending);
        let from = self.tail.char_indices().rev().nth(PREVIEW - 1).map_or(0, |(at, _)| at);
        self.tail.drain(..from);
    }
}

impl<'de> Tolerant<'de> for Preview {
    fn text(text: Cow<'de, str>) -> Self {
        let mut preview = Self::default();
        preview.add(&text, "");
        preview
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut preview = Self::default();
        while let Some(block) = list.next_element::<WireBlock<'de>>()? {
            if let Some(text) = block.text.0.as_deref() {
                preview.add(text, "\n");
            } else if block.kind.as_str() == "image" {
                // Four characters of base64 are three bytes.
                let size = (block.source.data.as_str().len() * 3 / 4).div_ceil(1024);
                let kind = block.source.media_type.as_str().rsplit('/').next().unwrap_or_default();
                let text = format!("{} image, {size} KB", kind.to_uppercase());
                preview.add(text.trim_start(), "\n");
            }
        }
        Ok(preview)
    }
}

/// The content of a message: text, or a list of blocks.
#[derive(Default)]
pub enum MessageContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<WireBlock<'a>>),
    #[default]
    Other,
}

impl<'de> Tolerant<'de> for MessageContent<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self::Text(text)
    }

    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        List::list(list).map(|blocks| Self::Blocks(blocks.0))
    }
}

deserialize_tolerantly!(Text<'de>, Number, Count, Flag, Preview, MessageContent<'de>);
