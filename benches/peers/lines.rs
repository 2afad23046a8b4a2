//! The generated stream: lines as the client prints them, the same ones in every run.
//!
//! | size | what | why it is there |
//! |---|---|---|
//! | 300 B | `stream_event`, a text delta | most lines of a live session |
//! | 1 KB | `assistant`, text | what is shown whole |
//! | 4 KB | `assistant`, `tool_use` with a file's content | parsed a second time to be shown short |
//! | 16 KB, 64 KB, 256 KB, 1 MB | `user`, `tool_result` | most bytes of a real session |
//! | 5 MB | `user`, `tool_result`, every other one an image | the most memory |
//!
//! Every size carries the same share of the bytes: the next line is always of the size that has
//! come to the fewest bytes so far.

use std::io::{self, Write};

use serde_json::json;

pub const SESSION: &str = "5e551000-0000-4000-8000-000000000001";

const SIZES: [(usize, Kind); 8] = [
    (300, Kind::Delta),
    (1 << 10, Kind::Text),
    (4 << 10, Kind::ToolUse),
    (16 << 10, Kind::ToolResult),
    (64 << 10, Kind::ToolResult),
    (256 << 10, Kind::ToolResult),
    (1 << 20, Kind::ToolResult),
    (5 << 20, Kind::ToolResultOrImage),
];

/// So that no line is like the one of its size before it.
const VARIANTS: usize = 4;

#[derive(Clone, Copy)]
enum Kind {
    Delta,
    Text,
    ToolUse,
    ToolResult,
    ToolResultOrImage,
}

/// Already escaped for JSON: code with its newlines and quotes, and letters beyond ASCII.
const TEXT: [&str; 8] = [
    r"    let total: u64 = items.iter().map(|item| item.size).sum();\n",
    r#"\tprintln!(\"{total} bytes in {} lines\", lines.len());\n"#,
    r"// Größe und Reihenfolge bleiben, wie sie sind.\n",
    r"The reader hands over whole lines, as many as one read brought, and never half of one. ",
    r#"{\"name\": \"ccc\", \"version\": \"0.1.0\", \"path\": \"C:\\\\tmp\\\\x\"}\n"#,
    r"drwxr-xr-x 2 user user 4096 Jan  1 00:00 target/release/deps\n",
    r"两个汉字和一些别的文字。\n",
    r"test stream::lines::any_split_gives_the_same_lines ... ok\n",
];

pub struct Lines {
    pool: Vec<[Vec<u8>; VARIANTS]>,
}

impl Lines {
    pub fn new() -> Self {
        let pool = SIZES
            .iter()
            .map(|(size, kind)| std::array::from_fn(|variant| line(*kind, *size, variant)))
            .collect();
        Self { pool }
    }

    /// Writes lines, each with one call as the client does, until `total` bytes are reached, and
    /// returns how many it were.
    pub fn write(&self, total: u64, out: &mut impl Write) -> io::Result<u64> {
        let mut sums = [0u64; SIZES.len()];
        let mut counts = [0usize; SIZES.len()];
        let mut written = 0;
        while written < total {
            let next = (0..SIZES.len()).min_by_key(|size| sums[*size]).unwrap_or(0);
            let line = &self.pool[next][counts[next] % VARIANTS];
            out.write_all(line)?;
            sums[next] += line.len() as u64;
            counts[next] += 1;
            written += line.len() as u64;
        }
        Ok(written)
    }
}

fn line(kind: Kind, size: usize, variant: usize) -> Vec<u8> {
    let id = format!("toolu_01bench{variant:08}");
    let image = matches!(kind, Kind::ToolResultOrImage) && variant % 2 == 1;
    // The hole is filled afterwards: the text is escaped already.
    let hole = "<hole>";
    let message = match kind {
        Kind::Delta => {
            json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": hole}}})
        }
        Kind::Text => assistant(&json!({"type": "text", "text": hole})),
        Kind::ToolUse => assistant(&json!({"type": "tool_use", "id": id, "name": "Write",
            "input": {"file_path": "/project/src/lines.rs", "content": hole}})),
        Kind::ToolResult | Kind::ToolResultOrImage if !image => user(&id, &json!(hole)),
        _ => user(
            &id,
            &json!([{"type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": hole}}]),
        ),
    };
    let mut message = message;
    message["session_id"] = json!(SESSION);
    message["parent_tool_use_id"] = json!(null);
    message["uuid"] = json!(format!("{size:08x}-0000-4000-8000-{variant:012x}"));
    let frame = message.to_string();
    let (head, tail) = frame.split_once(hole).expect("every kind of line has a hole");
    let room = size.saturating_sub(head.len() + tail.len() + 1);
    let fill = if image { base64(room, variant) } else { text(room, variant) };
    format!("{head}{fill}{tail}\n").into_bytes()
}

fn assistant(block: &serde_json::Value) -> serde_json::Value {
    json!({"type": "assistant", "message": {"id": "msg_01bench", "type": "message",
        "role": "assistant", "model": "claude-bench", "content": [block],
        "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 5}}})
}

fn user(id: &str, content: &serde_json::Value) -> serde_json::Value {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"tool_use_id": id, "type": "tool_result", "content": content}]}})
}

fn text(room: usize, variant: usize) -> String {
    let mut fill = String::with_capacity(room);
    for piece in TEXT.iter().cycle().skip(variant) {
        if fill.len() + piece.len() > room {
            break;
        }
        fill.push_str(piece);
    }
    fill.extend(std::iter::repeat_n('.', room - fill.len()));
    fill
}

fn base64(room: usize, variant: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = variant as u64 + 1;
    let letter = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 58) as usize])
    };
    std::iter::repeat_with(letter).take(room).collect()
}
