//! Scores the user's own recorded sessions: the verdicts are in the recordings, and the labels come
//! from the user. This costs nothing, and it is about the user's own work.
//!
//! The sessions are not judged again. A review examines the files and runs them, and by the time
//! somebody knows better than the verdict, the files have changed.

use anyhow::{Result, bail};
use jiff::Timestamp;

use super::super::output;
use super::super::sessions::find;
use super::score::{Given, Said, Scored, Spent, Totals};
use super::told;
use crate::cli::judge::{JudgeArgs, Label as Typed};
use crate::directories::Directories;
use crate::event::Outcome;
use crate::record::label::Label;
use crate::record::read::sessions;
use crate::record::story::{SessionState, Story};
use crate::surface::first_line;

pub fn label(typed: Typed, session: Option<&str>) -> Result<i32> {
    let dir = find(&Directories::find()?, session)?;
    let story = Story::read(&dir)?;
    if story.state == SessionState::Running {
        bail!("the session {} is still running; label it when it is over", story.id);
    }
    if let Given::None { why } = given(&story) {
        bail!("the session {} has no verdict that a label could be compared with: {why}", story.id);
    }
    let done = typed == Typed::Done;
    Label { done, at: Timestamp::now() }.write(&dir)?;
    let said = if done { "done" } else { "not done" };
    output::print(&format!(
        "{}: {said}. `ccc judge --recorded` compares the verdicts with your labels.\n",
        name(&story)
    ))?;
    Ok(0)
}

pub fn run(args: &JudgeArgs) -> Result<i32> {
    let place = Directories::find()?;
    let (mut scored, mut left_out) = (Vec::new(), Vec::new());
    for dir in sessions(&place.state_dir) {
        let Some(label) = Label::read(&dir)? else { continue };
        let story = Story::read(&dir)?;
        if story.last.is_some_and(|last| last > label.at) {
            left_out.push(name(&story));
        } else {
            scored.push(compared(&story, label));
        }
    }
    if scored.is_empty() && left_out.is_empty() {
        bail!(
            "no recorded session of this project has a label; `ccc sessions` lists them, and \
             `ccc judge --label done SESSION` or `--label not-done SESSION` gives them one"
        );
    }
    let totals = Totals::of(&scored);
    told::recorded(&scored, &left_out, &totals, args.json)?;
    Ok(totals.exit_code())
}

fn name(story: &Story) -> String {
    let id: String = story.id.chars().take(8).collect();
    let task = story.task.as_deref().map(|task| first_line(task).0).unwrap_or_default();
    format!("{id} {task}").trim_end().to_owned()
}

/// The last verdict is the session's result, whoever ended the session.
fn given(story: &Story) -> Given {
    let failed = match &story.state {
        SessionState::Over(Outcome::NoVerdict(why) | Outcome::Failed(why)) => Some(why.clone()),
        _ => None,
    };
    match (failed, story.rounds.last().map(|round| &round.verdict)) {
        (Some(why), _) => Given::None { why },
        (None, None) => Given::None { why: "it was never reviewed".to_owned() },
        (None, Some(verdict)) if verdict.completed => {
            Given::Accepted { without_proof: verdict.without_proof }
        }
        (None, Some(verdict)) => Given::Rejected { feedback: verdict.feedback.clone() },
    }
}

fn compared(story: &Story, label: Label) -> Scored {
    let last = story.rounds.last();
    Scored {
        name: name(story),
        done: label.done,
        wrong: None,
        verdict: given(story),
        asked_again: 0,
        seconds: last.map_or(0.0, |round| round.seconds),
        opinions: Said::all(last.map(|round| &round.verdict)),
        spent: last.map(|round| Spent::new(round.cost_usd, round.usage)).unwrap_or_default(),
    }
}
