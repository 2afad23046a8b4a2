//! Where the core and the adapters meet: take the next event, step the machine, perform its actions,
//! and in the end shut everything down in order. The only place that knows both sides.

mod children;
mod editing;
mod output;
mod perform;
mod process;
mod shown;
mod shutdown;

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select_biased, unbounded};

use crate::child::ChildEvent;
use crate::event::{Carried, Event, Gone, Now, Outcome};
use crate::external_editor::Editing;
use crate::launch::{AgentStart, ReviewOptions};
use crate::machine::{Machine, Rules};
use crate::pty::Agent;
use crate::record::Recorder;
use crate::signals;
use crate::supervisor::Supervisor;
use crate::surface::{Intent, Report, Surface, Typed};
use process::Process;
pub use shown::{Filmed, Narrated, Tee};

/// So few, because each may hold a line of many megabytes; the agent waits while the loop is busy.
const BATCHES: usize = 2;

/// How the reason begins when nobody takes what a session prints.
pub const UNWRITTEN: &str = "cannot write the output";

/// Everything a session needs to know, resolved: nothing is looked up after this.
pub struct Setup {
    pub rules: Rules,
    pub prompt: Option<String>,
    pub first: AgentStart,
    pub ccc: PathBuf,
    /// The client: an executable, and what must stand in front of its arguments.
    pub claude: Vec<OsString>,
    pub claude_args: Vec<OsString>,
    /// Somebody watches the text come and types, so the client is asked for the text piece by piece,
    /// and for its slash commands before it has anything to do.
    pub live: bool,
    pub settings: Option<PathBuf>,
    pub agent_env: Vec<(OsString, OsString)>,
    pub review_env: Vec<(OsString, OsString)>,
    pub review: ReviewOptions,
    /// SUPERVISOR.md.
    pub instructions: String,
    pub dir: PathBuf,
    pub size: (u16, u16),
    pub recorder: Option<Recorder>,
    /// What earlier runs of a session left, by its id.
    pub earlier: Earlier,
    /// The person's own editor, and its arguments.
    pub editor: OsString,
}

pub type Earlier = Box<dyn Fn(&str) -> Option<Carried>>;

/// What reaches the loop beside the children's output; it comes first.
#[derive(Debug)]
pub enum Control {
    Input(crossterm::event::Event),
    Typed(Typed),
    Event(Event),
    Signal(i32),
    /// The person's editor has ended.
    Edited(anyhow::Result<String>),
    AgentExited(u32, Gone),
    SupervisorExited(u32, Gone),
}

enum From {
    Agent(u32),
    Supervisor(u32),
}

pub struct Session<'a> {
    setup: Setup,
    machine: Machine,
    surface: &'a mut dyn Surface,
    began: Instant,
    control: Receiver<Control>,
    to_control: Sender<Control>,
    output: Receiver<(From, ChildEvent)>,
    to_output: Sender<(From, ChildEvent)>,
    agent: Option<Process<Agent>>,
    agents: u32,
    supervisors: HashMap<u32, Process<Option<Supervisor>>>,
    events: VecDeque<Event>,
    outcome: Option<Outcome>,
    /// Stopped by ourselves, so that the continuation is no surprise.
    suspended: bool,
    /// The person's editor has the terminal.
    editing: Option<Editing>,
    edited_at: Option<Instant>,
}

/// The channel by which keys, signals and scripts reach a session.
pub fn control() -> (Sender<Control>, Receiver<Control>) {
    unbounded()
}

fn unwritten(error: &io::Error) -> Outcome {
    Outcome::Failed(format!("{UNWRITTEN}: {error}"))
}

impl<'a> Session<'a> {
    pub fn new(
        setup: Setup,
        surface: &'a mut dyn Surface,
        (to_control, control): (Sender<Control>, Receiver<Control>),
    ) -> Self {
        let (to_output, output) = bounded(BATCHES);
        Self {
            machine: Machine::new(setup.rules.clone()),
            began: setup.recorder.as_ref().map_or_else(Instant::now, Recorder::began),
            setup,
            surface,
            control,
            to_control,
            output,
            to_output,
            agent: None,
            agents: 0,
            supervisors: HashMap::new(),
            events: VecDeque::new(),
            outcome: None,
            suspended: false,
            editing: None,
            edited_at: None,
        }
    }

    /// Runs to the end and leaves nothing behind.
    pub fn run(mut self) -> Report {
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
        let now = self.now();
        let mut report = self.machine.report(self.outcome.clone().unwrap_or(Outcome::Ended), now);
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.ended(&report, now);
        }
        self.flush();
        if let Err(error) = self.surface.close(&report) {
            log::warn!("the screen is gone: {error}");
            // Whatever came of it, nobody has been told.
            if !matches!(report.outcome, Outcome::Failed(_) | Outcome::Signal(_)) {
                report.outcome = unwritten(&error);
                report.exit_code = report.outcome.exit_code();
            }
        }
        self.flush();
        report
    }

    /// To the microsecond, as it is on record: a recording has to give the machine the same times.
    fn now(&self) -> Now {
        let now = self.began.elapsed();
        Duration::new(now.as_secs(), now.subsec_micros() * 1000)
    }

    /// What is recorded so far is with the system, and the surface knows if it cannot be.
    fn flush(&mut self) -> bool {
        let failed = self.setup.recorder.as_mut().and_then(Recorder::flush);
        if let Some(notice) = &failed {
            self.surface.notice(notice);
        }
        failed.is_some()
    }

    fn show(&mut self) {
        let now = self.now();
        let mut shown = self.surface.update(&self.machine.status(), now);
        // While more is there already, small pieces are not worth a system call each.
        let waits = self.control.is_empty() && self.output.is_empty();
        let full = self.setup.recorder.as_ref().is_some_and(Recorder::is_full);
        if (waits || full) && self.flush() && shown.is_ok() {
            shown = self.surface.update(&self.machine.status(), now);
        }
        if let Err(error) = shown {
            // The machine has to know that this is the end: it would answer what the children still
            // say, and start a dying agent again.
            self.step(Event::Leave);
            self.outcome = Some(unwritten(&error));
        }
    }

    fn next(&mut self) {
        let drains = self.agent.iter().filter_map(|agent| agent.drained_at);
        let drains =
            drains.chain(self.supervisors.values().filter_map(|process| process.drained_at));
        let wake =
            [self.machine.deadline(), self.surface.redraw_in().map(|after| self.now() + after)];
        let wake = wake.into_iter().flatten().chain(drains).min();
        let wait = wake.map_or(Duration::MAX, |wake| wake.saturating_sub(self.now()));
        // Keys, signals and exits first: a flood of output must not hold them up.
        select_biased! {
            recv(self.control) -> control => match control {
                Ok(control) => self.control(control),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            recv(self.output) -> output => match output {
                Ok((from, event)) => self.output(&from, event),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            default(wait) => {}
        }
        self.check_drained();
        let now = self.now();
        if self.machine.deadline().is_some_and(|deadline| deadline <= now) {
            self.step(Event::Tick);
        }
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Event(event) => self.step(event),
            Control::Edited(text) => self.edited(text),
            Control::Signal(signal) if self.is_for_editor(signal) => {}
            Control::Signal(signal) if signals::is_stop(signal) => self.suspend(),
            Control::Signal(signal) if signals::is_continue(signal) => self.continued(),
            Control::Signal(signal) => {
                let meant = signals::is_interrupt(signal).then(|| self.surface.interrupt());
                match meant.flatten() {
                    Some(intents) => self.wanted(intents),
                    None => self.step(Event::Signal(signal)),
                }
            }
            Control::Typed(typed) => {
                if let (Typed::Line(line), Some(recorder)) = (&typed, &mut self.setup.recorder) {
                    recorder.typed(&format!("{line}\n"));
                }
                let intents = self.surface.typed(typed);
                self.wanted(intents);
            }
            Control::Input(input) => {
                if let Some(recorder) = &mut self.setup.recorder {
                    recorder.input(&input);
                }
                if let (crossterm::event::Event::Resize(columns, rows), Some(agent)) =
                    (&input, &self.agent)
                {
                    self.setup.size = (*columns, *rows);
                    agent.handle.resize(*columns, *rows);
                }
                let intents = self.surface.input(input);
                self.wanted(intents);
            }
            Control::AgentExited(id, gone) => {
                let now = self.now();
                if let Some(agent) = self.agent.as_mut().filter(|_| id == self.agents) {
                    agent.exited(gone, now);
                }
            }
            Control::SupervisorExited(id, gone) => {
                let now = self.now();
                if let Some(supervisor) = self.supervisors.get_mut(&id) {
                    supervisor.exited(gone, now);
                }
            }
        }
    }

    fn wanted(&mut self, intents: Vec<Intent>) {
        for intent in intents {
            match intent {
                Intent::Event(event) => self.step(event),
                Intent::Suspend => self.suspend(),
                Intent::Edit(text) => self.edit(&text),
            }
        }
    }

    fn suspend(&mut self) {
        self.surface.suspend();
        self.suspended = true;
        signals::stop_here();
        if self.editing.is_none() {
            self.surface.resume();
        }
    }

    /// After a stop that nobody announced (SIGSTOP) the shell has changed the terminal's modes.
    fn continued(&mut self) {
        if !std::mem::take(&mut self.suspended) && self.editing.is_none() {
            self.surface.suspend();
            self.surface.resume();
        }
    }

    /// A process is gone when it has exited and its output is read; a grandchild that keeps the
    /// output open does not hold that up for long.
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
            .filter_map(|(id, process)| Some((*id, process.gone(now)?)))
            .collect();
        for (review, gone) in gone {
            self.supervisors.remove(&review);
            self.step(Event::SupervisorGone { review, gone });
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
    }

    /// What came of the actions themselves, such as a child that did not start.
    fn feed_queued(&mut self) {
        while let Some(event) = self.events.pop_front() {
            self.feed(event, self.now());
        }
    }
}
