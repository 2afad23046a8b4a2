//! `ccc supervisor-mode [on|off] [anything]`: the switch behind `/supervisor` and `/supervisoroff`.

use std::env;

use anyhow::Result;

use super::Usage;
use super::place::Place;
use super::supervisor_hook::{project, state_dir_from_env};
use crate::state::StateFile;

pub fn run(words: &[String], session: Option<String>) -> Result<i32> {
    let session = session.or_else(|| env::var("CLAUDE_CODE_SESSION_ID").ok()).ok_or_else(|| {
        Usage(
            "which session? CLAUDE_CODE_SESSION_ID is not set; give one with --session".to_owned(),
        )
    })?;
    let dir = match (state_dir_from_env(), project(None)) {
        (Some(dir), _) => dir,
        (None, Some(project)) => project.join(".claude/ccc"),
        (None, None) => Place::find()?.state_dir,
    };
    let state = StateFile::new(&dir, &session).map_err(|error| Usage(error.to_string()))?;
    // What follows the word is for the agent.
    match words.first().map(String::as_str) {
        Some("on") => state.change(|state| {
            state.enabled = true;
            state.count = 0;
        })?,
        Some("off") => state.change(|state| state.enabled = false)?,
        Some(other) => return Err(Usage(format!("on or off, not {other:?}")).into()),
        None => {
            let on = state.load()?.is_some_and(|state| state.enabled);
            println!("{}", if on { "on" } else { "off" });
        }
    }
    Ok(0)
}
