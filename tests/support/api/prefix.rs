//! What a provider's prompt cache makes of requests: how much of one is the beginning of another, and
//! what a row of them costs.
//!
//! The cache knows a prompt by its beginning, in the order of tools, system prompt and messages, up to
//! the places that the client marks with `cache_control`. The first difference ends what is known.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::Request;

/// A part of a request as the cache sees it.
struct Part {
    place: String,
    text: String,
    /// What is written to the cache ends here.
    marked: bool,
}

/// How much of one request another begins with.
#[derive(Debug, PartialEq, Eq)]
pub struct Shared {
    pub bytes: usize,
    pub of: usize,
    /// Where they part, unless the whole first request is the beginning of the second.
    pub parted: Option<String>,
}

impl Shared {
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.parted.is_none()
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, of) = (self.bytes, self.of);
        write!(f, "{bytes} of {of} bytes ({} %) shared", 100 * bytes / of.max(1))?;
        match &self.parted {
            Some(place) => write!(f, ", up to {place}"),
            None => Ok(()),
        }
    }
}

/// How much of `first` is the beginning of `second`.
#[must_use]
pub fn shared(first: &Request, second: &Request) -> Shared {
    let (ours, theirs) = (parts(first), parts(second));
    let of = ours.iter().map(|part| part.text.len()).sum();
    let same = ours.iter().zip(&theirs).take_while(|(our, their)| our.text == their.text).count();
    Shared {
        bytes: ours[..same].iter().map(|part| part.text.len()).sum(),
        of,
        parted: ours.get(same).map(|part| part.place.clone()),
    }
}

fn parts(request: &Request) -> Vec<Part> {
    let body = &request.body;
    // Another one of these is another cache. How thoughts are shown is no part of the prompt.
    let mut thinking = body["thinking"].clone();
    if let Some(thinking) = thinking.as_object_mut() {
        thinking.remove("display");
    }
    let settings = [&body["model"], &thinking, &body["tool_choice"], &body["output_config"]];
    let settings: Vec<_> = settings.map(ToString::to_string).to_vec();
    let mut parts =
        vec![Part { place: "the model".into(), text: settings.join(" "), marked: false }];
    // Tools that are loaded later stand outside of what is cached.
    let tools = list(&body["tools"]).into_iter().filter(|tool| tool["defer_loading"] != true);
    parts.extend(tools.map(|tool| part(format!("tool {}", tool["name"]), tool)));
    // The provider takes this note about the client off before it caches anything.
    let is_note = |block: &Value| {
        block["text"].as_str().is_some_and(|text| text.starts_with("x-anthropic-billing-header:"))
    };
    let system = list(&body["system"]).into_iter().enumerate().filter(|(_, it)| !is_note(it));
    parts.extend(system.map(|(at, block)| part(format!("system[{at}]"), block)));
    for (at, message) in list(&body["messages"]).into_iter().enumerate() {
        let blocks = list(&message["content"]).into_iter().enumerate();
        let place =
            |block| format!("messages[{at}][{block}] {}", message["role"].as_str().unwrap_or("?"));
        parts.extend(blocks.map(|(block, content)| part(place(block), content)));
    }
    parts
}

/// The items of a list; text alone is one block of text.
fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::Null => Vec::new(),
        text => vec![serde_json::json!({"type": "text", "text": text})],
    }
}

fn part(place: String, mut content: Value) -> Part {
    let fields = content.as_object_mut();
    let marked = fields.is_some_and(|fields| fields.remove("cache_control").is_some());
    Part { place, text: content.to_string(), marked }
}

/// A prompt cache, and what requests would cost with it.
#[derive(Default)]
pub struct Cache {
    known: HashSet<u64>,
}

/// Bytes of a request, by what the provider takes for them.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Price {
    /// Found in the cache: 0.1 of the price of input.
    pub read: usize,
    /// Put into the cache: 1.25.
    pub written: usize,
    /// Neither: 1.
    pub input: usize,
}

impl Price {
    /// In bytes of plain input.
    #[must_use]
    pub fn total(self) -> f64 {
        let bytes = |count| f64::from(u32::try_from(count).expect("a request of some megabytes"));
        0.1 * bytes(self.read) + 1.25 * bytes(self.written) + bytes(self.input)
    }
}

impl std::ops::AddAssign for Price {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.written += other.written;
        self.input += other.input;
    }
}

impl Cache {
    /// What this request costs; afterwards the cache knows it. A part of what was written before is
    /// found only where this request, or an earlier one, is marked; a provider looks some 20 blocks
    /// back from a mark, and so do we.
    pub fn price(&mut self, request: &Request) -> Price {
        const LOOKS_BACK: usize = 20;
        let parts = parts(request);
        let mut hasher = DefaultHasher::new();
        let prefixes: Vec<u64> = parts
            .iter()
            .map(|part| {
                part.text.hash(&mut hasher);
                hasher.finish()
            })
            .collect();
        let marks: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].marked).collect();
        let found = marks.iter().rev().find_map(|mark| {
            let places = (mark.saturating_sub(LOOKS_BACK)..=*mark).rev();
            places.into_iter().find(|at| self.known.contains(&prefixes[*at]))
        });
        let read_up_to = found.map_or(0, |at| at + 1);
        let written_up_to = marks.last().map_or(0, |at| at + 1).max(read_up_to);
        self.known.extend(marks.iter().map(|at| prefixes[*at]));
        let bytes = |parts: &[Part]| parts.iter().map(|part| part.text.len()).sum();
        Price {
            read: bytes(&parts[..read_up_to]),
            written: bytes(&parts[read_up_to..written_up_to]),
            input: bytes(&parts[written_up_to..]),
        }
    }
}
