//! Going back. The messages of this run are the points to go back to; each keeps the state of the
//! task before it. Each round begins with such a message: the feedback of the round before.

use super::task::TaskSnapshot;
use super::{Machine, TypedInto};
use crate::event::{Action, GoBack, Notice, Phase};

const OFFERED: usize = 30;

#[derive(Debug)]
struct Point {
    uuid: String,
    text: String,
    /// Written by the person, who may edit it again; otherwise it is feedback.
    by_person: bool,
    before: TaskSnapshot,
    /// The last review called the round that this message ended better than the current state.
    better: bool,
}

impl Point {
    /// The round that this message ended, if it is feedback.
    fn round(&self) -> Option<u32> {
        (!self.by_person).then_some(self.before.round)
    }

    /// The text, without the line that tells the agent that it is feedback.
    fn words(&self) -> &str {
        match self.text.split_once('\n') {
            Some((_, words)) if !self.by_person => words,
            _ => &self.text,
        }
    }
}

/// A message that the person can go back to, as the surface offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindPoint {
    pub uuid: String,
    pub text: String,
    /// The round that the message ended, if it is feedback.
    pub round: Option<u32>,
    /// The last review called that round better than the current state.
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
    /// The uuid of the last message that was sent.
    last: String,
    pending: Option<GoingBack>,
}

impl Points {
    pub fn sent(&mut self, uuid: &str, text: &str, by_person: bool, before: TaskSnapshot) {
        uuid.clone_into(&mut self.last);
        let (uuid, text) = (uuid.to_owned(), text.to_owned());
        self.sent.push(Point { uuid, text, by_person, before, better: false });
    }

    /// The message was sent again to a new process, under another id.
    pub fn sent_again(&mut self, uuid: &str, text: &str) {
        uuid.clone_into(&mut self.last);
        if let Some(point) = self.sent.iter_mut().rfind(|point| point.text == text) {
            uuid.clone_into(&mut point.uuid);
        }
    }

    pub fn taken_back(&mut self, text: &str) {
        if let Some(at) = self.sent.iter().rposition(|point| point.by_person && point.text == text)
        {
            self.sent.remove(at);
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next request that is waiting for its answer.
    #[cfg(test)]
    pub fn request(&self) -> Option<String> {
        let pending = self.pending.as_ref()?;
        pending.files.clone().or(pending.conversation.clone())
    }

    /// Newest first.
    pub fn offered(&self) -> Vec<RewindPoint> {
        let offered = |point: &Point| RewindPoint {
            uuid: point.uuid.clone(),
            text: point.words().to_owned(),
            round: point.round(),
            better: point.better,
        };
        self.sent.iter().rev().take(OFFERED).map(offered).collect()
    }

    /// The points that ended the rounds of this task before `now`, newest first. Stops where the
    /// count of rounds began again.
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

    /// Marks at most one point as better than the current state.
    fn mark_better(&mut self, better: Option<usize>) {
        for (at, point) in self.sent.iter_mut().enumerate() {
            point.better = better == Some(at);
        }
    }
}

impl Machine {
    /// The rounds of this task that the person can go back to. Empty for a client with its own
    /// screen: its rewind knows no rounds.
    pub(super) fn earlier_rounds(&self) -> Vec<u32> {
        match self.rules.typed_into {
            TypedInto::Client => Vec::new(),
            TypedInto::Ccc => {
                let rounds = self.points.rounds_before(self.task.round);
                rounds.into_iter().rev().map(|(_, round)| round).collect()
            }
        }
    }

    /// Marks the earlier round that a judge called better than the current state, if the person can
    /// go back to it.
    pub(super) fn better_round(&mut self, named: Option<u32>) -> Option<u32> {
        let named = named.filter(|round| self.earlier_rounds().contains(round));
        let rounds = self.points.rounds_before(self.task.round);
        let point = rounds.iter().find(|(_, round)| named == Some(*round));
        self.points.mark_better(point.map(|(at, _)| *at));
        named
    }

    pub(super) fn go_back(&mut self, uuid: &str, what: GoBack) {
        let known = self.points.sent.iter().any(|point| point.uuid == uuid);
        let refused = if self.phase != Phase::Waiting {
            Some("the agent is working: interrupt it first")
        } else if self.points.pending.is_some() {
            Some("an earlier request to go back is still pending")
        } else if !known {
            Some("that message is no longer part of this session")
        } else if !self.process.running {
            Some("claude is not running: send a message first")
        } else {
            None
        };
        if let Some(why) = refused {
            return self.say(Notice::NotGoneBack { what, why: why.to_owned() });
        }
        let mut pending = GoingBack { uuid: uuid.to_owned(), files: None, conversation: None };
        if what.files() {
            let request_id = self.next_id();
            pending.files = Some(request_id.clone());
            self.actions.push(Action::RewindFiles { request_id, uuid: uuid.to_owned() });
        }
        if what.conversation() {
            let request_id = self.next_id();
            pending.conversation = Some(request_id.clone());
            let (uuid, last) = (uuid.to_owned(), self.points.last.clone());
            self.actions.push(Action::RewindConversation { request_id, uuid, last });
        }
        self.points.pending = Some(pending);
    }

    /// Handles the client's answer; returns whether it answers one of these requests.
    pub(super) fn went_back(&mut self, request_id: &str, done: bool, error: &str) -> bool {
        let Some(pending) = &mut self.points.pending else { return false };
        let answered = |request: &mut Option<String>| {
            request.take_if(|request| *request == request_id).is_some()
        };
        let what = if answered(&mut pending.files) {
            GoBack::Files
        } else if answered(&mut pending.conversation) {
            GoBack::Conversation
        } else {
            return false;
        };
        let uuid = pending.uuid.clone();
        if pending.files.is_none() && pending.conversation.is_none() {
            self.points.pending = None;
        }
        let at = self.points.sent.iter().position(|point| point.uuid == uuid);
        match at {
            Some(at) if done => self.returned_to(at, what),
            _ => self.say(Notice::NotGoneBack { what, why: error.to_owned() }),
        }
        true
    }

    fn returned_to(&mut self, at: usize, what: GoBack) {
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
        if point.by_person {
            self.actions.push(Action::GiveBack { text });
        }
    }
}
