//! What the person is told: a sentence in the client's conversation for notable events, and a line
//! below their input for the current state.

use super::status_line::Shown;
use crate::event::{Dropped, Notice, Phase, file_changed};
use crate::machine::Status;
use crate::review::requirement::{Requirement, Standing};
use crate::review::verdict::{Halt, Verdict};
use crate::surface::{count, duration, review_cost};

/// At most this many changed files are named.
const MOST_FILES: usize = 5;

/// The sentence for the conversation, if any. A rejection needs none: the client shows the feedback itself.
pub fn sentence(notice: &Notice) -> Option<String> {
    Some(match notice {
        Notice::Verdict { round, seconds, cost_usd, usage, verdict, .. } if verdict.completed => {
            let mut facts: Vec<_> = met(&verdict.requirements).into_iter().collect();
            facts.push(duration(*seconds));
            facts.extend(review_cost(*cost_usd, usage));
            let proof = if verdict.without_proof { ", without proof" } else { "" };
            format!("Confirmed in round {round}{proof} ({}).", facts.join(" · "))
        }
        Notice::Verdict { verdict: Verdict { halt: Some(halt), feedback, .. }, .. } => {
            let what = match halt {
                Halt::Blocked => "Blocked",
                Halt::Impossible => "Impossible",
            };
            format!("{what}: {feedback}")
        }
        Notice::LimitReached { max } => format!(
            "Stopped after {} without confirmation. Your next message starts a new count.",
            count(*max, "review")
        ),
        Notice::Stuck { why, open, feedback } => {
            let open: Vec<_> = open.iter().map(|one| one.text.as_str()).collect();
            let open = match open.as_slice() {
                [] => shortened(feedback, 400),
                open => format!("Open: {}.", open.join("; ")),
            };
            format!("Stuck: {why}. {open}\nSay how to continue.")
        }
        Notice::ReviewFailed { reason, retrying: false, .. } => {
            format!("The work was not reviewed: {}", failed(reason))
        }
        Notice::ReviewDropped { why: Dropped::UserMessage, .. } => {
            "Review cancelled: your message comes first.".to_owned()
        }
        Notice::ReviewDropped { why: Dropped::Interrupt, .. } => {
            "Review skipped: the work is not confirmed.".to_owned()
        }
        Notice::Supervision { on: true } => {
            "Supervision is on: the work is reviewed each time the agent stops.".to_owned()
        }
        Notice::Supervision { on: false } => {
            "Supervision is off: nothing is reviewed until /supervisor.".to_owned()
        }
        Notice::WentBack { text, .. } => format!(
            "You took back \"{}\": what you said from there on is no longer part of the task.",
            shortened(text.trim().lines().next().unwrap_or_default(), 60)
        ),
        Notice::TreeChanged { files, more, .. } => {
            let mut named: Vec<_> =
                files.iter().take(MOST_FILES).map(ToString::to_string).collect();
            if files.len() + more > named.len() {
                named.push("…".to_owned());
            }
            format!("While the review ran, files of the project changed: {}.", named.join(", "))
        }
        Notice::FileChanged { what, round, applies } => file_changed(what, *round, *applies),
        Notice::NotRecorded { what, why } => format!("Not recorded: {what}: {why}."),
        _ => return None,
    })
}

/// Why a review failed, and what happens next.
pub fn failed(reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    format!("{reason}. ccc reviews it when the agent stops next; `ccc doctor` checks your setup.")
}

/// The beginning of a text.
fn shortened(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// "3/5 met"; `None` if there are no requirements.
fn met(requirements: &[Requirement]) -> Option<String> {
    let wanted = requirements.iter().filter(|one| one.status != Standing::Dropped);
    let (mut all, mut met) = (0, 0);
    for one in wanted {
        all += 1;
        met += u32::from(one.status == Standing::Met);
    }
    (all > 0).then(|| format!("{met}/{all} met"))
}

/// The parts of the line below the input that notices decide.
#[derive(Debug, Default)]
pub struct StatusLine {
    /// The outcome of the last review. Not shown while the agent works: it works on something else by then.
    last: Option<String>,
    /// The last review confirmed the work.
    confirmed: bool,
    /// The agent has stopped, but is not reviewed until its work in the background has ended.
    waits: Option<String>,
    /// The cost of the reviews.
    spent: Vec<String>,
    met: Option<String>,
    /// Somebody attempted something that only the person may do.
    pub alarm: Option<String>,
    heard: Heard,
}

/// Whether the client reports to ccc. Its hooks can be switched off in places that ccc does not see,
/// and then nothing is ever reviewed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// There has been nothing to report.
    #[default]
    NotYet,
    /// The client should have reported something, and did not.
    Missed,
    Reported,
}

/// Printed after the client has ended, because without hooks the status line may be missing too.
pub const NEVER_HEARD: &str = "this session was not supervised: claude did not report to ccc what you asked \
    for or when the agent stopped, so nothing was reviewed or recorded. Its hooks are switched off (by the \
    settings that your organization manages, or by an option), or this version of claude does not know \
    them. `ccc --supervisor` works without hooks.";

impl StatusLine {
    pub fn unheard(&mut self) {
        if self.heard == Heard::NotYet {
            self.heard = Heard::Missed;
        }
    }

    pub fn was_never_heard(&self) -> bool {
        self.heard == Heard::Missed
    }

    pub fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Phase { phase, .. } if *phase != Phase::Working => self.waits = None,
            Notice::UserMessage { .. } | Notice::Session { .. } => {
                (self.last, self.waits) = (None, None);
                self.heard = Heard::Reported;
            }
            Notice::Verdict { round, cost_usd, usage, verdict, .. } => {
                self.spent = review_cost(*cost_usd, usage);
                self.met = met(&verdict.requirements);
                self.confirmed = verdict.completed;
                self.last = match (verdict.completed, verdict.halt) {
                    (true, _) => Some(format!("confirmed in round {round}")),
                    (false, Some(Halt::Blocked)) => Some("blocked: you decide".to_owned()),
                    (false, Some(Halt::Impossible)) => Some("impossible".to_owned()),
                    (false, None) => None,
                };
            }
            Notice::LimitReached { max } => {
                self.last = Some(format!("limit of {} reached", count(*max, "review")));
            }
            Notice::Stuck { .. } => self.last = Some("stuck: you decide".to_owned()),
            Notice::ReviewFailed { retrying: false, .. } => {
                self.last = Some("not reviewed".to_owned());
            }
            Notice::ReviewDropped { why: Dropped::Interrupt, .. } => {
                self.last = Some("review skipped, not confirmed".to_owned());
            }
            Notice::TurnFailed { .. } => self.last = Some("turn failed, not reviewed".to_owned()),
            Notice::WaitingForBackground { tasks } => {
                self.waits = Some(format!("{} in the background, not reviewed yet", tasks.len()));
            }
            _ => {}
        }
    }

    /// `since` is when the phase began, in seconds since 1970.
    pub fn shown(&self, status: &Status, since: f64) -> Shown {
        let shown = |before: String, since: Option<f64>, after: &[String]| {
            let after = after.iter().chain(&self.alarm).flat_map(|fact| [" · ", fact]).collect();
            Shown { ccc: std::process::id().cast_signed(), before, since, after }
        };
        let round = format!("round {}/{}", status.round, status.max);
        let known = |first: &[String]| [first, &self.spent].concat();
        let works = status.phase == Phase::Working;
        let outcome = self.waits.as_ref().or(self.last.as_ref().filter(|_| !works));
        match status.phase {
            Phase::Reviewing => {
                let what = match &status.check {
                    Some(check) => format!("check {}", check.name),
                    None => "reviewing".to_owned(),
                };
                let facts = [known(&[round]), vec!["Esc skips it".to_owned()]].concat();
                shown(what, Some(since), &facts)
            }
            _ if !status.supervising => shown("supervision off".to_owned(), None, &[]),
            _ if works && outcome.is_none() && status.round > 0 && !self.confirmed => {
                let met: Vec<_> = self.met.iter().cloned().collect();
                shown(round, None, &known(&met))
            }
            _ => match outcome {
                Some(last) => {
                    let met: Vec<_> = self.met.iter().cloned().collect();
                    shown(last.clone(), None, &known(&met))
                }
                None => {
                    let what = match self.heard {
                        Heard::NotYet => "supervision begins with your first message",
                        Heard::Missed => "NOT SUPERVISED: claude does not report to ccc",
                        Heard::Reported => "supervised",
                    };
                    shown(what.to_owned(), None, &[])
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::stream::Usage;
    use crate::event::Now;
    use crate::machine::{Machine, Rules};

    #[test]
    fn one_review_is_not_called_reviews() {
        let limit = Notice::LimitReached { max: 1 };
        assert!(sentence(&limit).unwrap().starts_with("Stopped after 1 review without"));
    }

    #[test]
    fn who_is_stuck_on_a_check_sees_which() {
        let feedback = "A check has failed.\n\n`make` exited with code 2.".to_owned();
        let stuck = Notice::Stuck { why: "it repeats".into(), open: Vec::new(), feedback };
        let told = sentence(&stuck).unwrap();
        assert!(told.contains("`make` exited with code 2.\nSay how"), "{told}");
    }

    /// A schedule or a task in the background can wake it after the confirmation.
    #[test]
    fn an_agent_that_works_is_not_called_confirmed() {
        let mut line = StatusLine::default();
        let shown = |line: &StatusLine, phase| {
            line.shown(&Status { phase, round: 1, ..Machine::new(Rules::default()).status() }, 0.0)
                .before
        };
        line.notice(&Notice::Session { session_id: "s".to_owned() });
        let verdict = |completed| Notice::Verdict {
            round: 1,
            max: 10,
            seconds: 1.0,
            cost_usd: 0.0,
            session_usd: None,
            usage: Usage::default(),
            verdict: Verdict::new(completed, "more"),
        };
        line.notice(&verdict(false));
        assert_eq!(shown(&line, Phase::Working), "round 1/10");
        line.notice(&verdict(true));
        assert_eq!(shown(&line, Phase::Waiting), "confirmed in round 1");
        assert_eq!(shown(&line, Phase::Working), "supervised");
        line.notice(&Notice::WaitingForBackground { tasks: vec!["a server".to_owned()] });
        assert_eq!(shown(&line, Phase::Working), "1 in the background, not reviewed yet");
    }

    #[test]
    fn only_a_client_that_reports_is_called_supervised() {
        let status = Machine::new(Rules::default()).status();
        let line = |line: &StatusLine| line.shown(&status, Now::ZERO.as_secs_f64()).before;
        let session = Notice::Session { session_id: "s".to_owned() };
        let mut silent = StatusLine::default();
        assert_eq!(line(&silent), "supervision begins with your first message");
        silent.unheard();
        assert_eq!(line(&silent), "NOT SUPERVISED: claude does not report to ccc");
        assert!(silent.was_never_heard());
        // The report was only late.
        silent.notice(&session);
        assert_eq!((line(&silent).as_str(), silent.was_never_heard()), ("supervised", false));
        silent.unheard();
        assert_eq!(line(&silent), "supervised");
    }
}
