//! A client with its own screen: its hooks and its transcript become what the loop knows, and what the
//! loop decides becomes an answer to its hooks.

mod person;
mod reports;
mod screen;
mod turns;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use crossbeam_channel::Sender;
use jiff::Timestamp;

use super::{Screened, Session};
use crate::client::transcript::ClientTranscript;
use crate::event::{Carried, Now};
use crate::hook::background::Background;
use crate::native::keys::Keys;
use crate::native::origin::ClientProcess;
use crate::native::server::{Answer, Call};
use crate::native::transcript::Wanted;
use crate::native::unreported::is_taken_up;
use crate::native::words::Words;
use crate::process::terminal::PersonsTerminal;

/// A client reports a message within a moment of the Enter that sends it.
pub const HEARD_WITHIN: Duration = Duration::from_secs(5);
/// What is drawn is gathered for so long before it is written into the recording.
pub const GATHER: Duration = Duration::from_millis(20);

pub struct NativeSetup {
    pub terminal: Rc<PersonsTerminal>,
    /// Where the client's hooks report to.
    pub hooks: SocketAddr,
    /// A prompt among the client's own arguments: nobody types it.
    pub prompt: Option<String>,
    /// Where the client keeps its transcripts.
    pub transcripts: PathBuf,
    /// What the person has to know before they type anything: in short for the line below their input,
    /// and in full.
    pub beforehand: Option<(String, String)>,
}

pub struct Native {
    setup: NativeSetup,
    client: ClientProcess,
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
    warned: Vec<String>,
    words: Words,
    keys: Keys,
    background: Background,
    /// The agent works on a prompt or on feedback since it last stopped.
    asked: bool,
    began: Timestamp,
    /// Until then the client has to report the person's first words, if they were for the agent.
    due: Option<Now>,
    session: String,
    /// How things stood in the conversations that the person has left.
    left: HashMap<String, Carried>,
    conversation: ClientTranscript,
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
            client: ClientProcess::default(),
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
            asked: false,
            began: Timestamp::now(),
            due: None,
            session: String::new(),
            left: HashMap::new(),
            conversation: ClientTranscript::default(),
            heard: 0,
            switched: None,
            typed: Vec::new(),
        }
    }

    /// When it will be too late for the client's first report.
    pub fn deadline(&self) -> Option<Now> {
        self.due.filter(|_| self.session.is_empty())
    }

    /// The agent has got what the person said, and the client did not report it.
    fn is_silent(&self) -> bool {
        self.session.is_empty()
            && self.sent().next().is_some()
            && is_taken_up(&self.setup.transcripts, self.began, self.sent())
    }

    /// What the client should have reported, if it was for the agent.
    fn sent(&self) -> impl Iterator<Item = &str> + Clone {
        self.keys.sent_words().chain(self.setup.prompt.as_deref().map(str::trim))
    }

    /// How things stood in a conversation when the person left it.
    pub fn left(&self, session_id: &str) -> Option<Carried> {
        self.left.get(session_id).cloned()
    }

    /// Said once in a session, however often it happens.
    fn warn(&mut self, what: &str) -> bool {
        let news = !self.warned.iter().any(|warned| warned == what);
        if news {
            self.warned.push(what.to_owned());
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
const IN_BACKGROUND: &str = "what goes on in the background is no longer supervised. To have such work \
                             reviewed, start it with `ccc --supervisor=hook --bg TEXT`.";
const GOAL: &str = "A /goal is active beside the supervision: the agent goes on until both are content. \
                    The reviews know nothing of it but your own words.";
const SCHEDULED: &str = "Prompts are scheduled in this session (/loop). They go on beside the \
                         supervision; what they say is not counted among your words.";
