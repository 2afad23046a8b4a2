//! The steps before a judge: ccc looks at what changed and runs the checks. If a check fails, that
//! is the verdict, and ccc asks no model.

use super::Machine;
use super::judgement::Judgement;
use crate::brief::facts::{Changed, Examined};
use crate::checks::feedback::feedback;
use crate::checks::result::CheckResult;
use crate::checks::suite::{RunningCheck, Suite};
use crate::client::stream::Usage;
use crate::event::{Action, Gone, Notice, Now, Phase, ReviewRequest, Round};
use crate::review::verdict::Verdict;

/// The steps between the agent's stop and the judge's start.
#[derive(Debug)]
pub(super) struct CheckRun {
    /// The id of the running examination or check.
    pub id: u32,
    started: Now,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The files are being examined.
    Before,
    Running(Suite),
    /// The files are examined again, because a check may have changed some.
    After {
        before: Examined,
        results: Vec<CheckResult>,
    },
}

impl CheckRun {
    pub fn new(id: u32, started: Now) -> Self {
        Self { id, started, stage: Stage::Before }
    }

    pub fn deadline(&self) -> Option<Now> {
        self.suite().and_then(Suite::deadline)
    }

    fn suite(&self) -> Option<&Suite> {
        match &self.stage {
            Stage::Running(suite) => Some(suite),
            Stage::Before | Stage::After { .. } => None,
        }
    }

    fn suite_mut(&mut self) -> Option<&mut Suite> {
        match &mut self.stage {
            Stage::Running(suite) => Some(suite),
            Stage::Before | Stage::After { .. } => None,
        }
    }
}

/// What ccc knows about the work, and about which state of the files it knows it.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub examined: Examined,
    pub results: Vec<CheckResult>,
    /// Files have changed since, so the results no longer apply.
    pub outdated: bool,
}

impl Machine {
    /// Begins the judgement: examines the files and runs the checks first, if this session does
    /// that.
    pub(super) fn judge(&mut self) {
        if !self.rules.checking.examines {
            return self.start_review();
        }
        let id = self.next_check();
        self.judgement = Judgement::Checks(CheckRun::new(id, self.now));
        self.enter(Phase::Reviewing);
        self.actions.push(Action::Examine { id });
    }

    /// Whether a judge comes next, if nothing interferes: the files are being examined, and no
    /// check is left to run.
    pub fn expects_judge(&self) -> bool {
        match self.judgement.checks().map(|run| &run.stage) {
            Some(Stage::Before) => self.rules.checking.checks.is_empty(),
            Some(Stage::After { .. }) => true,
            Some(Stage::Running(_)) | None => false,
        }
    }

    /// The request with which the next judge's process can be started early; its message is not
    /// ready yet.
    pub fn upcoming_judge(&self) -> Option<ReviewRequest> {
        let request =
            self.expects_judge().then(|| self.request(self.spent.reviews + 1)).flatten()?;
        let fresh = self.rules.judging.judges.first().is_some_and(|seat| seat.fresh);
        Some(ReviewRequest { fresh, ..request })
    }

    fn next_check(&mut self) -> u32 {
        self.checks += 1;
        self.checks
    }

    pub(super) fn examined(&mut self, id: u32, examined: Examined) {
        let Some(run) = self.judgement.take_checks_of(id) else { return };
        match run.stage {
            Stage::Before if self.checks_still_hold(&examined) => {
                (self.known.examined, self.known.outdated) = (examined, false);
                self.start_review();
            }
            Stage::Before => {
                self.known = Known { examined, ..Known::default() };
                let changed = self.known.examined.changed.as_ref();
                let paths = changed.and_then(Changed::paths);
                let suite = Suite::new(self.rules.checking.checks.clone(), paths);
                let stage = Stage::Running(suite);
                self.judgement = Judgement::Checks(CheckRun { stage, ..run });
                self.run_next_check();
            }
            Stage::After { before, results } => {
                if before.fingerprint.is_some() && before.fingerprint != examined.fingerprint {
                    self.say(Notice::ChecksChangedFiles);
                }
                self.known = Known { examined, results, outdated: false };
                self.start_review();
            }
            Stage::Running(_) => self.judgement = Judgement::Checks(run),
        }
    }

    /// Whether every check has passed already and no file has changed since.
    fn checks_still_hold(&self, examined: &Examined) -> bool {
        let (checks, results) = (&self.rules.checking.checks, &self.known.results);
        examined.fingerprint.is_some()
            && examined.fingerprint == self.known.examined.fingerprint
            && !checks.is_empty()
            // The results include the checks that nobody allowed, so their number alone does not
            // prove that every check has passed.
            && results.len() >= checks.len()
            && !results.iter().any(CheckResult::is_red)
    }

    /// Starts the next check, or ends the suite.
    fn run_next_check(&mut self) {
        let id = self.next_check();
        let Judgement::Checks(run) = &mut self.judgement else { return };
        let Stage::Running(suite) = &mut run.stage else { return };
        if let Some(check) = suite.next(self.now).cloned() {
            run.id = id;
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
        let (started, before) = (run.started, self.known.examined.clone());
        if let Some(text) = feedback(&results) {
            self.judgement = Judgement::None;
            self.known.results = results;
            self.checks_failed(&text, started);
        } else if ran {
            let stage = Stage::After { before, results };
            self.judgement = Judgement::Checks(CheckRun { id, started, stage });
            self.actions.push(Action::Examine { id });
        } else {
            self.judgement = Judgement::None;
            self.known.results = results;
            self.start_review();
        }
    }

    /// Sends the failed checks to the agent, as a negative verdict would be sent.
    fn checks_failed(&mut self, text: &str, started: Now) {
        let (round, verdict) = (self.task.round, Verdict::new(false, text));
        let seconds = self.now.saturating_sub(started).as_secs_f64();
        let usage = Usage::default();
        self.spent.rounds.push(Round {
            round,
            verdict: verdict.clone(),
            seconds,
            cost_usd: 0.0,
            usage,
        });
        // No fingerprint: the same output three times is a circle, even if files changed in
        // between.
        self.send_back(&verdict, None);
    }

    pub(super) fn check_printed(&mut self, id: u32, text: &str) {
        if let Some(suite) = self.judgement.checks_of(id).and_then(CheckRun::suite_mut) {
            suite.printed(text);
        }
    }

    pub(super) fn check_gone(&mut self, id: u32, gone: &Gone) {
        let now = self.now;
        let suite = self.judgement.checks_of(id).and_then(CheckRun::suite_mut);
        if let Some(result) = suite.and_then(|suite| suite.ended(gone, now).cloned()) {
            self.say(Notice::CheckEnded(result));
            self.run_next_check();
        }
    }

    pub(super) fn check_overdue(&mut self) {
        let now = self.now;
        if let Judgement::Checks(CheckRun { id, stage: Stage::Running(suite), .. }) =
            &mut self.judgement
            && suite.is_overdue(now)
        {
            self.actions.push(Action::StopCheck { check: *id });
        }
    }

    pub(super) fn stop_checks(&mut self, run: &CheckRun) {
        if run.suite().is_some() {
            self.actions.push(Action::StopCheck { check: run.id });
        }
    }

    pub(super) fn running_check(&self) -> Option<RunningCheck> {
        self.judgement.checks()?.suite()?.current()
    }

    /// Whether a check is green for the files as they are; `None` if there is no such check.
    pub fn check(&self, name: &str) -> Option<bool> {
        let result = self.known.results.iter().find(|result| result.name == name)?;
        Some(result.is_green() && !self.known.outdated)
    }
}
