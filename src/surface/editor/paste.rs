//! Long pastes are kept aside, and a single character in the text represents each, so that
//! everything that works on text (moving, killing, history) works on them too.

/// A private-use plane of Unicode; characters from it are dropped from typed or pasted text.
const FIRST_MARK: u32 = 0x10_0000;
const MARKS: usize = 0xfffe;

/// A paste up to this size is inserted as ordinary text.
const SHORT_LINES: usize = 10;
const SHORT_BYTES: usize = 1024;

#[derive(Debug, Default)]
pub struct Pastes {
    kept: Vec<String>,
}

pub fn is_mark(c: char) -> bool {
    u32::from(c) >= FIRST_MARK
}

impl Pastes {
    /// Keeps a long text and returns the character for it; `None` if it is short.
    pub fn keep(&mut self, text: &str) -> Option<char> {
        let long = text.len() > SHORT_BYTES || text.lines().count() > SHORT_LINES;
        let next = self.kept.len();
        if !long || next >= MARKS {
            return None;
        }
        let mark = char::from_u32(FIRST_MARK + u32::try_from(next).ok()?)?;
        self.kept.push(text.to_owned());
        Some(mark)
    }

    fn get(&self, c: char) -> Option<&str> {
        let at = u32::from(c).checked_sub(FIRST_MARK)?;
        self.kept.get(usize::try_from(at).ok()?).map(String::as_str)
    }

    pub fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c) {
                Some(kept) => out.push_str(kept),
                None => out.push(c),
            }
        }
        out
    }

    /// How a cluster with a paste is displayed.
    pub fn label(&self, cluster: &str) -> Option<String> {
        let kept = cluster.chars().find_map(|c| self.get(c))?;
        Some(match kept.lines().count() {
            0 | 1 if kept.len() < 10_000 => format!("[pasted {} characters]", kept.chars().count()),
            0 | 1 => format!("[pasted {} KB]", kept.len().div_ceil(1000)),
            lines => format!("[pasted {lines} lines]"),
        })
    }
}
