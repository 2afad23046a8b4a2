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
//! | working | result with `num_turns: 0` | a slash command: no review |
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
//! | reviewing | the project changed meanwhile | the person is told; the verdict counts all the same |
//! | any | leave, signal | the end |
//!
//! Without a person at the terminal, "back to the person" is the end of the session.

mod agent;
mod checks;
mod cost;
mod questions;
mod resume;
mod review;
mod rules;
mod status;
#[cfg(test)]
mod tests;
mod user;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::brief::activity::Activity;
use crate::brief::{Facts, brief};
use crate::checks::result::CheckResult;
use crate::client::stream::Usage;
use crate::event::{
    Action, Carried, Dropped, Event, Notice, Now, Outcome, Phase, Question, ReviewRequest, Round,
    Said,
};
use crate::review::circle::Circle;
use crate::review::engine::Engine;
use crate::review::requirement::Requirement;
use checks::{Checking, Known};
use cost::Cost;
pub use rules::{Checking as CheckingRules, Rules};
pub use status::Status;

/// After a background task's end the agent wakes by itself, within 0.1 s as measured; if it does
/// not, the work is reviewed as it is.
const WAKE_GRACE: Duration = Duration::from_secs(2);
/// A death this soon after a restart is not bad luck any more.
const DEATH_WINDOW: Duration = Duration::from_secs(60);

/// A message on its way: written, but not yet taken up by the agent.
#[derive(Debug, Clone)]
struct Sent {
    uuid: String,
    text: String,
    /// Sent by the person into a running turn: until it is taken up, it can be taken back.
    steering: bool,
}

#[derive(Debug)]
struct Review {
    /// Of the process that judges now: a second attempt is another one.
    id: u32,
    started: Now,
    cost_usd: f64,
    usage: Usage,
    engine: Engine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    Running,
    Dead,
}

#[derive(Debug)]
pub struct Machine {
    rules: Rules,
    phase: Phase,
    phase_since: Now,
    now: Now,
    actions: Vec<Action>,

    supervising: bool,
    round: u32,
    /// The next message starts a new task.
    fresh: bool,
    said: Vec<Said>,
    last_answer: String,

    session_id: Option<String>,
    /// The agent itself has named the session.
    named: bool,
    /// An earlier run of the session is being gone on with.
    resumed: bool,
    model: String,
    context: Option<u64>,
    window: Option<u64>,
    agent: Agent,
    /// A turn has begun at least once: the client started, and speaks the protocol.
    spoke: bool,
    last_error: String,
    /// The client has the conversation on disk, so that it can be resumed.
    resumable: bool,
    last_death: Option<Now>,
    unconfirmed: VecDeque<Sent>,
    /// The client says which messages it takes up.
    receipts: bool,
    /// The request by which a message is being taken back, and its id.
    taking_back: Option<(String, String)>,
    turn_open: bool,
    interrupting: bool,
    /// The person did not wait for the end of the turn that they interrupted.
    abandoned: bool,
    /// A turn ended well and has not been judged.
    unjudged: bool,
    background: BTreeMap<String, String>,
    background_until: Option<Now>,
    /// A background task ended since the turn began: the agent will wake for it.
    waking: bool,
    wake_until: Option<Now>,

    activity: Activity,
    checking: Option<Checking>,
    /// How many looks at the files and checks there were.
    checks: u32,
    known: Known,
    review: Option<Review>,
    reviews: u32,
    /// What the last review of this task found.
    requirements: Vec<Requirement>,
    circle: Circle,
    undecided: bool,
    questions: VecDeque<Question>,
    ids: u64,

    rounds: Vec<Round>,
    cost: Cost,
    review_usage: Usage,
    working: Duration,
    reviewing: Duration,
}

impl Machine {
    pub fn new(rules: Rules) -> Self {
        let Carried { round, fresh, said, cost_usd, agent_usd, requirements } =
            rules.carried.clone().unwrap_or_else(|| Carried { fresh: true, ..Carried::default() });
        Self {
            phase: Phase::Waiting,
            phase_since: Now::ZERO,
            now: Now::ZERO,
            actions: Vec::new(),
            supervising: rules.supervising,
            round,
            fresh,
            said,
            last_answer: String::new(),
            session_id: rules.resume.clone(),
            named: false,
            resumed: rules.carried.is_some(),
            model: String::new(),
            context: None,
            window: None,
            agent: Agent::Dead,
            spoke: false,
            last_error: String::new(),
            resumable: rules.resume.is_some(),
            last_death: None,
            unconfirmed: VecDeque::new(),
            receipts: false,
            taking_back: None,
            turn_open: false,
            interrupting: false,
            abandoned: false,
            unjudged: false,
            background: BTreeMap::new(),
            background_until: None,
            waking: false,
            wake_until: None,
            activity: Activity::default(),
            checking: None,
            checks: 0,
            known: Known::default(),
            review: None,
            reviews: 0,
            requirements,
            circle: Circle::default(),
            undecided: false,
            questions: VecDeque::new(),
            ids: 0,
            rounds: Vec::new(),
            cost: Cost::carried(cost_usd, agent_usd),
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
                Event::TreeChanged { review, files, more } => {
                    self.tree_changed(review, files, more);
                }
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// What the agent said last.
    pub fn last_answer(&self) -> &str {
        &self.last_answer
    }

    /// When to come back with a `Tick` if nothing else happens.
    pub fn deadline(&self) -> Option<Now> {
        let review = self.review.as_ref().and_then(|review| review.engine.deadline());
        [review, self.check_deadline(), self.background_until, self.wake_until]
            .into_iter()
            .flatten()
            .min()
    }

    fn steering(&self) -> impl DoubleEndedIterator<Item = &Sent> {
        self.unconfirmed.iter().filter(|sent| sent.steering)
    }

    fn start(&mut self, prompt: Option<String>) {
        self.say(Notice::Started {
            supervising: self.supervising,
            max_iterations: self.rules.max_iterations,
        });
        if self.resumed {
            self.say(self.resumed_notice());
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
        if self.background_until.is_some_and(|until| until <= self.now) {
            self.review_or_give_back();
        }
        self.wake_until = self.wake_until.filter(|until| *until > self.now);
        self.settle();
    }

    /// Idle is a fact: a turn ended well, every message sent was taken up, and nothing that the
    /// agent started is still running.
    fn settle(&mut self) {
        let idle = self.phase == Phase::Working
            && self.unjudged
            && !self.turn_open
            && self.unconfirmed.is_empty();
        if !idle {
            return;
        }
        if !self.background.is_empty() {
            if self.background_until.is_none() {
                self.background_until = Some(self.now + self.rules.background_wait);
                let tasks = self.background.values().cloned().collect();
                self.say(Notice::WaitingForBackground { tasks });
            }
        } else if self.wake_until.is_none() {
            self.review_or_give_back();
        }
    }

    fn review_or_give_back(&mut self) {
        self.unjudged = false;
        self.stop_waiting();
        if !self.supervising {
            self.give_back(Outcome::Unreviewed);
        } else if self.round >= self.rules.max_iterations {
            self.say(Notice::LimitReached { max: self.rules.max_iterations });
            self.fresh = true;
            self.undecided = true;
            self.give_back(Outcome::Limit);
        } else {
            self.round += 1;
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

    /// Background tasks, and the agent's waking for them, do not hold the loop up any longer.
    fn stop_waiting(&mut self) {
        self.background_until = None;
        self.wake_until = None;
    }

    fn finish(&mut self, outcome: Outcome) {
        self.drop_review(Dropped::SessionEnded);
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
        Notice::Phase { phase: self.phase, round: self.round, max: self.rules.max_iterations }
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
        Some(ReviewRequest {
            review,
            round: self.round,
            max: self.rules.max_iterations,
            session_id: self.session_id.clone()?,
            model: self.model.clone(),
            said: self.said.clone(),
            last_answer: self.last_answer.clone(),
            background: self.background.values().cloned().collect(),
            brief: self.brief(),
            requirements: self.requirements.clone(),
            word: None,
        })
    }

    /// Sessions that do not look at the files leave all of it to the judge.
    fn brief(&self) -> String {
        if !self.rules.checking.examines {
            return String::new();
        }
        brief(&Facts {
            examined: &self.known.examined,
            checks: &self.known.results,
            activity: &self.activity,
            last_answer: &self.last_answer,
            background: &self.background.values().cloned().collect::<Vec<_>>(),
        })
    }
}
