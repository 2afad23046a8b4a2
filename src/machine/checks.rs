//! Before a review: what changed is looked at, and the checks run. One that is red is the verdict, and
//! no model is asked.

use super::Machine;
use crate::brief::facts::{Changed, Examined};
use crate::checks::feedback::feedback;
use crate::checks::result::CheckResult;
use crate::checks::suite::{RunningCheck, Suite};
use crate::client::stream::Usage;
use crate::event::{Action, Gone, Notice, Now, Phase, Round};
use crate::review::verdict::Verdict;

/// What goes on between the agent's last word and the judge's first.
#[derive(Debug)]
pub(super) struct Checking {
    /// Of this look at the files, or of the check that runs.
    id: u32,
    started: Now,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The files are looked at.
    Before,
    Running(Suite),
    /// They are looked at again: a check may have changed some.
    After {
        before: Examined,
        results: Vec<CheckResult>,
    },
}

/// What is known about the work, and for which state of the files it was found out.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub examined: Examined,
    pub results: Vec<CheckResult>,
    /// Files have changed since: the results are about others.
    pub moved: bool,
}

impl Machine {
    /// The work is to be judged: looked at and checked first, if this session does that.
    pub(super) fn judge(&mut self) {
        if !self.rules.checking.examines {
            return self.start_review();
        }
        let id = self.next_check();
        self.checking = Some(Checking { id, started: self.now, stage: Stage::Before });
        self.enter(Phase::Reviewing);
        self.actions.push(Action::Examine { id });
    }

    fn next_check(&mut self) -> u32 {
        self.checks += 1;
        self.checks
    }

    pub(super) fn examined(&mut self, id: u32, examined: Examined) {
        let Some(checking) = self.checking.take_if(|checking| checking.id == id) else { return };
        match checking.stage {
            Stage::Before if self.still_holds(&examined) => {
                (self.known.examined, self.known.moved) = (examined, false);
                self.start_review();
            }
            Stage::Before => {
                self.known = Known { examined, ..Known::default() };
                let changed = self.known.examined.changed.as_ref();
                let paths = changed.and_then(Changed::paths);
                let suite = Suite::new(self.rules.checking.checks.clone(), paths);
                self.checking = Some(Checking { stage: Stage::Running(suite), ..checking });
                self.run_next();
            }
            Stage::After { before, results } => {
                if before.fingerprint.is_some() && before.fingerprint != examined.fingerprint {
                    self.say(Notice::ChecksChangedFiles);
                }
                self.known = Known { examined, results, moved: false };
                self.start_review();
            }
            Stage::Running(_) => self.checking = Some(checking),
        }
    }

    /// Every check has passed already, and no file has changed since.
    fn still_holds(&self, examined: &Examined) -> bool {
        let checks = &self.rules.checking.checks;
        let passed = self.known.results.iter().filter(|result| !result.is_red()).count();
        examined.fingerprint.is_some()
            && examined.fingerprint == self.known.examined.fingerprint
            && !checks.is_empty()
            && passed >= checks.len()
    }

    /// The next check, or the end of all.
    fn run_next(&mut self) {
        let id = self.next_check();
        let Some(checking) = &mut self.checking else { return };
        let Stage::Running(suite) = &mut checking.stage else { return };
        if let Some(check) = suite.next(self.now).cloned() {
            checking.id = id;
            let (name, run) = (check.name.clone(), check.run.clone());
            let detailed = self.rules.judging.detailed_notices;
            let timeout = detailed.then_some(check.timeout.as_secs_f64());
            self.say(Notice::CheckStarted { name, run, timeout });
            self.actions.push(Action::StartCheck { check: id, what: Box::new(check) });
            return;
        }
        let mut results = suite.results().to_vec();
        let ran = results.iter().any(|result| result.is_green() || result.is_red());
        results.extend(self.rules.checking.untrusted.iter().map(CheckResult::not_trusted));
        let (started, before) = (checking.started, self.known.examined.clone());
        if let Some(text) = feedback(&results) {
            self.checking = None;
            self.known.results = results;
            self.red(&text, started);
        } else if ran {
            let stage = Stage::After { before, results };
            self.checking = Some(Checking { id, started, stage });
            self.actions.push(Action::Examine { id });
        } else {
            self.checking = None;
            self.known.results = results;
            self.start_review();
        }
    }

    /// As a verdict would, without a judge.
    fn red(&mut self, text: &str, started: Now) {
        let (round, verdict) = (self.task.round, Verdict::new(false, text));
        let seconds = self.now.saturating_sub(started).as_secs_f64();
        let usage = Usage::default();
        self.rounds.push(Round { round, verdict: verdict.clone(), seconds, cost_usd: 0.0, usage });
        // The same output three times is a circle, whatever was changed meanwhile.
        self.send_back(&verdict, None);
    }

    pub(super) fn check_printed(&mut self, id: u32, text: &str) {
        if let Some(Checking { id: running, stage: Stage::Running(suite), .. }) = &mut self.checking
            && *running == id
        {
            suite.printed(text);
        }
    }

    pub(super) fn check_gone(&mut self, id: u32, gone: &Gone) {
        let now = self.now;
        let ended = match &mut self.checking {
            Some(Checking { id: running, stage: Stage::Running(suite), .. }) if *running == id => {
                suite.ended(gone, now).cloned()
            }
            _ => None,
        };
        if let Some(result) = ended {
            self.say(Notice::CheckEnded(result));
            self.run_next();
        }
    }

    pub(super) fn check_deadline(&self) -> Option<Now> {
        match &self.checking.as_ref()?.stage {
            Stage::Running(suite) => suite.deadline(),
            Stage::Before | Stage::After { .. } => None,
        }
    }

    pub(super) fn check_overdue(&mut self) {
        let now = self.now;
        if let Some(Checking { id, stage: Stage::Running(suite), .. }) = &mut self.checking
            && suite.is_overdue(now)
        {
            self.actions.push(Action::StopCheck { check: *id });
        }
    }

    /// Nobody waits for the checks any more. Says whether there were any.
    pub(super) fn drop_checks(&mut self) -> bool {
        let Some(checking) = self.checking.take() else { return false };
        if matches!(checking.stage, Stage::Running(_)) {
            self.actions.push(Action::StopCheck { check: checking.id });
        }
        true
    }

    pub(super) fn running_check(&self) -> Option<RunningCheck> {
        match &self.checking.as_ref()?.stage {
            Stage::Running(suite) => suite.current(),
            Stage::Before | Stage::After { .. } => None,
        }
    }

    /// Whether a check is green for the files as they are; `None` if there is no such check.
    pub fn check(&self, name: &str) -> Option<bool> {
        let result = self.known.results.iter().find(|result| result.name == name)?;
        Some(result.is_green() && !self.known.moved)
    }
}
