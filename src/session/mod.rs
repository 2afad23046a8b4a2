//! Where the core and the adapters meet: take the next event, step the machine, perform its actions,
//! and in the end shut everything down in order. The only place that knows both sides.

mod checks;
mod child_state;
mod children;
mod diff;
mod editing;
mod facts;
mod images;
mod lost;
mod native;
mod output;
mod perform;
mod shown;
mod shutdown;
mod silence;
mod suspend;
mod tree_watch;

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select_biased, unbounded};

use crate::checks::running::{CheckHappened, CheckProcess};
use crate::client::launch::{AgentStart, ReviewOptions};
use crate::client::stream::Image;
use crate::clock::Clock;
use crate::config::clients::JudgeSettings;
use crate::event::{Carried, Event, Gone, Now, Outcome};
use crate::files::WatchedFiles;
use crate::machine::{Machine, Rules};
use crate::native::server::Report as HookReport;
use crate::native::transcript::News;
use crate::process::child::ChildEvent;
use crate::process::pty::Agent;
use crate::process::screen::{ScreenClient, ScreenEvent};
use crate::process::signals;
use crate::process::supervisor::Supervisor;
use crate::prompt::external_editor::Editing;
use crate::record::Recorder;
use crate::review::commands::Commands;
use crate::surface::{Intent, Report, Surface, Typed};
use crate::tree::{Change, Snapshot};
use checks::Base;
pub use checks::Workplace;
pub use child_state::ChildState;
pub use facts::one_time_word;
pub use native::NativeSetup;
pub use shown::{Aside, RecordedScreen, RecordedSurface, Tee};
use tree_watch::Comparing;
pub use tree_watch::files as changed_files;

/// So few, because each may hold a line of many megabytes; the agent waits while the loop is busy.
const BATCHES: usize = 2;

/// So late the loop wakes up only on a machine that is very busy, or when it was stopped.
const LATE: Duration = Duration::from_millis(500);
/// How long a signal that has been sent may take to arrive.
const SIGNAL: Duration = Duration::from_millis(20);

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
    pub judge: JudgeStart,
    /// Where several judge: those after the first.
    pub other_judges: Vec<JudgeStart>,
    /// SUPERVISOR.md.
    pub instructions: String,
    /// Files that were read once, when the session began.
    pub watched: WatchedFiles,
    /// What every shell reads when it starts, the judge's too.
    pub start_files: WatchedFiles,
    /// What the machine's administrator had set when the session began.
    pub managed: Option<String>,
    /// Where files are looked at and checks run, if they are.
    pub workplace: Option<Workplace>,
    pub dir: PathBuf,
    pub size: (u16, u16),
    pub recorder: Option<Recorder>,
    /// What earlier runs of a session left, by its id.
    pub earlier: Earlier,
    /// What the agent ran in them. `None` for a session that begins here.
    pub earlier_commands: Option<EarlierCommands>,
    /// The person's own editor, and its arguments.
    pub editor: OsString,
    /// The same for what is only read.
    pub pager: OsString,
    /// The client has its own screen, and is spoken to through its hooks.
    pub native: Option<native::NativeSetup>,
}

/// With what a judge is started.
#[derive(Clone, Default)]
pub struct JudgeStart {
    pub env: Vec<(OsString, OsString)>,
    /// A scripted judge has none.
    pub settings: Option<JudgeSettings>,
    pub options: ReviewOptions,
}

impl Setup {
    fn judge(&self, at: usize) -> &JudgeStart {
        let other = at.checked_sub(1).and_then(|at| self.other_judges.get(at));
        other.unwrap_or(&self.judge)
    }
}

pub type EarlierCommands = Arc<dyn Fn(&str) -> Commands + Send + Sync>;
pub type Earlier = Box<dyn Fn(&str) -> Option<Carried>>;

/// What reaches the loop beside the children's output; it comes first.
#[derive(Debug)]
pub enum Incoming {
    Input(crossterm::event::Event),
    /// No key can be read any more.
    KeysLost(io::Error),
    Typed(Typed),
    Event(Event),
    Signal(i32),
    /// What the task has changed, as `git diff` writes it.
    Diff(String),
    /// What was asked of the clipboard.
    Image(anyhow::Result<Image>),
    /// The person's editor has ended.
    Edited(anyhow::Result<editing::Returned>),
    AgentExited(u32, Gone),
    /// What changed in the project while this review ran, and how the project is now.
    TreeCompared(u32, Box<Snapshot>, Vec<Change>),
    SupervisorExited(u32, Gone),
    /// How the files are when a task begins is known, or will not be known soon.
    FilesNoted,
    /// The client's hooks report something.
    Hook(HookReport),
    /// The client's transcript was read.
    Transcript(News),
    /// Keys on their way to the client's own screen.
    Relayed(io::Result<Vec<u8>>),
    /// What became of a client with its own screen.
    Screen(ScreenEvent),
    Resized,
}

/// Which child it was. They are numbered: output of an earlier agent may still come.
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
    native: Option<native::Native>,
    /// What the client drew on its own screen.
    screen: Receiver<Drawn>,
    to_screen: Sender<Drawn>,
    supervisors: HashMap<u32, ChildState<Option<Supervisor>>>,
    base: Base,
    held: checks::Held,
    /// What had changed when the files were last looked at, line by line; kept for fresh eyes.
    diff: Arc<Mutex<String>>,
    check: Option<(u32, CheckProcess)>,
    checks: Receiver<(u32, CheckHappened)>,
    to_checks: Sender<(u32, CheckHappened)>,
    /// The project as it was when a review began.
    trees: HashMap<u32, Receiver<Snapshot>>,
    comparing: HashMap<u32, Comparing>,
    events: VecDeque<Event>,
    known: facts::KnownFacts,
    /// Changed files that the person was told of.
    told_changed: Vec<String>,
    outcome: Option<Outcome>,
    silence: silence::Silence,
    /// Stopped by ourselves, so that the continuation is no surprise.
    suspended: bool,
    /// The person's editor has the terminal.
    editing: Option<Editing>,
    edited_at: Option<Instant>,
    images: images::Images,
}

/// What a client drew; `None` is the end of it.
type Drawn = Option<io::Result<Vec<u8>>>;

/// The agent's client, in one of its two forms.
enum AgentProcess {
    /// It prints lines of JSON.
    Lines(Agent),
    /// It has its own screen.
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

/// The channel by which keys, signals and scripts reach a session.
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
        let (to_screen, screen) = bounded(native::DRAWN);
        Self {
            native: setup.native.take().map(native::Native::new),
            screen,
            to_screen,
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
            base: Base::default(),
            held: checks::Held::default(),
            diff: Arc::default(),
            check: None,
            checks,
            to_checks,
            trees: HashMap::new(),
            comparing: HashMap::new(),
            events: VecDeque::new(),
            known: facts::KnownFacts::default(),
            told_changed: Vec::new(),
            outcome: None,
            silence: silence::Silence::default(),
            suspended: false,
            editing: None,
            edited_at: None,
            images: images::Images::default(),
        }
    }

    /// Runs to the end and leaves nothing behind.
    pub fn run(mut self) -> Report {
        // A session that continues an earlier one begins no task of its own.
        self.note_files();
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
            recorder.ended(&report, self.machine.carried(), now);
        }
        self.flush();
        if let Err(error) = self.surface.close(&report) {
            log::warn!("the screen is gone: {error}");
            // Whatever came of it, nobody has been told.
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
        let waits = self.control.is_empty() && self.output.is_empty() && self.screen.is_empty();
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
        let wake = [self.machine.deadline(), redraw, self.silence.due()];
        let wake = wake.into_iter().flatten().chain(drains).min();
        let wait = wake.map_or(Duration::MAX, |wake| wake.saturating_sub(self.now()));
        let waiting = Instant::now();
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
            recv(self.checks) -> event => match event {
                Ok((check, event)) => self.check_event(check, event),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            recv(self.screen) -> drawn => match drawn {
                Ok(drawn) => self.drawn(drawn),
                Err(_) => unreachable!("the session holds a sender itself"),
            },
            default(wait) => {}
        }
        if waiting.elapsed() > wait.saturating_add(LATE) {
            // Perhaps ccc was stopped. Then the signal that says so comes at this moment.
            std::thread::sleep(SIGNAL);
        }
        self.check_drained();
        self.notice_silence();
        let now = self.now();
        if self.machine.deadline().is_some_and(|deadline| deadline <= now) {
            self.step(Event::Tick);
        }
        self.answer_client();
    }

    fn control(&mut self, control: Incoming) {
        match control {
            Incoming::Event(event) => self.step(event),
            Incoming::Edited(text) => self.edited(text),
            Incoming::Diff(text) => self.diff_found(&text),
            Incoming::Image(image) => self.image_found(image),
            Incoming::Signal(signal) if self.is_for_editor(signal) => {}
            Incoming::Signal(signal) if signals::is_stop(signal) => self.suspend(),
            Incoming::Signal(signal) if signals::is_continue(signal) => self.continued(),
            Incoming::Signal(signal) => {
                let meant = signals::is_interrupt(signal).then(|| self.surface.interrupt());
                match meant.flatten() {
                    Some(intents) => self.wanted(intents),
                    None => self.step(Event::Signal(signal)),
                }
            }
            Incoming::Typed(typed) => {
                if let (Typed::Line(line), Some(recorder)) = (&typed, &mut self.setup.recorder) {
                    recorder.typed(&format!("{line}\n"));
                }
                let intents = self.surface.typed(typed);
                self.wanted(intents);
            }
            Incoming::Input(input) => {
                if let Some(recorder) = &mut self.setup.recorder {
                    recorder.input(&input);
                }
                if let crossterm::event::Event::Resize(columns, rows) = input {
                    self.resized(columns, rows);
                }
                let intents = self.surface.input(input);
                self.wanted(intents);
            }
            Incoming::KeysLost(error) => {
                let outcome = Outcome::Failed(format!("the keys cannot be read: {error}"));
                self.lost(&error, outcome);
            }
            Incoming::FilesNoted => self.files_noted(),
            Incoming::TreeCompared(review, after, changes) => {
                self.tree_compared(review, *after, &changes);
            }
            Incoming::AgentExited(id, gone) => {
                let now = self.now();
                if let Some(agent) = self.agent.as_mut().filter(|_| id == self.agents) {
                    agent.exited(gone, now);
                }
            }
            Incoming::Hook(report) => self.reported(report),
            Incoming::Transcript(news) => self.read_transcript(news),
            Incoming::Relayed(keys) => self.relayed(keys),
            Incoming::Screen(event) => self.screen_event(event),
            Incoming::Resized => self.screen_resized(),
            Incoming::SupervisorExited(id, gone) => {
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
                Intent::Page(text) => self.page(&text),
                Intent::Shell(command) => self.run_in_shell(&command),
                Intent::Note(note) => self.note(&note),
                Intent::Diff => self.show_diff(),
                Intent::Attach(source) => self.attach(source),
            }
        }
    }

    /// An agent that is not there now is started with the new size.
    fn resized(&mut self, columns: u16, rows: u16) {
        self.setup.size = (columns, rows);
        if let Some(agent) = &self.agent {
            agent.handle.resize(columns, rows);
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
            // What it has said counts first.
            .filter(|(id, _)| !self.comparing.contains_key(id))
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
