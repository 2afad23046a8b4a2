//! Files that a message names, and what it says about them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::told::{Claim, makes, sentences, takes_it_back};

type Pattern = LazyLock<Option<Regex>>;

/// The number of names that are taken from one message.
const MOST: usize = 20;
const NAME: &str = r"(?:[\w.@-]+/)*[\w@-][\w.@-]*\.(?:rs|py|pyi|jsx?|tsx?|mjs|cjs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|html|css|toml|ya?ml|json|md|txt|rst|csv|xml|ini|cfg|svg|ipynb|proto|log|lock)\b";

/// All file names in a sentence.
fn names(sentence: &str) -> impl Iterator<Item = String> {
    static NAMED: Pattern = LazyLock::new(|| {
        Regex::new(&format!(r"(?:^|[\s`(\x22'*])({NAME})(?:$|[\s`),.:;\x22'*])")).ok()
    });
    let found = NAMED.iter().flat_map(|named| named.captures_iter(sentence));
    found.map(|found| found[1].to_owned())
}

/// The files that the message says were created.
pub fn files_named(text: &str) -> Vec<String> {
    static CREATES: Pattern = LazyLock::new(|| {
        Regex::new(r"(?i)\b(created?|wrote|written|saved|generated|stored|added|put)\b").ok()
    });
    static ELSE: Pattern = LazyLock::new(|| {
        Regex::new(r"(?i)\b(remov|delet|renam|mov(e|ed|ing)\b|replac|instead|rather|exclud|ignor|like|such as|e\.g)").ok()
    });
    if !text.contains('.') {
        return Vec::new();
    }
    let (Some(creates), Some(other)) = (CREATES.as_ref(), ELSE.as_ref()) else { return Vec::new() };
    let claims = sentences(text).filter(|sentence| {
        creates.is_match(sentence) && !other.is_match(sentence) && !takes_it_back(sentence)
    });
    few(claims.flat_map(names))
}

/// The files that the message says were committed.
pub fn files_committed(text: &str) -> Vec<String> {
    few(sentences(text).filter(|one| makes(Claim::Committed, one)).flat_map(names))
}

/// The files that the message says were deleted or moved away: the files themselves, not something
/// in them.
pub fn files_gone(text: &str) -> Vec<String> {
    static FORMS: Pattern = LazyLock::new(|| {
        let name = format!(r"(?:`[^`\n*]+`|{NAME})");
        let list = format!(r"{name}(?:(?:,|\s+and|,\s+and)\s+{name})*");
        let article = r"(?:the\s+)?(?:(?:old|obsolete|unused|empty)\s+)?(?:files?\s+)?";
        let end = r"\s*(?:[.,;!)]|$|\band\b)";
        Regex::new(&format!(
            r"(?i)\b(?:deleted|removed)\s+{article}({list}){end}|\b(?:moved|renamed)\s+{article}({list})\s+(?:in)?to\s|({list})\s+(?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+)?(?:deleted|removed|gone){end}"
        ))
        .ok()
    });
    static AGAIN: Pattern = LazyLock::new(|| {
        Regex::new(r"(?i)\b(again|anew|then|re-?(created|generated|stored|wrote))\b").ok()
    });
    static ONE: Pattern = LazyLock::new(|| Regex::new(&format!(r"`([^`]+)`|({NAME})")).ok());
    // A quick test: without one of these words no pattern can match.
    if !["deleted", "removed", "moved", "renamed", "gone"].iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let is_final = |sentence: &&str| {
        !takes_it_back(sentence) && !AGAIN.as_ref().is_some_and(|again| again.is_match(sentence))
    };
    let mut found = Vec::new();
    for sentence in sentences(text).filter(is_final) {
        for form in FORMS.iter().flat_map(|forms| forms.captures_iter(sentence)) {
            let list = (1..=3).find_map(|at| form.get(at)).map_or("", |list| list.as_str());
            let each = ONE.iter().flat_map(|one| one.captures_iter(list));
            found.extend(
                each.filter_map(|one| Some(one.get(1).or(one.get(2))?.as_str().to_owned())),
            );
        }
    }
    few(found.into_iter())
}

/// The files that the message says were changed, in words that are about the file itself.
pub fn files_changed(text: &str) -> Vec<String> {
    static FORMS: Pattern = LazyLock::new(|| {
        let verbs = "updated|edited|extended|adapted|modified|rewritten";
        Regex::new(&format!(
            r"(?i)\b(?:updated|edited|extended|adapted|modified|rewrote)\s+(?:the\s+)?[`*]*({NAME})[`*]*(?:\s+and\b|\s*[.,;]|$)|\bdocumented\s+(?:it\s+|this\s+|that\s+)?in\s+[`*]*({NAME})|({NAME})[`*]*\s+(?:(?:is|was|has\s+been)\s+(?:now\s+)?(?:{verbs})\b|(?:now\s+)?(?:describes|documents|mentions|explains)\s+(?:the\s+new|it\b|this\b|both\b))"
        ))
        .ok()
    });
    const HINTS: [&str; 12] = [
        "updated",
        "edited",
        "extended",
        "adapted",
        "modified",
        "rewr",
        "documented",
        "describes",
        "documents",
        "mentions",
        "explains",
        "Updated",
    ];
    if !HINTS.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let claims = sentences(text).filter(|sentence| !takes_it_back(sentence));
    let found = claims.flat_map(|one| FORMS.iter().flat_map(|forms| forms.captures_iter(one)));
    few(found.filter_map(|found| Some((1..=3).find_map(|at| found.get(at))?.as_str().to_owned())))
}

/// The files that the message says are executable.
pub fn files_executable(text: &str) -> Vec<String> {
    static FORMS: Pattern = LazyLock::new(|| {
        Regex::new(&format!(
            r"(?i)\bmade\s+`?({NAME})`?\s+executable\b|({NAME})`?\s+is\s+(?:now\s+)?executable\b"
        ))
        .ok()
    });
    if !text.contains("executable") {
        return Vec::new();
    }
    let claims = sentences(text).filter(|sentence| !takes_it_back(sentence));
    let found = claims.flat_map(|one| FORMS.iter().flat_map(|forms| forms.captures_iter(one)));
    few(found.filter_map(|found| Some(found.get(1).or(found.get(2))?.as_str().to_owned())))
}

fn few(names: impl Iterator<Item = String>) -> Vec<String> {
    names.collect::<BTreeSet<_>>().into_iter().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_created_are_named() {
        for (text, names) in [
            ("I created `docs/report.md`.", &["docs/report.md"][..]),
            ("Wrote the figures to out.csv and saved a.b.json", &["a.b.json", "out.csv"]),
            ("The report was saved to **report.txt**.", &["report.txt"]),
            ("I removed `a.py` and created `b.py` instead.", &[]),
            ("I did not create `a.py`.", &[]),
            ("I would create `a.py`.", &[]),
            ("Created with node.js and os.path on example.com", &["node.js"]),
            ("See `a.py`.", &[]),
            ("I added files matching `*.py`.", &[]),
            ("I have written https://x.org/a.html", &[]),
        ] {
            assert_eq!(files_named(text), names, "{text}");
        }
    }

    #[test]
    fn files_that_are_gone_are_named() {
        for (text, names) in [
            ("I deleted `legacy.cfg`.", &["legacy.cfg"][..]),
            ("`legacy.cfg` has been removed.", &["legacy.cfg"]),
            (
                "I removed `a.py` and `tests/test_a.py`; nothing else refers to them.",
                &["a.py", "tests/test_a.py"],
            ),
            ("I moved `notes old.txt` to `docs/notes.txt`.", &["notes old.txt"]),
            ("Removed the old file setup.cfg and its import", &["setup.cfg"]),
            ("I removed `a.py` from git.", &[]),
            ("I removed `a.py`'s last import.", &[]),
            ("I did not delete `a.py`.", &[]),
            ("I deleted `a.py` and wrote it again.", &[]),
            ("I removed the check in `a.py`.", &[]),
            ("I moved `parse` in `a.py` to `b.py`.", &[]),
        ] {
            assert_eq!(files_gone(text), names, "{text}");
        }
    }

    #[test]
    fn files_that_are_executable_or_committed_are_named() {
        assert_eq!(files_executable("I made `run.sh` executable."), ["run.sh"]);
        assert_eq!(files_executable("bin/run.sh is executable now."), ["bin/run.sh"]);
        for (text, names) in [
            ("- `docs/config.md` describes the new option", &["docs/config.md"][..]),
            ("I updated README.md, and the tests pass.", &["README.md"]),
            ("The option is documented in `README.md`.", &["README.md"]),
            ("`a.yml` was updated.", &["a.yml"]),
            ("I updated the tests for `a.py`.", &[]),
            ("I updated a.py's docstring.", &[]),
            ("`README.md` describes how it works.", &[]),
            ("It is already documented in README.md? No.", &[]),
            ("README.md need not be updated.", &[]),
        ] {
            assert_eq!(files_changed(text), names, "{text}");
        }
        assert!(files_executable("`run.sh` is not executable.").is_empty());
        assert_eq!(files_committed("`a/b.json` is added and committed."), ["a/b.json"]);
        assert!(files_committed("I added `a.json`. It is not committed.").is_empty());
    }
}
