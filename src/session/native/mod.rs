//! A client with its own screen: its hooks and its transcript become events for the loop, and the
//! loop's decisions become responses to its hooks.

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

use super::{ScreenNews, Session};
use crate::client::transcript::ClientTranscript;
use crate::event::{Carried, Now};
use crate::hook::background::Background;
use crate::native::keys::Keys;
use crate::native::origin::ClientProcess;
use crate::native::relay::Screen;
use crate::native::server::{Answer, Call};
use crate::native::transcript::Wanted;
use crate::native::unreported::is_taken_up;
use crate::native::words::Words;
use crate::process::terminal::PersonsTerminal;

/// A client reports a message within this time after the Enter that sends it.
pub const HEARD_WITHIN: Duration = Duration::from_secs(5);
/// How long output is gathered before it is written to the recording.
pub const GATHER: Duration = Duration::from_millis(20);

pub struct NativeSetup {
    pub terminal: Rc<PersonsTerminal>,
    /// The address that the client's hooks report to.
    pub hooks: SocketAddr,
    /// The client's process, once it has reported an event.
    pub client: ClientProcess,
    /// A prompt among the client's own arguments, which is not typed.
    pub prompt: Option<String>,
    /// Where the client keeps its transcripts.
    pub transcripts: PathBuf,
    /// What the person has to know before they type anything: a short form for the line below their
    /// input, and the full text.
    pub beforehand: Option<(String, String)>,
}

pub struct NativeState {
    setup: NativeSetup,
    screen: Option<Screen>,
    transcript: Option<Sender<Wanted>>,
    watching: bool,
    /// Hook calls that wait until the transcript has been read up to them.
    waiting: VecDeque<Call>,
    /// The agent has stopped, and the client waits for ccc's response.
    stop: Option<(u64, Answer)>,
    /// The feedback for the agent: the message's id and text.
    feedback: Option<(String, String)>,
    /// Messages that the person has not been shown yet.
    told: Vec<String>,
    /// Warnings already given; each is given once.
    warned: Vec<String>,
    words: Words,
    keys: Keys,
    background: Background,
    /// The agent works on a prompt or on feedback since it last stopped.
    asked: bool,
    began: Timestamp,
    /// The deadline for the client to report the person's first message, if it was for the agent.
    due: Option<Now>,
    session: String,
    /// The state of conversations that the person has left.
    left: HashMap<String, Carried>,
    conversation: ClientTranscript,
    /// The person's messages that the agent has not received yet, as far as the transcript shows.
    sent: Vec<Sent>,
    /// How many of the person's messages in the conversation were handled.
    heard: usize,
    /// The last switch, because the client reports a command twice.
    switched: Option<(String, String)>,
    /// The first bytes of an incomplete character.
    typed: Vec<u8>,
}

struct Sent {
    text: String,
    /// Sent while the agent was working, so the client puts it into its queue first.
    to_queue: bool,
}

impl Sent {
    fn is(&self, text: &str) -> bool {
        self.text.trim() == text.trim()
    }
}

impl NativeState {
    pub fn new(setup: NativeSetup) -> Self {
        Self {
            setup,
            screen: None,
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
            sent: Vec::new(),
            heard: 0,
            switched: None,
            typed: Vec::new(),
        }
    }

    /// The deadline for the client's first report.
    pub fn deadline(&self) -> Option<Now> {
        self.due.filter(|_| self.session.is_empty())
    }

    /// The agent received the person's message, but the client did not report it.
    fn is_unheard(&self) -> bool {
        self.session.is_empty()
            && self.due_messages().next().is_some()
            && is_taken_up(&self.setup.transcripts, self.began, self.due_messages())
    }

    /// Messages that the client should have reported, if they were for the agent.
    fn due_messages(&self) -> impl Iterator<Item = &str> + Clone {
        self.keys.sent_words().chain(self.setup.prompt.as_deref().map(str::trim))
    }

    /// The state of a conversation when the person left it.
    pub fn left(&self, session_id: &str) -> Option<Carried> {
        self.left.get(session_id).cloned()
    }

    /// Adds a warning, once per session. Returns whether it is new.
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

const STRANGER: &str = "A process that does not know this session's secret contacted the address that \
                        claude's hooks report to. ccc ignored it.";
const FORGED: &str = "An event was reported in claude's name, but not by claude. ccc ignored it; the agent \
                      may have forged it.";
const NOT_TYPED: &str = "The agent received a prompt that you did not type, for example a scheduled one. It \
                         does not count as your message.";
const NOT_YOUR_SWITCH: &str = "A command to turn supervision on or off was not typed on your keyboard (a line \
                               from the history could come from anyone), so supervision stays as it is.";
const CROWDED: &str = "So many processes contact the address that claude's hooks report to that ccc missed a \
                       report. A stop of the agent may not have been reviewed.";
const UNREAD: &str = "claude reported something that ccc cannot read, so a message of yours may be missing in \
                      reviews. Update ccc, or use a version of claude that `ccc doctor` knows.";
const UNREAD_STOP: &str = "The work was not reviewed: ccc cannot read what claude reported when the agent \
                           stopped. Your next message gets a review if claude's report can be read then. If this \
                           happens again, update ccc, or use a version of claude that `ccc doctor` knows.";
const IN_BACKGROUND: &str = "what goes on in the background is no longer supervised. To have such work \
                             reviewed, start it with `ccc --supervisor=hook --bg TEXT`.";
const SCHEDULED: &str = "Prompts are scheduled in this session (/loop). They run as usual, but do not count as \
                         your messages.";
const MISSED: &str = "claude could not report to ccc";
