//! The person's words, each told once. A message reaches ccc on up to three ways: the client reports it
//! when it is sent or taken up (which of the two depends on the version), its queue stands in the
//! transcript, and so does the message itself in the end.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Words {
    /// Of each text: how often it was told, and how often the transcript has it.
    known: HashMap<String, Count>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    told: u32,
    written: u32,
}

impl Words {
    /// The client reports it, or has put it into its queue. Whether it is news.
    pub fn reported(&mut self, text: &str) -> bool {
        let count = self.known.entry(key(text)).or_default();
        let news = count.told <= count.written;
        count.told += u32::from(news);
        news
    }

    /// It stands in the transcript. Whether it is news.
    pub fn written(&mut self, text: &str) -> bool {
        let count = self.known.entry(key(text)).or_default();
        count.written += 1;
        let news = count.told < count.written;
        count.told += u32::from(news);
        news
    }

    /// It was no message after all: nobody counts it.
    pub fn forget(&mut self, text: &str) {
        if let Some(count) = self.known.get_mut(&key(text)) {
            count.told = count.told.saturating_sub(1);
        }
    }
}

fn key(text: &str) -> String {
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_once_whichever_way_comes_first() {
        // Reported when sent, then queued, then written.
        let mut newer = Words::default();
        assert_eq!(
            [newer.reported("a"), newer.reported("a"), newer.written(" a\n")],
            [true, false, false]
        );
        // Queued, taken up, written.
        let mut older = Words::default();
        assert_eq!(
            [older.reported("a"), older.reported("a"), older.written("a")],
            [true, false, false]
        );
        // Absorbed by a tool's turn: only written.
        assert!(older.written("b"));
    }

    #[test]
    fn the_same_words_again_are_a_message_of_their_own() {
        let mut words = Words::default();
        assert!(words.reported("go on") && !words.written("go on"));
        assert!(words.reported("go on") && !words.written("go on"));
        // Twice in the queue at once: the transcript tells.
        assert!(words.reported("x") && !words.reported("x"));
        assert!(!words.written("x") && words.written("x"));
    }
}
