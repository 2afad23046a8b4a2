//! The vocabulary of the tests: answers of a supervisor, and questions about recorded requests.

use serde_json::{Value, json};

use crate::support::api::{Request, Rule};

/// The first words of a review's message. The agent's own conversation never holds them.
const REVIEW: &str = "You are no longer the agent";

/// A request of a supervisor, the first of a review or a later one.
pub fn is_review(request: &Request) -> bool {
    request.messages_text().contains(REVIEW)
}

/// The request that a review begins with.
pub fn begins_review(request: &Request) -> bool {
    request.recent_text().contains(REVIEW)
}

pub fn is_agents(request: &Request) -> bool {
    !is_review(request)
}

pub fn count(requests: &[Request], wanted: fn(&Request) -> bool) -> usize {
    requests.iter().filter(|request| wanted(request)).count()
}

pub fn only(requests: &[Request], wanted: fn(&Request) -> bool) -> Vec<&Request> {
    requests.iter().filter(|request| wanted(request)).collect()
}

/// The supervisor's answer to the first request of a review, in the form it is asked for.
pub fn verdict(completed: bool, feedback: &str) -> Rule {
    judged(Rule::any().when(begins_review), completed, feedback)
}

/// Gives the rule a verdict for an answer.
pub fn judged(rule: Rule, completed: bool, feedback: &str) -> Rule {
    let verdict = json!({"completed": completed, "feedback": feedback});
    rule.answer(move |request, rule| {
        if request.tool_names().contains(&"StructuredOutput") {
            rule.tool("StructuredOutput", verdict.clone())
        } else {
            rule.text(format!("I looked at everything.\n\n```json\n{verdict}\n```"))
        }
    })
}

pub fn confirms() -> Rule {
    verdict(true, "")
}

pub fn rejects(feedback: &str) -> Rule {
    verdict(false, feedback)
}

/// The session that a request was made in.
#[track_caller]
pub fn session_id(request: &Request) -> String {
    // Older releases hide it in a longer name, newer ones in JSON in a string.
    let user = request.body["metadata"]["user_id"].as_str().unwrap_or_default();
    let inner: Value = serde_json::from_str(user).unwrap_or_default();
    let id = inner["session_id"].as_str().or_else(|| Some(user.rsplit_once("_session_")?.1));
    id.unwrap_or_else(|| panic!("no session in {user:?}")).to_owned()
}
