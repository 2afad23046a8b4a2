//! The one-time word of a review: what is quoted out of a file, or said by the agent, does not know it. What
//! happens in a session is on record while it happens, and others can read there; so the loop itself is told
//! only by what to know the word.

use std::fmt::Write;

use ring::digest::{SHA256, digest};

/// In front of a digest. No word begins so.
const SEALED: &str = "sha256:";

/// Stands for the word in a message of the loop's to the judge.
pub const PLACE: &str = "<word>";

/// Such a message, as it is sent. A scripted judge needs no word.
pub fn put(text: &str, word: Option<&str>) -> String {
    word.map_or_else(|| text.to_owned(), |word| text.replace(PLACE, word))
}

/// By what a word is known.
pub fn sealed(word: &str) -> String {
    let mut text = SEALED.to_owned();
    for byte in digest(&SHA256, word.as_bytes()).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether this is the word. A script says the word itself, and so did earlier recordings.
pub fn is(known: &str, given: &str) -> bool {
    if known.starts_with(SEALED) { sealed(given) == known } else { given == known }
}

/// Whether the word stands somewhere in a text.
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
