//! Makes sure that each message of the person is counted once. A message can reach ccc in three ways:
//! the client reports it when it is sent or taken up (depending on the version), its queue is in the
//! transcript, and finally the message itself is.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Words {
    /// For each text, how often it was reported and how often it is in the transcript.
    known: HashMap<String, Count>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    told: u32,
    written: u32,
}

impl Words {
    /// The client reports the message, or has put it into its queue. Returns whether it is new.
    pub fn reported(&mut self, text: &str) -> bool {
        let count = self.known.entry(key(text)).or_default();
        let news = count.told <= count.written;
        count.told += u32::from(news);
        news
    }

    /// The message is in the transcript. Returns whether it is new.
    pub fn written(&mut self, text: &str) -> bool {
        let count = self.known.entry(key(text)).or_default();
        count.written += 1;
        let news = count.told < count.written;
        count.told += u32::from(news);
        news
    }

    /// The text turned out not to be a message, and is not counted.
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
        // A message taken up during a tool call appears only in the transcript.
        assert!(older.written("b"));
    }

    #[test]
    fn the_same_words_again_are_a_message_of_their_own() {
        let mut words = Words::default();
        assert!(words.reported("go on") && !words.written("go on"));
        assert!(words.reported("go on") && !words.written("go on"));
        // Twice in the queue at once: only the transcript shows that there are two.
        assert!(words.reported("x") && !words.reported("x"));
        assert!(!words.written("x") && words.written("x"));
    }
}
