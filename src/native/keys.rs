//! The person's key presses on their way to the client. A prompt, and above all a switch of
//! supervision, counts as the person's only if an Enter of theirs can have sent it: the agent can forge
//! the client's events and schedule prompts of its own, but it cannot press keys.
//!
//! Not every Enter sends a prompt: some answer a dialog of the client. ccc does not read the client's
//! screen, so an Enter without typed text may or may not have sent a prompt from the history. Such an
//! Enter can stand for a message for a while, but never for the command that ends supervision.

mod decode;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use memchr::memmem;

use decode::{Key, key};

/// How many Enters are remembered: messages typed while the agent works are reported late.
const MOST_ENTERS: usize = 32;
/// Longer than any command that has to be recognised.
const MOST_TEXT: usize = 1024;
/// This many characters distinguish a message from others.
const ENOUGH_TO_RECOGNISE: usize = 200;
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

#[derive(Debug, Default)]
pub struct Keys {
    /// The keys since the last Enter.
    line: Typed,
    entered: VecDeque<Typed>,
    pasting: bool,
    /// The start of an escape sequence whose end has not arrived yet.
    rest: Vec<u8>,
    /// Since the agent last stopped, the person pressed Esc or sent `/rewind`; both can lead back in
    /// the conversation.
    back: bool,
    /// Since the agent last stopped, the person pressed a key that interrupts it.
    interrupted: bool,
    /// Since the agent last stopped, the person pressed a key that brings an earlier message into the input.
    recalled: bool,
}

#[derive(Debug, Default)]
struct Typed {
    text: String,
    /// The line may come from the history, or from an entry chosen in a menu.
    recalled: bool,
    /// Keys were pressed or text was pasted with a result that only the client knows.
    edited: bool,
    /// The agent has stopped since this Enter, and no message has claimed it.
    outlived_a_stop: bool,
}

/// Whether a prompt came from the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The person typed it.
    Typed,
    /// The person can have sent it: from the history, by completion, or pasted.
    Possible,
    No,
}

impl Keys {
    /// Takes bytes from the terminal; a chunk may end anywhere, even within a sequence.
    pub fn typed(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.rest);
        // A lone Esc was a key of its own unless the next byte continues a sequence.
        if all == [0x1b] && !bytes.first().is_some_and(|byte| b"[OP]_^".contains(byte)) {
            all.clear();
            self.key(Key::Escape);
        }
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            if self.pasting {
                let Some(end) = memmem::find(rest, PASTED) else {
                    // The last bytes may be the start of the end marker.
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
                // A lone Esc at the end is a key, or the start of a sequence.
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
                (self.back, self.interrupted) = (true, true);
                self.line.edited = true;
            }
            Key::Cancel => {
                self.interrupted = true;
                self.line.key(Key::Clear);
            }
            key => {
                self.recalled |= key == Key::Recall;
                self.line.key(key);
            }
        }
    }

    fn enter(&mut self) {
        // The client treats Enter after a backslash as a new line.
        if self.line.text.ends_with('\\') {
            self.line.text.pop();
            return self.line.push("\n");
        }
        if self.entered.len() == MOST_ENTERS {
            self.entered.pop_front();
        }
        let line = std::mem::take(&mut self.line);
        self.back |= ["/rewind", "/checkpoint", "/undo"].iter().any(|command| line.names(command));
        // After going back, the earlier message is in the input and may be sent unchanged.
        self.line.recalled = self.back;
        self.entered.push_back(line);
    }

    /// Whether the person may have gone back in the conversation.
    pub fn may_have_gone_back(&self) -> bool {
        self.back
    }

    /// Whether the person may have taken a message back out of the client's queue.
    pub fn may_have_taken_back(&self) -> bool {
        self.recalled
    }

    /// Whether the person can have sent this message. If so, one of their Enters is used up.
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

    /// Gives back the Enter that a message has used up.
    pub fn unclaim(&mut self, message: &str) {
        self.entered.push_back(Typed { text: message.to_owned(), ..Typed::default() });
    }

    /// Whether a turn that the transcript calls a command of the person's own (`!make`, `/context`) can be
    /// one; if so, the Enter that sent it is used up. If the agent was `asked` for something, it must have
    /// been interrupted before.
    pub fn claim_own_command(&mut self, command: &str, asked: bool) -> bool {
        if !asked {
            return self.claim(command) != Claim::No;
        }
        let command = without_space(command);
        let typed = self.entered.iter().position(|line| line.is(&command));
        typed.filter(|_| self.interrupted).and_then(|at| self.entered.remove(at)).is_some()
    }

    /// Whether the person sent this to the client's shell (`!`) and not to the agent.
    pub fn sent_to_shell(&self, text: &str) -> bool {
        let text = without_space(text);
        let is_it = |line: &Typed| without_space(&line.text).strip_prefix('!') == Some(&text);
        self.entered.iter().any(is_it)
    }

    /// Unclaimed text that the person sent and that may have been meant for the agent. (A single letter
    /// or digit answers a dialog.)
    pub fn sent_words(&self) -> impl Iterator<Item = &str> + Clone {
        let words = self.entered.iter().map(|line| line.text.trim());
        words.filter(|text| text.len() > 1 && !text.starts_with('/'))
    }

    /// Whether this command is the last thing that the person sent. (An Enter without text answers a dialog.)
    pub fn ended_with(&self, command: &str) -> bool {
        let mut words = self.entered.iter().rev().map(|line| line.text.trim());
        let last = words.find(|text| !text.is_empty()).unwrap_or_default();
        last.split_whitespace().next() == Some(command)
    }

    /// Whether the person gave this command, typed in full or completed. All Enters up to that one are used up.
    pub fn claim_command(&mut self, command: &str) -> bool {
        let Some(at) = self.entered.iter().position(|line| line.names(command)) else {
            return false;
        };
        self.entered.drain(..=at);
        true
    }

    /// The agent has stopped, so everything sent before has been claimed. An Enter pressed at this very
    /// moment is kept for one more stop.
    pub fn agent_stopped(&mut self) {
        (self.back, self.interrupted, self.recalled) = (false, false, false);
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
            Key::Enter | Key::Escape | Key::Cancel | Key::Report => {}
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

    /// The client completes typed text and replaces pasted text.
    fn may_have_become(&self, message: &str) -> bool {
        let text = without_space(&self.text);
        self.recalled || self.edited || !text.is_empty() && message.contains(&text)
    }

    /// Whether the line begins with the command, or with enough of it that a menu offers the rest.
    fn names(&self, command: &str) -> bool {
        const ENOUGH: usize = 3;
        let first = self.text.trim_start().split(char::is_whitespace).next().unwrap_or_default();
        // Text before the slash may have been deleted by a key that ccc does not interpret.
        let words = first.match_indices('/').map(|(at, _)| &first[at..]);
        let enough = if self.recalled || self.edited { 1 } else { ENOUGH };
        words.into_iter().any(|word| word.len() >= enough && command.starts_with(word))
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
