//! Going back. The messages of this run are the points to go back to; each keeps the state of the
//! task before it. Each round begins with such a message: the feedback of the round before.

use super::task::Snapshot;
use super::{Machine, TypedInto};
use crate::event::{Action, GoBack, Notice, Phase};

/// So many are offered; nobody looks further back.
const OFFERED: usize = 30;

#[derive(Debug)]
struct Point {
    uuid: String,
    text: String,
    /// Feedback is not the person's to edit again.
    persons: bool,
    before: Snapshot,
    /// The last review calls the round that it ends better than how things are now.
    better: bool,
}

impl Point {
    /// The round that it ends, if it is a supervisor's.
    fn round(&self) -> Option<u32> {
        (!self.persons).then_some(self.before.round)
    }

    /// What it says, without the line that tells the agent whose words they are.
    fn words(&self) -> &str {
        match self.text.split_once('\n') {
            Some((_, words)) if !self.persons => words,
            _ => &self.text,
        }
    }
}

/// A point as it is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    pub uuid: String,
    pub text: String,
    /// The round that the message ended, if it is a supervisor's.
    pub round: Option<u32>,
    /// The last review calls that round better than how things are now.
    pub better: bool,
}

/// The client has been asked to go back.
#[derive(Debug)]
struct GoingBack {
    uuid: String,
    files: Option<String>,
    conversation: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Points {
    sent: Vec<Point>,
    /// The last message that was sent, whatever it was.
    last: String,
    going: Option<GoingBack>,
}

impl Points {
    pub fn sent(&mut self, uuid: &str, text: &str, persons: bool, before: Snapshot) {
        uuid.clone_into(&mut self.last);
        let (uuid, text) = (uuid.to_owned(), text.to_owned());
        self.sent.push(Point { uuid, text, persons, before, better: false });
    }

    /// Another process got it again, under another id.
    pub fn sent_again(&mut self, uuid: &str, text: &str) {
        uuid.clone_into(&mut self.last);
        if let Some(point) = self.sent.iter_mut().rfind(|point| point.text == text) {
            uuid.clone_into(&mut point.uuid);
        }
    }

    pub fn taken_back(&mut self, text: &str) {
        if let Some(at) = self.sent.iter().rposition(|point| point.persons && point.text == text) {
            self.sent.remove(at);
        }
    }

    /// The conversation is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next request that waits for its answer.
    #[cfg(test)]
    pub fn request(&self) -> Option<String> {
        let going = self.going.as_ref()?;
        going.files.clone().or(going.conversation.clone())
    }

    /// The newest first.
    pub fn offered(&self) -> Vec<Offered> {
        let offered = |point: &Point| Offered {
            uuid: point.uuid.clone(),
            text: point.words().to_owned(),
            round: point.round(),
            better: point.better,
        };
        self.sent.iter().rev().take(OFFERED).map(offered).collect()
    }

    /// The points that end the rounds of this task before `now`, the newest first. Where the count has
    /// begun anew, an earlier round is none of them.
    fn rounds_before(&self, now: u32) -> Vec<(usize, u32)> {
        let mut rounds = Vec::new();
        let mut below = now;
        for (at, point) in self.sent.iter().enumerate().rev() {
            match point.round() {
                Some(round) if round >= below => break,
                Some(round) => {
                    rounds.push((at, round));
                    below = round;
                }
                None if point.before.fresh => break,
                None => {}
            }
        }
        rounds
    }

    /// One point, or none, is better than how things are now.
    fn mark_better(&mut self, better: Option<usize>) {
        for (at, point) in self.sent.iter_mut().enumerate() {
            point.better = better == Some(at);
        }
    }
}

impl Machine {
    /// The rounds of this task that the person can go back to, as each stood when it was reviewed. A
    /// client with its own screen has its own way back, which knows no rounds.
    pub(super) fn earlier_rounds(&self) -> Vec<u32> {
        match self.rules.typed_into {
            TypedInto::Client => Vec::new(),
            TypedInto::Ccc => {
                let rounds = self.points.rounds_before(self.task.round);
                rounds.into_iter().rev().map(|(_, round)| round).collect()
            }
        }
    }

    /// A judge may name an earlier round as better than how things are now: that round is marked, if
    /// there is a way back to it.
    pub(super) fn better_round(&mut self, named: Option<u32>) -> Option<u32> {
        let named = named.filter(|round| self.earlier_rounds().contains(round));
        let rounds = self.points.rounds_before(self.task.round);
        let point = rounds.iter().find(|(_, round)| named == Some(*round));
        self.points.mark_better(point.map(|(at, _)| *at));
        named
    }

    pub(super) fn go_back(&mut self, uuid: &str, what: GoBack) {
        let known = self.points.sent.iter().any(|point| point.uuid == uuid);
        let why = if self.phase != Phase::Waiting {
            "the agent is working: interrupt it first"
        } else if self.points.going.is_some() {
            "an earlier request to go back is still pending"
        } else if !known {
            "that message is no longer part of this session"
        } else if !self.process.running {
            "claude is not running: send a message first"
        } else {
            ""
        };
        if !why.is_empty() {
            return self.say(Notice::NotGoneBack { what, why: why.to_owned() });
        }
        let mut going = GoingBack { uuid: uuid.to_owned(), files: None, conversation: None };
        if what.files() {
            let request_id = self.next_id();
            going.files = Some(request_id.clone());
            self.actions.push(Action::RewindFiles { request_id, uuid: uuid.to_owned() });
        }
        if what.conversation() {
            let request_id = self.next_id();
            going.conversation = Some(request_id.clone());
            let (uuid, last) = (uuid.to_owned(), self.points.last.clone());
            self.actions.push(Action::RewindConversation { request_id, uuid, last });
        }
        self.points.going = Some(going);
    }

    /// The client answers; says whether that was one of these requests.
    pub(super) fn went_back(&mut self, request_id: &str, done: bool, error: &str) -> bool {
        let Some(going) = &mut self.points.going else { return false };
        let answered = |request: &mut Option<String>| {
            request.take_if(|request| *request == request_id).is_some()
        };
        let what = if answered(&mut going.files) {
            GoBack::Files
        } else if answered(&mut going.conversation) {
            GoBack::Conversation
        } else {
            return false;
        };
        let uuid = going.uuid.clone();
        if going.files.is_none() && going.conversation.is_none() {
            self.points.going = None;
        }
        let at = self.points.sent.iter().position(|point| point.uuid == uuid);
        match at {
            Some(at) if done => self.back_at(at, what),
            _ => self.say(Notice::NotGoneBack { what, why: error.to_owned() }),
        }
        true
    }

    fn back_at(&mut self, at: usize, what: GoBack) {
        let text = self.points.sent[at].words().to_owned();
        self.points.mark_better(None);
        self.say(Notice::WentBack { text: text.clone(), what });
        if what == GoBack::Files {
            return;
        }
        let point = self.points.sent.drain(at..).next();
        if let Some(before) = self.points.sent.last() {
            self.points.last.clone_from(&before.uuid);
        }
        let Some(point) = point else { return };
        self.task.go_back(point.before);
        self.conversation.last_answer.clear();
        self.unjudged = false;
        if point.persons {
            self.actions.push(Action::GiveBack { text });
        }
    }
}
