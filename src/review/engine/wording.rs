//! Whether a requirement still says what it said in the last review.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::review::requirement::{Evidence, Requirement};
use crate::review::verdict::Verdict;

/// Requirements of the last round whose id now stands for something else. A new wording of the same
/// requirement shares some word stems with the old one; if the user changed the requirement, a
/// quote of the user shows it.
pub fn exchanged<'a>(
    known: &'a [Requirement],
    verdict: &Verdict,
    not_said: &[String],
) -> impl Iterator<Item = &'a Requirement> {
    known.iter().filter(move |before| {
        let now = verdict.requirements.iter().find(|one| one.id == before.id);
        now.is_some_and(|now| !by_user(now, not_said) && !share_a_stem(&before.text, &now.text))
    })
}

/// Requirements of the last round whose new text leaves out a part of the old one, and that part:
/// "accents and umlauts" has become "accents". Another wording adds words of its own.
pub fn narrowed<'a>(
    known: &'a [Requirement],
    verdict: &Verdict,
    not_said: &[String],
) -> impl Iterator<Item = (&'a Requirement, &'a str)> {
    const OWN_WORDS: usize = 1;
    known.iter().filter_map(move |before| {
        let now = verdict.requirements.iter().find(|one| one.id == before.id)?;
        let (old, new) = (stems(&before.text), stems(&now.text));
        let reworded = new.is_empty() || new.difference(&old).count() > OWN_WORDS;
        if by_user(now, not_said) || reworded || !share_a_stem(&before.text, &now.text) {
            return None;
        }
        let is_lost = |part: &&str| {
            if is_remark(part) {
                return false;
            }
            let part = stems(part);
            !part.is_empty() && part.is_disjoint(&new) && part.iter().all(|stem| stem.is_ascii())
        };
        parts(&before.text).find(is_lost).map(|lost| (before, lost))
    })
}

/// The things that a sentence lists.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)[,;]\s|\b(?:and|plus|including|as well as|und|et|y)\b").ok()
    });
    BETWEEN.iter().flat_map(move |between| between.split(text)).map(str::trim)
}

/// Whether the part only says something about the rest: "as the user asked", "still missing".
fn is_remark(part: &str) -> bool {
    const BEGIN: [&str; 13] = [
        "as",
        "still",
        "not",
        "currently",
        "see",
        "which",
        "because",
        "since",
        "so",
        "but",
        "e",
        "i",
        "like",
    ];
    let mut words = part.split(|c: char| !c.is_alphanumeric());
    words.next().is_some_and(|first| BEGIN.contains(&first.to_lowercase().as_str()))
}

fn by_user(now: &Requirement, not_said: &[String]) -> bool {
    now.evidence.iter().any(Evidence::is_by_the_user) && !not_said.contains(&now.id)
}

fn stems(text: &str) -> BTreeSet<String> {
    const STEM: usize = 4;
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let long = words.filter(|word| word.chars().count() >= STEM);
    long.map(|word| word.chars().take(STEM).collect()).collect()
}

fn share_a_stem(one: &str, other: &str) -> bool {
    let (one, other) = (stems(one), stems(other));
    // Short words and non-ASCII scripts have no stems to compare, so such texts count as related.
    one.is_empty()
        || other.is_empty()
        || !one.is_disjoint(&other)
        || !one.iter().chain(&other).all(|stem| stem.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::requirement::Standing;

    fn lost(before: &str, now: &str, evidence: Vec<Evidence>) -> Option<String> {
        let item = |text: &str, evidence| Requirement {
            id: "R1".into(),
            text: text.into(),
            status: Standing::Met,
            evidence,
        };
        let known = [item(before, Vec::new())];
        let requirements = vec![item(now, evidence)];
        let verdict = Verdict { requirements, ..Verdict::new(true, "") };
        narrowed(&known, &verdict, &[]).next().map(|(_, lost)| lost.to_owned())
    }

    #[test]
    fn a_requirement_that_asks_for_less_is_told_from_one_that_is_worded_otherwise() {
        for (before, now, part) in [
            ("slugify handles accents and umlauts", "slugify handles accents", "umlauts"),
            (
                "total() is fixed, with a regression test",
                "total() is fixed",
                "with a regression test",
            ),
            ("the parser, the printer and the docs", "the parser and the printer", "the docs"),
        ] {
            assert_eq!(lost(before, now, Vec::new()).as_deref(), Some(part), "{before} → {now}");
        }
        for (before, now) in [
            ("slugify handles accents and umlauts", "umlauts and accents are handled by slugify"),
            ("it copes with accents, and has tests", "accented letters work; tests exist"),
            ("accents and umlauts", "R1"),
            ("accents are handled", "accents"),
            ("fix the bug in parse()", "the bug in parse() is fixed"),
            ("处理重音和变音", "处理重音"),
            ("accents are handled, still missing", "accents are handled"),
            ("use tabs and not spaces", "use tabs"),
            ("accents are handled, as the user said later", "accents are handled"),
        ] {
            assert_eq!(lost(before, now, Vec::new()), None, "{before} → {now}");
        }
        let user = vec![Evidence::User("never mind the umlauts".into())];
        assert_eq!(lost("accents and umlauts", "accents", user), None);
    }
}
