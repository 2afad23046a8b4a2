//! The project's files and its checks: looked at and run beside the loop, which never waits for them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Incoming, Session};
use crate::brief::diff::{as_text, diffs};
use crate::brief::facts::{Changed, Examined, FileChange, How};
use crate::brief::signs::{FileDiff, signs};
use crate::checks::Check;
use crate::checks::running::{CheckHappened, CheckProcess, Surroundings};
use crate::event::{Event, Gone};
use crate::threads::named;
use crate::tree::{self, Kind, Snapshot};

/// How the files were when the task began. Held while they are looked at, so that whoever compares
/// with it waits for that.
#[derive(Clone, Default)]
pub struct Base(pub(super) Arc<Mutex<Option<Snapshot>>>);

/// What a session needs to look at the project's files and to run checks.
#[derive(Debug, Clone)]
pub struct Workplace {
    pub surroundings: Surroundings,
    /// Found before the agent could put another one in its place.
    pub git: Option<PathBuf>,
}

impl Session<'_> {
    pub(super) fn note_files(&mut self) {
        let Some(workplace) = self.setup.workplace.clone() else { return };
        let base = self.base.clone();
        let (begun, wait) = crossbeam_channel::bounded::<()>(0);
        let started = named("files", move || {
            let mut held = base.0.lock().unwrap_or_else(PoisonError::into_inner);
            drop(begun);
            *held = Some(workplace.look());
        });
        match started {
            // Until it holds the base: a look that comes later must not overtake it.
            Ok(()) => drop(wait.recv()),
            Err(error) => log::warn!("the files are not looked at: {error}"),
        }
    }

    pub(super) fn examine(&mut self, id: u32) {
        // Of a scripted session the script says it.
        let Some(workplace) = self.setup.workplace.clone() else { return };
        let (base, to_control) = (self.base.clone(), self.to_control.clone());
        let for_fresh_eyes = self.setup.rules.judging.judges.iter().any(|judge| judge.fresh);
        let kept = for_fresh_eyes.then(|| Arc::clone(&self.diff));
        let started = named("files", move || {
            let held = base.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (examined, diffs) = workplace.compare(held.as_ref());
            drop(held);
            if let Some(kept) = kept {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = as_text(&diffs);
            }
            let _ = to_control.send(Incoming::Event(Event::Examined { id, examined }));
        });
        if let Err(error) = started {
            let note = Some(format!("the files were not looked at: {error}"));
            let examined = Examined { note, ..Examined::default() };
            self.events.push_back(Event::Examined { id, examined });
        }
    }

    pub(super) fn start_check(&mut self, id: u32, check: &Check) {
        let to_checks = self.to_checks.clone();
        let on_event = move |event| to_checks.send((id, event)).is_ok();
        let Some(workplace) = &self.setup.workplace else { return };
        match CheckProcess::start(check, &workplace.surroundings, on_event) {
            Ok(running) => self.check = Some((id, running)),
            Err(error) => {
                let gone = Gone { how: format!("did not start: {error:#}"), ..Gone::default() };
                self.events.push_back(Event::CheckGone { check: id, gone });
            }
        }
    }

    /// Its process ends, and that is told like any other end.
    pub(super) fn stop_check(&mut self, id: u32) {
        self.check.take_if(|(running, _)| *running == id);
    }

    pub(super) fn check_event(&mut self, check: u32, event: CheckHappened) {
        match event {
            CheckHappened::Printed(text) => {
                self.surface.check_printed(&text);
                self.step(Event::CheckPrinted { check, text });
            }
            CheckHappened::Gone(gone) => {
                self.stop_check(check);
                self.step(Event::CheckGone { check, gone });
            }
        }
    }
}

impl Workplace {
    pub fn of(project: &Path) -> anyhow::Result<Self> {
        let git = tree::find_git(std::env::var_os("PATH").as_deref());
        Ok(Self { surroundings: Surroundings::of(project)?, git })
    }

    /// What changed since the files were like this, and what in it is worth a look.
    pub fn compare(&self, before: Option<&Snapshot>) -> (Examined, Vec<FileDiff>) {
        let now = self.look();
        let changed = before.map(|before| changes(before, &now));
        let diffs = changed.as_ref().map(|changed| {
            let commit = before.and_then(Snapshot::commit);
            diffs(&self.surroundings.dir, self.git.as_deref(), commit, changed)
        });
        let diffs = diffs.unwrap_or_default();
        let examined = Examined {
            fingerprint: Some(now.fingerprint()),
            changed,
            signs: signs(&diffs),
            note: now.note().map(str::to_owned),
        };
        (examined, diffs)
    }

    pub fn look(&self) -> Snapshot {
        Snapshot::take(&self.surroundings.dir, self.git.as_deref())
    }
}

pub(super) fn changes(before: &Snapshot, now: &Snapshot) -> Changed {
    let change = |path: &Path, kind: Kind| FileChange {
        path: path.display().to_string(),
        how: match kind {
            Kind::Added => How::Added,
            Kind::Modified => How::Modified,
            Kind::Deleted => How::Deleted,
        },
    };
    let changes = before.changes(now);
    Changed::new(changes.iter().map(|one| change(&one.path, one.kind)).collect())
}
