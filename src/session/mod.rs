//! Where the core and the adapters meet: takes the next event, steps the machine, performs its
//! actions, and finally shuts everything down in order. Only this module knows both sides.

mod checks;
mod child_state;
mod children;
mod diff;
mod early;
mod editing;
mod facts;
mod images;
mod incoming;
mod lost;
mod native;
mod output;
mod perform;
mod setup;
mod shown;
mod shutdown;
mod silence;
mod suspend;
mod tree_watch;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select_biased, unbounded};

use crate::checks::running::{CheckHappened, CheckProcess};
use crate::clock::Clock;
use crate::event::{Event, Notice, Now, Outcome};
use crate::machine::Machine;
use crate::process::child::ChildEvent;
use crate::process::pty::Agent;
use crate::process::screen::ScreenClient;
use crate::process::supervisor::SupervisorProcess;
use crate::prompt::external_editor::Editing;
use crate::record::{Backlog, Recorder};
use crate::surface::{Report, Surface};
use crate::tree::Snapshot;
use checks::Base;
pub use checks::Workplace;
pub use child_state::ChildState;
use early::{EarlyJudges, is_early};
pub use facts::one_time_word;
pub use incoming::Incoming;
pub use native::NativeSetup;
pub use setup::{Earlier, JudgeLaunch, ReadEarlierCommands, Setup};
pub use shown::{RecordedSurface, Tee};
use tree_watch::Comparing;
pub use tree_watch::files as changed_files;

/// Few, because each batch may hold a line of many megabytes; the agent waits while the loop is
/// busy.
const BATCHES: usize = 2;

/// The loop wakes up this late only if the machine is very busy or ccc was stopped.
const LATE: Duration = Duration::from_millis(500);
/// How long a signal may take to arrive.
const SIGNAL: Duration = Duration::from_millis(20);

/// Which child printed something. Numbered, because output of an earlier agent may still arrive.
enum ChildId {
    Agent(u32),
    Supervisor(u32),
}

pub struct Session<'a> {
    setup: Setup,
    machine: Machine,
    surface: &'a mut dyn Surface,
    clock: Clock,
    control: Receiver<Incoming>,
    to_control: Sender<Incoming>,
    output: Receiver<(ChildId, ChildEvent)>,
    to_output: Sender<(ChildId, ChildEvent)>,
    agent: Option<ChildState<AgentProcess>>,
    agents: u32,
    native: Option<native::NativeState>,
    /// What the client draws on its own screen is recorded, after `gathering`.
    screen: Receiver<ScreenNews>,
    to_screen: Sender<ScreenNews>,
    gathering: Option<Now>,
    supervisors: HashMap<u32, ChildState<Option<SupervisorProcess>>>,
    early: EarlyJudges,
    base: Base,
    old: facts::KnownOldLines,
    held: checks::HeldLines,
    /// The diff when the files were last examined, for judges without the conversation.
    diff: Arc<Mutex<String>>,
    check: Option<(u32, CheckProcess)>,
    checks: Receiver<(u32, CheckHappened)>,
    to_checks: Sender<(u32, CheckHappened)>,
    /// The last snapshot, until a review begins.
    looked: Option<Snapshot>,
    /// The project when each review began.
    trees: HashMap<u32, Receiver<Snapshot>>,
    comparing: HashMap<u32, Comparing>,
    events: VecDeque<Event>,
    known: facts::KnownFacts,
    /// Changed files that the person was told of, with the round.
    changed_in: HashMap<String, u32>,
    outcome: Option<Outcome>,
    silence: silence::Silence,
    /// ccc stopped itself, so that SIGCONT is expected.
    suspended: bool,
    /// The person's editor, while it has the terminal.
    editing: Option<Editing>,
    edited_at: Option<Instant>,
    images: images::Images,
}

/// News about a client's own screen.
enum ScreenNews {
    /// Output waits to be recorded.
    Drawn(Backlog),
    Failed(io::Error),
    Ended,
}

/// The agent's client, in one of its two forms.
enum AgentProcess {
    Lines(Agent),
    Screen(ScreenClient),
}

impl AgentProcess {
    fn resize(&self, columns: u16, rows: u16) {
        if let Self::Lines(agent) = self {
            agent.resize(columns, rows);
        }
    }

    fn sweep(&mut self) {
        match self {
            Self::Lines(agent) => agent.sweep(),
            Self::Screen(client) => client.sweep(),
        }
    }
}

/// The channel through which keys, signals and scripts reach a session.
pub fn control() -> (Sender<Incoming>, Receiver<Incoming>) {
    unbounded()
}

impl<'a> Session<'a> {
    pub fn new(
        mut setup: Setup,
        surface: &'a mut dyn Surface,
        (to_control, control): (Sender<Incoming>, Receiver<Incoming>),
    ) -> Self {
        let (to_output, output) = bounded(BATCHES);
        let (to_checks, checks) = bounded(BATCHES);
        let (to_screen, screen) = bounded(BATCHES);
        Self {
            native: setup.native.take().map(native::NativeState::new),
            screen,
            to_screen,
            gathering: None,
            machine: Machine::new(setup.rules.clone()),
            clock: setup.recorder.as_ref().map_or_else(Clock::start, Recorder::clock),
            setup,
            surface,
            control,
            to_control,
            output,
            to_output,
            agent: None,
            agents: 0,
            supervisors: HashMap::new(),
            early: EarlyJudges::default(),
            base: Base::default(),
            old: facts::KnownOldLines::default(),
            held: checks::HeldLines::default(),
            diff: Arc::default(),
            check: None,
            checks,
            to_checks,
            looked: None,
            trees: HashMap::new(),
            comparing: HashMap::new(),
            events: VecDeque::new(),
            known: facts::KnownFacts::default(),
            changed_in: HashMap::new(),
            outcome: None,
            silence: silence::Silence::default(),
            suspended: false,
            editing: None,
            edited_at: None,
            images: images::Images::default(),
        }
    }

    /// Runs the session to its end, and leaves no process behind.
    pub fn run(mut self) -> Report {
        // A resumed session begins no task of its own, so the files are noted here.
        self.note_files();
        if self.setup.rules.carried.as_ref().is_some_and(|carried| !carried.fresh) {
            self.old.forget();
        }
        let prompt = self.setup.prompt.take();
        self.step(Event::Start { prompt });
        while self.outcome.is_none() {
            self.show();
            if self.outcome.is_none() {
                self.next();
            }
        }
        self.end_editing();
        self.shut_down();
        self.notice_unheard();
        self.notice_background();
        self.notice_unread_warnings();
        let now = self.now();
        let mut report = self.machine.report(self.outcome.clone().unwrap_or(Outcome::Ended), now);
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.ended(&report, self.machine.carried(), now);
        }
        self.flush();
        if let Err(error) = self.surface.close(&report) {
            log::warn!("the screen is gone: {error}");
            // Whatever the outcome, the person was not told.
            if !matches!(
                report.outcome,
                Outcome::Failed(_) | Outcome::Unwritten(_) | Outcome::Signal(_)
            ) {
                report.outcome = Outcome::Unwritten(error.to_string());
                report.exit_code = report.outcome.exit_code();
            }
        }
        self.flush();
        report
    }

    fn now(&self) -> Now {
        self.clock.now()
    }

    /// Writes the recording so far; on failure, tells the person and returns true.
    fn flush(&mut self) -> bool {
        let failed = self.setup.recorder.as_mut().and_then(Recorder::flush);
        if let Some(notice) = &failed {
            self.notice(notice);
        }
        failed.is_some()
    }

    /// The person reads it on ccc's screen, or in the next response to a client with its own.
    fn notice(&mut self, notice: &Notice) {
        self.tell(notice);
        self.surface.notice(notice);
    }

    fn show(&mut self) {
        let now = self.now();
        let mut shown = self.surface.update(&self.machine.status(), now);
        // While more is waiting, small pieces are not worth a system call each.
        let waits = self.control.is_empty() && self.output.is_empty() && self.gathering.is_none();
        let full = self.setup.recorder.as_ref().is_some_and(Recorder::is_full);
        if (waits || full) && self.flush() && shown.is_ok() {
            shown = self.surface.update(&self.machine.status(), now);
        }
        if let Err(error) = shown {
            self.lost(&error, Outcome::Unwritten(error.to_string()));
        }
    }

    fn next(&mut self) {
        let drains = self.agent.iter().filter_map(|agent| agent.drained_at);
        let drains =
            drains.chain(self.supervisors.values().filter_map(|process| process.drained_at));
        let redraw = self.surface.redraw_in().map(|after| self.now() + after);
        let report = self.native.as_ref().and_then(native::NativeState::deadline);
        let wake = [self.machine.deadline(), redraw, self.silence.due(), self.gathering, report];
        let wake = wake.into_iter().flatten().chain(drains).min();
        let wait = wake.map_or(Duration::MAX, |wake| wake.saturating_sub(self.now()));
        let waiting = Instant::now();
        // Keys, signals and exits first: a flood of output must not delay them.
        select_biased! {
            recv(self.control) -> control => match control {
                Ok(control) => self.control(control),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            recv(self.output) -> output => match output {
                Ok((from, event)) => self.output(&from, event),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            recv(self.checks) -> event => match event {
                Ok((check, event)) => self.check_event(check, event),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            recv(self.screen) -> screen_news => match screen_news {
                Ok(screen_news) => self.screen_news(screen_news),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            default(wait) => {}
        }
        if waiting.elapsed() > wait.saturating_add(LATE) {
            // If ccc was stopped, the signal that says so arrives now.
            std::thread::sleep(SIGNAL);
        }
        self.check_drained();
        self.notice_silence();
        self.notice_unheard();
        let now = self.now();
        self.gathering = self.gathering.filter(|until| *until > now);
        if self.machine.deadline().is_some_and(|deadline| deadline <= now) {
            self.step(Event::Tick);
        }
        self.answer_client();
    }

    /// A process is gone when it has exited and its output has been read. A grandchild that keeps
    /// the output open delays that only briefly.
    fn check_drained(&mut self) {
        let now = self.now();
        if let Some(gone) = self.agent.as_ref().and_then(|agent| agent.gone(now)) {
            if let Some(mut agent) = self.agent.take() {
                agent.handle.sweep();
            }
            self.step(Event::AgentGone(gone));
        }
        let gone: Vec<_> = self
            .supervisors
            .iter()
            // Its last lines are still waiting for the comparison, and count first.
            .filter(|(id, _)| !self.comparing.contains_key(id))
            .filter_map(|(id, process)| Some((*id, process.gone(now)?)))
            .collect();
        for (review, gone) in gone {
            self.supervisors.remove(&review);
            if !is_early(review) {
                self.step(Event::SupervisorGone { review, gone });
            }
        }
    }

    fn step(&mut self, event: Event) {
        self.feed(event, self.now());
        self.feed_queued();
    }

    fn feed(&mut self, event: Event, now: Now) {
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.saw(&event, now);
        }
        for action in self.machine.step(event, now) {
            if let Some(recorder) = &mut self.setup.recorder {
                recorder.did(&action, now);
            }
            self.perform(action);
        }
        self.end_early_judge_unless_wanted();
    }

    /// Feeds events that the actions themselves caused, such as a child that did not start.
    fn feed_queued(&mut self) {
        while let Some(event) = self.events.pop_front() {
            self.feed(event, self.now());
        }
    }
}
