//! What the person's keys said, as they went through to the client. A prompt, and above all a switch,
//! counts as the person's only when an Enter of theirs can have sent it: the agent can forge an event
//! of the client, and schedule prompts of its own, but it has no keys.
//!
//! Not every Enter sends a prompt: the client has dialogs too. What it draws is not read here, so that an
//! Enter which nothing was typed for may or may not belong to a prompt out of the history. It is good for
//! a message for a while, and never for the command that ends supervision.

mod decode;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use memchr::memmem;

use decode::{Key, key};

/// Messages that are typed while the agent works are reported late.
const MOST_ENTERS: usize = 32;
/// More than any command that has to be recognised.
const MOST_TEXT: usize = 1024;
/// So much of a message tells it from others.
const ENOUGH_TO_RECOGNISE: usize = 200;
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

#[derive(Debug, Default)]
pub struct Keys {
    /// Since the last Enter.
    line: Typed,
    entered: VecDeque<Typed>,
    pasting: bool,
    /// The beginning of a sequence whose end is still to come.
    rest: Vec<u8>,
    /// Since the agent last stopped, Esc was pressed or `/rewind` sent: both lead back in the conversation.
    back: bool,
}

#[derive(Debug, Default)]
struct Typed {
    text: String,
    /// A line may have been taken out of the history, or an entry of a menu chosen.
    recalled: bool,
    /// Keys were pressed, or something was pasted, of which only the client knows what it made of it.
    edited: bool,
    /// The agent has stopped since, and nobody claimed it.
    outlived_a_stop: bool,
}

/// Whether a prompt is the person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// They typed it.
    Typed,
    /// They can have: out of the history, completed, pasted.
    Possible,
    No,
}

impl Keys {
    /// Bytes of the terminal, wherever they were cut.
    pub fn typed(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.rest);
        // A lone Esc was a key if nothing follows that belongs to it.
        if all == [0x1b] && !bytes.first().is_some_and(|byte| b"[OP]_^".contains(byte)) {
            all.clear();
            self.key(Key::Escape);
        }
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            if self.pasting {
                let Some(end) = memmem::find(rest, PASTED) else {
                    // The last bytes may be the beginning of the mark.
                    let kept =
                        (1..PASTED.len()).rev().find(|kept| rest.ends_with(&PASTED[..*kept]));
                    let (text, begun) = rest.split_at(rest.len() - kept.unwrap_or(0));
                    self.rest = begun.to_vec();
                    return self.line.push(&String::from_utf8_lossy(text));
                };
                self.line.push(&String::from_utf8_lossy(&rest[..end]));
                self.pasting = false;
                rest = &rest[end + PASTED.len()..];
                continue;
            }
            if rest.starts_with(PASTE) {
                self.pasting = true;
                self.line.edited = true;
                rest = &rest[PASTE.len()..];
                continue;
            }
            let Some((key, length)) = key(rest) else {
                // A lone Esc at the end is a key, or the beginning of one that follows.
                if rest.len() < 64 {
                    self.rest = rest.to_vec();
                }
                return;
            };
            self.key(key);
            rest = &rest[length..];
        }
    }

    fn key(&mut self, key: Key) {
        match key {
            Key::Enter => self.enter(),
            Key::Escape => {
                self.back = true;
                self.line.edited = true;
            }
            key => self.line.key(key),
        }
    }

    fn enter(&mut self) {
        // The client takes this for a new line.
        if self.line.text.ends_with('\\') {
            self.line.text.pop();
            return self.line.push("\n");
        }
        if self.entered.len() == MOST_ENTERS {
            self.entered.pop_front();
        }
        let line = std::mem::take(&mut self.line);
        self.back |= ["/rewind", "/checkpoint", "/undo"].iter().any(|command| line.names(command));
        // Whoever goes back finds the earlier message in the input, and may send it as it is.
        self.line.recalled = self.back;
        self.entered.push_back(line);
    }

    /// Whether the person can have gone back in the conversation.
    pub fn may_have_gone_back(&self) -> bool {
        self.back
    }

    /// Whether the person can have sent this message; if so, an Enter of theirs has been used up.
    pub fn claim(&mut self, message: &str) -> Claim {
        let message = without_space(message);
        let found = |is: &dyn Fn(&Typed) -> bool| self.entered.iter().position(is);
        let (claim, at) = match found(&|line| line.is(&message)) {
            Some(at) => (Claim::Typed, at),
            None => match found(&|line| line.may_have_become(&message)) {
                Some(at) => (Claim::Possible, at),
                None => return Claim::No,
            },
        };
        self.entered.remove(at);
        claim
    }

    /// What the person has sent that may have been for the agent, and that nobody has claimed. (A letter or
    /// a digit answers a dialog.)
    pub fn sent_words(&self) -> impl Iterator<Item = &str> + Clone {
        let words = self.entered.iter().map(|line| line.text.trim());
        words.filter(|text| text.len() > 1 && !text.starts_with('/'))
    }

    /// Whether this command is the last thing that the person sent. (An Enter alone answers a dialog.)
    pub fn ended_with(&self, command: &str) -> bool {
        let mut words = self.entered.iter().rev().map(|line| line.text.trim());
        let last = words.find(|text| !text.is_empty()).unwrap_or_default();
        last.split_whitespace().next() == Some(command)
    }

    /// Whether the person gave this command: typed, or begun and completed. All Enters up to that one
    /// are used up.
    pub fn claim_command(&mut self, command: &str) -> bool {
        let Some(at) = self.entered.iter().position(|line| line.names(command)) else {
            return false;
        };
        self.entered.drain(..=at);
        true
    }

    /// The agent has stopped, and what was sent up to now has been claimed: except what was sent in this
    /// very moment, and that will be before the next stop.
    pub fn agent_stopped(&mut self) {
        self.back = false;
        self.entered.retain(|line| !line.outlived_a_stop);
        for line in &mut self.entered {
            line.outlived_a_stop = true;
        }
    }
}

impl Typed {
    fn key(&mut self, key: Key) {
        match key {
            Key::Text(c) => self.push(c.encode_utf8(&mut [0; 4])),
            Key::Back => drop(self.text.pop()),
            Key::Clear => *self = Self::default(),
            Key::Recall => self.recalled = true,
            Key::Other => self.edited = true,
            Key::Enter | Key::Escape | Key::Report => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.text.len() < MOST_TEXT {
            self.text.push_str(text);
        }
    }

    fn is(&self, message: &str) -> bool {
        let text = without_space(&self.text);
        let telling = message.char_indices().nth(ENOUGH_TO_RECOGNISE).map(|(at, _)| &message[..at]);
        match telling {
            Some(beginning) => text.contains(beginning),
            None => !message.is_empty() && text.ends_with(message),
        }
    }

    /// The client completes what was typed, and replaces what was pasted.
    fn may_have_become(&self, message: &str) -> bool {
        let text = without_space(&self.text);
        self.recalled || self.edited || !text.is_empty() && message.contains(&text)
    }

    /// Whether the line begins with the command, or with enough of it that a menu offers the rest.
    fn names(&self, command: &str) -> bool {
        const ENOUGH: usize = 3;
        let first = self.text.trim_start().split(char::is_whitespace).next().unwrap_or_default();
        // What stood there before may have been deleted in a way that is not known here.
        let words = first.match_indices('/').map(|(at, _)| &first[at..]);
        let enough = if self.recalled || self.edited { 1 } else { ENOUGH };
        words.into_iter().any(|word| word.len() >= enough && command.starts_with(word))
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
