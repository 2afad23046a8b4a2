//! `ccc supervisor-mode [on|off] [anything]`: the switch behind `/supervisor` and `/supervisoroff`.

use std::env;

use anyhow::Result;

use super::Usage;
use super::supervision::{self, Begins};
use super::supervisor_hook::{project, state_dir_from_env};
use crate::console;
use crate::directories::{Directories, STATE_DIR};
use crate::hook::client_environment;
use crate::hook::state::StateFile;

pub fn run(words: &[String], session: Option<String>) -> Result<i32> {
    client_environment::take_on();
    let session = session.or_else(|| env::var("CLAUDE_CODE_SESSION_ID").ok()).ok_or_else(|| {
        Usage(
            "which session? CLAUDE_CODE_SESSION_ID is not set; give one with --session".to_owned(),
        )
    })?;
    let dir = match (state_dir_from_env(), project(None)) {
        (Some(dir), _) => dir,
        (None, Some(project)) => project.join(STATE_DIR),
        (None, None) => Directories::find()?.state_dir,
    };
    let state = StateFile::new(&dir, &session).map_err(|error| Usage(error.to_string()))?;
    // What follows the word is for the agent.
    match words.first().map(String::as_str) {
        Some("on") => {
            let found = Directories::find()?;
            let project = project(None).unwrap_or(found.project);
            let directories = Directories { project, state_dir: dir, ..found };
            let max_iterations =
                env::var("CCC_MAX_ITERATIONS").ok().and_then(|max| max.parse().ok());
            let begins = Begins { max_iterations, ..Begins::default() };
            supervision::begin(&directories, &state, &session, &begins)?;
        }
        // The Stop hook looks who did this, and undoes it if it was not the person.
        Some("off") => state.change(|state| state.enabled = false)?,
        Some(other) => return Err(Usage(format!("on or off, not {other:?}")).into()),
        None => {
            let on = state.load()?.is_some_and(|state| state.enabled);
            console::print(if on { "on\n" } else { "off\n" })?;
        }
    }
    Ok(0)
}
