//! `ccc sessions list`: one line for each session.

use std::path::Path;

use anyhow::Result;
use jiff::Zoned;
use unicode_width::UnicodeWidthStr;

use super::super::output::{print, print_json, screen_width, table};
use super::{json, when};
use crate::directories::Directories;
use crate::event::Outcome;
use crate::process::exit::signal_name;
use crate::record::story::{self, SessionState, Story};
use crate::surface::look;
use crate::surface::{Glyphs, cut, duration, first_line, money};

pub const NONE: &str = "no session is recorded in this project yet; `ccc --supervisor` starts one";
/// How many sessions are listed without `--all`.
const MANY: usize = 30;
/// The width if that of the screen is unknown.
const WIDTH: usize = 120;
/// A task is never truncated below this width.
const SHORTEST: usize = 12;
const ID: usize = 8;

pub fn run(place: &Directories, all: bool, as_json: bool) -> Result<()> {
    let dated = story::dated(&place.state_dir);
    if as_json {
        return print_json(&story::summaries(&dated).map(|story| json::summary(&story)).collect());
    }
    let shown = if all { dated.len() } else { MANY.min(dated.len()) };
    let stories: Vec<_> = story::summaries(&dated).take(shown).collect();
    if stories.is_empty() {
        return print(
            "No session is recorded in this project yet. `ccc --supervisor` starts one.\n",
        );
    }
    let glyphs = look::plain().glyphs;
    let ids = id_length(dated.iter().map(|recording| recording.id.as_str()));
    print(&rows(&stories, ids, &place.project, &when::now(), width(), glyphs))?;
    match dated.len() - shown {
        0 => Ok(()),
        more => print(&format!("{more} more: ccc sessions --all\n")),
    }
}

pub fn width() -> usize {
    screen_width().unwrap_or(WIDTH)
}

fn rows(
    stories: &[Story],
    ids: usize,
    here: &Path,
    now: &Zoned,
    width: usize,
    glyphs: Glyphs,
) -> String {
    // The project was moved, or copied together with its recordings.
    let elsewhere =
        |story: &&Story| story.project.as_deref().is_some_and(|project| Path::new(project) != here);
    let projects = stories.iter().any(|story| elsewhere(&story));
    let mut rows = vec![
        ["WHEN", "ID", "OUTCOME", "ROUNDS", "TIME", "COST", "PROJECT", "TASK"].map(str::to_owned),
    ];
    for story in stories {
        rows.push([
            story.last.map_or_else(|| "-".to_owned(), |last| when::day(last, now)),
            story.id.chars().take(ids).collect(),
            outcome(story),
            story.rounds.len().to_string(),
            duration(story.seconds.total),
            if story.cost_usd > 0.0 { money(story.cost_usd) } else { "-".to_owned() },
            clean(story.project.as_deref().map(base).unwrap_or_default()),
            clean(story.task.as_deref().unwrap_or("-")),
        ]);
    }
    if !projects {
        rows.iter_mut().for_each(|row| row[6].clear());
    }
    let before: usize = (0..7)
        .map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0))
        .filter(|width| *width > 0)
        .map(|width| width + 2)
        .sum();
    let room = width.saturating_sub(before).max(SHORTEST);
    for row in &mut rows {
        row[7] = cut(&row[7], room, glyphs.ellipsis);
    }
    if projects {
        return table(&rows);
    }
    let narrow = rows.into_iter().map(|[when, id, outcome, rounds, time, cost, _, task]| {
        [when, id, outcome, rounds, time, cost, task]
    });
    table(&narrow.collect::<Vec<_>>())
}

/// How many characters are needed to tell the ids apart.
pub fn id_length<'a>(ids: impl Iterator<Item = &'a str>) -> usize {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    let same =
        |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| same(pair) + 1).max().unwrap_or(0).max(ID)
}

pub fn outcome(story: &Story) -> String {
    let last = story.rounds.last().map(|round| &round.verdict);
    let confirmed = last.is_some_and(|verdict| verdict.completed);
    let bare = confirmed && last.is_some_and(|verdict| verdict.without_proof);
    match &story.state {
        SessionState::Running => "running".to_owned(),
        SessionState::BrokenOff => "cut off".to_owned(),
        SessionState::Over(Outcome::Completed | Outcome::Ended) if bare => {
            "confirmed without proof".to_owned()
        }
        // A person ends a session after a confirmed task like any other, so both outcomes count as confirmed.
        SessionState::Over(Outcome::Completed) => "confirmed".to_owned(),
        SessionState::Over(Outcome::Ended) if confirmed => "confirmed".to_owned(),
        SessionState::Over(Outcome::Ended) => "ended".to_owned(),
        SessionState::Over(Outcome::Unreviewed) => "not reviewed".to_owned(),
        SessionState::Over(Outcome::Failed(_) | Outcome::Unwritten(_)) => "failed".to_owned(),
        SessionState::Over(Outcome::Limit) => "not confirmed".to_owned(),
        SessionState::Over(Outcome::NoVerdict(_)) => "no verdict".to_owned(),
        SessionState::Over(Outcome::Blocked(_)) => "blocked".to_owned(),
        SessionState::Over(Outcome::Impossible(_)) => "impossible".to_owned(),
        SessionState::Over(Outcome::Stuck(_)) => "stuck".to_owned(),
        SessionState::Over(Outcome::Signal(signal)) => format!("ended by {}", signal_name(*signal)),
        SessionState::Over(Outcome::ClientLeft(_)) => "claude left".to_owned(),
    }
}

/// The first line, without terminal control characters.
pub fn clean(text: &str) -> String {
    first_line(text).0.replace('\t', " ")
}

fn base(project: &str) -> &str {
    project.rsplit('/').find(|name| !name.is_empty()).unwrap_or(project)
}

#[cfg(test)]
mod tests;
