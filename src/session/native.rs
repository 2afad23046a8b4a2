//! A client with its own screen: its hooks and its transcript become what the loop knows, and what the
//! loop decides becomes an answer to its hooks.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;

use crossbeam_channel::Sender;
use nix::pty::Winsize;
use nix::unistd::Pid;

use super::child_state::ChildState;
use super::{AgentProcess, Drawn, Incoming, Session};
use crate::client::session_id;
use crate::client::transcript::{Transcript, Turn};
use crate::event::{Event, Gone, Notice, Outcome, Phase};
use crate::native::hooks::Switch;
use crate::native::keys::Keys;
use crate::native::lines::{self, Ended};
use crate::native::reply::Reply;
use crate::native::server::{Answer, Call, Report};
use crate::native::transcript::{self, News, Wanted};
use crate::native::words::Words;
use crate::native::{origin, relay, told};
use crate::process::screen::{ScreenClient, ScreenEvent};
use crate::process::signals;
use crate::process::terminal::PersonsTerminal;

/// Pieces of the screen that wait to be recorded: enough for a burst, and an end to it.
pub const DRAWN: usize = 256;

const DEFAULT_SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

pub struct NativeSetup {
    pub terminal: Rc<PersonsTerminal>,
    /// Where the client's hooks report to.
    pub hooks: SocketAddr,
    /// A prompt among the client's own arguments: nobody types it.
    pub prompt: Option<String>,
}

pub struct Native {
    setup: NativeSetup,
    /// The client's own process, once it is known.
    client: Option<Pid>,
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
            client: None,
            transcript: None,
            watching: false,
            waiting: VecDeque::new(),
            stop: None,
            feedback: None,
            told: Vec::new(),
            warned: Vec::new(),
            words: Words::default(),
            keys: Keys::default(),
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
const NOT_YOUR_SWITCH: &str = "A command to switch the supervision did not come from your keyboard: \
                               supervision stays as it is.";
const SCHEDULED: &str = "Prompts are scheduled in this session (/loop). They go on beside the \
                         supervision; what they say is not counted among your words.";

impl Session<'_> {
    pub(super) fn start_screen(&mut self) {
        if let Err(error) = self.try_start_screen() {
            let how = format!("did not start: {error:#}");
            self.events.push_back(Event::AgentGone(Gone { how, ..Gone::default() }));
        }
    }

    fn try_start_screen(&mut self) -> anyhow::Result<()> {
        let launch = self.launch(self.setup.claude_args.clone(), self.setup.agent_env.clone());
        let Some(native) = &mut self.native else { return Ok(()) };
        let terminal = Rc::clone(&native.setup.terminal);
        let size = terminal.size().unwrap_or(DEFAULT_SIZE);
        let events = self.to_control.clone();
        let news = self.to_control.clone();
        native.transcript =
            Some(transcript::follow(move |read| news.send(Incoming::Transcript(read)).is_ok())?);
        let client = ScreenClient::start(&launch, &terminal, size, move |event| {
            events.send(Incoming::Screen(event)).is_ok()
        })?;
        let resized = self.to_control.clone();
        signals::on_resize(move || resized.send(Incoming::Resized).is_ok())?;
        terminal.take()?;
        let keys = self.to_control.clone();
        relay::keys(terminal.device().try_clone()?, client.terminal()?, move |typed| {
            keys.send(Incoming::Relayed(typed)).is_ok()
        })?;
        let drawn = self.to_screen.clone();
        relay::screen(client.terminal()?, terminal.device().try_clone()?, move |piece| {
            drawn.send(piece).is_ok()
        })?;
        let group = client.group();
        self.agent = Some(ChildState::new(AgentProcess::Screen(client), group));
        Ok(())
    }

    fn screen_client(&self) -> Option<&ScreenClient> {
        match self.agent.as_ref().map(|agent| &agent.handle) {
            Some(AgentProcess::Screen(client)) => Some(client),
            _ => None,
        }
    }

    pub(super) fn drawn(&mut self, drawn: Drawn) {
        match drawn {
            Some(Ok(bytes)) => {
                if let Some(recorder) = &self.setup.recorder {
                    recorder.cast().output(&bytes);
                }
            }
            Some(Err(error)) => {
                if self.outcome.is_none() {
                    self.lost(&error, Outcome::Unwritten(error.to_string()));
                }
            }
            None => {
                if let Some(agent) = &mut self.agent {
                    agent.output_ended = true;
                }
            }
        }
    }

    pub(super) fn relayed(&mut self, keys: io::Result<Vec<u8>>) {
        let bytes = match keys {
            Ok(bytes) => bytes,
            Err(error) => {
                let outcome = Outcome::Failed(format!("the keys cannot be read: {error}"));
                return self.lost(&error, outcome);
            }
        };
        let Some(native) = &mut self.native else { return };
        native.keys.typed(&bytes);
        if let Some(recorder) = &mut self.setup.recorder {
            native.typed.extend_from_slice(&bytes);
            let whole = crate::record::whole_characters(&native.typed);
            let rest = native.typed.split_off(whole);
            recorder.typed(&String::from_utf8_lossy(&native.typed));
            native.typed = rest;
        }
    }

    pub(super) fn screen_resized(&mut self) {
        let size = self.native.as_ref().and_then(|native| native.setup.terminal.size());
        let (Some(size), Some(client)) = (size, self.screen_client()) else { return };
        client.resize(&size);
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.input(&crossterm::event::Event::Resize(size.ws_col, size.ws_row));
        }
    }

    pub(super) fn screen_event(&mut self, event: ScreenEvent) {
        match event {
            // The shell has the terminal until ccc is continued, and then the client goes on too.
            ScreenEvent::Stopped => {
                self.suspend();
                self.screen_resized();
                if let Some(client) = self.screen_client() {
                    client.go_on();
                }
            }
            ScreenEvent::Exited(gone) => {
                let now = self.now();
                if let Some(agent) = &mut self.agent {
                    agent.exited(gone, now);
                }
            }
        }
    }

    pub(super) fn reported(&mut self, report: Report) {
        match report {
            Report::Stranger => self.warn(STRANGER),
            Report::GivenUp(id) => self.given_up(id),
            Report::Call(call) => self.called(*call),
        }
    }

    fn warn(&mut self, what: &'static str) {
        if let Some(native) = &mut self.native {
            if native.warn(what) {
                self.surface.told(Err("ccc has a warning for you".to_owned()));
            }
        }
    }

    /// The client does not wait any longer: with Esc, the person does not want this review.
    fn given_up(&mut self, id: u64) {
        let Some(native) = &mut self.native else { return };
        if native.stop.take_if(|(stop, _)| *stop == id).is_some()
            && self.machine.status().phase == Phase::Reviewing
        {
            self.step(Event::Interrupt);
        }
    }

    fn called(&mut self, call: Call) {
        let client = self.screen_client().and_then(ScreenClient::client);
        let Some(native) = &mut self.native else { return };
        // The first event comes before the agent has done anything.
        let client = *native.client.get_or_insert(client.unwrap_or(Pid::from_raw(0)));
        let known = client.as_raw() > 0;
        if known && origin::is_from(call.from, native.setup.hooks, client) == Some(false) {
            call.answer.send(&Reply::Nothing);
            return self.warn(FORGED);
        }
        let event = &call.event;
        if event.agent_id.is_some() || !session_id::is_safe(&event.session_id) {
            call.answer.send(&Reply::Nothing);
            return;
        }
        let until = (event.name == "Stop").then(|| event.last_assistant_message.clone());
        let wanted = Wanted::News {
            call: call.id,
            path: PathBuf::from(&event.transcript_path),
            until: until.flatten(),
        };
        native.waiting.push_back(call);
        if let Some(transcript) = &native.transcript {
            let _ = transcript.send(wanted);
        }
    }

    pub(super) fn read_transcript(&mut self, news: News) {
        let Some(native) = &mut self.native else { return };
        let called = news.call.and_then(|id| native.waiting.iter().position(|call| call.id == id));
        let call = called.and_then(|at| native.waiting.remove(at));
        if let Some(call) = &call {
            self.enter_conversation(&call.event.session_id);
        }
        let Some(native) = &self.native else { return };
        let (before, now) = (native.conversation.turn, self.now());
        for line in news.lines {
            if let Some(native) = &mut self.native {
                native.conversation.line(&line);
            }
            if let Some(line) = transcript::of_the_agent(&line) {
                self.agent_line(line, now);
            }
        }
        self.hear_the_person();
        let Some(native) = &mut self.native else { return };
        let turn = native.conversation.turn;
        if turn != before && turn == Turn::Interrupted && self.machine.is_busy() {
            self.step(Event::Interrupt);
            self.turn_ended(Ended::Interrupted);
        }
        if let Some(call) = call {
            self.happened(call);
        }
    }

    /// What the transcript has of the person's words, and no hook has told. (Commands were told: the
    /// client reports each.)
    fn hear_the_person(&mut self) {
        let Some(native) = &mut self.native else { return };
        let Native { conversation, words, heard, .. } = native;
        let is_message = |text: &&str| !text.trim_start().starts_with('/');
        let written = conversation.said.iter().skip(*heard).map(|said| said.text.as_str());
        let written = written.filter(is_message).filter(|text| words.written(text));
        let mut news: Vec<String> = written.map(str::to_owned).collect();
        *heard = conversation.said.len();
        let waiting = conversation.waiting().filter(is_message).filter(|text| words.reported(text));
        news.extend(waiting.map(str::to_owned));
        for text in news {
            self.said(text);
        }
    }

    /// The person's words, if they are the person's.
    fn said(&mut self, text: String) -> bool {
        let Some(native) = &mut self.native else { return false };
        let given = native.setup.prompt.take_if(|prompt| prompt.trim() == text.trim());
        if given.is_none() && !native.keys.claim() {
            self.warn(NOT_TYPED);
            return false;
        }
        self.step(Event::Said(text));
        true
    }

    /// The supervision belongs to the launch, and not to a conversation: it goes on in another one.
    fn enter_conversation(&mut self, session_id: &str) {
        let Some(native) = &mut self.native else { return };
        if native.session != session_id {
            session_id.clone_into(&mut native.session);
            (native.conversation, native.heard) = (Transcript::default(), 0);
            self.step(Event::Conversation { session_id: session_id.to_owned() });
        }
    }

    fn happened(&mut self, call: Call) {
        match call.event.name.as_str() {
            "UserPromptSubmit" | "UserPromptExpansion" => self.prompted(call),
            "Stop" => self.stopped(call),
            "StopFailure" => {
                let failure = call.event.failure();
                self.turn_begins();
                self.turn_ended(Ended::Failed(&failure));
                call.answer.send(&Reply::Nothing);
            }
            _ => {
                call.answer.send(&Reply::Nothing);
            }
        }
    }

    fn prompted(&mut self, call: Call) {
        let prompt = call.event.prompt.clone();
        if Switch::read(&prompt).is_some() {
            return self.switched(call, &prompt);
        }
        let Some(native) = &mut self.native else { return };
        if call.event.name == "UserPromptSubmit" {
            if native.words.reported(&prompt) {
                self.said(prompt);
            }
            self.turn_begins();
        }
        let tell = self.unread();
        call.answer.send(&Reply::Tell(tell));
    }

    /// What the person reads with the next answer.
    fn unread(&mut self) -> String {
        self.surface.told(Ok(String::new()));
        self.native.as_mut().map(Native::unread).unwrap_or_default()
    }

    /// `/supervisor`, `/supervisoroff`: the person's alone.
    fn switched(&mut self, call: Call, prompt: &str) {
        let (Some(switch), Some(native)) = (Switch::read(prompt), &mut self.native) else { return };
        let this = (call.event.prompt_id.clone(), prompt.to_owned());
        if native.switched.as_ref() == Some(&this) && !switch.rest.is_empty() {
            call.answer.send(&Reply::Nothing);
            return;
        }
        native.switched = Some(this);
        let command = if switch.on { "/supervisor" } else { "/supervisoroff" };
        if !native.keys.claim_command(command) {
            log::warn!("{NOT_YOUR_SWITCH}");
            call.answer.send(&Reply::Taken(format!("ccc: {NOT_YOUR_SWITCH}")));
            return;
        }
        self.step(Event::Said(prompt.to_owned()));
        let tell = self.unread();
        if switch.rest.is_empty() {
            call.answer.send(&Reply::Taken(format!("ccc: {tell}")));
        } else {
            self.turn_begins();
            call.answer.send(&Reply::Tell(tell));
        }
    }

    fn stopped(&mut self, call: Call) {
        let Some(native) = &mut self.native else { return };
        if let Some((_, earlier)) = native.stop.take() {
            earlier.send(&Reply::Nothing);
        }
        if call.event.session_crons() {
            native.warn(SCHEDULED);
        }
        let background = call.event.background();
        if !background.is_empty() {
            // The agent wakes when they end, and stops again.
            self.surface.notice(&Notice::WaitingForBackground { tasks: background });
            call.answer.send(&Reply::Nothing);
            return;
        }
        native.stop = Some((call.id, call.answer));
        let turn = native.conversation.turn;
        let answer = call.event.last_assistant_message.unwrap_or_default();
        self.turn_begins();
        self.turn_ended(match turn {
            Turn::None | Turn::Work | Turn::Interrupted => Ended::Well { last_answer: &answer },
            Turn::Shell | Turn::LocalCommand => Ended::WithoutWork,
            Turn::Failed => Ended::Failed(&answer),
        });
    }

    fn turn_begins(&mut self) {
        let Some(native) = &self.native else { return };
        let model = native.conversation.model.as_deref().unwrap_or_default();
        let line = lines::begun(&native.session, model);
        let now = self.now();
        self.agent_line(line, now);
    }

    fn turn_ended(&mut self, ended: Ended<'_>) {
        let Some(native) = &self.native else { return };
        let line = lines::ended(&native.session, ended);
        let now = self.now();
        self.agent_line(line, now);
    }

    /// What the machine wants to say to the agent.
    pub(super) fn feed_back(&mut self, uuid: String, text: String) {
        if let Some(native) = &mut self.native {
            native.feedback = Some((uuid, text));
        }
    }

    /// What the person is to read.
    pub(super) fn tell(&mut self, notice: &Notice) {
        if let Some(native) = &mut self.native {
            native.told.extend(told::sentence(notice));
        }
    }

    /// The client waits while a review runs, and not longer.
    pub(super) fn answer_client(&mut self) {
        let reviewing = self.machine.status().phase == Phase::Reviewing;
        let Some(native) = &mut self.native else { return };
        if native.watching != reviewing {
            native.watching = reviewing;
            if let Some(transcript) = &native.transcript {
                let _ = transcript.send(Wanted::Watch(reviewing));
            }
        }
        if reviewing {
            return;
        }
        if let Some((uuid, feedback)) = native.feedback.take() {
            let tell = native.unread();
            let taken = native
                .stop
                .take()
                .is_some_and(|(_, answer)| answer.send(&Reply::GoOn { feedback, tell }));
            let line = lines::taken(&native.session, &uuid);
            let now = self.now();
            self.agent_line(line, now);
            if taken {
                self.turn_begins();
            } else {
                log::warn!("the client did not wait for the feedback");
                self.turn_ended(Ended::Interrupted);
            }
        } else if let Some((_, answer)) = native.stop.take() {
            let tell = self.unread();
            answer.send(&Reply::Tell(tell));
        }
    }
}
