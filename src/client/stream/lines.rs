//! Splits bytes into lines. A read may end anywhere, so an incomplete line is kept until its rest
//! arrives.

use std::borrow::Cow;

use memchr::memchr;

use super::decode::{NAME_WINDOW, needed_type};

/// Longer lines are skipped, so that one runaway line does not use up the memory.
pub const MAX_LINE: usize = 64 << 20;

/// A larger buffer is not kept after a huge line.
const KEEP: usize = 256 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum SplitLine<'a> {
    /// A line without its line end (`\n` or `\r\n`).
    Line(Cow<'a, [u8]>),
    /// A line of this many bytes was over the limit and was dropped; its type, if the loop waits
    /// for it.
    TooLong(usize, Option<&'static str>),
}

#[derive(Debug)]
pub struct Lines {
    partial: Vec<u8>,
    skipped: usize,
    /// The type of the line that is being skipped, if the loop waits for it.
    kind: Option<&'static str>,
    limit: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(MAX_LINE)
    }
}

impl Lines {
    pub fn with_limit(limit: usize) -> Self {
        Self { partial: Vec::new(), skipped: 0, kind: None, limit }
    }

    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(SplitLine<'_>)) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.skipped > 0 || self.partial.len() + head.len() > self.limit {
                self.skip(head);
                each(self.skipped());
            } else if self.partial.is_empty() {
                each(SplitLine::Line(Cow::Borrowed(without_cr(head))));
            } else {
                self.partial.extend_from_slice(head);
                each(self.take());
            }
        }
        if self.skipped > 0 || self.partial.len() + chunk.len() > self.limit {
            self.skip(chunk);
        } else {
            self.partial.extend_from_slice(chunk);
        }
    }

    /// The end of the stream; the last line may lack a newline.
    pub fn finish(&mut self, mut each: impl FnMut(SplitLine<'_>)) {
        if self.skipped > 0 {
            each(self.skipped());
        } else if !self.partial.is_empty() {
            each(self.take());
        }
    }

    /// Keeps only the end of what is skipped, because the type may be split between two reads.
    fn skip(&mut self, bytes: &[u8]) {
        let kept = self.partial.len();
        self.skipped += if self.skipped == 0 { kept + bytes.len() } else { bytes.len() };
        self.partial.extend_from_slice(bytes);
        self.kind = self.kind.or_else(|| needed_type(&self.partial));
        self.partial = self.partial.split_off(self.partial.len().saturating_sub(NAME_WINDOW));
    }

    fn skipped(&mut self) -> SplitLine<'static> {
        self.partial = Vec::new();
        SplitLine::TooLong(std::mem::take(&mut self.skipped), self.kind.take())
    }

    fn take(&mut self) -> SplitLine<'static> {
        let capacity = if self.partial.capacity() > KEEP { 0 } else { self.partial.len() };
        let mut line = std::mem::replace(&mut self.partial, Vec::with_capacity(capacity));
        line.truncate(without_cr(&line).len());
        SplitLine::Line(Cow::Owned(line))
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let mut lines = Lines::with_limit(limit);
        let mut seen = Vec::new();
        let mut note = |piece: SplitLine<'_>| {
            seen.push(match piece {
                SplitLine::Line(line) => String::from_utf8_lossy(&line).into_owned(),
                SplitLine::TooLong(size, None) => format!("<too long: {size}>"),
                SplitLine::TooLong(size, Some(kind)) => format!("<too long: {size}, {kind}>"),
            });
        };
        for chunk in chunks {
            lines.push(chunk, &mut note);
        }
        lines.finish(&mut note);
        seen
    }

    #[test]
    fn lines_are_found_wherever_the_reads_split_them() {
        assert_eq!(split(&[b"one\ntwo\n"], 99), ["one", "two"]);
        assert_eq!(split(&[b"o", b"ne", b"\ntw", b"o\n"], 99), ["one", "two"]);
        assert_eq!(split(&[b"one\r", b"\ntwo\r\n"], 99), ["one", "two"]);
        assert_eq!(split(&[b"", b"\n\n"], 99), ["", ""]);
        assert_eq!(split(&[b"no newline at the end"], 99), ["no newline at the end"]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_counts() {
        assert_eq!(split(&[b"12345\n67\n"], 4), ["<too long: 5>", "67"]);
        assert_eq!(split(&[b"123", b"45", b"678\nok\n"], 4), ["<too long: 8>", "ok"]);
        assert_eq!(split(&[b"1234\n"], 4), ["1234"]);
        assert_eq!(split(&[b"123", b"456"], 4), ["<too long: 6>"]);
    }

    #[test]
    fn the_type_of_a_skipped_line_is_found_across_reads() {
        let far = [&b"{\"type\""[..], &[b' '; 80], b":\"result\"}"].concat();
        for (line, told) in [
            (&b"{\"type\"type\":\"result\"}"[..], "<too long: 22, result>"),
            (&far, "<too long: 97>"),
        ] {
            for cut in 0..line.len() {
                let (one, other) = line.split_at(cut);
                assert_eq!(split(&[one, other], 4), [told], "cut at {cut}");
            }
        }
    }

    #[test]
    fn the_type_of_a_line_over_the_limit_is_found() {
        let line = br#"{"result":"xxxxxxxxxxxx","type":"result","a":1}"#;
        for cut in 0..line.len() {
            let (head, tail) = line.split_at(cut);
            assert_eq!(split(&[head, tail, b"\n"], 4), ["<too long: 47, result>"], "{cut}");
        }
        let inside = br#"{"type":"user","text":"\"type\":\"result\"","b":1}"#;
        assert_eq!(split(&[inside, b"\n", inside], 4), ["<too long: 50>", "<too long: 50>"]);
    }

    #[test]
    fn memory_stays_bounded_while_a_long_line_is_skipped() {
        let mut lines = Lines::with_limit(1000);
        for _ in 0..10_000 {
            lines.push(&[b'x'; 100], |_| panic!("no line yet"));
            assert!(lines.partial.capacity() <= 2048);
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_lines(text in "[a-z\r\n]{0,200}", cuts in prop::collection::vec(0usize..200, 0..20)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut chunks, mut from) = (Vec::new(), 0);
            for cut in cuts {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(split(&chunks, 1000), split(&[bytes], 1000));
        }
    }
}
