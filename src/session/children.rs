//! The session's two kinds of children: starting them, and speaking to them.

use std::ffi::OsString;

use super::process::Process;
use super::{Control, From, Session};
use crate::event::{Asker, Event, Gone, ReviewRequest};
use crate::launch::{AgentStart, Launch, agent_args, review_args};
use crate::pty::Agent;
use crate::review_prompt::review_prompt;
use crate::stream::{initialize, user_message};
use crate::supervisor::Supervisor;

/// No id of the machine's, which takes no notice of the answer.
const WHAT_IS_THERE: &str = "ccc-initialize";

impl Session<'_> {
    pub(super) fn start_review(&mut self, request: &ReviewRequest) {
        let review = request.review;
        let prompt = review_prompt(&self.setup.instructions, request);
        let args = review_args(request, &self.setup.instructions, &self.setup.review);
        let launch = self.launch(args, self.setup.review_env.clone());
        match self.start_supervisor(review, &launch) {
            Ok(supervisor) => {
                supervisor.send(user_message(&uuid::Uuid::new_v4().to_string(), &prompt));
                self.supervisors.insert(review, Process::new(Some(supervisor)));
            }
            Err(error) => self.events.push_back(Event::SupervisorGone {
                review,
                gone: Gone { how: format!("did not start: {error:#}"), ..Gone::default() },
            }),
        }
    }

    pub(super) fn start_agent(&mut self, resume: Option<String>) {
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
            move |event| to_output.send((From::Agent(id), event)).is_ok(),
            move |gone| to_control.send(Control::AgentExited(id, gone)).is_ok(),
        );
        match started {
            Ok(agent) => {
                // Once, and first: a client that is asked again also repeats what it runs in the
                // background. Nothing waits for the answer, and none is needed.
                if self.setup.live {
                    agent.send(initialize(WHAT_IS_THERE));
                }
                self.agent = Some(Process::new(agent));
            }
            Err(error) => {
                let how = format!("did not start: {error:#}");
                self.events.push_back(Event::AgentGone(Gone { how, ..Gone::default() }));
            }
        }
    }

    fn start_supervisor(&self, review: u32, launch: &Launch) -> anyhow::Result<Supervisor> {
        let (to_output, to_control) = (self.to_output.clone(), self.to_control.clone());
        Supervisor::start(
            launch,
            move |event| to_output.send((From::Supervisor(review), event)).is_ok(),
            move |gone| to_control.send(Control::SupervisorExited(review, gone)).is_ok(),
        )
    }

    fn launch(&self, args: Vec<OsString>, env: Vec<(OsString, OsString)>) -> Launch {
        Launch {
            ccc: self.setup.ccc.clone(),
            claude: self.setup.claude.clone(),
            args,
            env,
            dir: self.setup.dir.clone(),
        }
    }

    pub(super) fn to(&self, asker: Asker, line: Vec<u8>) {
        match asker {
            Asker::Agent => self.to_agent(line),
            Asker::Supervisor => {
                for supervisor in
                    self.supervisors.values().filter_map(|process| process.handle.as_ref())
                {
                    supervisor.send(line.clone());
                }
            }
        }
    }

    pub(super) fn to_agent(&self, line: Vec<u8>) {
        if let Some(agent) = &self.agent {
            agent.handle.send(line);
        }
    }
}
