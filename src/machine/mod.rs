//! The loop's rules. `step(event, now) -> actions`: no file, process, thread, clock or environment.
//!
//! | phase | event | what follows |
//! |---|---|---|
//! | any | start | the agent is started; a prompt is its first message |
//! | waiting | a message | sent; after a confirmed task or a reached limit it starts a new task, at round 0 |
//! | working | a message | sent at once: it steers the running turn |
//! | working | take back | the last message that the agent has not taken up returns to the person |
//! | reviewing | a message | the review is dropped, the message sent |
//! | working | result, all messages taken up, no background task | review, or the limit |
//! | working | result with an error | reported, no review |
//! | working | result after the person's interrupt | no review |
//! | working | result with `num_turns: 0` | a slash command: no review; if a tool was used, no success either |
//! | any | the agent names another conversation, and the person did not ask for one | an error: the person decides |
//! | working | result while background tasks run | wait for their end, then for the agent to wake |
//! | waiting, reviewing | the agent starts a turn by itself | working; a running review is dropped |
//! | reviewing | the agent stopped | what changed is looked at, and the checks run, before any judge |
//! | reviewing | a check is red | its output goes to the agent; no judge is asked |
//! | reviewing | all checks passed, and no file has changed since | they do not run again |
//! | reviewing | completed | back to the person |
//! | reviewing | not completed | the feedback goes to the agent |
//! | reviewing | blocked, impossible | the person decides |
//! | reviewing | not completed, and the third time the same | stuck: the person decides |
//! | reviewing | no verdict, failure, deadline | once more, then the person decides |
//! | working | the agent dies | resumed once; a second death soon after is an error |
//! | waiting, reviewing | the agent dies | resumed with the next message |
//! | any | a tool needs permission | the person is asked; without a person: denied |
//! | any, before the first review | the session has been here before | its count, messages and cost are gone on with |
//! | any | `/supervisor`, `/supervisoroff` | supervision on (count at 0), off |
//! | any | the client is in another conversation | its messages and its count are new |
//! | any, typed into the client | a message | the client has it already: it is noted, and drops a review; nothing is sent |
//! | any, typed into the client | the client leaves | the end, with its exit code |
//! | any, typed into the client | the judge needs permission | denied: ccc has no screen to ask on |
//! | waiting, typed into the client | `/supervisor` after a review without a verdict | the next stop is reviewed: there is no stop to answer now |
//! | reviewing | the project changed meanwhile | the person is told; the verdict counts all the same |
//! | any | leave, signal | the end |
//!
//! Without a person at the terminal, "back to the person" is the end of the session.

mod agent;
mod background;
mod checks;
mod conversation;
mod cost;
mod outbox;
mod process;
mod questions;
mod resume;
mod review;
mod rules;
mod status;
mod task;
#[cfg(test)]
mod tests;
mod turn;
mod user;

use std::collections::VecDeque;
use std::time::Duration;

use crate::brief::activity::Activity;
use crate::brief::{Facts, brief};
use crate::checks::result::CheckResult;
use crate::client::stream::Usage;
use crate::event::{
    Action, Dropped, Event, Notice, Now, Outcome, Phase, Question, ReviewRequest, Round,
};
use crate::review::engine::Engine;
use crate::review::permission::Denied;
use background::Background;
use checks::{Checking, Known};
use conversation::Conversation;
use cost::Cost;
use outbox::Outbox;
use process::Process;
pub use questions::NOBODY;
use resume::resumed_notice;
pub use rules::{Checking as CheckingRules, Rules, TypedInto};
pub use status::Status;
use task::Task;
use turn::Turn;

#[derive(Debug)]
struct Review {
    /// Of the process that judges now: a second attempt is another one.
    id: u32,
    started: Now,
    cost_usd: f64,
    usage: Usage,
    engine: Engine,
}

#[derive(Debug)]
pub struct Machine {
    rules: Rules,
    phase: Phase,
    phase_since: Now,
    now: Now,
    actions: Vec<Action>,

    supervising: bool,
    task: Task,
    conversation: Conversation,
    process: Process,
    outbox: Outbox,
    turn: Turn,
    /// A turn ended well and has not been judged.
    unjudged: bool,
    /// The agent used a tool in its turn: the turn is work, whatever its result says.
    tool_used: bool,
    background: Background,

    activity: Activity,
    checking: Option<Checking>,
    /// How many looks at the files and checks there were.
    checks: u32,
    known: Known,
    review: Option<Review>,
    reviews: u32,
    questions: VecDeque<Question>,
    /// What the agent was not allowed to do.
    denials: Vec<Denied>,
    ids: u64,

    rounds: Vec<Round>,
    cost: Cost,
    review_usage: Usage,
    working: Duration,
    reviewing: Duration,
}

impl Machine {
    pub fn new(rules: Rules) -> Self {
        let task = Task::new(rules.carried.as_ref());
        let (all, agents) = rules
            .carried
            .as_ref()
            .map_or((0.0, 0.0), |carried| (carried.cost_usd, carried.agent_usd));
        Self {
            phase: Phase::Waiting,
            phase_since: Now::ZERO,
            now: Now::ZERO,
            actions: Vec::new(),
            supervising: rules.supervising,
            task,
            conversation: Conversation::new(rules.resume.as_ref(), rules.carried.as_ref()),
            process: Process::default(),
            outbox: Outbox::default(),
            turn: Turn::default(),
            unjudged: false,
            tool_used: false,
            background: Background::default(),
            activity: Activity::default(),
            checking: None,
            checks: 0,
            known: Known::default(),
            review: None,
            reviews: 0,
            questions: VecDeque::new(),
            denials: Vec::new(),
            ids: 0,
            rounds: Vec::new(),
            cost: Cost::carried(all, agents),
            review_usage: Usage::default(),
            working: Duration::ZERO,
            reviewing: Duration::ZERO,
            rules,
        }
    }

    pub fn step(&mut self, event: Event, now: Now) -> Vec<Action> {
        self.now = now;
        if self.phase != Phase::Ended {
            match event {
                Event::Start { prompt } => self.start(prompt),
                Event::Said(text) => self.said(text),
                Event::TakeBack => self.take_back(),
                Event::Interrupt => self.interrupt(),
                Event::Leave => self.finish(Outcome::Ended),
                Event::Answered { request_id, answer } => self.answered(&request_id, answer),
                Event::Agent(envelope) => self.agent(envelope),
                Event::AgentGone(gone) => self.agent_gone(gone),
                Event::Supervisor { review, envelope } => self.supervisor(review, envelope),
                Event::SupervisorGone { review, gone } => self.supervisor_gone(review, &gone),
                Event::Examined { id, examined } => self.examined(id, examined),
                Event::CheckPrinted { check, text } => self.check_printed(check, &text),
                Event::CheckGone { check, gone } => self.check_gone(check, &gone),
                Event::ReviewPrepared { review, word } => self.prepared(review, &word),
                Event::Verified { review, findings } => self.verified(review, &findings),
                Event::Tick => self.tick(),
                Event::Signal(signal) => self.finish(Outcome::Signal(signal)),
                Event::Restored(carried) => self.restored(carried),
                Event::Conversation { session_id } => self.shows(&session_id),
                Event::TreeChanged { review, files, more } => {
                    self.tree_changed(review, files, more);
                }
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// What the agent said last.
    pub fn last_answer(&self) -> &str {
        &self.conversation.last_answer
    }

    /// When to come back with a `Tick` if nothing else happens.
    pub fn deadline(&self) -> Option<Now> {
        let review = self.review.as_ref().and_then(|review| review.engine.deadline());
        [review, self.check_deadline(), self.background.deadline()].into_iter().flatten().min()
    }

    fn start(&mut self, prompt: Option<String>) {
        self.say(Notice::Started {
            supervising: self.supervising,
            max_iterations: self.rules.max_iterations,
        });
        if self.rules.carried.is_some() {
            self.say(resumed_notice(&self.carried(), self.rules.max_iterations));
        }
        for check in self.rules.checking.untrusted.clone() {
            self.say(Notice::CheckEnded(CheckResult::not_trusted(&check)));
        }
        self.start_agent();
        match prompt {
            Some(prompt) => self.said(prompt),
            None => self.say(self.phase_notice()),
        }
    }

    fn tick(&mut self) {
        self.drive(Engine::tick);
        self.check_overdue();
        if self.background.passed(self.now) {
            self.review_or_give_back();
        }
        self.settle();
    }

    /// Idle is a fact: a turn ended well, every message sent was taken up, and nothing that the
    /// agent started is still running.
    fn settle(&mut self) {
        let idle = self.phase == Phase::Working
            && self.unjudged
            && !self.turn.is_open()
            && self.outbox.is_empty();
        if !idle {
            return;
        }
        if !self.background.is_empty() {
            if let Some(tasks) = self.background.wait(self.now + self.rules.background_wait) {
                self.say(Notice::WaitingForBackground { tasks });
            }
        } else if !self.background.awaits_waking() {
            self.review_or_give_back();
        }
    }

    fn review_or_give_back(&mut self) {
        self.unjudged = false;
        self.background.stop_waiting();
        if !self.supervising {
            self.give_back(Outcome::Unreviewed);
        } else if self.task.round >= self.rules.max_iterations {
            self.say(Notice::LimitReached { max: self.rules.max_iterations });
            self.task.limit_reached();
            self.give_back(Outcome::Limit);
        } else {
            self.task.round += 1;
            self.judge();
        }
    }

    /// The loop has nothing more to do: the person's turn, or without one the end.
    fn give_back(&mut self, outcome: Outcome) {
        if self.rules.person {
            self.enter(Phase::Waiting);
        } else {
            self.finish(outcome);
        }
    }

    fn finish(&mut self, outcome: Outcome) {
        self.drop_review(Dropped::SessionEnded);
        self.lose_messages();
        self.enter(Phase::Ended);
        self.actions.push(Action::Finish(outcome));
    }

    fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            let spent = self.now.saturating_sub(self.phase_since);
            match self.phase {
                Phase::Working => self.working += spent,
                Phase::Reviewing => self.reviewing += spent,
                Phase::Waiting | Phase::Ended => {}
            }
            self.phase = phase;
            self.phase_since = self.now;
            self.say(self.phase_notice());
        }
    }

    fn phase_notice(&self) -> Notice {
        Notice::Phase { phase: self.phase, round: self.task.round, max: self.rules.max_iterations }
    }

    fn say(&mut self, notice: Notice) {
        self.actions.push(Action::Say(notice));
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        // The client wants a UUID; version and variant bits as of a random one.
        let (high, low) = (self.rules.seed >> 32, self.rules.seed & 0xffff_ffff);
        format!(
            "{high:08x}-{:04x}-4{:03x}-8ccc-{low:08x}{:04x}",
            self.ids >> 28,
            (self.ids >> 16) & 0xfff,
            self.ids & 0xffff
        )
    }

    fn request(&self, review: u32) -> Option<ReviewRequest> {
        let engine = self.review.as_ref().map(|review| &review.engine);
        let fresh = engine.and_then(Engine::seat).is_some_and(|seat| seat.fresh);
        let known = engine.map_or(&*self.task.requirements, Engine::known);
        Some(ReviewRequest {
            review,
            round: self.task.round,
            max: self.rules.max_iterations,
            session_id: self.conversation.id()?.clone(),
            model: self.conversation.model.clone(),
            said: self.task.said.clone(),
            last_answer: self.conversation.last_answer.clone(),
            background: self.background.names(),
            brief: if fresh { self.brief_for_fresh_eyes() } else { self.brief() },
            requirements: known.to_vec(),
            word: None,
            judge: engine.map_or(0, Engine::judge),
            fresh,
            diff: String::new(),
        })
    }

    fn brief(&self) -> String {
        self.brief_on(&self.conversation.last_answer)
    }

    /// What the agent says of its work is not in it.
    fn brief_for_fresh_eyes(&self) -> String {
        self.brief_on("")
    }

    /// Sessions that do not look at the files leave all of it to the judge.
    fn brief_on(&self, last_answer: &str) -> String {
        if !self.rules.checking.examines {
            return String::new();
        }
        brief(&Facts {
            examined: &self.known.examined,
            checks: &self.known.results,
            activity: &self.activity,
            last_answer,
            background: &self.background.names(),
        })
    }
}
