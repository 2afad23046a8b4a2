//! The proof that a confirmation needs: requirements, each with evidence that exists.

use super::Step;
use super::sitting::Sitting;
use super::wording::{exchanged, narrowed};
use crate::event::Now;
use crate::review::front_matter::Proof;
use crate::review::prompt;
use crate::review::requirement::{Evidence, Requirement, Standing};
use crate::review::verdict::Verdict;

const LEFT_OUT_IN_DOUBT: &str =
    "its evidence could not be found, and the answer to that leaves it out";
const NO_PROOF: &str =
    "the supervisor called the task complete but gave no proof, even when asked for it";

/// A yes whose proof is missing or does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    verdict: Verdict,
    /// What is wrong with the evidence; empty if there is none at all.
    problems: Vec<String>,
}

impl Sitting {
    /// The judge has given a verdict. Its evidence is looked up first.
    pub(super) fn given(&mut self, verdict: Verdict, has_word: bool, now: Now) {
        let evidence: Vec<_> = verdict.requirements.iter().flat_map(claimed).cloned().collect();
        // What was found already need not be repeated.
        let is_open = |one: &Requirement| one.is_open();
        let confirms = verdict.completed && unlisted(&self.in_doubt, &verdict).all(is_open);
        self.verifying = Some((verdict, has_word));
        if evidence.is_empty() {
            self.weigh(&[], now);
        } else {
            self.steps.push(Step::Verify { evidence, confirms });
        }
    }

    /// The findings for the evidence that was to be looked up: for each piece why it does not hold,
    /// or `None`.
    pub fn verified(&mut self, findings: &[Option<String>], now: Now) -> Vec<Step> {
        self.weigh(findings, now);
        self.take()
    }

    fn weigh(&mut self, findings: &[Option<String>], now: Now) {
        let Some((mut verdict, has_word)) = self.verifying.take() else { return };
        let is_bare = verdict.requirements.is_empty() || !has_word;
        let mut problems = contradictions(&verdict);
        problems.extend(self.refuted(&mut verdict, findings));
        problems.extend(self.left_out_in_doubt(&mut verdict));
        if self.policy.proof != Proof::Off && !verdict.requirements.is_empty() {
            problems.extend(missing_evidence(&mut verdict));
            problems.extend(forgotten(&self.known, &verdict));
            problems.extend(exchanged(&self.known, &verdict, &self.not_said).map(another_meaning));
            problems.extend(
                narrowed(&self.known, &verdict, &self.not_said)
                    .map(|(known, lost)| less(known, lost)),
            );
        }
        if !verdict.completed {
            return self.rejected(verdict);
        }
        let lacks_proof = is_bare && self.policy.proof != Proof::Off;
        if problems.is_empty() && !lacks_proof {
            return self.end(Ok(verdict));
        }
        let doubt = Doubt { verdict, problems };
        if self.proof_asks_left == 0 {
            return self.unproven(doubt, now);
        }
        self.proof_asks_left -= 1;
        self.in_doubt.clone_from(&doubt.verdict.requirements);
        let has_word = self.word.is_some();
        self.steps.push(Step::Tell(prompt::ask_for_proof(&doubt.problems, has_word)));
        self.doubt = Some(doubt);
    }

    /// The judge was asked for proof and gave none that holds.
    pub(super) fn unproven(&mut self, doubt: Doubt, _now: Now) {
        let Doubt { verdict, problems } = doubt;
        if !problems.is_empty() {
            let feedback = prompt::unproven_feedback(&problems);
            let rejected = Verdict::new(false, &feedback);
            self.rejected(Verdict { requirements: verdict.requirements, ..rejected });
        } else if self.policy.proof == Proof::Asked {
            self.end(Ok(Verdict { without_proof: true, ..verdict }));
        } else {
            // Another attempt would most likely end the same way, so there is none.
            self.steps.push(Step::Stop);
            self.steps.push(Step::Failed { reason: NO_PROOF.to_owned(), retrying: false });
            self.steps.push(Step::End(Err(NO_PROOF.to_owned())));
        }
    }
}

impl Sitting {
    /// Names the evidence that does not hold, and marks its requirements as unproven.
    fn refuted(&mut self, verdict: &mut Verdict, findings: &[Option<String>]) -> Vec<String> {
        let mut findings = findings.iter();
        let mut problems = Vec::new();
        self.not_said.clear();
        for requirement in &mut verdict.requirements {
            let (name, settled) = (named(requirement), is_settled(requirement));
            let mut holds = true;
            for evidence in claimed(requirement) {
                // Evidence that was not looked up does not count.
                let unknown = Some("ccc could not look it up".to_owned());
                let Some(why) = findings.next().unwrap_or(&unknown) else { continue };
                if evidence.is_by_the_user() {
                    self.not_said.push(requirement.id.clone());
                }
                if settled {
                    problems.push(format!("{name}, {evidence}: {why}"));
                    holds = false;
                }
            }
            if !holds {
                requirement.status = Standing::Unproven;
            }
        }
        problems
    }

    /// The second answer of a judge that was asked for proof replaces the first as a whole. What it
    /// leaves out stays on the list: items whose evidence was found as they were, and the others as
    /// problems. Otherwise a judge could lose an item by not repeating it.
    fn left_out_in_doubt(&mut self, verdict: &mut Verdict) -> Vec<String> {
        let in_doubt = std::mem::take(&mut self.in_doubt);
        let left_out: Vec<_> = unlisted(&in_doubt, verdict).cloned().collect();
        if !verdict.completed && verdict.requirements.is_empty() {
            return Vec::new();
        }
        let open = left_out.iter().filter(|one| one.is_open() && verdict.completed);
        let problems = open.map(|one| format!("{}: {LEFT_OUT_IN_DOUBT}", named(one))).collect();
        verdict.requirements.extend(left_out);
        problems
    }

    /// Ends with a no. Requirements that the judge left out are kept; otherwise they would be lost
    /// in the next round. So are those whose id now stands for something else, which gets an id of
    /// its own, and the whole wording of those that ask for less than before.
    fn rejected(&mut self, mut verdict: Verdict) {
        let ids: Vec<_> =
            exchanged(&self.known, &verdict, &self.not_said).map(|one| one.id.clone()).collect();
        for id in ids {
            let new = self.new_id(&verdict);
            if let Some(one) = verdict.requirements.iter_mut().find(|one| one.id == id) {
                one.id = new;
            }
        }
        let narrowed: Vec<_> = narrowed(&self.known, &verdict, &self.not_said)
            .map(|(known, _)| known.clone())
            .collect();
        for known in narrowed {
            if let Some(one) = verdict.requirements.iter_mut().find(|one| one.id == known.id) {
                one.text = known.text;
            }
        }
        if !verdict.requirements.is_empty() {
            let left_out: Vec<_> = unlisted(&self.known, &verdict).cloned().collect();
            verdict.requirements.extend(left_out);
        }
        self.end(Ok(verdict));
    }

    /// The first of R1, R2, … that no requirement has.
    fn new_id(&self, verdict: &Verdict) -> String {
        let is_free =
            |id: &String| !self.known.iter().chain(&verdict.requirements).any(|one| one.id == *id);
        let mut ids = (1_usize..).map(|number| format!("R{number}"));
        ids.find(is_free).unwrap_or_default()
    }
}

fn is_settled(requirement: &Requirement) -> bool {
    !requirement.is_open()
}

/// The evidence that is looked up: that of settled requirements, and the user's words for a change of
/// any requirement.
fn claimed(requirement: &Requirement) -> impl Iterator<Item = &Evidence> {
    let counts = |evidence: &&Evidence| is_settled(requirement) || evidence.is_by_the_user();
    requirement.evidence.iter().filter(counts)
}

fn named(requirement: &Requirement) -> String {
    if requirement.text == requirement.id {
        requirement.id.clone()
    } else {
        format!("{} ({})", requirement.id, requirement.text)
    }
}

/// A verdict that says completed must have no open requirement.
fn contradictions(verdict: &Verdict) -> Vec<String> {
    let open = verdict.open().filter(|_| verdict.completed);
    open.map(|requirement| format!("{}: its status is not \"met\"", named(requirement))).collect()
}

fn missing_evidence(verdict: &mut Verdict) -> Vec<String> {
    let mut problems = Vec::new();
    for requirement in verdict.requirements.iter_mut().filter(|one| is_settled(one)) {
        let dropped = requirement.status == Standing::Dropped;
        let shown = requirement.evidence.iter().any(|one| one.is_by_the_user() == dropped);
        if !shown {
            let what = if dropped { "no quote of the user dropping it" } else { "no evidence" };
            problems.push(format!("{}: {what} is given", named(requirement)));
            requirement.status = Standing::Unproven;
        }
    }
    problems
}

fn unlisted<'a>(
    known: &'a [Requirement],
    verdict: &Verdict,
) -> impl Iterator<Item = &'a Requirement> {
    known.iter().filter(|known| verdict.requirements.iter().all(|one| one.id != known.id))
}

/// Requirements of the last round that the verdict leaves out.
fn forgotten(known: &[Requirement], verdict: &Verdict) -> Vec<String> {
    unlisted(known, verdict)
        .map(|one| format!("{}: the last review listed it, and this verdict does not", named(one)))
        .collect()
}

fn another_meaning(known: &Requirement) -> String {
    format!(
        "{}: in the last review this id had this meaning, and now it has another. Keep the meaning, \
         or quote the user's words that changed it. Give a new item a new id",
        named(known)
    )
}

fn less(known: &Requirement, lost: &str) -> String {
    format!(
        "{}: its new text leaves out {lost:?}. Keep what the last review listed, or quote the user's \
         later words that dropped it",
        named(known)
    )
}
