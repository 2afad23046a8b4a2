//! Runs the checks one after the other. It has no process and no clock: its driver (the session's
//! machine, the Stop hook or `ccc check`) starts and stops the checks and reports what happened.

use std::time::Duration;

use super::Check;
use super::result::{CheckOutcome, CheckResult, Skipped, Tail};
use crate::event::{Gone, Now};

/// How many of the last lines of a running check are shown.
const SHOWN: usize = 5;

#[derive(Debug)]
pub struct Suite {
    checks: Vec<Check>,
    /// Files that changed since the task began; `None` if unknown.
    changed: Option<Vec<String>>,
    running: Option<Current>,
    results: Vec<CheckResult>,
}

/// The running check, for the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningCheck {
    pub name: String,
    pub since: Now,
    pub timeout: Duration,
    pub tail: Vec<String>,
}

#[derive(Debug)]
struct Current {
    started: Now,
    deadline: Now,
    /// The deadline has passed, and the driver was told to stop the check.
    overdue: bool,
    tail: Tail,
}

impl Suite {
    pub fn new(checks: Vec<Check>, changed: Option<Vec<String>>) -> Self {
        Self { checks, changed, running: None, results: Vec::new() }
    }

    /// The check to start now; `None` if one is running or all are done.
    pub fn next(&mut self, now: Now) -> Option<&Check> {
        if self.running.is_some() {
            return None;
        }
        while let Some(check) = self.checks.get(self.results.len()) {
            if check.concerns(self.changed.as_deref()) {
                let deadline = now + check.timeout;
                let tail = Tail::default();
                self.running = Some(Current { started: now, deadline, overdue: false, tail });
                return self.checks.get(self.results.len());
            }
            self.results.push(CheckResult::skipped(check, Skipped::NothingChanged));
        }
        None
    }

    pub fn is_done(&self) -> bool {
        self.running.is_none() && self.results.len() == self.checks.len()
    }

    pub fn current(&self) -> Option<RunningCheck> {
        let running = self.running.as_ref()?;
        let check = self.checks.get(self.results.len())?;
        Some(RunningCheck {
            name: check.name.clone(),
            since: running.started,
            timeout: check.timeout,
            tail: running.tail.last_lines(SHOWN),
        })
    }

    pub fn printed(&mut self, text: &str) {
        if let Some(running) = &mut self.running {
            running.tail.push(text);
        }
    }

    /// The running check has ended, and all its output has arrived.
    pub fn ended(&mut self, gone: &Gone, now: Now) -> Option<&CheckResult> {
        let running = self.running.take()?;
        let check = self.checks.get(self.results.len())?;
        let outcome = match gone.code {
            _ if running.overdue => CheckOutcome::TimedOut { after: check.timeout.as_secs_f64() },
            Some(0) => CheckOutcome::Green,
            code => CheckOutcome::Red { how: gone.how.clone(), code },
        };
        self.results.push(CheckResult {
            name: check.name.clone(),
            run: check.run.clone(),
            outcome,
            seconds: now.saturating_sub(running.started).as_secs_f64(),
            tail: running.tail.text(),
        });
        self.results.last()
    }

    pub fn deadline(&self) -> Option<Now> {
        self.running.as_ref().filter(|running| !running.overdue).map(|running| running.deadline)
    }

    /// Whether the running check must be stopped now. True only once per check.
    pub fn is_overdue(&mut self, now: Now) -> bool {
        let due = self.deadline().is_some_and(|deadline| deadline <= now);
        if let Some(running) = self.running.as_mut().filter(|_| due) {
            running.overdue = true;
        }
        due
    }

    /// No time is left: marks everything that has not ended as skipped.
    pub fn out_of_time(&mut self) {
        self.running = None;
        let rest = self.checks.iter().skip(self.results.len());
        let skipped: Vec<_> = rest.map(|one| CheckResult::skipped(one, Skipped::NoTime)).collect();
        self.results.extend(skipped);
    }

    /// The results of the checks that have ended, in the order of the list.
    pub fn results(&self) -> &[CheckResult] {
        &self.results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at: u64) -> Now {
        Duration::from_secs(at)
    }

    fn exit(code: i32) -> Gone {
        Gone { how: format!("exited with code {code}"), code: Some(code), ..Gone::default() }
    }

    #[test]
    fn checks_run_one_after_the_other_even_after_a_failure() {
        let mut suite = Suite::new(vec![Check::command("a"), Check::command("b")], None);
        assert_eq!(suite.next(second(0)).map(|check| check.run.as_str()), Some("a"));
        assert_eq!(suite.next(second(0)), None, "one at a time");
        suite.printed("boom\n");
        assert_eq!(
            suite.current().map(|check| (check.name, check.tail)),
            Some(("a".into(), vec!["boom".into()]))
        );
        let red = suite.ended(&exit(1), second(2)).unwrap().clone();
        assert!(red.is_red() && red.tail == "boom" && (red.seconds - 2.0).abs() < f64::EPSILON);
        assert!(!suite.is_done());
        assert_eq!(suite.next(second(2)).map(|check| check.run.as_str()), Some("b"));
        assert!(suite.ended(&exit(0), second(3)).unwrap().is_green());
        assert!(suite.next(second(3)).is_none() && suite.is_done());
        assert_eq!(suite.results().len(), 2);
    }

    #[test]
    fn a_check_past_its_deadline_is_stopped_once_and_is_red() {
        let check = Check { timeout: second(5), ..Check::command("sleep 60") };
        let mut suite = Suite::new(vec![check], None);
        suite.next(second(1));
        assert_eq!(suite.deadline(), Some(second(6)));
        assert!(!suite.is_overdue(second(5)));
        assert!(suite.is_overdue(second(6)) && !suite.is_overdue(second(7)));
        assert_eq!(suite.deadline(), None);
        // Even if it exits with code 0 when it is stopped.
        let result = suite.ended(&exit(0), second(7)).unwrap();
        assert_eq!(result.outcome, CheckOutcome::TimedOut { after: 5.0 });
        assert!(result.is_red());
    }

    #[test]
    fn checks_without_time_left_are_reported_as_skipped() {
        let checks = ["a", "b", "c"].map(Check::command).to_vec();
        let mut suite = Suite::new(checks, None);
        suite.next(second(0));
        suite.ended(&exit(0), second(1));
        suite.next(second(1));
        suite.out_of_time();
        let green: Vec<_> = suite.results().iter().map(CheckResult::is_green).collect();
        assert_eq!(green, [true, false, false]);
        assert!(suite.is_done() && suite.results()[1].told().contains("no time left"));
    }

    #[test]
    fn a_check_without_changed_files_is_reported_as_skipped() {
        let rust = Check { when: vec!["*.rs".into()], ..Check::command("cargo test") };
        let mut suite = Suite::new(vec![rust, Check::command("make")], Some(vec!["a.py".into()]));
        assert_eq!(suite.next(second(0)).map(|check| check.run.as_str()), Some("make"));
        suite.ended(&exit(0), second(1));
        let told: Vec<_> = suite.results().iter().map(CheckResult::told).collect();
        assert_eq!(told, ["skipped: no file it applies to has changed", "passed"]);
        assert!(suite.is_done());
    }
}
