//! Text that is nearly right: lines of the scripted sessions in `fixtures/`, damaged.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

/// What a damaged line may get, beside its own bytes and those of others.
const SNIPPETS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[2J",
    "\u{1b}]52;c;AA==\u{7}",
    "\u{202e}",
    "null",
    "true",
    "1e999",
    "-0",
    "18446744073709551616",
    "\"type\":\"result\"",
    "\"completed\":true",
    "[TASK_COMPLETED]",
    "${HOME}",
    "\\ud800",
];

#[derive(Debug, Clone)]
pub enum Damage {
    Flip(Index, u8),
    Remove(Index, usize),
    Snippet(Index, Index),
    /// A piece of another line.
    Splice(Index, Index, Index, usize),
    Repeat(Index, usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || any::<Index>();
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        (at(), 1..40_usize).prop_map(|(at, len)| Damage::Remove(at, len)),
        (at(), at()).prop_map(|(at, which)| Damage::Snippet(at, which)),
        (at(), at(), at(), 1..200_usize)
            .prop_map(|(at, line, from, len)| Damage::Splice(at, line, from, len)),
        (at(), 1..60_usize, 1..20_u8).prop_map(|(at, len, times)| Damage::Repeat(at, len, times)),
    ]
}

/// Shown as text.
#[derive(Clone)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// A line of the corpus with up to this many damages.
pub fn damaged(lines: &'static [Vec<u8>], most: usize) -> impl Strategy<Value = Bytes> {
    (any::<Index>(), prop::collection::vec(damage(), 0..=most)).prop_map(|(which, damages)| {
        let mut bytes = which.get(lines).clone();
        for damage in &damages {
            apply(damage, lines, &mut bytes);
        }
        Bytes(bytes)
    })
}

fn apply(damage: &Damage, lines: &[Vec<u8>], bytes: &mut Vec<u8>) {
    let place = |at: &Index, bytes: &[u8]| at.index(bytes.len() + 1);
    match damage {
        Damage::Flip(at, byte) => {
            let at = place(at, bytes);
            if let Some(there) = bytes.get_mut(at) {
                *there ^= byte;
            }
        }
        Damage::Remove(at, len) => {
            let at = place(at, bytes);
            let end = (at + len).min(bytes.len());
            bytes.drain(at..end);
        }
        Damage::Snippet(at, which) => {
            let at = place(at, bytes);
            bytes.splice(at..at, which.get(&SNIPPETS).bytes());
        }
        Damage::Splice(at, line, from, len) => {
            let other = line.get(lines);
            let from = place(from, other);
            let piece = other[from..(from + len).min(other.len())].to_vec();
            let at = place(at, bytes);
            bytes.splice(at..at, piece);
        }
        Damage::Repeat(at, len, times) => {
            let at = place(at, bytes);
            let piece = bytes[at..(at + len).min(bytes.len())].repeat(usize::from(*times));
            bytes.splice(at..at, piece);
        }
    }
}

/// Every file with this ending below a directory of the repository.
pub fn files(under: &str, ending: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(under);
    let mut paths: Vec<_> = std::fs::read_dir(root)
        .expect("the directory is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}
