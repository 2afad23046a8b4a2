//! Whether a task goes in circles: review after review finds the same thing.
//!
//! | over three rejections in a row | stuck |
//! |---|---|
//! | the project's files are the same, and one requirement is open in all (or none was listed) | yes |
//! | the feedback is the same, and no file is known to have changed | yes |
//! | anything else | no |

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::verdict::Verdict;

/// This many rejections in a row make a task stuck: one may be bad luck, and two a
/// misunderstanding.
const TIMES: usize = 3;

/// Only this much of each feedback is compared.
const COMPARED: usize = 4 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Circle {
    /// The last [`TIMES`] rejections of this task.
    rejections: Vec<Rejection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Rejection {
    feedback: String,
    /// The ids of the open requirements; empty if the verdict lists none.
    open: Vec<String>,
    /// The state of the project's files, if it is known.
    tree: Option<String>,
}

impl Circle {
    pub fn is_empty(&self) -> bool {
        self.rejections.is_empty()
    }

    /// Records a rejection, and returns why the task is stuck, if it is.
    pub fn rejected(&mut self, verdict: &Verdict, tree: Option<String>) -> Option<&'static str> {
        let words = timeless(&verdict.feedback);
        let words = words.split_whitespace().map(str::to_lowercase);
        let feedback = words.collect::<Vec<_>>().join(" ").chars().take(COMPARED).collect();
        let open = verdict.open().map(|requirement| requirement.id.clone()).collect();
        self.rejections.push(Rejection { feedback, open, tree });
        let first = self.rejections.len().saturating_sub(TIMES);
        self.rejections.drain(..first);
        self.stuck()
    }

    fn stuck(&self) -> Option<&'static str> {
        let [first, rest @ ..] = self.rejections.as_slice() else { return None };
        if self.rejections.len() < TIMES {
            return None;
        }
        let same_tree = first.tree.is_some() && rest.iter().all(|one| one.tree == first.tree);
        let changed = !same_tree
            && self
                .rejections
                .iter()
                .filter_map(|one| one.tree.as_ref())
                .any(|tree| first.tree.as_ref().is_some_and(|first| first != tree));
        let open_in_all = self.rejections.iter().any(|one| one.open.is_empty())
            || first.open.iter().any(|id| rest.iter().all(|one| one.open.contains(id)));
        if same_tree && open_in_all {
            return Some("no file in the project has changed over the last 3 reviews");
        }
        let same_words = rest.iter().all(|one| one.feedback == first.feedback);
        (same_words && !changed).then_some("the last 3 rounds ended with the same feedback")
    }
}

/// Replaces times and addresses, which differ between runs of the same failing test.
fn timeless(text: &str) -> Cow<'_, str> {
    static PASSING: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\d+\.\d+|\b0x[0-9a-f]+").ok());
    PASSING.as_ref().map_or(text.into(), |passing| passing.replace_all(text, "#"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::requirement::{Requirement, Standing};

    /// Each rejection is given as its feedback, its open requirements and the state of the files.
    /// `stuck` says whether the last one makes the task stuck.
    #[track_caller]
    fn check(rejections: &[(&str, &str, Option<&str>)], stuck: bool) {
        let mut circle = Circle::default();
        let mut last = None;
        for (feedback, open, tree) in rejections {
            let mut verdict = Verdict::new(false, feedback);
            verdict.requirements = open
                .split_whitespace()
                .map(|id| Requirement {
                    id: id.into(),
                    text: id.into(),
                    status: Standing::Unmet,
                    evidence: Vec::new(),
                })
                .collect();
            last = circle.rejected(&verdict, tree.map(str::to_owned));
        }
        assert_eq!(last.is_some(), stuck, "{rejections:?}: {last:?}");
    }

    #[test]
    fn the_same_files_with_the_same_requirement_open() {
        check(
            &[("a", "R1 R2", Some("t")), ("b", "R2", Some("t")), ("c", "R2 R3", Some("t"))],
            true,
        );
        check(&[("a", "R1", Some("t")), ("b", "R2", Some("t")), ("c", "R3", Some("t"))], false);
        check(&[("a", "R1", Some("t")), ("b", "R1", Some("t")), ("c", "R1", Some("u"))], false);
        check(&[("a", "", Some("t")), ("b", "", Some("t")), ("c", "", Some("t"))], true);
        check(&[("a", "R1", Some("t")), ("b", "R1", Some("t"))], false);
    }

    #[test]
    fn the_same_feedback_again() {
        check(&[("Tests!", "", None), ("tests!  ", "", None), ("Tests!", "", None)], true);
        check(&[("a", "", None), ("a", "", None), ("b", "", None)], false);
        // The files change between the reviews, so this may simply be a hard task.
        check(&[("a", "", Some("t")), ("a", "", Some("u")), ("a", "", Some("v"))], false);
    }

    #[test]
    fn the_same_failure_in_another_time_is_the_same() {
        check(
            &[
                ("Ran 2 tests in 0.001s, <A at 0x7f01>", "", None),
                ("Ran 2 tests in 0.12s, <A at 0x7f99>", "", None),
                ("Ran 2 tests in 0.1s, <A at 0x1>", "", None),
            ],
            true,
        );
        // Fewer failures each time is progress.
        check(&[("3 failed", "", None), ("2 failed", "", None), ("1 failed", "", None)], false);
    }

    #[test]
    fn only_the_last_three_count() {
        check(&[("a", "", None), ("x", "", None), ("x", "", None), ("x", "", None)], true);
        check(&[("x", "", None), ("x", "", None), ("a", "", None), ("x", "", None)], false);
    }
}
