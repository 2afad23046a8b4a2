//! What the user asked for, item by item, with the evidence for each item.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::client::stream::{JOINER, strip_escapes};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// Stays the same in all rounds of a task.
    pub id: String,
    pub text: String,
    pub status: Standing,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    Met,
    Unmet,
    /// It may be done, but nothing shows it.
    Unproven,
    /// The user no longer wants it.
    Dropped,
}

/// A fact that ccc can look up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stated", into = "Stated")]
pub enum Evidence {
    /// A check that ccc ran itself.
    Check(String),
    /// Something that the agent or the judge ran, with a quote of its output.
    Command { command: String, quote: String },
    /// A place in a file, with a quote of what is there.
    File { path: String, line: Option<u32>, quote: String },
    /// A quote of the agent's last message, where the user asked for words.
    Answer(String),
    /// A quote of the user, for what they no longer want.
    User(String),
}

/// A piece of evidence as it is written in a verdict: one of the keys says its kind.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Stated {
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<String>,
}

impl TryFrom<Stated> for Evidence {
    type Error = &'static str;

    fn try_from(stated: Stated) -> Result<Self, Self::Error> {
        let Stated { check, command, file, answer, user, quote } = stated;
        let quote = without_joiners(&quote.unwrap_or_default());
        let words = |said: String| if quote.is_empty() { said } else { quote.clone() };
        let kinds = [check, command, file, answer, user];
        // A judge that fills in every field of the schema leaves those that do not apply empty.
        let several = kinds.iter().flatten().count() > 1;
        let counts = |text: &String| !(several && text.is_empty());
        let kinds = kinds.map(|text| Some(without_joiners(&text?)).filter(counts));
        match kinds {
            [Some(name), None, None, None, None] => Ok(Self::Check(name)),
            [None, Some(command), None, None, None] => Ok(Self::Command { command, quote }),
            [None, None, Some(place), None, None] => {
                let (path, line) = place_in_file(&place);
                Ok(Self::File { path, line, quote })
            }
            [None, None, None, Some(said), None] => Ok(Self::Answer(words(said))),
            [None, None, None, None, Some(said)] => Ok(Self::User(words(said))),
            _ => Err("evidence must have one of the keys check, command, file, answer or user"),
        }
    }
}

/// Removes the invisible mark that `client::stream::message_to_judge` puts in front of an `@`: a
/// judge that copies a name from its message copies the mark as well.
fn without_joiners(text: &str) -> String {
    text.replace(JOINER, "")
}

/// Splits a path from the line number behind it, as people and tools write it: `a.rs:3`,
/// `a.rs:3-5`, `a.rs:3:14`, `a.rs:L3`, `a.rs#L3-L5`, `a.rs, lines 3-5`; or from the name of a test, as
/// in `a.py::test_b`. Of several lines, the first counts.
fn place_in_file(place: &str) -> (String, Option<u32>) {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^(.+?)(?::L?|#L|,?\s\(?lines?\s)([0-9]+)(?:[-–:,][ ]?L?[0-9]+)*[:)]?$|^(.+\.\w+)::\w.*$",
        )
        .ok()
    });
    let place = place.trim().trim_matches('`');
    let Some(found) = LINE.as_ref().and_then(|line| line.captures(place)) else {
        return (place.to_owned(), None);
    };
    if let Some(path) = found.get(3) {
        return (path.as_str().to_owned(), None);
    }
    match found[2].parse() {
        Ok(line) => (found[1].to_owned(), Some(line)),
        Err(_) => (place.to_owned(), None),
    }
}

impl From<Evidence> for Stated {
    fn from(evidence: Evidence) -> Self {
        match evidence {
            Evidence::Check(name) => Self { check: Some(name), ..Self::default() },
            Evidence::Command { command, quote } => {
                Self { command: Some(command), quote: Some(quote), ..Self::default() }
            }
            Evidence::File { path, line, quote } => {
                let place = line.map_or(path.clone(), |line| format!("{path}:{line}"));
                Self { file: Some(place), quote: Some(quote), ..Self::default() }
            }
            Evidence::Answer(said) => Self { answer: Some(said), ..Self::default() },
            Evidence::User(said) => Self { user: Some(said), ..Self::default() },
        }
    }
}

impl Evidence {
    pub fn is_by_the_user(&self) -> bool {
        matches!(self, Self::User(_))
    }
}

impl std::fmt::Display for Evidence {
    /// In a few words, for a line of a report.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Check(name) => write!(f, "check {name:?}"),
            Self::Command { command, .. } => write!(f, "`{command}`"),
            Self::File { path, line: Some(line), .. } => write!(f, "{path}:{line}"),
            Self::File { path, line: None, .. } => f.write_str(path),
            Self::Answer(_) => f.write_str("the answer"),
            Self::User(_) => f.write_str("the user's words"),
        }
    }
}

/// How many requirements are met, and out of how many; those that the user dropped do not count.
pub fn met(requirements: &[Requirement]) -> Option<(usize, usize)> {
    let wanted = requirements.iter().filter(|one| one.status != Standing::Dropped);
    let all: Vec<_> = wanted.map(|one| one.status == Standing::Met).collect();
    (!all.is_empty()).then(|| (all.iter().filter(|met| **met).count(), all.len()))
}

/// How the list has changed since the last review of the task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Amended {
    pub added: usize,
    pub changed: usize,
    pub dropped: usize,
    /// Whether the user has said something since then.
    pub by_message: bool,
}

impl Amended {
    /// `None` if the list is the first or has not changed.
    pub fn between(before: &[Requirement], now: &[Requirement], by_message: bool) -> Option<Self> {
        if before.is_empty() {
            return None;
        }
        let known = |one: &Requirement| before.iter().find(|known| known.id == one.id);
        let mut amended = Self { by_message, ..Self::default() };
        for one in now {
            let is_dropped = one.status == Standing::Dropped;
            match known(one) {
                None => amended.added += 1,
                Some(known) if is_dropped && known.status != Standing::Dropped => {
                    amended.dropped += 1;
                }
                Some(known) if squeezed(&known.text) != squeezed(&one.text) => amended.changed += 1,
                Some(_) => {}
            }
        }
        (amended.added + amended.changed + amended.dropped > 0).then_some(amended)
    }
}

impl std::fmt::Display for Amended {
    /// For example "2 added, 1 dropped by your message".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [(self.added, "added"), (self.changed, "changed"), (self.dropped, "dropped")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, how)| format!("{count} {how}")).collect();
        let why = if self.by_message { "by your message" } else { "since the last review" };
        write!(f, "{} {why}", counts.join(", "))
    }
}

/// Removes what may differ between a text and a quote of it: line breaks, spacing, colours, curly
/// quotation marks, and the marks for the judge.
pub fn squeezed(text: &str) -> String {
    let plain = |c| match c {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        c => c,
    };
    let text = strip_escapes(text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| *c != JOINER).map(plain).collect()
}

impl Requirement {
    /// Whether the evidence is the agent's answer, because the user asked for words.
    pub fn is_shown_by_the_answer(&self) -> bool {
        self.evidence.iter().any(|evidence| matches!(evidence, Evidence::Answer(_)))
    }

    pub fn is_open(&self) -> bool {
        matches!(self.status, Standing::Unmet | Standing::Unproven)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, text: &str, status: Standing) -> Requirement {
        Requirement { id: id.into(), text: text.into(), status, evidence: Vec::new() }
    }

    #[test]
    fn what_is_dropped_does_not_count() {
        assert_eq!(met(&[]), None);
        let list = [
            item("R1", "a", Standing::Met),
            item("R2", "b", Standing::Unproven),
            item("R3", "c", Standing::Dropped),
        ];
        assert_eq!(met(&list), Some((1, 2)));
    }

    #[test]
    fn a_list_that_changed_says_how() {
        let before = [item("R1", "a", Standing::Met), item("R2", "b", Standing::Unmet)];
        let now = [
            item("R1", "a,  too", Standing::Met),
            item("R2", "b", Standing::Dropped),
            item("R3", "c", Standing::Unmet),
            item("R4", "d", Standing::Unmet),
        ];
        let told = |by_message| Amended::between(&before, &now, by_message).unwrap().to_string();
        assert_eq!(told(true), "2 added, 1 changed, 1 dropped by your message");
        assert_eq!(told(false), "2 added, 1 changed, 1 dropped since the last review");
        assert_eq!(Amended::between(&[], &now, true), None);
        assert_eq!(Amended::between(&now, &now, true), None);
    }

    #[test]
    fn a_line_is_named_in_the_usual_ways() {
        for (place, path, line) in [
            ("a.rs", "a.rs", None),
            ("a.rs:3", "a.rs", Some(3)),
            ("a.rs:3-5", "a.rs", Some(3)),
            ("a.rs:3–5", "a.rs", Some(3)),
            ("a.rs:3:14", "a.rs", Some(3)),
            ("a.rs:L3", "a.rs", Some(3)),
            ("a.rs#L3-L5", "a.rs", Some(3)),
            ("a:b c.rs:14", "a:b c.rs", Some(14)),
            ("a.rs:99999999999", "a.rs:99999999999", None),
            ("a.rs:", "a.rs:", None),
            ("`a.rs:3`", "a.rs", Some(3)),
            ("a.rs:3:", "a.rs", Some(3)),
            ("a.rs:3-5,9-12", "a.rs", Some(3)),
            ("a.rs line 3", "a.rs", Some(3)),
            ("a.rs, lines 3-5", "a.rs", Some(3)),
            ("a.rs (line 3)", "a.rs", Some(3)),
            ("a.py::test_b[1-2]", "a.py", None),
        ] {
            assert_eq!(place_in_file(place), (path.to_owned(), line), "{place}");
        }
    }

    #[test]
    fn a_name_that_was_marked_for_the_judge_is_the_name() {
        let json = "{\"file\":\"\u{2060}@types/a.ts:3\",\"quote\":\"import \u{2060}@b\"}";
        let meant =
            Evidence::File { path: "@types/a.ts".into(), line: Some(3), quote: "import @b".into() };
        assert_eq!(serde_json::from_str::<Evidence>(json).unwrap(), meant);
    }

    #[test]
    fn evidence_has_one_kind() {
        for (json, evidence) in [
            (r#"{"check":"cargo test"}"#, Some(Evidence::Check("cargo test".into()))),
            (
                r#"{"command":"make","quote":"ok"}"#,
                Some(Evidence::Command { command: "make".into(), quote: "ok".into() }),
            ),
            (
                r#"{"file":"src/a:b.rs:14","quote":"fn"}"#,
                Some(Evidence::File {
                    path: "src/a:b.rs".into(),
                    line: Some(14),
                    quote: "fn".into(),
                }),
            ),
            (
                r#"{"file":"a.rs","quote":"fn"}"#,
                Some(Evidence::File { path: "a.rs".into(), line: None, quote: "fn".into() }),
            ),
            (r#"{"answer":"It is 3."}"#, Some(Evidence::Answer("It is 3.".into()))),
            (r#"{"user":"never mind"}"#, Some(Evidence::User("never mind".into()))),
            (r#"{"check":"a","file":"b"}"#, None),
            (r#"{"quote":"a"}"#, None),
        ] {
            let read = serde_json::from_str::<Evidence>(json).ok();
            assert_eq!(read, evidence, "{json}");
            if let Some(evidence) = evidence {
                let written = serde_json::to_string(&evidence).unwrap();
                assert_eq!(serde_json::from_str::<Evidence>(&written).unwrap(), evidence);
            }
        }
    }
}
