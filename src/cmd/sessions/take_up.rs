//! Which session the user means with `--resume` or `--continue`, and what it continues with.

use std::fs;
use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use jiff::Zoned;

use super::super::pick::pick;
use super::super::questions::Questions;
use super::{Usage, list, when};
use crate::client::args::{ClientArgs, Resume};
use crate::client::launch::AgentStart;
use crate::client::session_id;
use crate::console;
use crate::directories::Directories;
use crate::event::Carried;
use crate::record::find::{self, FoundRecording, Prefer, find};
use crate::record::story::{self, Story};
use crate::surface::look;
use crate::surface::{Picker, cut};

const OFFERED: usize = 10;

#[derive(Debug, PartialEq)]
pub struct TakenUp {
    pub first: AgentStart,
    /// The session's id, if already known.
    pub resume: Option<String>,
    pub carried: Option<Carried>,
}

/// `person` means that somebody can be asked; with `lines`, nothing on the screen may be overwritten.
pub fn take_up(
    place: &Directories,
    taken: &ClientArgs,
    person: bool,
    lines: bool,
) -> Result<TakenUp> {
    let plain = |first| TakenUp { first, resume: None, carried: None };
    let recording = match &taken.resume {
        Some(Resume::Session(name)) => match find(&place.state_dir, name, Prefer::Conversation) {
            Ok(Some(recording)) => recording,
            Ok(None) if session_id::is_safe(name) => {
                return Ok(resumed(name.clone(), None, taken.forks));
            }
            Ok(None) => {
                return Err(Usage(format!(
                    "{name:?} is not a session id; `ccc sessions` lists the sessions"
                ))
                .into());
            }
            Err(problem) => return Err(Usage(problem.to_string()).into()),
        },
        Some(Resume::Choose) => {
            let stories = story::all(&place.state_dir);
            match stories.as_slice() {
                // The client may know sessions that ccc does not.
                [] => return Ok(plain(AgentStart::Continue)),
                [_, ..] if person && !taken.exits => {
                    let now = when::now();
                    let chosen = if lines || look::only_lines() {
                        choose(&stories, &mut Questions::terminal(), &now, list::width())?
                    } else {
                        let picker = Picker::new(
                            "Which session do you want to resume?",
                            offers(&stories, &now),
                        );
                        &stories[pick(picker, look::plain())?]
                    };
                    FoundRecording::read(&chosen.dir)?
                }
                [newest, ..] => FoundRecording::read(&newest.dir)?,
            }
        }
        Some(Resume::Latest) => match latest(place) {
            Some(recording) => recording,
            None => return Ok(plain(AgentStart::Continue)),
        },
        None if taken.names_session => return Ok(plain(AgentStart::AsUserSays)),
        None => {
            let session_id = uuid::Uuid::new_v4().to_string();
            return Ok(plain(AgentStart::New { session_id }));
        }
    };
    let id = recording.conversation;
    if !session_id::is_safe(&id) {
        return Err(Usage(format!("{id:?} is not a session id")).into());
    }
    if story::is_running(&recording.dir) {
        console::say(format!(
            "ccc: session {id} is already running elsewhere; the two can interfere with each other"
        ));
    }
    Ok(resumed(id, find::carried(&recording.dir, None), taken.forks))
}

/// The conversation that claude would continue, if it was recorded. Claude names it only when its first
/// turn begins; finding it here allows its end to be shown at once.
fn latest(place: &Directories) -> Option<FoundRecording> {
    let conversations = fs::read_dir(place.conversations()?).ok()?.flatten();
    let changed = |file: fs::DirEntry| Some((file.metadata().ok()?.modified().ok()?, file.path()));
    let (_, newest) = conversations
        .filter(|file| file.path().extension().is_some_and(|kind| kind == "jsonl"))
        .filter_map(changed)
        .max()?;
    let id = newest.file_stem()?.to_str()?;
    let recording = find(&place.state_dir, id, Prefer::Conversation).ok()??;
    (recording.conversation == id).then_some(recording)
}

fn resumed(id: String, carried: Option<Carried>, forks: bool) -> TakenUp {
    let first = AgentStart::Resume { session_id: id.clone() };
    if forks {
        // A fork gets a new id, and does not carry over the cost of the original.
        let carried = carried.map(|carried| Carried { cost_usd: 0.0, ..carried });
        return TakenUp { first, resume: None, carried };
    }
    TakenUp { first, resume: Some(id), carried }
}

fn offers(stories: &[Story], now: &Zoned) -> Vec<String> {
    let ids = list::id_length(stories.iter().map(|story| story.id.as_str()));
    let offer = |story: &Story| {
        let day = story.last.map_or_else(|| "-".to_owned(), |last| when::day(last, now));
        let id: String = story.id.chars().take(ids).collect();
        let task = list::clean(story.task.as_deref().unwrap_or("-"));
        format!("{day:<16}  {id}  {:<13}  {task}", list::outcome(story))
    };
    stories.iter().map(offer).collect()
}

fn choose<'a, R: BufRead, W: Write>(
    stories: &'a [Story],
    questions: &mut Questions<R, W>,
    now: &Zoned,
    columns: usize,
) -> Result<&'a Story> {
    let offered = &stories[..OFFERED.min(stories.len())];
    for (at, offer) in offers(stories, now).iter().take(offered.len()).enumerate() {
        let line = format!("{:>2}  {offer}", at + 1);
        questions.say(&cut(&line, columns, look::plain().glyphs.ellipsis))?;
    }
    loop {
        let answer = questions.ask("Which session do you want to resume", "1")?;
        let chosen = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(story) = chosen.and_then(|at| offered.get(at)) {
            return Ok(story);
        }
        let last = offered.len();
        questions
            .say(&format!("Type a number from 1 to {last}."))
            .context("cannot write to the terminal")?;
    }
}

#[cfg(test)]
mod tests;
