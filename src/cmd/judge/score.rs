//! Scores the verdicts: each against the label of its session, and all of them together.

use serde::Serialize;

use crate::client::stream::Usage;
use crate::event::{Outcome, Report};
use crate::gauntlet::session::GauntletSession;
use crate::review::opinion::Opinion;
use crate::review::verdict::Verdict;

#[derive(Debug, Clone, Serialize)]
pub struct Scored {
    pub name: String,
    /// The label: whether the work is done.
    pub done: bool,
    /// What is wrong with the work, if it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    #[serde(flatten)]
    pub verdict: Given,
    /// How often the judge had to be asked again for a verdict or for valid proof.
    pub asked_again: u32,
    pub seconds: f64,
    #[serde(flatten)]
    pub spent: Spent,
    /// What each judge said, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<Said>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    pub judge: String,
    /// `None` if it gave no verdict.
    pub accepted: Option<bool>,
    pub feedback: String,
}

impl Said {
    pub fn all(verdict: Option<&Verdict>) -> Vec<Self> {
        let said = |one: &Opinion| Self {
            judge: one.judge.clone(),
            accepted: one.completed,
            feedback: one.feedback.clone(),
        };
        verdict.map(|verdict| verdict.opinions.iter().map(said).collect()).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Given {
    Accepted {
        without_proof: bool,
    },
    Rejected {
        feedback: String,
    },
    /// The judge or its provider failed, which says nothing about the work.
    None {
        why: String,
    },
}

/// The amount in dollars is known only if the client knows the price.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spent {
    pub usage: Usage,
    #[serde(rename = "cost_usd")]
    pub usd: Option<f64>,
}

impl Spent {
    pub fn new(usd: f64, usage: Usage) -> Self {
        let known = !usage.unpriced && usd > 0.0;
        Self { usage, usd: known.then_some(usd) }
    }
}

impl Scored {
    /// `None` for a session that was ended from outside.
    pub fn of(
        session: &GauntletSession,
        report: &Report,
        asked_again: u32,
        why: &[String],
    ) -> Option<Self> {
        let last = report.rounds.last().map(|round| &round.verdict);
        let feedback = || last.map(|verdict| verdict.feedback.clone()).unwrap_or_default();
        let verdict = match &report.outcome {
            Outcome::Completed => {
                Given::Accepted { without_proof: last.is_some_and(|last| last.without_proof) }
            }
            // The scripted agent exits when it is sent back to work.
            Outcome::Ended | Outcome::Limit | Outcome::Stuck(_) if last.is_some() => {
                Given::Rejected { feedback: feedback() }
            }
            Outcome::Blocked(what) | Outcome::Impossible(what) => {
                Given::Rejected { feedback: what.clone() }
            }
            Outcome::NoVerdict(told) | Outcome::Failed(told) => {
                Given::None { why: why.last().unwrap_or(told).clone() }
            }
            Outcome::Signal(_) => return None,
            other => Given::None { why: format!("the session ended as {:?}", other.name()) },
        };
        Some(Self {
            name: session.name.clone(),
            done: session.is_right(),
            wrong: session.wrong.clone(),
            verdict,
            asked_again,
            seconds: report.seconds.reviewing,
            opinions: Said::all(last),
            spent: Spent::new(report.supervision.cost_usd, report.supervision.usage),
        })
    }

    pub fn is_false_accept(&self) -> bool {
        !self.done && matches!(self.verdict, Given::Accepted { .. })
    }

    pub fn is_false_reject(&self) -> bool {
        self.done && matches!(self.verdict, Given::Rejected { .. })
    }

    pub fn is_without_verdict(&self) -> bool {
        matches!(self.verdict, Given::None { .. })
    }
}

/// The number of wrong verdicts of one kind, out of all that could have been wrong in that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    pub wrong: usize,
    pub of: usize,
    /// The range that probably contains the true share, in percent; so few sessions allow no better estimate.
    pub likely_percent: (u32, u32),
}

impl Share {
    fn new(wrong: usize, of: usize) -> Self {
        Self { wrong, of, likely_percent: likely(wrong, of) }
    }
}

/// The 95 % Wilson score interval, which is also valid for small numbers and for zero.
#[expect(clippy::cast_precision_loss, reason = "there are hundreds of sessions, not quadrillions")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn likely(wrong: usize, of: usize) -> (u32, u32) {
    const Z: f64 = 1.96;
    if of == 0 {
        return (0, 100);
    }
    let (n, share) = (of as f64, wrong as f64 / of as f64);
    let middle = share + Z * Z / (2.0 * n);
    let margin = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let percent = |value: f64| (value / (1.0 + Z * Z / n) * 100.0).clamp(0.0, 100.0);
    (percent(middle - margin).floor() as u32, percent(middle + margin).ceil() as u32)
}

/// One of several judges, over all sessions in which it was asked.
#[derive(Debug, Clone, Serialize)]
pub struct One {
    pub judge: String,
    pub false_accepts: Share,
    pub false_rejects: Share,
}

impl One {
    /// The judges in the order in which they were first asked.
    fn all(scored: &[Scored]) -> Vec<Self> {
        let said =
            scored.iter().flat_map(|one| one.opinions.iter().map(move |said| (one.done, said)));
        let mut names: Vec<&str> = Vec::new();
        for (_, said) in said.clone() {
            if !names.contains(&said.judge.as_str()) {
                names.push(&said.judge);
            }
        }
        let of = |name: &str, done: bool, accepted: &[bool]| {
            let fits = |(label, said): &(bool, &Said)| {
                let given = said.accepted.is_some_and(|given| accepted.contains(&given));
                *label == done && said.judge == name && given
            };
            said.clone().filter(fits).count()
        };
        let one = |name: &&str| Self {
            judge: (*name).to_owned(),
            false_accepts: Share::new(of(name, false, &[true]), of(name, false, &[true, false])),
            false_rejects: Share::new(of(name, true, &[false]), of(name, true, &[true, false])),
        };
        names.iter().map(one).collect()
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Totals {
    pub sessions: usize,
    pub false_accepts: Share,
    pub false_rejects: Share,
    /// Each judge separately, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<One>,
    pub without_verdict: usize,
    pub without_proof: usize,
    pub asked_again: u32,
    pub seconds: f64,
    #[serde(flatten)]
    pub spent: Spent,
}

impl Totals {
    pub fn of(scored: &[Scored]) -> Self {
        let count = |fits: &dyn Fn(&Scored) -> bool| scored.iter().filter(|one| fits(one)).count();
        let judged = |done: bool| count(&|one| one.done == done && !one.is_without_verdict());
        let mut usage = Usage::default();
        scored.iter().for_each(|one| usage += one.spent.usage);
        let all_priced =
            scored.iter().all(|one| one.spent.usd.is_some() || one.spent.usage.is_empty());
        let usd: f64 = scored.iter().filter_map(|one| one.spent.usd).sum();
        Self {
            sessions: scored.len(),
            false_accepts: Share::new(count(&Scored::is_false_accept), judged(false)),
            false_rejects: Share::new(count(&Scored::is_false_reject), judged(true)),
            judges: One::all(scored),
            without_verdict: count(&Scored::is_without_verdict),
            without_proof: count(&|one| one.verdict == Given::Accepted { without_proof: true }),
            asked_again: scored.iter().map(|one| one.asked_again).sum(),
            seconds: scored.iter().map(|one| one.seconds).sum(),
            spent: Spent { usage, usd: (all_priced && usd > 0.0).then_some(usd) },
        }
    }

    pub fn exit_code(&self) -> i32 {
        match self {
            _ if self.false_accepts.wrong + self.false_rejects.wrong > 0 => 1,
            _ if self.without_verdict > 0 => 4,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(done: bool, verdict: Given) -> Scored {
        let usage = Usage { input_tokens: 10, ..Usage::default() };
        Scored {
            name: "one".into(),
            done,
            wrong: None,
            verdict,
            asked_again: 1,
            seconds: 2.0,
            spent: Spent { usage, usd: Some(0.5) },
            opinions: Vec::new(),
        }
    }

    #[test]
    fn a_verdict_is_wrong_only_against_its_label_and_a_missing_one_never() {
        let yes = || Given::Accepted { without_proof: false };
        let no = || Given::Rejected { feedback: "more".into() };
        let none = || Given::None { why: "the API failed".into() };
        let all = [
            scored(true, yes()),
            scored(true, no()),
            scored(true, none()),
            scored(false, yes()),
            scored(false, no()),
            scored(false, no()),
        ];
        let totals = Totals::of(&all);
        assert_eq!((totals.false_accepts.wrong, totals.false_accepts.of), (1, 3));
        assert_eq!((totals.false_rejects.wrong, totals.false_rejects.of), (1, 2));
        assert_eq!((totals.without_verdict, totals.asked_again), (1, 6));
        assert_eq!((totals.spent.usd, totals.spent.usage.input_tokens), (Some(3.0), 60));
        assert_eq!(totals.exit_code(), 1);
        assert_eq!(Totals::of(&all[..1]).exit_code(), 0);
        assert_eq!(Totals::of(&[all[0].clone(), all[2].clone()]).exit_code(), 4);
    }

    #[test]
    fn several_judges_are_also_counted_one_by_one() {
        let said =
            |judge: &str, accepted| Said { judge: judge.into(), accepted, feedback: String::new() };
        let mut wrong = scored(false, Given::Rejected { feedback: "no".into() });
        wrong.opinions = vec![said("a", Some(true)), said("b", Some(false))];
        let mut right = scored(true, Given::Rejected { feedback: "no".into() });
        right.opinions = vec![said("a", None), said("b", Some(false))];
        let told = |one: &One| (one.judge.clone(), one.false_accepts, one.false_rejects);
        let judges: Vec<_> = Totals::of(&[wrong, right]).judges.iter().map(told).collect();
        assert_eq!(
            judges,
            [
                ("a".to_owned(), Share::new(1, 1), Share::new(0, 0)),
                ("b".to_owned(), Share::new(0, 1), Share::new(1, 1)),
            ]
        );
    }

    #[test]
    fn one_price_that_nobody_knows_makes_the_sum_unknown() {
        let mut dear = scored(true, Given::Accepted { without_proof: false });
        dear.spent.usd = None;
        let known = scored(true, Given::Accepted { without_proof: false });
        assert_eq!(Totals::of(&[known, dear]).spent.usd, None);
    }

    #[test]
    fn few_sessions_leave_much_possible() {
        assert_eq!(likely(0, 10), (0, 28));
        assert_eq!(likely(1, 10), (1, 41));
        assert_eq!(likely(10, 10), (72, 100));
        assert_eq!(likely(0, 0), (0, 100));
    }
}
