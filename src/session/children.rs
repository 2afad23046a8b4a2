//! The session's two kinds of children: starting them, and speaking to them.

use std::ffi::OsString;

use anyhow::Result;

use super::child_state::ChildState;
use super::{AgentProcess, ChildId, Incoming, JudgeStart, Session};
use crate::client::launch::{AgentStart, Launch, ReviewOptions, agent_args, review_args};
use crate::client::stream::{initialize, initialize_judge, user_message};
use crate::config::clients::{keep_off_schedule, set_git};
use crate::config::managed;
use crate::event::{Asker, Event, Gone, Notice, ReviewRequest};
use crate::hook::pinned;
use crate::process::pty::Agent;
use crate::process::supervisor::Supervisor;
use crate::review::engine::INITIALIZE;
use crate::review::permission;
use crate::review::prompt::{changes, review_prompt};
use crate::tree::git_programs::{nowhere_to_push, overruled};

/// No id of the machine's, which takes no notice of the answer.
const WHAT_IS_THERE: &str = "ccc-initialize";

impl Session<'_> {
    pub(super) fn start_review(&mut self, mut request: ReviewRequest) {
        self.prepare_review(&mut request);
        let request = &request;
        let review = request.review;
        let changed = self.changed_files();
        let options = &self.setup.judge(request.judge).options;
        let prompt = review_prompt(&self.setup.instructions, request, options.sandbox) + &changed;
        if let Some(reason) = options.form(request).1 {
            log::info!("the review is asked for with a schema, because {reason}");
        }
        let started =
            self.judges_launch(request).and_then(|launch| self.start_supervisor(review, &launch));
        match started {
            Ok(supervisor) => {
                self.watch_tree(review);
                supervisor.send(initialize_judge(INITIALIZE));
                supervisor.send(user_message(&uuid::Uuid::new_v4().to_string(), &prompt));
                let group = supervisor.group();
                self.supervisors.insert(review, ChildState::new(Some(supervisor), group));
            }
            Err(error) => self.events.push_back(Event::SupervisorGone {
                review,
                gone: Gone { how: format!("did not start: {error:#}"), ..Gone::default() },
            }),
        }
    }

    /// What the agent could have changed since is looked at once more.
    fn judges_launch(&self, request: &ReviewRequest) -> Result<Launch> {
        let JudgeStart { env, settings, options } = self.setup.judge(request.judge);
        self.setup.managed.as_deref().map(managed::check).transpose()?;
        pinned::check_copies(&options.prompt_options)?;
        let settings = settings.as_ref().map(|settings| settings.argument(env)).transpose()?;
        let options = &ReviewOptions { settings, ..options.clone() };
        let args = review_args(request, &self.setup.instructions, options);
        let case = options.sandbox.case(&self.setup.dir, &options.add_dirs);
        let mut env = env.clone();
        if let Some(git) = self.setup.workplace.as_ref().and_then(|place| place.git.as_ref()) {
            set_git(&mut env, &overruled(git, &self.setup.dir));
        }
        if !permission::allows_pushing(&options.allowed_tools) {
            set_git(&mut env, &nowhere_to_push());
        }
        keep_off_schedule(&mut env, &self.setup.dir);
        Ok(Launch { case, ..self.launch(args, env) })
    }

    /// The files that are not what they were when the session began, for the judge. The person is told of
    /// each once.
    fn changed_files(&mut self) -> String {
        let (pinned, applied) = (self.setup.watched.changed(), self.setup.start_files.changed());
        for (changed, applies) in [(&pinned, false), (&applied, true)] {
            for what in changed {
                if !self.told_changed.contains(what) {
                    self.told_changed.push(what.clone());
                    self.surface.notice(&Notice::FileChanged { what: what.clone(), applies });
                }
            }
        }
        changes(&pinned, &applied)
    }

    pub(super) fn start_agent(&mut self, resume: Option<String>) {
        if self.native.is_some() {
            return self.start_screen();
        }
        let start = match resume {
            Some(session_id) => AgentStart::Resume { session_id },
            // The first start is as the command line says; after that a lost session is a new one.
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
        let launch = self.launch(args, self.setup.agent_env.clone());
        let (to_output, to_control) = (self.to_output.clone(), self.to_control.clone());
        let started = Agent::start(
            &launch,
            self.setup.size,
            move |event| to_output.send((ChildId::Agent(id), event)).is_ok(),
            move |gone| to_control.send(Incoming::AgentExited(id, gone)).is_ok(),
        );
        match started {
            Ok(agent) => {
                // Once, and first: a client that is asked again also repeats what it runs in the
                // background. Nothing waits for the answer, and none is needed.
                if self.setup.live {
                    agent.send(initialize(WHAT_IS_THERE));
                }
                let group = agent.group();
                self.agent = Some(ChildState::new(AgentProcess::Lines(agent), group));
            }
            Err(error) => {
                let how = format!("did not start: {error:#}");
                self.events.push_back(Event::AgentGone(Gone { how, ..Gone::default() }));
            }
        }
    }

    fn start_supervisor(&self, review: u32, launch: &Launch) -> Result<Supervisor> {
        let (to_output, to_control) = (self.to_output.clone(), self.to_control.clone());
        Supervisor::start(
            launch,
            move |event| to_output.send((ChildId::Supervisor(review), event)).is_ok(),
            move |gone| to_control.send(Incoming::SupervisorExited(review, gone)).is_ok(),
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

    pub(super) fn to(&mut self, asker: Asker, line: Vec<u8>) {
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
