//! `ccc sessions`: looking back at what was recorded in this project, and taking it up again.

mod json;
mod list;
mod remove;
mod show;
mod take_up;
mod when;

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::Usage;
use super::output::print;
use super::place::Place;
use crate::cli::sessions::{ListArgs, SessionsArgs, SessionsCommand};
use crate::record::read;
use crate::record::story::Story;

pub use take_up::take_up;

pub fn run(args: SessionsArgs) -> Result<i32> {
    let place = Place::find()?;
    match args.command.unwrap_or(SessionsCommand::List(args.list)) {
        SessionsCommand::List(ListArgs { all, json }) => list::run(&place, all, json)?,
        SessionsCommand::Show { id, json } => {
            let story = Story::whole(&find(&place, id.as_deref())?)?;
            show::run(&story, json)?;
        }
        SessionsCommand::Path { id } => {
            print(&format!("{}\n", find(&place, id.as_deref())?.display()))?;
        }
        SessionsCommand::Rm { ids, yes } => remove::run(&place, &ids, yes)?,
        SessionsCommand::Prune { older_than, dry_run, yes } => {
            remove::prune(&place, older_than, dry_run, yes)?;
        }
    }
    Ok(0)
}

/// By its id or the beginning of it; the newest if none is named.
fn find(place: &Place, id: Option<&str>) -> Result<PathBuf> {
    if let Some(id) = id {
        if id.is_empty() {
            return Err(Usage("an empty id names no session".into()).into());
        }
        return read::find(&place.state_dir, id);
    }
    match crate::record::story::all(&place.state_dir).into_iter().next() {
        Some(newest) => Ok(newest.dir),
        None => bail!("{}", list::NONE),
    }
}
