//! Puts one session after another before the user's own judge. The agent is scripted but really works,
//! in a temporary directory; everything else is a session of `ccc --supervisor -p`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow};
use crossbeam_channel::Sender;

use super::watching::Watching;
use crate::checks::Check;
use crate::client::args::ClientArgs;
use crate::client::launch::AgentStart;
use crate::cmd::supervise;
use crate::config::clients::{Limits, judges_alone};
use crate::config::{Config, managed};
use crate::directories::{Directories, STATE_DIR};
use crate::event::Report;
use crate::executables;
use crate::files::WatchedFiles;
use crate::gauntlet::acting::Acting;
use crate::gauntlet::conversation::StoredConversation;
use crate::gauntlet::project;
use crate::gauntlet::session::GauntletSession;
use crate::machine::{CheckingRules, Rules};
use crate::process::{orphans, signals};
use crate::review::instructions::Instructions;
use crate::review::policy::Judging;
use crate::session::{self, Incoming, Setup, Workplace};
use crate::{clock, session::Session as Loop};

pub struct Bench {
    pub config: Config,
    pub config_dir: PathBuf,
    pub provider: Option<String>,
    pub instructions: Instructions,
    pub judging: Judging,
    /// The user's arguments for every agent, as far as they affect its judge.
    pub taken: ClientArgs,
    /// The agent's model, if known.
    pub model: String,
    pub ending: Ending,
}

/// Ctrl-C ends the running review, and then the whole run.
#[derive(Clone, Default)]
pub struct Ending(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    to_loop: Option<Sender<Incoming>>,
    signal: Option<i32>,
}

impl Ending {
    pub fn listen() -> Result<Self> {
        orphans::adopt_and_reap()?;
        clock::watch_for_stops()?;
        let ending = Self::default();
        let heard = ending.clone();
        signals::listen(move |signal| {
            let mut state = heard.state();
            if signals::asks_to_end(signal) {
                state.signal.get_or_insert(signal);
            }
            match &state.to_loop {
                Some(to_loop) => drop(to_loop.send(Incoming::Signal(signal))),
                None if signals::is_stop(signal) => signals::stop_group(),
                None => {}
            }
            true
        })?;
        Ok(ending)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn signal(&self) -> Option<i32> {
        self.state().signal
    }

    fn reaches(&self, to_loop: Option<Sender<Incoming>>) {
        self.state().to_loop = to_loop;
    }
}

impl Bench {
    pub fn play(&self, session: &GauntletSession) -> Result<(Report, Watching)> {
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
            conversation: StoredConversation::new(&client_dir()?, &project, &session_id)?,
            project,
            model: self.model.clone(),
            to_loop: to_loop.clone(),
            heard: 0,
        };
        let mut watching = Watching::default();
        self.ending.reaches(Some(to_loop.clone()));
        let (report, acted) = thread::scope(|scope| {
            let acting = scope.spawn(|| acting.run(&listener));
            let report = Loop::new(setup, &mut watching, (to_loop, control)).run();
            // Unblocks the listener, in case the agent was never started.
            drop(UnixStream::connect(&socket));
            (report, acting.join())
        });
        self.ending.reaches(None);
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
            config_dir: self.config_dir.clone(),
            state_dir: project.join(STATE_DIR),
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
        Ok(Setup {
            rules,
            prompt: session.turns().first().map(|(said, _)| (*said).to_owned()),
            first: AgentStart::New { session_id: session_id.to_owned() },
            ccc,
            start_files: supervise::start_files(&claude)?,
            claude: vec![claude.into()],
            scripted_agent: Some(scripted.into()),
            claude_args: Vec::new(),
            live: false,
            introduced: false,
            settings: None,
            agent_env: Vec::new(),
            judge: judges.next().unwrap_or_default(),
            other_judges: judges.collect(),
            watched: WatchedFiles::default(),
            managed: Some(managed::fingerprint()),
            instructions: self.instructions.text.clone(),
            workplace: Some(Workplace::of(project)?),
            dir: project.to_owned(),
            size: (120, 40),
            earlier: Box::new(|_| None),
            earlier_commands: None,
            recorder: None,
            editor: OsString::new(),
            pager: OsString::new(),
            native: None,
        })
    }
}

/// Where the client keeps its conversations.
fn client_dir() -> Result<PathBuf> {
    let set = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let dir = set.map(PathBuf::from).or_else(|| Some(dirs::home_dir()?.join(".claude")));
    // Not canonicalized: the client follows links in this path itself.
    Ok(std::path::absolute(dir.context("there is no home directory")?)?)
}
