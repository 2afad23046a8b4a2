//! `ccc supervisor-mode [on|off] [anything]`: the switch behind `/supervisor` and `/supervisoroff`.

use std::env;
use std::path::Path;

use anyhow::Result;

use super::Usage;
use super::supervision::{self, Begins};
use super::supervisor_hook::{project, state_dir_from_env};
use crate::console;
use crate::directories::{Directories, STATE_DIR};
use crate::hook::client_environment;
use crate::hook::pinned::PinnedFile;
use crate::hook::state::StateFile;

pub fn run(words: &[String], session: Option<String>) -> Result<i32> {
    client_environment::take_on(None);
    let session = session.or_else(|| env::var("CLAUDE_CODE_SESSION_ID").ok()).ok_or_else(|| {
        Usage(
            "the session is unknown, because CLAUDE_CODE_SESSION_ID is not set; name it with \
             --session ID"
                .to_owned(),
        )
    })?;
    let dir = match (state_dir_from_env(), project(None)) {
        (Some(dir), _) => dir,
        (None, Some(project)) => project.join(STATE_DIR),
        (None, None) => Directories::find()?.state_dir,
    };
    let state = StateFile::new(&dir, &session).map_err(|error| Usage(error.to_string()))?;
    let launch = env::var(client_environment::LAUNCH).ok();
    let file = PinnedFile::of(&Directories::find()?.config_dir, launch.as_deref(), &session)?;
    let switched = Switched { state: &state, file: &file, session: &session, state_dir: &dir };
    // The text after the first word is for the agent.
    match words.first().map(String::as_str) {
        Some("on") => switched.on(None)?,
        Some("off") => switched.off()?,
        Some(other) => return Err(Usage(format!("expected on or off, not {other:?}")).into()),
        None => {
            console::print(if switched.is_on()? { "on\n" } else { "off\n" })?;
        }
    }
    Ok(0)
}

/// Switches the supervision of a session. The Stop hook later checks who did it, and undoes it if it
/// was not the person.
pub struct Switched<'a> {
    pub state: &'a StateFile,
    pub file: &'a PinnedFile,
    pub session: &'a str,
    pub state_dir: &'a Path,
}

impl Switched<'_> {
    pub fn on(&self, cwd: Option<&str>) -> Result<()> {
        let found = Directories::find()?;
        let project = project(cwd).unwrap_or(found.project);
        let directories = Directories { project, state_dir: self.state_dir.to_owned(), ..found };
        let max_iterations = env::var("CCC_MAX_ITERATIONS").ok().and_then(|max| max.parse().ok());
        let begins = Begins { max_iterations, ..Begins::default() };
        supervision::begin(&directories, Some(self.state), self.file, self.session, &begins)
    }

    pub fn off(&self) -> Result<()> {
        self.state.change(|state| state.enabled = false)
    }

    pub fn is_on(&self) -> Result<bool> {
        Ok(self.state.load()?.is_some_and(|state| state.enabled))
    }
}
