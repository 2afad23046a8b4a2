//! Reads the supervisor's verdict from the final text of one of its turns.
//!
//! Only the end of the final text counts. An earlier text, a tool's output, a sub-agent's text, or a quote
//! before the end is not a verdict. The first row that fits decides:
//!
//! | the final text | read as |
//! |---|---|
//! | `structured_output` of the result | the object |
//! | a text that ends with an object with a boolean `completed` or `allow_stop`, fenced or not, and not quoted with `>` | the object |
//! | such an object that contradicts itself, names a key twice, has another review's word, or contradicts one before it | broken |
//! | a yes without the word of the review, behind words that say that the task is not complete (`denial`) | broken |
//! | a text whose last line is `[TASK_COMPLETED]` | completed |
//! | any other text | prose |
//! | nothing | nothing |
//!
//! The text is read in one pass, however long and hostile it is.

mod denial;
mod object;

use std::fmt;

use serde::de::{Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::case::CaseKind;
use crate::client::stream::TurnResult;
use crate::review::opinion::Opinion;
use crate::review::permission::Denied;
use crate::review::requirement::{Amended, Evidence, Requirement, Standing};
use crate::review::word;
use denial::{denies, gives};
use object::object_at_the_end;

pub const MARKER: &str = "[TASK_COMPLETED]";

/// No feedback that an agent can use is longer than this.
const MAX_FEEDBACK: usize = 64 << 10;
/// No task has more than this. A longer list is not a verdict: the part that is cut off could be
/// open.
const MAX_REQUIREMENTS: usize = 100;
const MAX_EVIDENCE: usize = 20;
const MAX_ITEM: usize = 4 << 10;

/// For a rejection that does not say what is missing.
const NO_DETAILS: &str = "The task is not complete yet. Compare what was asked for with what is there, \
                          finish what is missing, and check it.";

/// For a task that cannot go on, if the judge does not say why.
const NO_REASON: &str =
    "The supervisor did not say what is needed. Look at the agent's last message.";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub completed: bool,
    pub feedback: String,
    /// What kept the judge from changing the project; unknown for older recordings and for fixtures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKind>,
    /// What the judge wanted to do and was not allowed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
    /// Set if it makes no sense to send the agent back to work.
    #[serde(default, rename = "status", skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// The task was confirmed without proof, although the supervisor was asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_proof: bool,
    /// How the requirements have changed since the last review of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amended: Option<Amended>,
    /// An earlier round of this task after which the work was better than it is now; the person can
    /// go back there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better_round: Option<u32>,
    /// The opinion of each judge, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<Opinion>,
}

/// Why the agent cannot go on; the feedback says what the person must decide or do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Halt {
    Blocked,
    Impossible,
}

impl Verdict {
    pub fn new(completed: bool, feedback: &str) -> Self {
        let feedback = match feedback.trim() {
            "" if !completed => NO_DETAILS,
            text => text,
        };
        Self {
            completed,
            feedback: cut(feedback, MAX_FEEDBACK),
            case: None,
            denied: Vec::new(),
            halt: None,
            requirements: Vec::new(),
            without_proof: false,
            amended: None,
            better_round: None,
            opinions: Vec::new(),
        }
    }

    pub fn open(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.iter().filter(|requirement| requirement.is_open())
    }

    /// The text before the verdict, if the text ends with one.
    pub fn words_before(text: &str) -> Option<&str> {
        object_at_the_end(text)
            .filter(|(_, object)| judgement(object, None).is_ok())
            .map(|(before, _)| before)
    }
}

/// How the final text of a turn is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    Verdict {
        verdict: Verdict,
        /// Whether it contains the word of this review, or no word was given out.
        has_word: bool,
    },
    /// It is meant as a verdict but cannot be used, for this reason.
    Broken(String),
    Prose(String),
    Nothing,
}

impl Reading {
    /// `word` is the one-time word of this review, or the digest by which it is recognized.
    pub fn of(result: &TurnResult, word: Option<&str>) -> Self {
        if let Some(object) = &result.structured_output {
            return Self::object(object, "", word);
        }
        let text = result.text.trim();
        if let Some((before, object)) = object_at_the_end(text)
            && looks_like_a_judgement(object)
        {
            return Self::object(object, before, word);
        }
        let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
        if last.trim() == MARKER {
            if gives(before, false) || denies(before) {
                return two_judgements();
            }
            let verdict = Verdict::new(true, &without_marker(before));
            return Reading::Verdict { verdict, has_word: word.is_none() };
        }
        match text {
            "" => Reading::Nothing,
            text => Reading::Prose(cut(text, MAX_FEEDBACK)),
        }
    }

    fn object(object: &str, before: &str, word: Option<&str>) -> Self {
        // A quoted object does not contain the word. If the word also occurs earlier in the text,
        // the judge wrote both.
        let alone = word.is_some_and(|word| !word::occurs(word, before));
        match judgement(object, word) {
            Ok((verdict, true)) if alone => Reading::Verdict { verdict, has_word: true },
            Ok((verdict, _))
                if gives(before, !verdict.completed) || verdict.completed && denies(before) =>
            {
                two_judgements()
            }
            Ok((verdict, has_word)) => Reading::Verdict { verdict, has_word },
            Err(why) => Reading::Broken(why),
        }
    }
}

/// Whether a text that is no verdict gives a yes somewhere, and nowhere a no.
pub fn says_only_yes(text: &str) -> bool {
    gives(text, true) && !gives(text, false) && !denies(text)
}

fn two_judgements() -> Reading {
    Reading::Broken("it says both that the task is complete and that it is not".to_owned())
}

fn without_marker(text: &str) -> String {
    text.lines().filter(|line| line.trim() != MARKER).collect::<Vec<_>>().join("\n")
}

/// The fields of a verdict. A duplicate key or a value of the wrong type is a parse error.
#[derive(Deserialize)]
struct Judgement {
    completed: Option<bool>,
    allow_stop: Option<bool>,
    status: Option<Status>,
    word: Option<String>,
    feedback: Option<String>,
    requirements: Option<Vec<Listed>>,
    /// Only a remark to the person, so a value of the wrong type loses the remark and not the
    /// verdict.
    #[serde(default)]
    better_round: Value,
    #[serde(flatten)]
    others: Others,
}

/// All other keys; a duplicate key is kept with both of its values.
struct Others(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Others {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Others;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Others, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Others(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}

impl Judgement {
    /// Whether another key says that the task is not complete.
    fn takes_it_back(&self) -> bool {
        const NEGATIVE: [&str; 6] =
            ["incomplete", "notcompleted", "notdone", "rejected", "failed", "unfinished"];
        // A list of what is left.
        const LISTS: [&str; 9] = [
            "missing",
            "remaining",
            "unmet",
            "todo",
            "open",
            "openitems",
            "outstanding",
            "blockers",
            "left",
        ];
        const EMPTY: [&str; 6] = ["", "none", "nothing", "no", "-", "n/a"];
        const ALIASES: [&str; 20] = [
            "state",
            "outcome",
            "completed",
            "complete",
            "taskcompleted",
            "iscompleted",
            "iscomplete",
            "done",
            "finished",
            "allowstop",
            "approved",
            "accepted",
            "confirmed",
            "satisfied",
            "success",
            "passed",
            "ok",
            "verdict",
            "result",
            "decision",
        ];
        let is_taken_back = |(key, value): (&String, &Value)| {
            let letters: String = key.chars().filter(|c| c.is_alphanumeric()).collect();
            let said = value.as_str().map(|text| text.trim().to_lowercase());
            let no = [
                "false",
                "no",
                "0",
                "reject",
                "rejected",
                "failed",
                "fail",
                "incomplete",
                "continue",
                "block",
                "blocked",
                "not completed",
                "not complete",
                "not done",
                "unfinished",
            ];
            let is_no = *value == false
                || value.as_f64() == Some(0.0)
                || said.as_ref().is_some_and(|said| no.contains(&said.as_str()) || denies(said));
            let key = letters.to_lowercase();
            let is_left = value.as_array().is_some_and(|left| !left.is_empty())
                || said.as_ref().is_some_and(|left| !EMPTY.contains(&left.trim_end_matches('.')));
            is_no && ALIASES.contains(&key.as_str())
                || is_left && LISTS.contains(&key.as_str())
                || *value == true && NEGATIVE.contains(&key.as_str())
        };
        // `"verdict": {"completed": false}`: the judge wrapped its verdict once more.
        let wraps = |key: &str| {
            ["verdict", "result", "decision", "overall", "final", "review", "judgement"]
                .contains(&key)
        };
        self.others.0.iter().any(|(key, value)| {
            let inside = value.as_object().filter(|_| wraps(&key.to_lowercase()));
            is_taken_back((key, value)) || inside.is_some_and(|all| all.iter().any(is_taken_back))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Completed,
    Continue,
    Blocked,
    Impossible,
}

#[derive(Deserialize)]
struct Listed {
    id: Option<String>,
    text: Option<String>,
    #[serde(deserialize_with = "standing")]
    status: Standing,
    /// One piece of evidence, or a list.
    #[serde(default)]
    evidence: Value,
}

/// However it is capitalized.
fn standing<'de, D: Deserializer<'de>>(from: D) -> Result<Standing, D::Error> {
    let said = String::deserialize(from)?;
    Standing::deserialize(said.trim().to_lowercase().into_deserializer())
}

const JUDGING_KEYS: [&str; 2] = ["\"completed\"", "\"allow_stop\""];

fn looks_like_a_judgement(object: &str) -> bool {
    JUDGING_KEYS.iter().any(|key| object.contains(key)) || object.contains("\"requirements\"")
}

/// The verdict in a JSON object and whether it contains the word of the review, or why it is not
/// usable.
fn judgement(object: &str, word: Option<&str>) -> Result<(Verdict, bool), String> {
    let judgement: Judgement =
        serde_json::from_str(object).map_err(|error| format!("its JSON is not usable: {error}"))?;
    let said = [judgement.completed, judgement.allow_stop];
    let by_status = judgement.status.map(|status| status == Status::Completed);
    let mut said = said.into_iter().flatten().chain(by_status);
    let completed = said.next().ok_or("it has no boolean \"completed\"")?;
    if said.any(|other| other != completed) {
        return Err("\"completed\", \"allow_stop\" and \"status\" contradict each other".to_owned());
    }
    if completed && judgement.takes_it_back() {
        return Err("one of its keys says that the task is not complete".to_owned());
    }
    // Further on, it may speak of what was open before.
    let begin = judgement.feedback.as_deref().and_then(|text| text.split(['.', '\n']).next());
    if completed && begin.is_some_and(denies) {
        return Err("its feedback says that the task is not complete".to_owned());
    }
    if let (Some(word), Some(given)) = (word, &judgement.word)
        && !word::is(word, given.trim())
    {
        return Err("its \"word\" is not the word of this review".to_owned());
    }
    let halt = match judgement.status {
        Some(Status::Blocked) => Some(Halt::Blocked),
        Some(Status::Impossible) => Some(Halt::Impossible),
        Some(Status::Completed | Status::Continue) | None => None,
    };
    let feedback = match judgement.feedback.as_deref().unwrap_or_default() {
        text if text.trim().is_empty() && halt.is_some() => NO_REASON,
        text => text,
    };
    let requirements = listed(judgement.requirements.unwrap_or_default())?;
    let better_round = judgement.better_round.as_u64().and_then(|round| round.try_into().ok());
    let better_round = better_round.filter(|_| !completed);
    let verdict = Verdict { halt, requirements, better_round, ..Verdict::new(completed, feedback) };
    Ok((verdict, word.is_none() || judgement.word.is_some()))
}

fn listed(items: Vec<Listed>) -> Result<Vec<Requirement>, String> {
    if items.len() > MAX_REQUIREMENTS {
        return Err(format!("it lists more than {MAX_REQUIREMENTS} requirements"));
    }
    let mut requirements: Vec<Requirement> = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let id = item.id.filter(|id| !id.trim().is_empty());
        let id = id.map(|id| id.replace(is_invisible, ""));
        let id = cut(id.as_deref().unwrap_or(&format!("R{}", at + 1)).trim(), MAX_ITEM);
        if requirements.iter().any(|other| other.id == id) {
            return Err(format!("two requirements have the id {id:?}"));
        }
        let evidence = match item.evidence {
            Value::Null => Vec::new(),
            Value::Array(evidence) => evidence,
            one => vec![one],
        };
        if evidence.len() > MAX_EVIDENCE {
            return Err(format!("it gives more than {MAX_EVIDENCE} pieces of evidence for {id:?}"));
        }
        let evidence = evidence.into_iter().map(serde_json::from_value);
        let evidence: Result<Vec<Evidence>, _> = evidence.collect();
        requirements.push(Requirement {
            text: cut(item.text.as_deref().unwrap_or(&id), MAX_ITEM),
            status: item.status,
            evidence: evidence.map_err(|error| format!("the evidence for {id:?}: {error}"))?,
            id,
        });
    }
    Ok(requirements)
}

/// Two ids that look the same are the same.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n\n[{} more bytes were cut off here.]", &text[..end], text.len() - end)
}

#[cfg(test)]
#[path = "verdict/tests.rs"]
mod tests;
