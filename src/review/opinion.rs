//! Several judges: the opinion of each, and the verdict that follows from all of them.
//!
//! | what they said | the verdict |
//! |---|---|
//! | all: complete | complete |
//! | at least one: not complete | not complete, with the feedback of those who say so |
//! | all who object: blocked, or impossible | that |
//! | nobody objects, and one gave no verdict | none: this does not count as a confirmation |

use serde::{Deserialize, Serialize};

use super::policy::Seat;
use super::requirement::{Requirement, Standing};
use super::verdict::{Halt, Verdict};
use crate::client::case::CaseKind;
use crate::client::stream::Usage;
use crate::review::permission::Denied;

/// What one of several judges said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    pub judge: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// `None` if the judge gave no verdict; the feedback then says why.
    pub completed: Option<bool>,
    #[serde(default, rename = "status", skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    pub feedback: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_proof: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better_round: Option<u32>,
    #[serde(default)]
    pub seconds: f64,
    #[serde(default)]
    pub cost_usd: f64,
    #[serde(default, skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
}

impl Opinion {
    pub fn new(seat: &Seat, given: Result<Verdict, String>) -> Self {
        let (completed, verdict) = match given {
            Ok(verdict) => (Some(verdict.completed), verdict),
            Err(reason) => (None, Verdict::new(false, &reason)),
        };
        Self {
            judge: seat.name.clone(),
            fresh: seat.fresh,
            completed,
            halt: verdict.halt,
            feedback: verdict.feedback,
            without_proof: verdict.without_proof,
            requirements: verdict.requirements,
            case: verdict.case,
            denied: verdict.denied,
            better_round: verdict.better_round,
            seconds: 0.0,
            cost_usd: 0.0,
            usage: Usage::default(),
        }
    }
}

impl Opinion {
    /// The opinion in a few words for people, such as "kimi: complete".
    pub fn told(&self) -> String {
        let eyes = if self.fresh { " (fresh eyes)" } else { "" };
        let said = match (self.completed, self.halt) {
            (Some(true), _) if self.without_proof => "complete, without proof".to_owned(),
            (Some(true), _) => "complete".to_owned(),
            (Some(false), Some(Halt::Blocked)) => "blocked".to_owned(),
            (Some(false), Some(Halt::Impossible)) => "impossible".to_owned(),
            (Some(false), None) => "not complete".to_owned(),
            (None, _) => format!("no verdict: {}", self.feedback),
        };
        format!("{}{eyes}: {said}", self.judge)
    }
}

/// The verdict that follows from the opinions, or why there is none. `judges` are those that were
/// to be asked.
pub fn conclusion(judges: &[Seat], opinions: Vec<Opinion>) -> Result<Verdict, String> {
    let objections: Vec<_> =
        opinions.iter().filter(|opinion| opinion.completed == Some(false)).collect();
    let silent = opinions.iter().find(|opinion| opinion.completed.is_none());
    if let (true, Some(silent)) = (objections.is_empty(), silent) {
        let agree = opinions.iter().filter(|opinion| opinion.completed == Some(true)).count();
        let others = match agree {
            0 => String::new(),
            agree => format!(" ({agree} of {} judges call it complete)", judges.len()),
        };
        return Err(format!("{} gave no verdict{others}: {}", silent.judge, silent.feedback));
    }
    let verdict = Verdict::new(objections.is_empty(), &feedback(&opinions, &objections));
    // The agent goes on as long as one judge has something for it to do.
    let halt = objections.iter().map(|objection| objection.halt).reduce(Option::and).flatten();
    Ok(Verdict {
        halt,
        requirements: requirements(&opinions),
        without_proof: verdict.completed && opinions.iter().any(|opinion| opinion.without_proof),
        case: opinions.iter().filter_map(|opinion| opinion.case).max_by_key(|held| held.weakness()),
        denied: opinions.iter().flat_map(|opinion| opinion.denied.clone()).collect(),
        better_round: objections.iter().find_map(|objection| objection.better_round),
        opinions,
        ..verdict
    })
}

/// The feedback of the judges that object, or else of the first that has something to say.
fn feedback(opinions: &[Opinion], objections: &[&Opinion]) -> String {
    match objections {
        [] => {
            let said = opinions.iter().map(|opinion| opinion.feedback.as_str());
            said.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
        }
        [one] => one.feedback.clone(),
        several => {
            let said =
                several.iter().map(|one| format!("{} says:\n\n{}", one.judge, one.feedback.trim()));
            said.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// Merges the lists of all judges: each requirement has the strictest status that a judge gave it,
/// and the evidence of all.
pub fn requirements(opinions: &[Opinion]) -> Vec<Requirement> {
    let mut all: Vec<Requirement> = Vec::new();
    for requirement in opinions.iter().flat_map(|opinion| &opinion.requirements) {
        let Some(known) = all.iter_mut().find(|known| known.id == requirement.id) else {
            all.push(requirement.clone());
            continue;
        };
        if strictness(requirement.status) > strictness(known.status) {
            known.status = requirement.status;
        }
        for evidence in &requirement.evidence {
            if !known.evidence.contains(evidence) {
                known.evidence.push(evidence.clone());
            }
        }
        // If one judge still considers it open, the evidence that convinced another is not enough.
        if known.is_open() {
            known.evidence.clear();
        }
    }
    all
}

fn strictness(status: Standing) -> u8 {
    match status {
        Standing::Dropped => 0,
        Standing::Met => 1,
        Standing::Unproven => 2,
        Standing::Unmet => 3,
    }
}
