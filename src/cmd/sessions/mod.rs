//! `ccc sessions`: shows the sessions recorded in this project, and resumes them.

mod beside;
mod json;
mod list;
mod remove;
mod show;
mod take_up;
mod when;

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::Usage;
use crate::cli::sessions::{ListArgs, SessionsArgs, SessionsCommand};
use crate::console;
use crate::directories::Directories;
use crate::record::find::{self, Prefer};
use crate::record::story::Story;

pub use take_up::take_up;

pub fn run(args: SessionsArgs) -> Result<i32> {
    let place = Directories::find()?;
    match args.command.unwrap_or(SessionsCommand::List(args.list)) {
        SessionsCommand::List(ListArgs { all, json }) => list::run(&place, all, json)?,
        SessionsCommand::Show { id, json, checks } => {
            show::run(&Story::read(&find(&place, id.as_deref())?)?, json, checks)?;
        }
        SessionsCommand::Path { id } => {
            let path = find(&place, id.as_deref())?.into_os_string().into_encoded_bytes();
            console::print_exact(&[&path, &b"\n"[..]].concat())?;
        }
        SessionsCommand::Rm { ids, yes } => remove::run(&place, &ids, yes)?,
        SessionsCommand::Prune { older_than, dry_run, yes } => {
            remove::prune(&place, &older_than, dry_run, yes)?;
        }
    }
    Ok(0)
}

/// Finds a session by one of its ids or a prefix of it; without one, the newest.
pub fn find(place: &Directories, id: Option<&str>) -> Result<PathBuf> {
    let state_dir = &place.state_dir;
    let Some(id) = id else {
        return match find::all(state_dir).into_iter().next() {
            Some(newest) => Ok(newest.dir),
            None => bail!("{}", list::NONE),
        };
    };
    if id.is_empty() {
        return Err(Usage("an empty id matches no session".into()).into());
    }
    match find::find(state_dir, id, Prefer::Recording)? {
        Some(found) => Ok(found.dir),
        None => bail!(
            "there is no recorded session {id:?} in {}; `ccc sessions` lists the sessions",
            state_dir.display()
        ),
    }
}
