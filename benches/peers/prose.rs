//! The other generated stream: an answer as it is being written. Markdown in partial messages of
//! about ten bytes of text, which makes lines of about 230 bytes; after it the whole message.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::lines::SESSION;

/// Stands at the end of the last message and nowhere else.
pub const END: &str = "完";

/// Bytes of text in a message of ordinary length.
pub const ORDINARY: u64 = 6 << 10;

const TEXT: &str = "\
## What was wrong

The reader took **one read for one line**. On a quiet terminal that holds, since the writer's \
`write` arrives in one piece; under load the kernel cuts at 4,096 bytes, and the second half was \
parsed as a line of its own. The tests never saw it because *their* lines are short.

1. `Lines::push` now keeps what comes before the next newline, and hands out whole lines only.
2. A line that never ends is given up at the limit, **once**, with a warning in the log.
3. What is left when the stream ends counts as a line, as it did before.

```rust
pub fn push(&mut self, bytes: &[u8], mut on_line: impl FnMut(&[u8])) {
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\n', rest) {
        self.kept.extend_from_slice(&rest[..at]);
        on_line(&self.kept);
        self.kept.clear();
        rest = &rest[at + 1..];
    }
    self.kept.extend_from_slice(rest);
}
```

| file | before | now |
|---|---:|---:|
| `src/stream/lines.rs` | 61 lines | 88 lines |
| `tests/lines.rs` | – | 54 lines |

- The limit stays at 64 MB; see [the note](https://example.invalid/limits) for why.
- Größe und Reihenfolge der Zeilen bleiben gleich, auch für \"Ümläute\" am Rand eines Stücks.
  - Checked with every split of a sample, byte by byte.
  - Checked with 10,000 random ones.

> Nothing else in the module changed, and no caller has to.

Shall I run the whole suite, or only `cargo test stream::`? It takes about two minutes.

";

pub struct Prose {
    message: Vec<Vec<u8>>,
    last: Vec<Vec<u8>>,
}

impl Prose {
    /// Messages of about so many bytes of text.
    pub fn new(length: u64) -> Self {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let mut text = String::new();
        while text.len() < length {
            text.push_str(TEXT);
        }
        Self { message: message(&text), last: message(&[&text, END].concat()) }
    }

    /// Writes messages, each line with one call as the client does, until `total` bytes are
    /// reached, and returns how many it were.
    pub fn write(&self, total: u64, out: &mut impl Write) -> io::Result<u64> {
        let one: u64 = self.message.iter().map(|line| line.len() as u64).sum();
        let mut written = 0;
        loop {
            let last = written + one >= total;
            for line in if last { &self.last } else { &self.message } {
                out.write_all(line)?;
                written += line.len() as u64;
            }
            if last {
                return Ok(written);
            }
        }
    }

    /// The same for ever. `on_message` hears how many bytes each message had.
    pub fn flood(&self, out: &mut impl Write, mut on_message: impl FnMut(u64)) -> io::Result<()> {
        loop {
            for line in &self.message {
                out.write_all(line)?;
            }
            on_message(self.message.iter().map(|line| line.len() as u64).sum());
        }
    }

    /// The text alone, as a program would print it that knows nothing of JSON.
    pub fn plain_lines() -> Vec<Vec<u8>> {
        TEXT.lines().map(|line| format!("{line}\r\n").into_bytes()).collect()
    }
}

fn message(text: &str) -> Vec<Vec<u8>> {
    let mut lines = begin();
    lines.extend(pieces(text).map(delta));
    lines.extend(end(&json!({"type": "text", "text": text})));
    lines
}

/// What the client prints before the first piece of a text.
pub fn begin() -> Vec<Vec<u8>> {
    vec![
        event(&json!({"type": "message_start", "message": {"id": "msg_01prose", "type": "message",
            "role": "assistant", "model": "claude-bench", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 3, "output_tokens": 1}}})),
        event(&json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})),
    ]
}

pub fn delta(piece: &str) -> Vec<u8> {
    event(&json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": piece}}))
}

/// After the last piece: the whole block, and that it is over.
pub fn end(block: &Value) -> Vec<Vec<u8>> {
    let whole = json!({"type": "assistant", "message": {"id": "msg_01prose", "type": "message",
        "role": "assistant", "model": "claude-bench", "content": [block], "stop_reason": null,
        "usage": {"input_tokens": 3, "output_tokens": 5}}});
    vec![
        line(whole),
        event(&json!({"type": "content_block_stop", "index": 0})),
        event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 5}})),
        event(&json!({"type": "message_stop"})),
    ]
}

pub fn event(event: &Value) -> Vec<u8> {
    line(json!({"type": "stream_event", "event": event}))
}

/// With what every line of the client ends in.
pub fn line(mut message: Value) -> Vec<u8> {
    message["session_id"] = json!(SESSION);
    message["parent_tool_use_id"] = json!(null);
    message["uuid"] = json!("9c0f6a52-7d1e-4b7a-8a55-3f2b6f0e1d44");
    format!("{message}\n").into_bytes()
}

/// As a model gives it: a few tokens at a time, never half a character.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const LENGTHS: [usize; 7] = [4, 15, 9, 12, 6, 17, 7];
    let mut rest = text;
    let mut lengths = LENGTHS.iter().cycle();
    std::iter::from_fn(move || {
        let least = *lengths.next()?;
        let at = rest.char_indices().map(|(at, _)| at).find(|at| *at >= least);
        let (piece, behind) = rest.split_at(at.unwrap_or(rest.len()));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The text over and over, from its beginning.
pub fn endless() -> impl Iterator<Item = &'static str> {
    std::iter::repeat(TEXT).flat_map(pieces)
}
