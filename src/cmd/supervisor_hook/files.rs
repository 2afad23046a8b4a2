//! The project's files in a review of the Stop hook, and what they were when supervision began.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::guard::Guarded;
use crate::brief::diff::{as_text, since};
use crate::brief::facts::Examined;
use crate::brief::old_lines::OldLines;
use crate::brief::signs::FileDiff;
use crate::client::transcript::Spoken;
use crate::cmd::base;
use crate::session::Workplace;
use crate::tree::Snapshot;

#[derive(Clone)]
pub struct Files {
    project: PathBuf,
    pub workplace: Workplace,
    /// `None` if the session was not supervised from its start.
    before: Option<Arc<Snapshot>>,
    /// If supervision began in the middle of the task, its work may stand in `before` already.
    is_whole: bool,
}

impl Files {
    /// `task` is the message with which the task began.
    pub fn of(project: PathBuf, guarded: Option<&Guarded>, task: Option<&Spoken>) -> Result<Self> {
        let workplace = Workplace::of(&project)?;
        let before = guarded.and_then(|guarded| base::load(guarded.file())).map(Arc::new);
        let is_whole = guarded
            .zip(task)
            .is_some_and(|(guarded, task)| base::is_older_than(guarded.file(), &task.at));
        Ok(Self { project, workplace, before, is_whole })
    }

    pub fn look(&self) -> Snapshot {
        self.workplace.look_again(self.before.as_deref())
    }

    pub fn compare(&self, answer: &str) -> (Examined, Vec<FileDiff>) {
        self.workplace.compare(self.before.as_deref(), &self.look(), answer)
    }

    /// What a judge with fresh eyes is shown. If it is unknown when the task began, that is what has
    /// changed since the last commit.
    pub fn diff(&self, diffs: &[FileDiff]) -> String {
        if self.before.is_some() {
            return as_text(diffs);
        }
        as_text(&since(&self.project, self.workplace.git.as_deref(), "HEAD"))
    }

    pub fn old_lines(&self, examined: &Examined, diffs: Vec<FileDiff>) -> Option<OldLines> {
        let before = self.before.clone().filter(|_| self.is_whole)?;
        OldLines::new(&self.project, before, examined, diffs)
    }
}
