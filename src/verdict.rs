//! The supervisor's verdict, out of whatever it printed.
//!
//! In this order, the first that is there decides:
//!
//! | where | what |
//! |---|---|
//! | `structured_output` of the result | the schema was met |
//! | JSON with a boolean `completed` (or `allow_stop`) in the result, then in any text, last one first | fenced, embedded, bare |
//! | a line that is only `[TASK_COMPLETED]`, in any text | completed |
//! | any text at all | not completed; the text is the feedback |
//! | nothing | no verdict |

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stream::{Block, Message, TurnResult};

pub const MARKER: &str = "[TASK_COMPLETED]";

/// For a rejection that does not say what is missing.
const NO_DETAILS: &str = "The task is not complete yet. Compare what was asked for with what is there, \
                          finish what is missing, and check it.";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub completed: bool,
    pub feedback: String,
    /// Whether the supervisor said so in the form it was asked for, or it was read out of its prose.
    #[serde(skip)]
    pub explicit: bool,
}

impl Verdict {
    /// A text that is a verdict and nothing else.
    pub fn is_all_of(text: &str) -> bool {
        let text = text.trim().trim_start_matches("```json").trim_matches('`');
        serde_json::from_str::<Value>(text).is_ok_and(|value| judgement(&value).is_some())
    }

    fn explicit(completed: bool, feedback: &str) -> Self {
        let feedback = match feedback.trim() {
            "" if !completed => NO_DETAILS,
            text => text,
        };
        Self { completed, feedback: feedback.to_owned(), explicit: true }
    }
}

/// Gathers what a supervisor prints until its result is there.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    texts: Vec<String>,
}

impl Collector {
    pub fn feed(&mut self, message: &Message) {
        if let Message::Assistant { blocks, .. } = message {
            for block in blocks {
                if let Block::Text(text) = block {
                    self.texts.push(text.clone());
                }
            }
        }
    }

    /// The verdict, or why there is none.
    pub fn conclude(self, result: &TurnResult) -> Result<Verdict, String> {
        if result.is_error {
            return Err(result.failure());
        }
        let structured = result
            .structured_output
            .as_deref()
            .and_then(|json| serde_json::from_str(json).ok().and_then(|value| judgement(&value)));
        if let Some(verdict) = structured {
            return Ok(verdict);
        }
        let texts = || std::iter::once(&result.text).chain(self.texts.iter().rev());
        if let Some(verdict) = texts().find_map(|text| json_verdict(text)) {
            return Ok(verdict);
        }
        if texts().any(|text| text.lines().any(|line| line.trim() == MARKER)) {
            return Ok(Verdict::explicit(true, &without_marker(&result.text)));
        }
        let prose = texts().find(|text| !text.trim().is_empty());
        match prose {
            Some(text) => {
                Ok(Verdict { completed: false, feedback: text.trim().to_owned(), explicit: false })
            }
            None => Err("the supervisor ended without saying anything".to_owned()),
        }
    }
}

fn without_marker(text: &str) -> String {
    text.lines().filter(|line| line.trim() != MARKER).collect::<Vec<_>>().join("\n")
}

fn judgement(value: &Value) -> Option<Verdict> {
    let completed = value.get("completed").or_else(|| value.get("allow_stop"))?.as_bool()?;
    let feedback = value.get("feedback").and_then(Value::as_str).unwrap_or_default();
    Some(Verdict::explicit(completed, feedback))
}

/// The last judgement in a text: a supervisor may quote an earlier one before it gives its own.
fn json_verdict(text: &str) -> Option<Verdict> {
    let mut found = None;
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let start = from + at;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let value = values.next();
        from = start + 1;
        if let Some(Ok(value)) = value
            && let Some(verdict) = judgement(&value)
        {
            found = Some(verdict);
            // What stands inside a judgement is its feedback, not another judgement.
            from = start + values.byte_offset();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclude(
        texts: &[&str],
        structured: Option<&str>,
        result: &str,
    ) -> Result<(bool, String), String> {
        let mut collector = Collector::default();
        for text in texts {
            collector.feed(&Message::Assistant {
                model: String::new(),
                blocks: vec![
                    Block::Thinking("[TASK_COMPLETED]".into()),
                    Block::Text((*text).into()),
                ],
                context: None,
            });
        }
        let result = TurnResult {
            text: result.into(),
            structured_output: structured.map(Into::into),
            ..Default::default()
        };
        collector.conclude(&result).map(|verdict| (verdict.completed, verdict.feedback))
    }

    fn done(feedback: &str) -> Result<(bool, String), String> {
        Ok((true, feedback.into()))
    }

    fn not_done(feedback: &str) -> Result<(bool, String), String> {
        Ok((false, feedback.into()))
    }

    #[test]
    fn structured_output_decides_first() {
        let yes = Some(r#"{"completed":true,"feedback":"all there"}"#);
        let no = Some(r#"{"completed":false,"feedback":"tests"}"#);
        assert_eq!(conclude(&[], yes, ""), done("all there"));
        assert_eq!(conclude(&["[TASK_COMPLETED]"], no, "[TASK_COMPLETED]"), not_done("tests"));
        assert_eq!(conclude(&[r#"{"completed":false}"#], yes, ""), done("all there"));
    }

    #[test]
    fn json_is_found_fenced_embedded_and_in_earlier_texts() {
        let fenced =
            "I looked.\n```json\n{\"completed\": false, \"feedback\": \"add {braces}\"}\n```\n";
        assert_eq!(conclude(&[], None, fenced), not_done("add {braces}"));
        assert_eq!(
            conclude(&[fenced, "that is all"], None, "that is all"),
            not_done("add {braces}")
        );
        assert_eq!(conclude(&[], None, r#"so: {"allow_stop":true,"feedback":"ok"}."#), done("ok"));
        assert_eq!(conclude(&[], None, r#"fn main() { } {"completed":true}"#), done(""));
        let quoted = r#"before: {"completed":true} now: {"completed":false,"feedback":"x"}"#;
        assert_eq!(conclude(&[], None, quoted), not_done("x"));
        let nested = r#"{"completed":false,"feedback":"print {\"completed\":true}"}"#;
        assert_eq!(conclude(&[], None, nested), not_done("print {\"completed\":true}"));
    }

    #[test]
    fn what_is_no_boolean_is_no_judgement() {
        assert_eq!(
            conclude(&[], None, r#"{"completed":"yes"}"#),
            not_done(r#"{"completed":"yes"}"#)
        );
    }

    #[test]
    fn scenario_001_detect_completion_marker() {
        assert_eq!(conclude(&[], None, "Checked.\n[TASK_COMPLETED]\n"), done("Checked."));
        assert_eq!(conclude(&["  [TASK_COMPLETED]  ", "bye"], None, "bye"), done("bye"));
        let mentioned = "write [TASK_COMPLETED] when done";
        assert_eq!(conclude(&[], None, mentioned), not_done(mentioned));
        let json_wins = "[TASK_COMPLETED]\n{\"completed\":false,\"feedback\":\"no\"}";
        assert_eq!(conclude(&[], None, json_wins), not_done("no"));
    }

    #[test]
    fn scenario_001_capture_supervisor_feedback() {
        assert_eq!(conclude(&[], None, "Tests are missing.\n"), not_done("Tests are missing."));
        assert_eq!(conclude(&["Tests are missing."], None, ""), not_done("Tests are missing."));
        assert_eq!(conclude(&[], Some(r#"{"completed":false}"#), ""), not_done(NO_DETAILS));
        assert!(conclude(&[], None, " \n").is_err());
    }

    #[test]
    fn an_error_result_is_no_verdict() {
        let result = TurnResult {
            is_error: true,
            text: "Credit balance is too low".into(),
            ..Default::default()
        };
        assert_eq!(Collector::default().conclude(&result), Err("Credit balance is too low".into()));
    }
}
