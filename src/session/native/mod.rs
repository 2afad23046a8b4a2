//! A client with its own screen: its hooks and its transcript become what the loop knows, and what the
//! loop decides becomes an answer to its hooks.

mod person;
mod reports;
mod screen;
mod turns;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;

use crossbeam_channel::Sender;

use super::{Drawn, Session};
use crate::client::transcript::Transcript;
use crate::native::background::Background;
use crate::native::keys::Keys;
use crate::native::origin::Client;
use crate::native::server::{Answer, Call};
use crate::native::transcript::Wanted;
use crate::native::words::Words;
use crate::process::terminal::PersonsTerminal;

/// Pieces of the screen that wait to be recorded: enough for a burst, and an end to it.
pub const DRAWN: usize = 256;

pub struct NativeSetup {
    pub terminal: Rc<PersonsTerminal>,
    /// Where the client's hooks report to.
    pub hooks: SocketAddr,
    /// A prompt among the client's own arguments: nobody types it.
    pub prompt: Option<String>,
    /// What the person has to know before they type anything: in short for the line below their input,
    /// and in full.
    pub beforehand: Option<(String, String)>,
}

pub struct Native {
    setup: NativeSetup,
    client: Client,
    transcript: Option<Sender<Wanted>>,
    watching: bool,
    /// Reported, while the transcript is read up to there.
    waiting: VecDeque<Call>,
    /// The agent has stopped, and the client waits for what ccc says to that.
    stop: Option<(u64, Answer)>,
    /// What the agent is to go on with: the message's id and text.
    feedback: Option<(String, String)>,
    /// What the person has not read yet.
    told: Vec<String>,
    /// What they need to read only once.
    warned: Vec<&'static str>,
    words: Words,
    keys: Keys,
    background: Background,
    session: String,
    conversation: Transcript,
    /// So many of the person's words in it were looked at.
    heard: usize,
    /// A switch that was seen already: the client reports a command twice.
    switched: Option<(String, String)>,
    /// The beginning of a character that was cut.
    typed: Vec<u8>,
}

impl Native {
    pub fn new(setup: NativeSetup) -> Self {
        Self {
            setup,
            client: Client::default(),
            transcript: None,
            watching: false,
            waiting: VecDeque::new(),
            stop: None,
            feedback: None,
            told: Vec::new(),
            warned: Vec::new(),
            words: Words::default(),
            keys: Keys::default(),
            background: Background::default(),
            session: String::new(),
            conversation: Transcript::default(),
            heard: 0,
            switched: None,
            typed: Vec::new(),
        }
    }

    /// Said once in a session, however often it happens.
    fn warn(&mut self, what: &'static str) -> bool {
        let news = !self.warned.contains(&what);
        if news {
            self.warned.push(what);
            self.told.push(what.to_owned());
            log::warn!("{what}");
        }
        news
    }

    fn unread(&mut self) -> String {
        std::mem::take(&mut self.told).join(" ")
    }
}

const STRANGER: &str = "Somebody who does not know this session's secret spoke to the address that \
                        the client's hooks report to. It was not heard.";
const FORGED: &str = "An event was reported in the client's name, and not by the client: it does not \
                      count. The agent may have forged it.";
const NOT_TYPED: &str = "A prompt reached the agent that you did not type, such as one that was \
                         scheduled. It is not counted among your words.";
const NOT_YOUR_SWITCH: &str = "A command to switch the supervision was not typed on your keyboard (a line \
                               taken out of the history could be anybody's): supervision stays as it is.";
const CROWDED: &str = "So many speak at once to the address that the client's hooks report to that \
                       something was not heard. A stop of the agent may have gone unreviewed.";
const GOAL: &str = "A /goal is active beside the supervision: the agent goes on until both are content. \
                    The reviews know nothing of it but your own words.";
const SCHEDULED: &str = "Prompts are scheduled in this session (/loop). They go on beside the \
                         supervision; what they say is not counted among your words.";
