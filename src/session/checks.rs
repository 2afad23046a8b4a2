//! The project's files and checks, examined and run on other threads: the loop never waits for
//! them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Incoming, Session};
use crate::brief::diff::{as_text, diffs};
use crate::brief::facts::{Changed, Examined, FileChange, GitState, How};
use crate::brief::old_lines::OldLines;
use crate::brief::promised::{absent, is_one_package, otherwise, silent_ports};
use crate::brief::signs::{FileDiff, signs};
use crate::checks::Check;
use crate::checks::running::{CheckContext, CheckHappened, CheckProcess};
use crate::event::{Event, Gone};
use crate::threads::named;
use crate::tree::{self, ChangeKind, Snapshot};

/// How long a message to the agent waits at most for the first snapshot of the files.
const LONGEST_HOLD: Duration = Duration::from_secs(5);

const MOST_FILES: usize = 50;

/// A snapshot of the files when the task began. Locked while it is taken, so that a comparison
/// waits for it.
#[derive(Clone, Default)]
pub struct Base(pub(super) Arc<Mutex<Option<Arc<Snapshot>>>>);

/// Lines to the agent that wait until the files have been examined.
#[derive(Debug, Default)]
pub struct HeldLines {
    looks: usize,
    lines: Vec<Vec<u8>>,
}

impl HeldLines {
    fn hold(&mut self) {
        self.looks += 1;
    }

    /// Returns the line if nothing has to be waited for; otherwise keeps it.
    pub fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if self.looks == 0 {
            return Some(line);
        }
        self.lines.push(line);
        None
    }

    /// One snapshot is done; after the last one, returns all lines that waited.
    fn release(&mut self) -> Vec<Vec<u8>> {
        self.looks = self.looks.saturating_sub(1);
        if self.looks == 0 { std::mem::take(&mut self.lines) } else { Vec::new() }
    }
}

/// What a session needs to examine the project's files and to run checks.
#[derive(Debug, Clone)]
pub struct Workplace {
    pub surroundings: CheckContext,
    /// Found before the agent could put another one in its place.
    pub git: Option<PathBuf>,
}

impl Session<'_> {
    /// Lines to the agent wait until the files have been examined: an agent that edits at once
    /// would change the state that everything is compared with. They do not wait forever.
    pub(super) fn note_files(&mut self) {
        let Some(workplace) = self.setup.workplace.clone() else { return };
        self.old.task_begins();
        let (base, to_control) = (self.base.clone(), self.to_control.clone());
        let (begun, wait) = crossbeam_channel::bounded::<()>(0);
        let (done, looked) = crossbeam_channel::bounded::<()>(0);
        let since = Instant::now();
        let started = named("files", move || {
            let mut held = base.0.lock().unwrap_or_else(PoisonError::into_inner);
            drop(begun);
            let mut snapshot = workplace.look();
            if since.elapsed() >= LONGEST_HOLD {
                snapshot.came_late();
            }
            *held = Some(Arc::new(snapshot));
            drop(done);
        });
        let waiting = named("files noted", move || {
            let _ = looked.recv_timeout(LONGEST_HOLD);
            let _ = to_control.send(Incoming::FilesNoted);
        });
        match started {
            // Waits until the thread holds the lock, so that a later snapshot cannot overtake this
            // one. The timeout is for an earlier snapshot that takes long.
            Ok(()) => drop(wait.recv_timeout(LONGEST_HOLD)),
            Err(error) => log::warn!("the files are not looked at: {error}"),
        }
        if waiting.is_ok() {
            self.held.hold();
        }
    }

    pub(super) fn files_noted(&mut self) {
        for line in self.held.release() {
            self.tell_agent(line);
        }
    }

    pub(super) fn examine(&mut self, id: u32) {
        // A scripted session's script contains the result.
        let Some(workplace) = self.setup.workplace.clone() else { return };
        let (base, to_control) = (self.base.clone(), self.to_control.clone());
        let answer = self.machine.last_answer().to_owned();
        let for_fresh_eyes = self.setup.rules.judging.judges.iter().any(|judge| judge.fresh);
        let kept = for_fresh_eyes.then(|| Arc::clone(&self.diff));
        let old = self.old.place();
        let started = named("files", move || {
            let held = base.0.lock().unwrap_or_else(PoisonError::into_inner);
            let looked = workplace.look_again(held.as_deref());
            let (examined, diffs) = workplace.compare(held.as_deref(), &looked, &answer);
            let before = held.clone();
            drop(held);
            if let Some(kept) = kept {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = as_text(&diffs);
            }
            if let (Some(old), Some(before)) = (old, before) {
                let dir = &workplace.surroundings.dir;
                *old.lock().unwrap_or_else(PoisonError::into_inner) =
                    OldLines::new(dir, before, &examined, diffs);
            }
            let _ = to_control.send(Incoming::Examined(id, Box::new((examined, looked))));
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
                let gone = Gone::unstarted(&error);
                self.events.push_back(Event::CheckGone { check: id, gone });
            }
        }
    }

    /// Ends its process; the exit is reported like any other.
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
        Ok(Self { surroundings: CheckContext::of(project)?, git })
    }

    /// What changed between two snapshots, the signs of trouble in it, and what the agent's last
    /// message mentions that does not exist.
    pub fn compare(
        &self,
        before: Option<&Snapshot>,
        now: &Snapshot,
        answer: &str,
    ) -> (Examined, Vec<FileDiff>) {
        let comparable = before.filter(|before| before.is_comparable(now));
        let changed = comparable.map(|before| changes(before, now, &self.surroundings.dir));
        let diffs = changed.as_ref().map(|changed| {
            let commit = before.and_then(Snapshot::commit);
            diffs(&self.surroundings.dir, self.git.as_deref(), commit, changed)
        });
        let diffs = diffs.unwrap_or_default();
        let examined = Examined {
            fingerprint: Some(now.fingerprint()),
            git: comparable.and_then(|before| git_state(before, now)),
            absent: [
                absent(&self.surroundings.dir, answer, changed.as_ref()),
                otherwise(&self.surroundings.dir, self.git.as_deref(), answer, changed.as_ref()),
            ]
            .concat(),
            silent_ports: silent_ports(answer),
            one_package: is_one_package(&self.surroundings.dir),
            changed,
            signs: signs(&diffs),
            note: note(before, now, before.is_none() || comparable.is_some()),
        };
        (examined, diffs)
    }

    pub fn look(&self) -> Snapshot {
        Snapshot::take(&self.surroundings.dir, self.git.as_deref())
    }

    /// To compare with an earlier look, if there was one.
    pub fn look_again(&self, before: Option<&Snapshot>) -> Snapshot {
        before.map_or_else(
            || self.look(),
            |before| before.again(&self.surroundings.dir, self.git.as_deref()),
        )
    }
}

pub(super) const NOT_COMPARABLE: &str = "the git repository of the beginning is gone, broken or replaced by another one, so ccc \
    does not know which files changed";

/// What is missing in either snapshot.
fn note(before: Option<&Snapshot>, now: &Snapshot, comparable: bool) -> Option<String> {
    let mut notes: Vec<_> = before.and_then(Snapshot::note).into_iter().chain(now.note()).collect();
    notes.extend((!comparable).then_some(NOT_COMPARABLE));
    notes.dedup();
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn git_state(before: &Snapshot, now: &Snapshot) -> Option<GitState> {
    let moved = before.commit()? != now.commit()?;
    let changes = before.changes(now);
    let uncommitted = changes.iter().filter(|change| now.differs(&change.path)).take(MOST_FILES);
    let uncommitted = uncommitted.map(|change| change.path.display().to_string()).collect();
    let left_branch = before.is_on_branch() && !now.is_on_branch();
    Some(GitState { moved, left_branch, uncommitted })
}

pub(super) fn changes(before: &Snapshot, now: &Snapshot, project: &Path) -> Changed {
    let change = |path: &Path, kind: ChangeKind| FileChange {
        path: path.display().to_string(),
        how: match kind {
            ChangeKind::Added => How::Added,
            ChangeKind::Modified => How::Modified,
            ChangeKind::Deleted => How::Deleted,
        },
    };
    let changes = before.changes(now);
    let below = now.part(project).map(|part| part.display().to_string()).unwrap_or_default();
    let files = changes.iter().map(|one| change(&one.path, one.kind)).collect();
    Changed { below, ..Changed::new(files) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_that_came_after_the_agent_had_begun_is_told_to_the_judge() {
        let dir = tempfile::tempdir().unwrap();
        let workplace = Workplace::of(dir.path()).unwrap();
        let mut before = workplace.look();
        let note = |before: &Snapshot| workplace.compare(Some(before), &before.clone(), "").0.note;
        assert_eq!(note(&before), None);
        before.came_late();
        assert!(note(&before).unwrap().starts_with("the first look at the files took so long"));
    }

    /// An empty list would mean that nothing changed, and skip checks.
    #[test]
    fn without_the_repository_of_the_beginning_the_changes_are_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let workplace = Workplace::of(dir.path()).unwrap();
        let git = workplace.git.clone().expect("git on the PATH");
        let init = ["init", "--quiet"];
        let done = std::process::Command::new(git).args(init).current_dir(dir.path()).status();
        assert!(done.unwrap().success());
        let before = workplace.look();
        std::fs::write(dir.path().join("new"), "x").unwrap();
        std::fs::remove_dir_all(dir.path().join(".git")).unwrap();
        let now = workplace.look_again(Some(&before));
        let (examined, _) = workplace.compare(Some(&before), &now, "");
        assert_eq!((examined.changed, examined.note.as_deref()), (None, Some(NOT_COMPARABLE)));
    }

    #[test]
    fn lines_to_the_agent_wait_for_every_snapshot_and_keep_their_order() {
        let line = |text: &str| text.as_bytes().to_vec();
        let mut held = HeldLines::default();
        assert_eq!(held.pass(line("a")), Some(line("a")));
        held.hold();
        held.hold();
        assert_eq!(held.pass(line("b")), None);
        assert!(held.release().is_empty());
        assert_eq!(held.pass(line("c")), None);
        assert_eq!(held.release(), [line("b"), line("c")]);
        assert_eq!(held.pass(line("d")), Some(line("d")));
    }
}
