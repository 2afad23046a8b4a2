//! Starts the session's children, agent and judges, and sends lines to them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::child_state::ChildState;
use super::{AgentProcess, ChildId, Incoming, JudgeLaunch, Session};
use crate::client::launch::{AgentStart, Launch, ReviewOptions, agent_args, review_args};
use crate::client::stream::{initialize, initialize_judge, message_to_judge};
use crate::config::clients::confine;
use crate::config::managed;
use crate::event::{Asker, Event, Gone, Notice, ReviewRequest};
use crate::hook::pinned;
use crate::process::pty::Agent;
use crate::process::supervisor::SupervisorProcess;
use crate::review::engine::INITIALIZE;
use crate::review::prompt::{changes, review_prompt};

/// Not one of the machine's ids, so the machine ignores the response.
const AGENT_INITIALIZE: &str = "ccc-initialize";

impl Session<'_> {
    /// The process that was started early for this judge, or a new one.
    fn judge_for(
        &mut self,
        request: &ReviewRequest,
    ) -> Result<ChildState<Option<SupervisorProcess>>> {
        if let Some((child, lines)) = self.take_early_judge(request) {
            // Queued before anything that it prints from now on.
            let _ = self.to_control.send(Incoming::SaidEarly(request.review, lines));
            return Ok(child);
        }
        self.judge_process(request.review, request)
    }

    pub(super) fn judge_process(
        &self,
        id: u32,
        request: &ReviewRequest,
    ) -> Result<ChildState<Option<SupervisorProcess>>> {
        let supervisor = self.start_supervisor(id, &self.judges_launch(request)?)?;
        supervisor.send(initialize_judge(INITIALIZE));
        let group = supervisor.group();
        Ok(ChildState::new(Some(supervisor), group))
    }

    pub(super) fn start_review(&mut self, mut request: ReviewRequest) {
        self.prepare_review(&mut request);
        let request = &request;
        let review = request.review;
        let changed = self.changed_files(request.round);
        let options = &self.setup.judge(request.judge).options;
        let prompt = review_prompt(&self.setup.instructions, request, options.sandbox) + &changed;
        if let Some(reason) = options.form(request).1 {
            log::info!("the review is asked for with a schema, because {reason}");
        }
        match self.judge_for(request) {
            Ok(child) => {
                self.watch_tree(review);
                if let Some(supervisor) = &child.handle {
                    supervisor.send(message_to_judge(&uuid::Uuid::new_v4().to_string(), &prompt));
                }
                self.supervisors.insert(review, child);
            }
            Err(error) => self
                .events
                .push_back(Event::SupervisorGone { review, gone: Gone::unstarted(&error) }),
        }
    }

    /// Checks again everything that the agent could have changed since the session began.
    fn judges_launch(&self, request: &ReviewRequest) -> Result<Launch> {
        let JudgeLaunch { env, settings, options } = self.setup.judge(request.judge);
        self.setup.managed.as_deref().map(managed::check).transpose()?;
        pinned::check_copies(&options.prompt_options)?;
        let settings = settings.as_ref().map(|settings| settings.argument(env)).transpose()?;
        let options = &ReviewOptions { settings, ..options.clone() };
        let args = review_args(request, &self.setup.instructions, options);
        let case = options.sandbox.case(&self.setup.dir, &options.add_dirs);
        let mut env = env.clone();
        let git = self.setup.workplace.as_ref().and_then(|place| place.git.as_deref());
        confine(&mut env, git, &self.setup.dir, &options.allowed_tools);
        let mut launch = Launch { case, ..self.launch(args, env) };
        launch.ccc = self.own_program()?;
        if let Some(claude) = launch.claude.first_mut() {
            *claude = self.setup.start_files.program(Path::new(claude))?.into();
        }
        Ok(launch)
    }

    /// The running ccc, for the shim, even if another file has taken its place.
    fn own_program(&self) -> Result<PathBuf> {
        let running = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
        let found = self.setup.start_files.program(&self.setup.ccc);
        found.or_else(|error| if running.exists() { Ok(running) } else { Err(error) })
    }

    /// Describes to the judge which files changed since the session began. The person is told of
    /// each once.
    fn changed_files(&mut self, round: u32) -> String {
        let start_files = &self.setup.start_files;
        let (mut pinned, applied) = (self.setup.watched.changed(), start_files.changed());
        // Where the original program cannot be used any more, the review fails and says so.
        let programs = start_files.changed_programs();
        let usable =
            programs.filter(|path| *path == self.setup.ccc || start_files.program(path).is_ok());
        pinned.extend(usable.map(|path| path.display().to_string()));
        let mut since = |changed: Vec<String>, applies: bool| -> Vec<(String, u32)> {
            let first_seen = |what: String| match self.changed_in.get(&what) {
                Some(round) => (what, *round),
                None => {
                    self.changed_in.insert(what.clone(), round);
                    self.notice(&Notice::FileChanged { what: what.clone(), round, applies });
                    (what, round)
                }
            };
            changed.into_iter().map(first_seen).collect()
        };
        let (pinned, applied) = (since(pinned, false), since(applied, true));
        changes(&pinned, &applied)
    }

    pub(super) fn start_agent(&mut self, resume: Option<String>) {
        if self.native.is_some() {
            return self.start_screen();
        }
        let start = match resume {
            Some(session_id) => AgentStart::Resume { session_id },
            // The first start follows the command line; after that, a lost session is replaced by a
            // new one.
            None => self.setup.first.clone(),
        };
        self.setup.first = AgentStart::New { session_id: uuid::Uuid::new_v4().to_string() };
        self.agents += 1;
        let id = self.agents;
        let args = agent_args(
            &start,
            self.setup.settings.as_deref(),
            self.setup.live,
            &self.setup.claude_args,
        );
        let mut launch = self.launch(args, self.setup.agent_env.clone());
        if let Some(scripted) = &self.setup.scripted_agent {
            launch.claude.clone_from(scripted);
        }
        let (to_output, to_control) = (self.to_output.clone(), self.to_control.clone());
        let started = Agent::start(
            &launch,
            self.setup.size,
            move |event| to_output.send((ChildId::Agent(id), event)).is_ok(),
            move |gone| to_control.send(Incoming::AgentExited(id, gone)).is_ok(),
        );
        match started {
            Ok(agent) => {
                // Sent once, before anything else: a client that is asked again also repeats its
                // background tasks. Nothing waits for the response.
                if self.setup.introduced {
                    agent.send(initialize(AGENT_INITIALIZE));
                }
                let group = agent.group();
                self.agent = Some(ChildState::new(AgentProcess::Lines(agent), group));
            }
            Err(error) => {
                self.events.push_back(Event::AgentGone(Gone::unstarted(&error)));
            }
        }
    }

    fn start_supervisor(&self, id: u32, launch: &Launch) -> Result<SupervisorProcess> {
        let (to_output, to_control) = (self.to_output.clone(), self.to_control.clone());
        SupervisorProcess::start(
            launch,
            move |event| to_output.send((ChildId::Supervisor(id), event)).is_ok(),
            move |gone| to_control.send(Incoming::SupervisorExited(id, gone)).is_ok(),
        )
    }

    pub(super) fn launch(&self, args: Vec<OsString>, env: Vec<(OsString, OsString)>) -> Launch {
        Launch {
            ccc: self.setup.ccc.clone(),
            claude: self.setup.claude.clone(),
            args,
            env,
            dir: self.setup.dir.clone(),
            case: None,
        }
    }

    pub(super) fn send_to(&mut self, asker: Asker, line: Vec<u8>) {
        match asker {
            Asker::Agent => self.tell_agent(line),
            Asker::Supervisor => {
                for supervisor in
                    self.supervisors.values().filter_map(|child| child.handle.as_ref())
                {
                    supervisor.send(line.clone());
                }
            }
        }
    }

    pub(super) fn tell_agent(&mut self, line: Vec<u8>) {
        if let Some(line) = self.held.pass(line)
            && let Some(ChildState { handle: AgentProcess::Lines(agent), .. }) = &self.agent
        {
            agent.send(line);
        }
    }
}
