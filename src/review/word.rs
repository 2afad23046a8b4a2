//! The one-time word of a review. A verdict that is quoted from a file or from the agent does not
//! contain it. A session is recorded while it runs, and others may read the recording, so the loop
//! itself knows only a digest of the word.

use std::fmt::Write;

use ring::digest::{SHA256, digest};

/// The prefix of a digest. No word begins with it.
const SEALED: &str = "sha256:";

/// Stands for the word in the loop's messages to the judge.
pub const PLACE: &str = "<word>";

/// Fills the word into such a message before it is sent. A scripted judge needs no word.
pub fn put(text: &str, word: Option<&str>) -> String {
    word.map_or_else(|| text.to_owned(), |word| text.replace(PLACE, word))
}

/// The digest by which a word is recognized.
pub fn sealed(word: &str) -> String {
    let mut text = SEALED.to_owned();
    for byte in digest(&SHA256, word.as_bytes()).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether this is the word. Scripts and older recordings contain the word itself instead of its
/// digest.
pub fn is(known: &str, given: &str) -> bool {
    if known.starts_with(SEALED) { sealed(given) == known } else { given == known }
}

/// Whether the word occurs in a text.
pub fn occurs(known: &str, text: &str) -> bool {
    if !known.starts_with(SEALED) {
        return text.contains(known);
    }
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| !part.is_empty() && is(known, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_and_what_is_on_record_does_not_pass_for_it() {
        let known = sealed("k3v9");
        assert!(is(&known, "k3v9") && is("k3v9", "k3v9"));
        assert!(!is(&known, &known) && !is(&known, "") && !is("k3v9", "k3v8"));
        assert!(!known.contains("k3v9"));
        for text in ["k3v9", "{\"word\":\"k3v9\"}", "x\nk3v9."] {
            assert!(occurs(&known, text) && occurs("k3v9", text), "{text}");
        }
        assert!(!occurs(&known, &known) && !occurs(&known, "k3v9x, k3v") && !occurs(&known, ""));
    }
}
