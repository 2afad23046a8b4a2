//! Puts one session after another before the user's own judge. The agent is scripted but really works,
//! in a temporary directory; everything else is a session of `ccc --supervisor -p`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow};

use super::watching::Watching;
use crate::checks::Check;
use crate::client::args::ClientArgs;
use crate::client::launch::AgentStart;
use crate::cmd::stop::Stop;
use crate::cmd::supervise;
use crate::config::clients::{Limits, judges_alone};
use crate::config::{Config, managed};
use crate::directories::{Directories, STATE_DIR};
use crate::event::Report;
use crate::executables;
use crate::gauntlet::acting::Acting;
use crate::gauntlet::conversation::StoredConversation;
use crate::gauntlet::project;
use crate::gauntlet::session::GauntletSession;
use crate::machine::{CheckingRules, Rules};
use crate::review::instructions::Instructions;
use crate::review::policy::Judging;
use crate::session::{self, Session as Loop, Setup, Workplace};

pub struct Bench {
    pub config: Config,
    /// Of the project in which ccc was called.
    pub place: Directories,
    pub provider: Option<String>,
    pub instructions: Instructions,
    pub judging: Judging,
    /// The user's arguments for every agent, as far as they affect its judge.
    pub taken: ClientArgs,
    /// The agent's model, if known.
    pub model: String,
}

impl Bench {
    pub fn play(&self, session: &GauntletSession, stop: &Stop) -> Result<(Report, Watching)> {
        // The name is neutral: a judge that sees that it is being measured may judge differently.
        let dir = tempfile::Builder::new().prefix("work-").tempdir();
        let dir = dir.context("no temporary directory")?;
        // The client names its own files after the directory's canonical path.
        let root = dir.path().canonicalize()?;
        let project = root.join("project");
        fs::create_dir(&project)?;
        fs::create_dir(root.join("home"))?;
        project::write(session, &project)?;
        let socket = root.join("agent");
        let listener = UnixListener::bind(&socket)?;
        let session_id = uuid::Uuid::new_v4().to_string();
        let setup = self.setup(session, &project, &socket, &session_id)?;
        let (to_loop, control) = session::control();
        let mut acting = Acting {
            session,
            conversation: StoredConversation::new(&self.place.client_dir, &project, &session_id)?,
            project,
            model: self.model.clone(),
            to_loop: to_loop.clone(),
            heard: 0,
        };
        let mut watching = Watching::default();
        stop.hand_to(Some(to_loop.clone()));
        let (report, acted) = thread::scope(|scope| {
            let acting = scope.spawn(|| acting.run(&listener));
            let report = Loop::new(setup, &mut watching, (to_loop, control)).run();
            // Unblocks the listener, in case the agent was never started.
            drop(UnixStream::connect(&socket));
            (report, acting.join())
        });
        stop.hand_to(None);
        acted.map_err(|_| anyhow!("the thread of the scripted agent has panicked"))??;
        Ok((report, watching))
    }

    fn setup(
        &self,
        session: &GauntletSession,
        project: &Path,
        socket: &Path,
        session_id: &str,
    ) -> Result<Setup> {
        let place = Directories {
            project: project.to_owned(),
            state_dir: project.join(STATE_DIR),
            ..self.place.clone()
        };
        let supervisor = self.config.supervisor()?;
        let limits = Limits::of(&self.config, None)?;
        let checks = session.checks.iter().map(|check| Check::command(check)).collect();
        let rules = Rules {
            person: false,
            max_iterations: limits.max_iterations,
            review_timeout: limits.review_timeout,
            judging: self.judging.clone(),
            checking: CheckingRules { examines: true, checks, untrusted: Vec::new() },
            seed: uuid::Uuid::new_v4().as_u64_pair().0,
            ..Rules::default()
        };
        let clients = judges_alone(&place, &self.config, self.provider.as_deref())?;
        let mut judges = supervise::judges(&place, &supervisor, &self.taken, clients).into_iter();
        let (ccc, claude) = (executables::ccc()?, executables::claude()?);
        let scripted: [OsString; 3] = [ccc.clone().into(), "scripted-client".into(), socket.into()];
        let first = AgentStart::New { session_id: session_id.to_owned() };
        let start_files = supervise::start_files(&claude)?;
        Ok(Setup {
            prompt: session.turns().first().map(|(said, _)| (*said).to_owned()),
            start_files,
            scripted_agent: Some(scripted.into()),
            judge: judges.next().unwrap_or_default(),
            other_judges: judges.collect(),
            managed: Some(managed::fingerprint()),
            instructions: self.instructions.text.clone(),
            workplace: Some(Workplace::of(project)?),
            ..Setup::new(rules, first, ccc, vec![claude.into()], project.to_owned())
        })
    }
}
